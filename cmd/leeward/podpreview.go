package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/rehearsal"
)

// podPreviewLimit bounds what a preview reads: the objects of one cluster as large as Kubernetes supports.
const podPreviewLimit = 200_000

// previewPods says which pods a change of taints would evict, and where others would run in their place.
func (t *tainting) previewPods(c *cobra.Command, targets []target, changes *taint.Changes) error {
	if len(targets) == 0 {
		var err error
		if targets, err = t.selected(c.Context()); err != nil {
			return err
		}
	}
	edits := make([]*messages.EditNode, len(targets))
	for i, at := range targets {
		edits[i] = &messages.EditNode{Node: messages.NodeName(at.name), Taint: changes.Add, Untaint: changes.Remove, By: "by a user"}
	}
	objects, err := clusterObjects(c.Context(), t.from, c.ErrOrStderr())
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	settings, err := t.settings()
	if err != nil {
		return err
	}
	moves, err := rehearsal.Nodes(c.Context(), rehearsal.Fleet{Objects: objects, Settings: settings, Seed: 1, Now: time.Now().UTC()}, edits...)
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	return printPodMoves(c.OutOrStdout(), moves)
}

// clusterObjects are the nodes and pods of a cluster, with what keeps the pods up, and budgets, which not every server has, and not every
// user may list: then they are unknown, which is told.
func clusterObjects(ctx context.Context, from source, warnings io.Writer) (objects []api.Object, err error) {
	for _, r := range []*catalog.Resource{
		catalog.PodBudgets, catalog.Nodes, catalog.Pods, workloads("Deployment"), workloads("ReplicaSet"), workloads("StatefulSet"), workloads("DaemonSet"),
	} {
		some, _, err := from.List(ctx, r, "", "")
		switch {
		case r == catalog.PodBudgets && apierrors.IsNotFound(err):
		case r == catalog.PodBudgets && apierrors.IsForbidden(err):
			say(warnings, "Warning: PodDisruptionBudgets are unknown, and which evictions they would block: "+journal.Printable(err.Error())+"\n")
		case err != nil:
			return nil, fmt.Errorf("list %s: %w", r.Plural, err)
		}
		if objects = append(objects, some...); len(objects) > podPreviewLimit {
			return nil, fmt.Errorf("the cluster has more than %d nodes, pods and workloads", podPreviewLimit)
		}
	}
	if server, is := from.(*client.Client); is {
		if fleet, err := server.Serves(ctx, catalog.Clusters); err != nil {
			return nil, fmt.Errorf("ask for %s: %w", catalog.Clusters.Plural, err)
		} else if fleet {
			objects = withPods(objects)
		}
	}
	return objects, nil
}

// withPods leaves out the workloads that control no pod: at an API server that has a fleet of clusters, too, they are what is propagated to
// these, and nothing makes pods of them there.
func withPods(objects []api.Object) []api.Object {
	control := map[api.Key]bool{}
	note := func(o api.Object) {
		if by := metav1.GetControllerOf(o); by != nil {
			control[api.Key{APIVersion: by.APIVersion, Kind: by.Kind, Namespace: o.GetNamespace(), Name: by.Name}] = true
		}
	}
	for _, o := range objects {
		if _, is := o.(*corev1.Pod); is {
			note(o)
		}
	}
	for _, o := range objects {
		if _, is := o.(*appsv1.ReplicaSet); is && control[api.KeyOf(o)] {
			note(o)
		}
	}
	return slices.DeleteFunc(objects, func(o api.Object) bool { return api.WorkloadOf(o).Template != nil && !control[api.KeyOf(o)] })
}

func workloads(kind string) *catalog.Resource {
	return catalog.Of(api.Key{APIVersion: "apps/v1", Kind: kind})
}

// printPodMoves prints a table of what would be evicted, and where others would run.
func printPodMoves(w io.Writer, moves *rehearsal.PodMoves) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	if len(moves.Evicted)+len(moves.Blocked) > 0 {
		row(table, "NAMESPACE", "POD", "NODE", "EVICTED AFTER", "REASON")
	}
	for _, m := range moves.Evicted {
		namespace, name := m.Pod.Split()
		row(table, namespace, name, string(m.Node), m.After.Round(time.Millisecond).String(), m.Why)
	}
	for _, pod := range slices.Sorted(maps.Keys(moves.Pending)) {
		namespace, name := pod.Split()
		row(table, namespace, name, "<none>", "pending", moves.Pending[pod])
	}
	for _, pod := range slices.Sorted(maps.Keys(moves.Blocked)) {
		namespace, name := pod.Split()
		row(table, namespace, name, string(moves.Blocked[pod].Node), "blocked", moves.Blocked[pod].Why)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(moves.Replaced) > 0 {
		on := lists.Of(slices.Sorted(maps.Keys(moves.Replaced)), func(node messages.NodeName) string { return fmt.Sprintf("%s (%d)", node, moves.Replaced[node]) })
		say(w, "others would run on "+strings.Join(on, ", ")+"\n")
	}
	_, err := fmt.Fprintf(w, "preview: %s; nothing was changed\n", moves)
	return err
}
