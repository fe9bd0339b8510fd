package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/taint"
	"leeward/messages/api"
)

// byGovernor takes NoExecute taints back during a blackout.
var byGovernor = api.TaintCause{By: "governor", Because: "all clusters seem to be unreachable"}

// Who puts taints on clusters.
const (
	byUser   = api.TaintCauseUser
	bySystem = "system"
	byPolicy = "policy"
)

// revision is one change of the cluster's taints in the making. It takes any number of steps, each with
// a reason; only the difference between its beginning and its end ever happened.
type revision struct {
	taints []corev1.Taint
	// causes[i] says who wants taints[i] there.
	causes []api.TaintCause
	// gone says who wanted which taint gone; of one that went twice the last counts.
	gone []api.TaintCause
	// timed are the taints whose time people gave themselves: it counts, also for a taint that is there already.
	timed []corev1.Taint
}

// become takes the step to the taints that a rule returned; why says who wants a taint there, or gone.
func (r *revision) become(after []corev1.Taint, why func(*corev1.Taint) api.TaintCause) {
	because := func(t *corev1.Taint) api.TaintCause {
		cause := why(t)
		cause.Key, cause.Effect = t.Key, t.Effect
		return cause
	}
	for i := range r.taints {
		if taint.Find(after, r.taints[i].Key, r.taints[i].Effect) < 0 {
			r.gone = append(r.gone, because(&r.taints[i]))
		}
	}
	causes := make([]api.TaintCause, len(after))
	for i := range after {
		if j := find(r.taints, &after[i]); j >= 0 {
			causes[i] = r.causes[j]
		} else {
			causes[i] = because(&after[i])
		}
	}
	r.taints, r.causes = after, causes
}

// time gives a taint the time that people gave it. Of one that has another value since, it is not the time any more.
func (r *revision) time(t corev1.Taint) {
	i := find(r.taints, &t)
	if i < 0 {
		return
	}
	if !r.taints[i].TimeAdded.Equal(t.TimeAdded) {
		r.taints = slices.Clone(r.taints)
		r.taints[i].TimeAdded = t.TimeAdded
	}
	r.timed = append(r.timed, t)
}

// retimes reports whether people gave a taint that is there another time.
func (r *revision) retimes(was, is *corev1.Taint) bool {
	given := func(t corev1.Taint) bool { return sameID(t, *is) && t.TimeAdded.Equal(is.TimeAdded) }
	return !was.TimeAdded.Equal(is.TimeAdded) && slices.ContainsFunc(r.timed, given)
}

// find returns the index of the taint with the same key, effect and value, -1 if there is none.
func find(taints []corev1.Taint, t *corev1.Taint) int {
	i := taint.Find(taints, t.Key, t.Effect)
	if i >= 0 && taints[i].Value != t.Value {
		return -1
	}
	return i
}

func sameID(a, b corev1.Taint) bool { return taint.Same(&a, &b) && a.Value == b.Value }

// barred are those of the taints that no policy may remove.
func barred(ways karmada.Ways, taints []corev1.Taint, causes []api.TaintCause) (barred []corev1.Taint) {
	if ways.PoliciesRemoveAny() {
		return nil
	}
	for i := range taints {
		if causes[i].By != byPolicy {
			barred = append(barred, taints[i])
		}
	}
	return barred
}

func (r *revision) lastWordOn(t *corev1.Taint) (cause api.TaintCause) {
	for _, g := range r.gone {
		if g.Key == t.Key && g.Effect == t.Effect {
			cause = g
		}
	}
	return cause
}

// withhold keeps the taints out, during a blackout, by which conditions would empty the cluster.
// What people ask for stays, be it a taint, a drain or a deletion.
func (r *revision) withhold() {
	var kept []corev1.Taint
	for i := range r.taints {
		if !follows(&r.taints[i], r.causes[i].By) {
			kept = append(kept, r.taints[i])
		}
	}
	if len(kept) < len(r.taints) {
		r.become(kept, func(*corev1.Taint) api.TaintCause { return byGovernor })
	}
}

// follows reports whether a taint empties the cluster because of a condition: one of a policy, or that of the
// system for Ready.
func follows(t *corev1.Taint, by string) bool {
	if t.Effect != corev1.TaintEffectNoExecute {
		return false
	}
	return by == byPolicy || by == bySystem && (t.Key == api.TaintNotReady || t.Key == api.TaintUnreachable)
}
