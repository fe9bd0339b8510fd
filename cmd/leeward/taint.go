package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
)

// tainting is one taint command: its flags.
type tainting struct {
	editing
	overwrite bool
}

func taintCommand() *cobra.Command {
	t := &tainting{editing: newEditing()}
	c := &cobra.Command{
		Use:   "taint clusters NAME... KEY[=VALUE]:EFFECT[-]...",
		Short: "Update the taints of clusters",
		Long: `Update the taints of clusters at a running daemon, or at a Karmada API server, as 'kubectl taint nodes' does.

It prints the server's preview as warnings; with --dry-run=server it changes nothing.
Unlike karmadactl, it loses no taint that another client writes at the same time: it repeats the edit on the new
object, for 15 to 31 seconds.

` + editExitCodes,
		Example: `  leeward taint clusters member2 maintenance=rack4:NoExecute
  leeward taint clusters member2 maintenance:NoExecute --dry-run=server   # what would be evicted?
  leeward taint clusters -l region=eu maintenance-`,
		RunE: t.run,
	}
	t.add(c)
	t.addChoice(c)
	c.ValidArgsFunction = t.offerClusters(true)
	c.Flags().BoolVar(&t.overwrite, "overwrite", false, "replace the value of existing taints")
	return c
}

func (t *tainting) run(c *cobra.Command, args []string) error {
	targets, changes, err := t.parse(args)
	if err != nil {
		return misused(c, err)
	}
	if err := t.connect(c); err != nil {
		return misused(c, err)
	}
	return refused(t.each(c.Context(), targets, func(ctx context.Context, at target) error {
		var done string
		err := t.cluster(ctx, at, func(o *api.Cluster) (map[string]any, error) {
			after, did, err := retaint(o, changes, t.overwrite)
			done = did
			return map[string]any{"spec": map[string]any{"taints": after}}, err
		})
		if err != nil {
			return err
		}
		return t.print(c, at.String(), done)
	}))
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
	case !isClusters(kindOf(named[0])):
		return nil, taint.Changes{}, fmt.Errorf(`invalid resource type %s, only ["cluster" "clusters"] are supported`, kindOf(named[0]))
	}
	if i := slices.IndexFunc(specs, func(s string) bool { return !isTaint(s) }); i >= 0 {
		return nil, taint.Changes{}, fmt.Errorf("all resources must be specified before taint changes: %s", specs[i])
	}
	targets, err := t.clustersNamed(named)
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

// retaint returns the taints that a cluster is to have, and what was done in one word.
func retaint(o *api.Cluster, c taint.Changes, overwrite bool) (after []corev1.Taint, did string, err error) {
	var there []string
	for _, t := range c.Add {
		if taint.Find(o.Spec.Taints, t.Key, t.Effect) >= 0 {
			there = append(there, t.Key)
		}
	}
	if len(there) > 0 && !overwrite {
		return nil, "", fmt.Errorf("cluster %s already has %s taint(s) with same effect(s) and --overwrite is false", o.Name, strings.Join(there, ","))
	}
	after = slices.Clone(o.Spec.Taints)
	for i := range c.Remove {
		var found bool
		if after, found = taint.Remove(after, c.Remove[i].Key, c.Remove[i].Effect); !found {
			return nil, "", fmt.Errorf("taint %q not found", taint.String(&c.Remove[i]))
		}
	}
	for _, t := range c.Add {
		after, _ = taint.Add(after, t)
	}
	switch {
	case overwrite, len(c.Add) > 0 && len(c.Remove) > 0:
		return after, "modified", nil
	case len(c.Add) > 0:
		return after, "tainted", nil
	}
	return after, "untainted", nil
}
