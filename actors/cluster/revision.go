package cluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

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

// commit makes a revision come true, records it and tells everyone whom it concerns. A taint that was
// there and is there again is the same one: it keeps its place, its time unless people give it another, and its
// cause unless another cause asks for it now. Only what a policy took from the system was gone, as in Karmada, where
// two controllers write.
func (c *Cluster) commit(now time.Time, r *revision, out *actors.Outbox) {
	c.withhold(r)
	before, adopted := c.taints.list, false
	c.taints.removeGone(r, out)
	changed := len(c.taints.list) < len(before)
	for i := range r.taints {
		if j := find(c.taints.list, &r.taints[i]); j >= 0 && !r.retimes(&c.taints.list[j], &r.taints[i]) {
			adopted = c.taints.adopt(j, r.causes[i], out) || adopted
			continue
		}
		c.taints.put(r.taints[i], r.causes[i])
		out.Record(&messages.TaintAdded{Cluster: c.name, Taint: r.taints[i], Cause: r.causes[i]})
		changed = true
	}
	if changed {
		c.retainted(now, before, out)
	}
	if adopted {
		c.tellTaints(false, out)
	}
}

func (r *revision) lastWordOn(t *corev1.Taint) (cause api.TaintCause) {
	for _, g := range r.gone {
		if g.Key == t.Key && g.Effect == t.Effect {
			cause = g
		}
	}
	return cause
}
