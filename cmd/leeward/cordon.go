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
	e := newEditing()
	c := &cobra.Command{
		Use:     "cordon [clusters] NAME...",
		Short:   "Keep new workloads off clusters",
		Long:    "Keep new workloads off clusters at a running daemon, or at a Karmada API server. Running workloads remain.\n\n" + editExitCodes,
		Example: "  leeward cordon clusters member2\n  leeward cordon clusters -l region=eu --dry-run=server",
		RunE:    func(c *cobra.Command, args []string) error { return e.cordon(c, args, "cordoned", cordon) },
	}
	e.add(c)
	e.addChoice(c)
	c.ValidArgsFunction = e.offerClusters(false)
	return c
}

func uncordonCommand() *cobra.Command {
	e := newEditing()
	c := &cobra.Command{
		Use:     "uncordon [clusters] NAME...",
		Short:   "Allow new workloads on clusters again",
		Long:    "Allow new workloads on clusters again: ends a cordon and a drain.\n\n" + editExitCodes,
		Example: "  leeward uncordon clusters member2",
		RunE:    func(c *cobra.Command, args []string) error { return e.cordon(c, args, "uncordoned", uncordon) },
	}
	e.add(c)
	e.addChoice(c)
	c.ValidArgsFunction = e.offerClusters(false)
	return c
}

// cordon makes an edit of each cluster, and says so.
func (e *editing) cordon(c *cobra.Command, args []string, done string, edit func(*api.Cluster) map[string]any) error {
	targets, err := e.clustersNamed(args)
	if err == nil {
		err = e.connect(c)
	}
	if err != nil {
		return misused(c, err)
	}
	return refused(e.each(c.Context(), targets, func(ctx context.Context, t target) error {
		said := ""
		err := e.cluster(ctx, t, func(o *api.Cluster) (map[string]any, error) {
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

func cordon(o *api.Cluster) map[string]any {
	after, changed := taint.Add(o.Spec.Taints, cordoned)
	if !changed {
		return nil
	}
	return map[string]any{"spec": map[string]any{"taints": after}}
}

// uncordon ends a drain, too: a cluster that is drained takes nothing new either.
func uncordon(o *api.Cluster) map[string]any {
	after, changed := taint.Remove(o.Spec.Taints, cordoned.Key, cordoned.Effect)
	_, drained := o.Annotations[api.AnnotationDrain]
	if !changed && !drained {
		return nil
	}
	body := map[string]any{"spec": map[string]any{"taints": after}}
	if drained {
		body["metadata"] = annotated(map[string]any{api.AnnotationDrain: nil})["metadata"]
	}
	return body
}
