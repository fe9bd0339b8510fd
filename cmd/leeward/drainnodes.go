package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"leeward/actors"
	rule "leeward/actors/rules/draining"
	"leeward/messages"
	"leeward/messages/lists"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/rehearsal"
)

// nodeFlags are the flags of kubectl drain.
type nodeFlags struct {
	options     messages.DrainOptions
	skip        int
	grace       int64
	podSelector string
}

func (n *nodeFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&n.options.IgnoreDaemonSets, "ignore-daemonsets", false, "of nodes: ignore DaemonSet-managed pods")
	f.BoolVar(&n.options.DeleteEmptyDirData, "delete-emptydir-data", false, "of nodes: continue even if there are pods using emptyDir, whose data is deleted")
	f.BoolVar(&n.options.Force, "force", false, "of nodes: continue even if there are pods that declare no controller")
	f.BoolVar(&n.options.DisableEviction, "disable-eviction", false, "of nodes: delete pods, whatever their PodDisruptionBudgets say")
	f.Int64Var(&n.grace, "grace-period", -1, "of nodes: seconds that each pod has to end; if negative, its own")
	f.DurationVar(&n.options.Timeout, "timeout", 0, "of nodes: how long to try; zero: for ever")
	f.IntVar(&n.skip, "skip-wait-for-delete-timeout", 0, "of nodes: do not wait for pods whose deletionTimestamp is more than so many seconds ago; zero or less: wait for all")
	f.StringVar(&n.podSelector, "pod-selector", "", "of nodes: only pods with these labels")
}

// read completes the options.
func (n *nodeFlags) read() error {
	if n.options.Timeout < 0 {
		return fmt.Errorf("--timeout is %s: want zero or more", n.options.Timeout)
	}
	if n.grace >= 0 {
		n.options.GracePeriodSeconds = &n.grace
	}
	n.options.SkipWaitForDelete = actors.Seconds(int64(max(n.skip, 0)))
	if n.podSelector == "" {
		return nil
	}
	selector, err := labels.Parse(n.podSelector)
	if err != nil {
		return errors.New("--pod-selector=<pod_selector> must be a valid label selector")
	}
	n.options.Pods = selector
	return nil
}

// drainNodes drains nodes one after the other, as kubectl drain does.
func (d *draining) drainNodes(c *cobra.Command, args []string) error {
	if d.cancel || d.wait || d.by > 0 {
		return misused(c, errors.New("--cancel, --wait and --by are for clusters"))
	}
	if err := d.nodes.read(); err != nil {
		return misused(c, err)
	}
	if err := d.cordon(c, args, "cordoned", cordon); err != nil {
		return err
	}
	targets, err := d.placesNamed(args)
	if err == nil && len(targets) == 0 {
		targets, err = d.selected(c.Context())
	}
	if err != nil {
		return refused(err)
	}
	var failed []string
	var errs []error
	for _, at := range targets {
		if err := d.drainNode(c, at); err != nil {
			say(c.ErrOrStderr(), fmt.Sprintf("error: unable to drain node %q due to error: %v, continuing command...\n", at.name, err))
			failed, errs = append(failed, " "+at.name+"\n"), append(errs, err)
			continue
		}
		if err := d.print(c, at.String(), "drained"); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		say(c.ErrOrStderr(), "There are pending nodes to be drained:\n"+strings.Join(failed, ""))
		return refused(errors.Join(errs...))
	}
	if d.dryRun.word != "none" {
		return refused(d.previewNodes(c, targets))
	}
	return nil
}

