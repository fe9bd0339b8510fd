package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
)

// draining is one drain command: its flags.
type draining struct {
	editing
	by           spanFlag
	cancel, wait bool
	// nodes are the flags that are for nodes.
	nodes nodeFlags
}

func drainCommand() *cobra.Command {
	d := &draining{editing: newEditing()}
	c := &cobra.Command{
		Use:   "drain [clusters|nodes] NAME...",
		Short: "Evict all workloads from clusters, or all pods from nodes",
		Long: `Evict all workloads from clusters at a running daemon: no new workload is scheduled there, and each one that runs there
is evicted, by its tolerations and with a handover. A deadline (--by) removes nothing by force: evictions that are late
are reported. uncordon, or --cancel, ends the drain.

--dry-run asks the daemon which bindings would be evicted, when, and to which clusters, and changes nothing.

Nodes are drained at a Kubernetes API server, as kubectl drain does, with its flags and its lines: each is cordoned, and its pods are evicted as
far as their PodDisruptionBudgets allow it; what is refused is asked for again every 5 s, until --timeout. A dry run prints a preview, too: which
pods would be evicted and when, where others would run, and which pods a budget would block. With -f the nodes are those of manifests or of a
scenario, and every drain is a dry run.

` + editExitCodes,
		Example: `  leeward drain clusters member2 --dry-run   # what would be evicted, when, and to which clusters?
  leeward drain clusters member2 --by 10m --wait
  leeward drain clusters member2 --cancel
  leeward drain nodes worker-3 --ignore-daemonsets --dry-run=client   # which pods would move, and which are blocked?
  leeward drain nodes worker-3 --ignore-daemonsets --timeout 10m
  leeward drain nodes node1 --ignore-daemonsets -f scenarios/nodes/a-cordoned-node-takes-nothing-new.yaml --scenario a-cordoned-node-takes-nothing-new-in-kubernetes`,
		RunE: d.run,
	}
	d.add(c)
	d.addChoice(c)
	d.addFiles(c)
	c.ValidArgsFunction = d.offerClusters(false)
	f := c.Flags()
	f.Var(&d.by, "by", "deadline of the drain, as a duration from now")
	f.BoolVar(&d.cancel, "cancel", false, "end the drain: allow new workloads on the clusters again")
	d.nodes.add(f)
	f.BoolVar(&d.wait, "wait", false, "wait until the clusters are empty, and print how many bindings remain")
	return c
}

func (d *draining) run(c *cobra.Command, args []string) error {
	if d.cancel && (d.by > 0 || d.wait) {
		return misused(c, errors.New("--cancel cannot be combined with --by or --wait"))
	}
	if len(args) > 0 && is(catalog.Nodes, kindOf(args[0])) {
		return d.drainNodes(c, args)
	}
	done, edit := "draining", d.begin(time.Now())
	if d.cancel {
		done, edit = "not draining", undrain
	}
	err := d.cordon(c, args, done, edit)
	switch {
	case err != nil:
		return err
	case d.dryRun.word != "none" && !d.cancel:
		return refused(d.previewDrain(c, args))
	case d.dryRun.word != "none" || !d.wait:
		return nil
	}
	targets, err := d.clustersNamed(args)
	if err != nil {
		return misused(c, err)
	}
	return refused(d.await(c, targets))
}

// deadline is the value of the annotation that asks for a drain: when it should be over; empty: that is open.
func (d *draining) deadline(now time.Time) string {
	if d.by == 0 {
		return ""
	}
	return now.Add(time.Duration(d.by)).UTC().Format(time.RFC3339)
}

// begin asks for a drain; one that has begun with another deadline gets this one.
func (d *draining) begin(now time.Time) func(api.Object) map[string]any {
	value := d.deadline(now)
	return func(o api.Object) map[string]any {
		if old, drained := o.GetAnnotations()[api.AnnotationDrain]; drained && old == value {
			return nil
		}
		return annotated(map[string]any{api.AnnotationDrain: value})
	}
}

func undrain(o api.Object) map[string]any {
	if _, drained := o.GetAnnotations()[api.AnnotationDrain]; !drained {
		return nil
	}
	return annotated(map[string]any{api.AnnotationDrain: nil})
}

// await tells how many bindings remain on the clusters until there are none. A cluster that is deleted meanwhile, or may be used
// again, is waited for no longer.
func (d *draining) await(c *cobra.Command, targets []target) error {
	chosen, err := labels.Parse(d.selector)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context())
	defer stop()
	w := &emptying{out: c.OutOrStdout(), meant: func(o api.Object) bool {
		_, drained := o.GetAnnotations()[api.AnnotationDrain]
		return drained && chosen.Matches(labels.Set(o.GetLabels())) && (len(targets) == 0 || slices.Contains(targets, clusterNamed(o.GetName())))
	}}
	var failure error
	after := func(err error) {
		if failure = errors.Join(failure, err); failure != nil || w.done() {
			stop()
		}
	}
	err = d.client.Follow(ctx, &client.Watching{
		Resource: catalog.Clusters, Clock: clock.New(),
		Listed:  func(all []api.Object) { after(w.listed(all)) },
		Changed: func(kind apiwatch.EventType, o api.Object) { after(w.changed(kind, o)) },
		Lost:    func(err error) { say(c.ErrOrStderr(), fmt.Sprintf("leeward: %v\n", err)) },
	})
	return errors.Join(err, failure)
}

