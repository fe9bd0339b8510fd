package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/catalog"
)

// tainting is one taint command: its flags.
type tainting struct {
	editing
	overwrite bool
}

func taintCommand() *cobra.Command {
	t := &tainting{editing: newEditing()}
	c := &cobra.Command{
		Use:   "taint clusters|nodes NAME... KEY[=VALUE]:EFFECT[-]...",
		Short: "Update the taints of clusters or nodes",
		Long: `Update the taints of clusters at a running daemon or a Karmada API server, or those of nodes at a Kubernetes API server, as
'kubectl taint nodes' does.

Of clusters it prints the server's preview as warnings; with --dry-run=server it changes nothing. Of nodes a dry run prints a preview,
too: which pods would be evicted, when and why, and where others would run in their place. It reads nodes, pods and workloads, and plays
the change on a copy of them, by the rules of Kubernetes. With -f it reads manifests or a scenario instead, and previews what the change
would do to that cluster once its pods run; it writes nothing.
Unlike karmadactl, it loses no taint that another client writes at the same time: it repeats the edit on the new
object, for 15 to 31 seconds. What it cannot do to one object keeps it from no other.

` + editExitCodes,
		Example: `  leeward taint clusters member2 maintenance=rack4:NoExecute
  leeward taint clusters member2 maintenance:NoExecute --dry-run=server   # what would be evicted?
  leeward taint clusters -l region=eu maintenance-
  leeward taint nodes worker-3 maintenance:NoExecute --dry-run=client     # which pods would move?
  leeward taint nodes node1 k:NoExecute -f scenarios/nodes/a-cordoned-node-takes-nothing-new.yaml --scenario a-cordoned-node-takes-nothing-new-in-kubernetes`,
		RunE: t.run,
	}
	t.add(c)
	t.addChoice(c)
	t.addFiles(c)
	c.ValidArgsFunction = t.offerClusters(true)
	c.Flags().BoolVar(&t.overwrite, "overwrite", false, "replace the value of existing taints")
	return c
}

func (t *tainting) run(c *cobra.Command, args []string) error {
	targets, changes, err := t.parse(args)
	if err != nil {
		return misused(c, err)
	}
	if err := t.open(c); err != nil {
		return err
	}
	err = t.every(c.Context(), targets, func(ctx context.Context, at target) error {
		var done string
		err := t.object(ctx, at, func(o api.Object) (map[string]any, error) {
			after, did, err := retaint(o, changes, t.overwrite)
			done = did
			return map[string]any{"spec": map[string]any{"taints": after}}, err
		})
		if err != nil {
			return err
		}
		return t.print(c, at.String(), done)
	})
	if err == nil && t.resource == catalog.Nodes && t.dryRun.word != "none" {
		err = t.previewPods(c, targets, &changes)
	}
	return refused(err)
}

// parse reads the arguments as karmadactl does: first what kind, then names, then taints.
func (t *tainting) parse(args []string) ([]target, taint.Changes, error) {
	first := slices.IndexFunc(args, isTaint)
	if first < 0 {
		first = len(args)
	}
	named, specs := args[:first], args[first:]
	switch {
	case len(named) == 0:
		return nil, taint.Changes{}, errors.New("one or more resources must be specified as <resource> <name>")
	case taintedBy(kindOf(named[0])) == nil:
		return nil, taint.Changes{}, fmt.Errorf(`invalid resource type %s, only ["cluster" "clusters" "node" "nodes"] are supported`, kindOf(named[0]))
	}
	if i := slices.IndexFunc(specs, func(s string) bool { return !isTaint(s) }); i >= 0 {
		return nil, taint.Changes{}, fmt.Errorf("all resources must be specified before taint changes: %s", specs[i])
	}
	targets, err := t.placesNamed(named)
	if err != nil {
		return nil, taint.Changes{}, err
	}
	changes, err := taint.Parse(specs)
	return targets, changes, err
}

// kindOf is the resource of "clusters", and of "cluster/eu-1".
func kindOf(word string) string {
	kind, _, _ := strings.Cut(word, "/")
	return kind
}

// isTaint tells taints from names, which hold no such signs.
func isTaint(word string) bool {
	return strings.ContainsAny(word, "=:") || strings.HasSuffix(word, "-")
}

// taintsOf are the taints of a cluster or a node, with the word for which it is.
func taintsOf(o api.Object) (kind string, taints []corev1.Taint) {
	if n, is := o.(*corev1.Node); is {
		return "node", n.Spec.Taints
	}
	return "cluster", o.(*api.Cluster).Spec.Taints
}

// retaint returns the taints that a cluster or a node must have, and what was done in one word.
func retaint(o api.Object, c taint.Changes, overwrite bool) (after []corev1.Taint, did string, err error) {
	var there []string
	kind, has := taintsOf(o)
	for _, t := range c.Add {
		if taint.Find(has, t.Key, t.Effect) >= 0 {
			there = append(there, t.Key)
		}
	}
	if len(there) > 0 && !overwrite {
		return nil, "", fmt.Errorf("%s %s already has %s taint(s) with same effect(s) and --overwrite is false", kind, o.GetName(), strings.Join(there, ","))
	}
	after, missing := c.Apply(has)
	notFound := lists.Of(missing, func(t corev1.Taint) error { return fmt.Errorf("taint %q not found", taint.String(&t)) })
	if err := utilerrors.NewAggregate(notFound); err != nil { // in kubectl's words: [taint "a" not found, taint "b" not found]
		return nil, "", err
	}
	switch {
	case overwrite, len(c.Add) > 0 && len(c.Remove) > 0:
		return after, "modified", nil
	case len(c.Add) > 0:
		return after, "tainted", nil
	}
	return after, "untainted", nil
}
