// Package taint holds the rules of taints and tolerations: which toleration covers which taint and
// until when, how a list of taints is edited, which taints the system adds by itself, and how people
// write a taint down.
//
// Everything is a pure function of its arguments. Lists that come in are never written to: a caller that
// holds one may keep it. Time is absolute, so a verdict stays true until a taint or a toleration
// changes. Sources: the Kubernetes documents "Taints and Tolerations" (identity, matching,
// tolerationSeconds, operators Lt and Gt) and Karmada's "Cluster Taint Management" and "Failover".
package taint

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Tolerates reports whether one toleration covers one taint. An empty effect covers every effect and
// an empty key every key; the operator then decides about the value: empty or Equal asks for the same
// value, Exists for none. Lt and Gt ask for a taint value strictly below or above the toleration's,
// both canonical decimals of 64 bits; they cover nothing unless numeric, and nothing where either side
// is no such number. Any other operator covers nothing.
//
// It is the rule of k8s.io/api's ToleratesTaint, which needs a logger and allocates for what is no
// number; a fuzz test holds the two together.
func Tolerates(t *corev1.Toleration, taint *corev1.Taint, numeric bool) bool {
	return names(t, taint) && accepts(t, taint, numeric)
}

// names reports whether the toleration is about the taint's key. Most pairs differ in it, so it comes
// first and is small enough to be inlined. Keys of one domain often have the same length and differ only
// in their end, so the last byte tells them apart before the whole is compared.
func names(t *corev1.Toleration, taint *corev1.Taint) bool {
	n := len(t.Key)
	return n == 0 || n == len(taint.Key) && t.Key[n-1] == taint.Key[n-1] && t.Key == taint.Key
}

// accepts reports whether a toleration of a taint's key covers its effect and value.
func accepts(t *corev1.Toleration, taint *corev1.Taint, numeric bool) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	switch t.Operator {
	case "", corev1.TolerationOpEqual:
		return t.Value == taint.Value
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpLt:
		return numeric && below(taint.Value, t.Value)
	case corev1.TolerationOpGt:
		return numeric && below(t.Value, taint.Value)
	default:
		return false
	}
}

// FirstUntolerated returns the index of the first NoSchedule or NoExecute taint that no toleration
// covers, -1 if there is none: what the scheduler's filter asks. For how long a taint is tolerated does
// not matter here. Source: the TaintToleration filter of Kubernetes and of Karmada.
func FirstUntolerated(taints []corev1.Taint, tolerations []corev1.Toleration, numeric bool) int {
	for i := range taints {
		if repels(&taints[i]) && covering(&taints[i], tolerations, numeric) < 0 {
			return i
		}
	}
	return -1
}

func repels(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// covering returns the index of the first toleration that covers the taint, -1 if none does.
func covering(taint *corev1.Taint, tolerations []corev1.Toleration, numeric bool) int {
	for j := range tolerations {
		if names(&tolerations[j], taint) && accepts(&tolerations[j], taint, numeric) {
			return j
		}
	}
	return -1
}

// below reports whether both are canonical decimals and a is strictly less than b.
func below(a, b string) bool {
	x, okay := decimal(a)
	y, also := decimal(b)
	return okay && also && x < y
}

// decimal reads a canonical decimal of 64 bits: digits without leading zeros, one minus sign before
// them at most, "-0" excluded. It counts downwards, since only there the smallest number fits.
func decimal(s string) (n int64, ok bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || digits[0] == '0' && s != "0" {
		return 0, false
	}
	for i := range len(digits) {
		d := int64(digits[i]) - '0'
		if d < 0 || d > 9 || n < (math.MinInt64+d)/10 {
			return 0, false
		}
		n = n*10 - d
	}
	if s[0] == '-' {
		return n, true
	}
	return -n, n != math.MinInt64
}

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
