package nodes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/rehearsal"
)

// largestPreview is how many pods there may be for all to be rehearsed with a write of a node. Of more, those of the node are.
const largestPreview = 20_000

// Warnings tell users what a write of a node would lead to, before it is made: which pods its taints would evict, and when. They may be
// called for by anyone at any time. before is nil for a new node.
func (c *Config) Warnings(ctx context.Context, s messages.Settings, o, before *corev1.Node) []string {
	edit := editOf(o, before)
	if edit == nil {
		return nil
	}
	f := rehearsal.Fleet{Settings: s, Seed: c.Seed, Now: c.Clock.Now().UTC(), Objects: c.around(edit.Node)}
	moves, err := rehearsal.Nodes(ctx, f, edit)
	if err != nil {
		return []string{fmt.Sprintf("preview: not made: %v", err)}
	}
	return moves.Warnings()
}

// editOf is what a write changes of the taints and the cordon of a node; nil: nothing.
func editOf(o, before *corev1.Node) *messages.EditNode {
	if before == nil {
		return nil // no pod is there
	}
	edit := &messages.EditNode{Node: messages.NodeName(o.Name), By: "by a user"}
	for i := range o.Spec.Taints {
		t := &o.Spec.Taints[i]
		if j := taint.Find(before.Spec.Taints, t.Key, t.Effect); j < 0 || before.Spec.Taints[j].Value != t.Value {
			edit.Taint = append(edit.Taint, *t)
		}
	}
	for i := range before.Spec.Taints {
		if t := &before.Spec.Taints[i]; taint.Find(o.Spec.Taints, t.Key, t.Effect) < 0 {
			edit.Untaint = append(edit.Untaint, *t)
		}
	}
	if len(edit.Taint)+len(edit.Untaint) == 0 {
		return nil // a cordon evicts nothing
	}
	return edit
}

// around are the objects that a rehearsal with a node needs.
func (c *Config) around(name messages.NodeName) (objects []api.Object) {
	all := c.Engine.Table(catalog.Pods.Name()).Len() <= largestPreview
	for _, r := range kept {
		if r == catalog.PodBudgets && !all {
			continue // they are counted by all pods
		}
		for _, o := range c.Engine.Table(r.Name()).Snapshot().Under("", "") {
			if p, is := o.(*corev1.Pod); all || o.GetName() == string(name) && !is || is && p.Spec.NodeName == string(name) {
				objects = append(objects, o)
			}
		}
	}
	return objects
}
