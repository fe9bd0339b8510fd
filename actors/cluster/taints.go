package cluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// Who puts taints on clusters.
const (
	byUser   = "user"
	bySystem = "system"
	byPolicy = "policy"
)

// taintsEdited carries out what people ask for. The system's own taints come back at once.
func (c *Cluster) taintsEdited(now time.Time, edits []messages.TaintEdit, out *actors.Outbox) {
	before := c.taints
	for i := range edits {
		if edits[i].Remove {
			c.removeByHand(&edits[i].Taint)
		} else {
			c.addByHand(now, edits[i].Taint)
		}
	}
	c.systemTaints(now)
	c.tell(now, before, nil, out)
}

// addByHand stamps NoExecute taints only, as the API server does.
func (c *Cluster) addByHand(now time.Time, t corev1.Taint) {
	if i := taint.Find(c.taints, t.Key, t.Effect); i >= 0 && c.taints[i].Value == t.Value {
		return
	}
	if t.TimeAdded == nil && t.Effect == corev1.TaintEffectNoExecute {
		t.TimeAdded = c.stamp(now)
	}
	c.add(t, api.TaintCause{By: byUser})
}

func (c *Cluster) removeByHand(t *corev1.Taint) {
	for i := len(c.taints) - 1; i >= 0; i-- {
		if c.taints[i].Key == t.Key && (t.Effect == "" || c.taints[i].Effect == t.Effect) {
			c.removeAt(i)
		}
	}
}

// retaint brings the taints up to date with the verdicts of the policies and with the Ready
// condition, in one change. Policies come first: what one of them takes from the system, the system
// puts back.
func (c *Cluster) retaint(now time.Time, removals []api.TaintCause, out *actors.Outbox) {
	before := c.taints
	removals = append(removals, c.applyVerdicts(now)...)
	c.systemTaints(now)
	c.tell(now, before, removals, out)
}

// systemTaints makes the taints that follow from Ready by themselves what they must be.
func (c *Cluster) systemTaints(now time.Time) {
	ready := c.status(api.ConditionReady)
	c.swap(taint.System(ready, ready != ""), now)
	legacy, _ := taint.Legacy(ready, c.readySince(), c.settings.FailoverEvictionTimeout, now)
	c.swap(legacy, now)
}

func (c *Cluster) swap(s taint.Swap, now time.Time) {
	for _, key := range s.Remove {
		if i := taint.Find(c.taints, key, s.Effect); i >= 0 {
			c.removeAt(i)
		}
	}
	if s.Add != "" && taint.Find(c.taints, s.Add, s.Effect) < 0 {
		c.add(corev1.Taint{Key: s.Add, Effect: s.Effect, TimeAdded: c.stamp(now)},
			api.TaintCause{By: bySystem, Because: c.because(api.ConditionReady)})
	}
}

// legacyDue is when the system will add its NoExecute twin; zero: not by waiting.
func (c *Cluster) legacyDue() time.Time {
	ready := c.status(api.ConditionReady)
	if c.settings.FailoverEvictionTimeout == 0 || ready == metav1.ConditionTrue || ready == "" {
		return time.Time{}
	}
	due := c.readySince().Add(c.settings.FailoverEvictionTimeout)
	key := api.TaintNotReady
	if ready == metav1.ConditionUnknown {
		key = api.TaintUnreachable
	}
	if taint.Find(c.taints, key, corev1.TaintEffectNoExecute) >= 0 {
		return time.Time{}
	}
	return due
}

func (c *Cluster) readySince() time.Time {
	if k := find(c.conditions, api.ConditionReady); k != nil {
		return k.LastTransitionTime.Time
	}
	return time.Time{}
}

// because tells one condition in a line: "Ready=False (NetworkDown: link lost)".
func (c *Cluster) because(kind string) string {
	k := find(c.conditions, kind)
	switch {
	case k == nil:
		return kind + " is not reported"
	case k.Reason == "" && k.Message == "":
		return kind + "=" + string(k.Status)
	case k.Message == "":
		return kind + "=" + string(k.Status) + " (" + k.Reason + ")"
	default:
		return kind + "=" + string(k.Status) + " (" + k.Reason + ": " + k.Message + ")"
	}
}

// stamp is the timeAdded of a taint that is added now.
func (c *Cluster) stamp(now time.Time) *metav1.Time {
	if c.settings.WholeSecondTaintTimes {
		now = now.Truncate(time.Second)
	}
	return &metav1.Time{Time: now}
}

func (c *Cluster) add(t corev1.Taint, cause api.TaintCause) {
	cause.Key, cause.Effect = t.Key, t.Effect
	if i := taint.Find(c.taints, t.Key, t.Effect); i >= 0 {
		c.taints, c.causes = slices.Clone(c.taints), slices.Clone(c.causes)
		c.taints[i], c.causes[i] = t, cause
		return
	}
	c.taints = append(slices.Clip(c.taints), t)
	c.causes = append(slices.Clip(c.causes), cause)
}

