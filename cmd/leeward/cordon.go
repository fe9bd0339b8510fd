package main

import (
	"context"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
)

// cordoned keeps new workloads off a cluster. Source: karmadactl cordon.
var cordoned = corev1.Taint{Key: api.TaintUnschedulable, Effect: corev1.TaintEffectNoSchedule}

func cordonCommand() *cobra.Command {
	return cordoning(&cobra.Command{
		Use:     "cordon [clusters|nodes] NAME...",
		Short:   "Keep new workloads off clusters, or new pods off nodes",
		Long:    "Keep new workloads off clusters at a running daemon or a Karmada API server, or new pods off nodes at a Kubernetes API server.\nWhat runs there remains.\n\n" + editExitCodes,
		Example: "  leeward cordon clusters member2\n  leeward cordon clusters -l region=eu --dry-run=server\n  leeward cordon nodes worker-3",
	}, "cordoned", cordon)
}

func uncordonCommand() *cobra.Command {
	return cordoning(&cobra.Command{
		Use:     "uncordon [clusters|nodes] NAME...",
		Short:   "Allow new workloads on clusters, or new pods on nodes, again",
		Long:    "Allow new workloads on clusters, or new pods on nodes, again: ends a cordon, and of a cluster a drain.\n\n" + editExitCodes,
		Example: "  leeward uncordon clusters member2\n  leeward uncordon nodes worker-3",
	}, "uncordoned", uncordon)
}

func cordoning(c *cobra.Command, done string, edit func(api.Object) map[string]any) *cobra.Command {
	e := newEditing()
	c.RunE = func(c *cobra.Command, args []string) error { return e.cordon(c, args, done, edit) }
	e.add(c)
	e.addChoice(c)
	e.addFiles(c)
	c.ValidArgsFunction = e.offerClusters(false)
	return c
}

// cordon makes an edit of each cluster, and says so.
func (e *editing) cordon(c *cobra.Command, args []string, done string, edit func(api.Object) map[string]any) error {
	targets, err := e.placesNamed(args)
	if err != nil {
		return misused(c, err)
	}
	if err := e.open(c); err != nil {
		return err
	}
	if len(targets) > 1 { // as kubectl: where one does not exist, none is changed
		if err := e.exist(c.Context(), targets); err != nil {
			return refused(err)
		}
	}
	return refused(e.each(c.Context(), targets, func(ctx context.Context, t target) error {
		said := ""
		err := e.object(ctx, t, func(o api.Object) (map[string]any, error) {
			body := edit(o)
			if said = ""; body == nil {
				said = "already "
			}
			return body, nil
		})
		if err != nil {
			return err
		}
		return e.print(c, t.String(), said+done)
	}))
}

func cordon(o api.Object) map[string]any {
	if n, is := o.(*corev1.Node); is {
		return scheduling(n, true)
	}
	after, changed := taint.Add(o.(*api.Cluster).Spec.Taints, cordoned)
	if !changed {
		return nil
	}
	return map[string]any{"spec": map[string]any{"taints": after}}
}

// uncordon ends a drain, too: a cluster that is drained takes nothing new either.
func uncordon(o api.Object) map[string]any {
	if n, is := o.(*corev1.Node); is {
		return scheduling(n, false)
	}
	after, changed := taint.Remove(o.(*api.Cluster).Spec.Taints, cordoned.Key, cordoned.Effect)
	_, drained := o.GetAnnotations()[api.AnnotationDrain]
	if !changed && !drained {
		return nil
	}
	body := map[string]any{"spec": map[string]any{"taints": after}}
	if drained {
		body["metadata"] = annotated(map[string]any{api.AnnotationDrain: nil})["metadata"]
	}
	return body
}

// scheduling lets a node take new pods, or not.
func scheduling(n *corev1.Node, unschedulable bool) map[string]any {
	if n.Spec.Unschedulable == unschedulable {
		return nil
	}
	var field any
	if unschedulable {
		field = true
	}
	return map[string]any{"spec": map[string]any{"unschedulable": field}}
}
