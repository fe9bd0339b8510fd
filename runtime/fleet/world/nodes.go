package world

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
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
	case *corev1.Node, *corev1.Pod, *policyv1.PodDisruptionBudget:
		return true
	}
	return false
}

// nodeObject is a node, a pod or a PodDisruptionBudget as its cluster has it, nil for anything else.
func (w *World) nodeObject(key api.Key) api.Object {
	if w.nodes == nil {
		return nil
	}
	if key.APIVersion == policyv1.SchemeGroupVersion.String() && key.Kind == "PodDisruptionBudget" {
		if o := w.nodes.Budget(messages.NamePodBudget(key.Namespace, key.Name)); o != nil {
			return o
		}
	}
	if key.APIVersion != "v1" {
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

// applyToNodes hands a node, a pod or a PodDisruptionBudget to its cluster, which has admitted it.
func (w *World) applyToNodes(o api.Object, created bool) error {
	w.Note(&messages.ObjectApplied{Object: api.KeyOf(o).String(), Created: created})
	if w.now.Equal(w.config.Start) && ran(o) {
		return w.nodes.Settle(o)
	}
	return w.nodes.Apply(o)
}

// admitToNodes completes a pod as the admission plugins of its cluster do, before it is validated, and refuses a PodDisruptionBudget too many.
func (w *World) admitToNodes(o api.Object, created bool) error {
	if w.nodes == nil {
		return nil
	}
	switch o := o.(type) {
	case *corev1.Pod:
		if err := w.nodes.Admit(o, created); err != nil {
			return w.refuse(o, field.NewPath("spec", "tolerations"), err)
		}
	case *policyv1.PodDisruptionBudget:
		if err := w.nodes.AdmitBudget(o); err != nil {
			return w.refuse(o, field.NewPath("metadata", "name"), err)
		}
	}
	return nil
}

// refuse records that the cluster does not admit an object, because of a field.
func (w *World) refuse(o api.Object, at *field.Path, err error) error {
	r := &Rejected{Object: api.KeyOf(o), Problems: field.ErrorList{field.Forbidden(at, err.Error())}}
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