// emptying follows clusters until they are empty.
type emptying struct {
	out   io.Writer
	meant func(api.Object) bool
	// left counts the bindings on clusters that were meant when they were listed, and still are.
	left map[string]int32
}

// unknown is how many remain as long as the daemon has not counted them.
const unknown = -1

func (w *emptying) listed(all []api.Object) error {
	before := w.left
	w.left = map[string]int32{}
	for _, o := range all {
		if !w.meant(o) {
			continue
		}
		w.left[o.GetName()] = unknown
		if n, known := before[o.GetName()]; known {
			w.left[o.GetName()] = n
		}
	}
	for _, o := range all {
		if err := w.see(o.(*api.Cluster)); err != nil {
			return err
		}
	}
	return nil
}

func (w *emptying) changed(kind apiwatch.EventType, o api.Object) error {
	if kind == apiwatch.Deleted || !w.meant(o) {
		delete(w.left, o.GetName())
	}
	return w.see(o.(*api.Cluster))
}

// see notes how far the drain of a cluster is, and tells what is new.
func (w *emptying) see(o *api.Cluster) error {
	before, meant := w.left[o.Name]
	if !meant || o.Status.Drain == nil || o.Status.Drain.Left == before {
		return nil
	}
	w.left[o.Name] = o.Status.Drain.Left
	_, err := fmt.Fprintf(w.out, "%s drained of %d of %d bindings\n", clusterNamed(o.Name), o.Status.Drain.Bindings-o.Status.Drain.Left, o.Status.Drain.Bindings)
	return err
}

func (w *emptying) done() bool {
	for _, n := range w.left { // order-free: all of them
		if n != 0 {
			return false
		}
	}
	return true
}

// previewDrain asks the daemon what a drain of the clusters would lead to, and prints it.
func (d *draining) previewDrain(c *cobra.Command, args []string) error {
	targets, err := d.clustersNamed(args)
	if err != nil {
		return err
	}
	question := &api.FailoverPreview{}
	question.Name = "drain"
	err = d.each(c.Context(), targets, func(ctx context.Context, t target) error {
		drained, err := d.drained(ctx, t)
		question.Spec.Objects = append(question.Spec.Objects, drained)
		return err
	})
	if err != nil || len(question.Spec.Objects) == 0 {
		return err
	}
	answer, err := d.client.Create(c.Context(), catalog.Previews, question)
	switch {
	case apierrors.IsNotFound(err):
		say(c.ErrOrStderr(), "leeward: the server has no FailoverPreview: which bindings would be evicted is unknown\n")
		return nil
	case err != nil:
		return fmt.Errorf("ask what would be evicted: %w", err)
	}
	return printPreview(c.OutOrStdout(), &answer.(*api.FailoverPreview).Status)
}

// drained is a cluster as it would be while it is drained.
func (d *draining) drained(ctx context.Context, t target) (runtime.RawExtension, error) {
	o, err := d.client.Get(ctx, t.resource, "", t.name)
	if err != nil {
		return runtime.RawExtension{}, fmt.Errorf("read %s: %w", t, err)
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[api.AnnotationDrain] = d.deadline(time.Now())
	o.SetAnnotations(annotations)
	o.SetManagedFields(nil)
	o.SetResourceVersion("")
	text, err := json.Marshal(o)
	return runtime.RawExtension{Raw: text}, err
}

// printPreview prints a table as kubectl does: which bindings would be evicted, from where, where to and when; then the summary of the
// server, or that nothing would happen.
func printPreview(w io.Writer, p *api.FailoverPreviewStatus) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	if len(p.Evictions) > 0 {
		row(table, "NAMESPACE", "BINDING", "FROM", "TO", "AT", "REASON")
	}
	for i := range p.Evictions {
		e := &p.Evictions[i]
		row(table, e.Namespace, e.Name, e.FromCluster, placed(e.ToClusters), e.At.UTC().Format(time.RFC3339), e.Message)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	lines := p.Summary
	if len(lines) == 0 && p.Evicted+p.Unschedulable == 0 {
		lines = []string{"nothing would change"}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "preview: %s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// placed writes clusters with the replicas that each has: "eu-2 (2), us-1 (1)".
func placed(clusters []api.TargetCluster) string {
	if len(clusters) == 0 {
		return "<none>"
	}
	words := make([]string, len(clusters))
	for i, t := range clusters {
		words[i] = t.Name
		if t.Replicas > 0 {
			words[i] = fmt.Sprintf("%s (%d)", t.Name, t.Replicas)
		}
	}
	return strings.Join(words, ", ")
}