func (c *Cluster) removeAt(i int) {
	c.taints = slices.Delete(slices.Clone(c.taints), i, i+1)
	c.causes = slices.Delete(slices.Clone(c.causes), i, i+1)
}

// tell records how the taints differ from before and tells everyone whom that concerns. removals say
// why policies removed what they did; anything else went by hand or by the system.
func (c *Cluster) tell(now time.Time, before []corev1.Taint, removals []api.TaintCause, out *actors.Outbox) {
	changed := c.recordRemoved(before, removals, out)
	changed = c.recordAdded(before, out) || changed
	if !changed {
		return
	}
	c.markEvicting(now)
	c.showScheduler(true, out)
	if !sameEvicting(before, c.taints) {
		for _, b := range c.placed {
			out.TellBinding(b, c.evictingTaints(true))
		}
	}
}

func (c *Cluster) recordRemoved(before []corev1.Taint, removals []api.TaintCause, out *actors.Outbox) bool {
	changed := false
	for i := range before {
		if taint.Find(c.taints, before[i].Key, before[i].Effect) >= 0 {
			continue
		}
		changed = true
		cause := api.TaintCause{Key: before[i].Key, Effect: before[i].Effect, By: byUser}
		if isSystem(&before[i]) {
			cause.By, cause.Because = bySystem, c.because(api.ConditionReady)
		}
		for _, r := range removals {
			if r.Key == cause.Key && r.Effect == cause.Effect {
				cause = r
			}
		}
		out.Record(&messages.TaintRemoved{Cluster: c.name, Taint: before[i], Cause: cause})
	}
	return changed
}

func (c *Cluster) recordAdded(before []corev1.Taint, out *actors.Outbox) bool {
	changed := false
	for i := range c.taints {
		if j := taint.Find(before, c.taints[i].Key, c.taints[i].Effect); j >= 0 && before[j].Value == c.taints[i].Value &&
			before[j].TimeAdded.Equal(c.taints[i].TimeAdded) {
			continue
		}
		changed = true
		out.Record(&messages.TaintAdded{Cluster: c.name, Taint: c.taints[i], Cause: c.causes[i]})
	}
	return changed
}

func isSystem(t *corev1.Taint) bool {
	return t.Key == api.TaintNotReady || t.Key == api.TaintUnreachable
}

// evictingTaints is the message about the cluster's NoExecute taints.
func (c *Cluster) evictingTaints(news bool) *messages.TaintsChanged {
	m := &messages.TaintsChanged{Cluster: c.name, Since: c.evictingSince, News: news}
	for i := range c.taints {
		if c.taints[i].Effect == corev1.TaintEffectNoExecute {
			m.Taints = append(m.Taints, c.taints[i])
			m.Causes = append(m.Causes, c.causes[i])
		}
	}
	return m
}

// markEvicting keeps track of when the cluster came to have NoExecute taints.
func (c *Cluster) markEvicting(now time.Time) {
	evicts := func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute }
	switch any := slices.ContainsFunc(c.taints, evicts); {
	case !any:
		c.evictingSince = time.Time{}
	case c.evictingSince.IsZero():
		c.evictingSince = now
	}
}

func sameEvicting(a, b []corev1.Taint) bool {
	only := func(taints []corev1.Taint) (kept []corev1.Taint) {
		for i := range taints {
			if taints[i].Effect == corev1.TaintEffectNoExecute {
				kept = append(kept, taints[i])
			}
		}
		return kept
	}
	return slices.EqualFunc(only(a), only(b), func(x, y corev1.Taint) bool {
		return x.Key == y.Key && x.Value == y.Value && x.TimeAdded.Equal(y.TimeAdded)
	})
}

// causesOf lines recorded causes up with taints; a taint without one is put down to people.
func causesOf(taints []corev1.Taint, recorded []api.TaintCause) []api.TaintCause {
	causes := make([]api.TaintCause, len(taints))
	for i := range taints {
		causes[i] = api.TaintCause{Key: taints[i].Key, Effect: taints[i].Effect, By: byUser}
		for _, r := range recorded {
			if r.Key == taints[i].Key && r.Effect == taints[i].Effect {
				causes[i] = r
			}
		}
	}
	return causes
}

// editsTowards returns the edits that turn one list of taints into another.
func editsTowards(from, to []corev1.Taint) []messages.TaintEdit {
	var edits []messages.TaintEdit
	for i := range from {
		if taint.Find(to, from[i].Key, from[i].Effect) < 0 {
			edits = append(edits, messages.TaintEdit{Taint: from[i], Remove: true})
		}
	}
	for i := range to {
		edits = append(edits, messages.TaintEdit{Taint: to[i]})
	}
	return edits
}