// drainNode evicts the pods of a node that is cordoned, unless one of them forbids it.
func (d *draining) drainNode(c *cobra.Command, at target) error {
	listed, err := d.podsOn(c.Context(), at.name)
	if err != nil {
		return err
	}
	choice := rule.Choose(listed, time.Now(), &d.nodes.options)
	if len(choice.Errors) > 0 {
		return errors.New(rule.Together(choice.Errors))
	}
	if len(choice.Warnings) > 0 {
		say(c.ErrOrStderr(), "Warning: "+strings.Join(choice.Warnings, "; ")+"\n")
	}
	if d.dryRun.word == "client" {
		for _, p := range choice.Evict {
			say(c.OutOrStdout(), fmt.Sprintf("evicting pod %s/%s (dry run)\n", p.Namespace, p.Name))
		}
		return nil
	}
	r := &removing{draining: d, out: c, clock: clock.New()}
	err = r.run(c.Context(), choice.Evict)
	if err != nil {
		d.sayPending(c, at.name, err)
	}
	return err
}

// sayPending names the pods that a drain which failed leaves to do.
func (d *draining) sayPending(c *cobra.Command, node string, failed error) {
	listed, err := d.podsOn(c.Context(), node)
	if err != nil {
		return // the server did not answer, which failed says
	}
	pending := rule.Choose(listed, time.Now(), &d.nodes.options).Evict
	if len(pending) == 0 {
		return
	}
	text := fmt.Sprintf("There are pending pods in node %q when an error occurred: %v\n", node, failed)
	for _, p := range pending {
		text += "pod/" + p.Name + "\n"
	}
	say(c.ErrOrStderr(), text)
}

// podsOn are the pods of a node, with what is known of their DaemonSets.
func (d *draining) podsOn(ctx context.Context, node string) (listed []messages.ListedPod, err error) {
	all, _, err := d.from.List(ctx, catalog.Pods, "", "")
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	for _, o := range all {
		p := o.(*corev1.Pod)
		if p.Spec.NodeName != node {
			continue
		}
		one := messages.ListedPod{Object: p}
		if rule.OfDaemonSet(p) {
			_, err := d.from.Get(ctx, workloads("DaemonSet"), p.Namespace, metav1.GetControllerOf(p).Name)
			if one.Orphan = apierrors.IsNotFound(err); err != nil && !one.Orphan {
				return nil, fmt.Errorf("read the DaemonSet of pod %s/%s: %w", p.Namespace, p.Name, err)
			}
		}
		listed = append(listed, one)
	}
	return listed, nil
}

// removing is the eviction of pods, and the wait until they are gone.
type removing struct {
	*draining
	out   *cobra.Command
	clock clock.Clock
	errs  []string
}

const (
	// evictAgain is the time between two requests for an eviction that is refused, lookAgain between two looks at a pod that ends.
	evictAgain, lookAgain = 5 * time.Second, time.Second
)

// removed is a pod on its way: asked is when it was asked for last, and refused; zero: it is being deleted.
type removed struct {
	*corev1.Pod
	asked time.Time
}

func (r *removing) run(ctx context.Context, pods []*corev1.Pod) error {
	began := r.clock.Now()
	waiting := lists.Of(pods, func(p *corev1.Pod) *removed { return &removed{Pod: p, asked: began.Add(-evictAgain)} })
	for {
		over := r.nodes.options.Timeout > 0 && r.clock.Since(began) >= r.nodes.options.Timeout
		var remain []*removed
		for _, p := range waiting {
			if r.step(ctx, p, over) {
				remain = append(remain, p)
			}
		}
		if waiting = remain; len(waiting) == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.clock.After(lookAgain):
		}
	}
	if len(r.errs) > 0 {
		return errors.New(rule.Together(r.errs))
	}
	return nil
}

