package world

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/nodetier"
)

// ofNodes reports whether an object is one of the nodes and pods of the world's cluster.
func (w *World) ofNodes(o api.Object) bool {
	if w.nodes == nil {
		return false
	}
	switch o.(type) {
	case *corev1.Node, *corev1.Pod:
		return true
	}
	return false
}

// nodeObject is a node or a pod as its cluster has it, nil for anything else.
func (w *World) nodeObject(key api.Key) api.Object {
	if w.nodes == nil || key.APIVersion != "v1" {
		return nil
	}
	switch key.Kind {
	case "Node":
		if o := w.nodes.Node(messages.NodeName(key.Name)); o != nil {
			return o
		}
	case "Pod":
		if o := w.nodes.Pod(messages.NamePod(key.Namespace, key.Name)); o != nil {
			return o
		}
	}
	return nil
}

// applyToNodes hands a node or a pod to its cluster, which has admitted it.
func (w *World) applyToNodes(o api.Object, created bool) error {
	w.Note(&messages.ObjectApplied{Object: api.KeyOf(o).String(), Created: created})
	if w.now.Equal(w.config.Start) && ran(o) {
		return w.nodes.Settle(o)
	}
	return w.nodes.Apply(o)
}

// admitToNodes completes a pod as the admission plugins of its cluster do, before it is validated.
func (w *World) admitToNodes(o api.Object, created bool) error {
	p, is := o.(*corev1.Pod)
	if !is || w.nodes == nil {
		return nil
	}
	err := w.nodes.Admit(p, created)
	if err == nil {
		return nil
	}
	r := &Rejected{Object: api.KeyOf(o), Problems: field.ErrorList{field.Forbidden(field.NewPath("spec", "tolerations"), err.Error())}}
	w.Note(&messages.ObjectRejected{Object: r.Object.String(), Problems: r.reasons()})
	return r
}

// ran reports whether a node or a pod has a status: at the start of a world, it was there before.
func ran(o api.Object) bool {
	switch o := o.(type) {
	case *corev1.Node:
		return len(o.Status.Conditions) > 0
	case *corev1.Pod:
		return o.Spec.NodeName != "" && o.Status.Phase != ""
	}
	return false
}

// deleteOfNodes deletes what the world's cluster has. It reports whether it had it.
func (w *World) deleteOfNodes(key api.Key) bool {
	if w.nodes == nil || !w.nodes.Delete(key) {
		return false
	}
	w.Note(&messages.ObjectDeleted{Object: key.String()})
	if w.store.Has(key) {
		w.store.Delete(key)
	}
	return true
}

// runByPods has an object keep up pods or nodes, where there are nodes. It reports whether it does.
func (w *World) runByPods(o api.Object) bool {
	if w.nodes == nil || !nodetier.Handles(o) {
		return false
	}
	if err := w.nodes.Apply(o); err != nil {
		w.Note(&messages.ObjectRejected{Object: api.KeyOf(o).String(), Problems: []string{err.Error()}})
	}
	return true
}
