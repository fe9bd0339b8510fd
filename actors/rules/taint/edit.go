package taint

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Same reports whether two taints are the same one: identity is key and effect, never the value.
func Same(a, b *corev1.Taint) bool { return a.Key == b.Key && a.Effect == b.Effect }

// Find returns the index of the taint with this key and effect, -1 if there is none.
func Find(taints []corev1.Taint, key string, effect corev1.TaintEffect) int {
	return slices.IndexFunc(taints, func(t corev1.Taint) bool { return t.Key == key && t.Effect == effect })
}

// Evicting returns the NoExecute taints of a list, in its order.
func Evicting(taints []corev1.Taint) (found []corev1.Taint) {
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectNoExecute {
			found = append(found, taints[i])
		}
	}
	return found
}

// Add returns the taints with t among them and whether that is a change. A taint that has t's key,
// effect and value stays as it is, timeAdded included; one that has another value gives its place to
// t; else t goes to the end.
func Add(taints []corev1.Taint, t corev1.Taint) (after []corev1.Taint, changed bool) {
	i := Find(taints, t.Key, t.Effect)
	if i < 0 {
		return append(slices.Clip(taints), t), true
	}
	if taints[i].Value == t.Value {
		return taints, false
	}
	after = slices.Clone(taints)
	after[i] = t
	return after, true
}

// Remove returns the taints without those of this key and effect, whatever their value, and whether
// that is a change. An empty effect means every effect.
func Remove(taints []corev1.Taint, key string, effect corev1.TaintEffect) (after []corev1.Taint, changed bool) {
	goes := func(t corev1.Taint) bool { return t.Key == key && (effect == "" || t.Effect == effect) }
	if !slices.ContainsFunc(taints, goes) {
		return taints, false
	}
	return slices.DeleteFunc(slices.Clone(taints), goes), true
}