// step does what is due of a pod. It reports whether something remains to do.
func (r *removing) step(ctx context.Context, p *removed, over bool) bool {
	if !p.asked.IsZero() && r.clock.Since(p.asked) < evictAgain {
		return true
	}
	if !p.asked.IsZero() && !r.ask(ctx, p, over) {
		return !p.asked.IsZero() && !over
	}
	o, err := r.client.Get(ctx, catalog.Pods, p.Namespace, p.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && o.GetUID() != p.UID:
		done := "evicted"
		if r.nodes.options.DisableEviction {
			done = "deleted"
		}
		say(r.out.OutOrStdout(), fmt.Sprintf("pod/%s %s\n", p.Name, done))
		return false
	case err != nil:
		r.fail("error when waiting for pod %q in namespace %q to terminate: %v", p, err)
		return false
	case rule.Skips(o.(*corev1.Pod).DeletionTimestamp, r.clock.Now(), &r.nodes.options):
		say(r.out.OutOrStdout(), fmt.Sprintf("pod %q has DeletionTimestamp older than %d seconds, skipping\n", p.Name, r.nodes.skip))
		return false
	case over:
		r.fail("error when waiting for pod %q in namespace %q to terminate: %v", p, context.DeadlineExceeded)
		return false
	}
	return true
}

// ask asks for an eviction, or deletes the pod. It reports whether the pod is being deleted now.
func (r *removing) ask(ctx context.Context, p *removed, over bool) bool {
	removal := &client.Removal{Namespace: p.Namespace, Name: p.Name, GracePeriodSeconds: r.nodes.options.GracePeriodSeconds, DryRun: r.dryRun.word == "server"}
	do, suffix := r.client.Evict, ""
	if r.nodes.options.DisableEviction {
		do = r.client.DeletePod
	} else {
		if removal.DryRun {
			suffix = " (server dry run)"
		}
		say(r.out.OutOrStdout(), fmt.Sprintf("evicting pod %s/%s%s\n", p.Namespace, p.Name, suffix))
	}
	if over {
		r.fail("error when evicting pods/%q -n %q: global timeout reached: %v", p, r.nodes.options.Timeout)
		p.asked = time.Time{}
		return false
	}
	err := do(ctx, removal)
	switch {
	case apierrors.IsTooManyRequests(err):
		say(r.out.ErrOrStderr(), fmt.Sprintf("error when evicting pods/%q -n %q (will retry after 5s): %v\n", p.Name, p.Namespace, err))
		p.asked = r.clock.Now()
		return false
	case apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return r.ending(ctx, p, err)
	case err != nil && !apierrors.IsNotFound(err):
		r.fail("error when evicting pods/%q -n %q: %v", p, err)
	}
	p.asked = time.Time{}
	return err == nil && !removal.DryRun
}

// ending does what is due of a pod whose namespace is being deleted, in which nothing can be evicted: it reports whether the pod is being
// deleted, too, and has it looked at again until it is.
func (r *removing) ending(ctx context.Context, p *removed, refusal error) bool {
	if !p.DeletionTimestamp.IsZero() {
		p.asked = time.Time{}
		return true
	}
	say(r.out.ErrOrStderr(), fmt.Sprintf("error when evicting pod %q from terminating namespace %q (will retry after 5s): %v\n", p.Name, p.Namespace, refusal))
	p.asked = r.clock.Now()
	if o, err := r.client.Get(ctx, catalog.Pods, p.Namespace, p.Name); err == nil { // else its eviction is asked for as before
		p.Pod = o.(*corev1.Pod)
	}
	return false
}

func (r *removing) fail(what string, p *removed, why any) {
	r.errs = append(r.errs, fmt.Sprintf(what, p.Name, p.Namespace, why))
}

// previewNodes says which pods the drains would evict, where others would run in their place, and what budgets would block.
func (d *draining) previewNodes(c *cobra.Command, targets []target) error {
	objects, err := clusterObjects(c.Context(), d.from, c.ErrOrStderr())
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	settings, err := d.settings()
	if err != nil {
		return err
	}
	names := lists.Of(targets, func(at target) messages.NodeName { return messages.NodeName(at.name) })
	fleet := rehearsal.Fleet{Objects: objects, Settings: settings, Seed: 1, Now: time.Now().UTC()}
	moves, err := rehearsal.Drains(c.Context(), fleet, &d.nodes.options, names...)
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	return printPodMoves(c.OutOrStdout(), moves)
}
