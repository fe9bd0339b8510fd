package cluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
)

// taintsEdited carries out what people ask for. The system's own taints come back immediately, and so does one that they remove and
// that a policy asks for whose cleanup is OnChange. Karmada's policies look again when a condition changes, or at a restart.
func (c *Cluster) taintsEdited(now time.Time, edits []messages.TaintEdit, out *actors.Outbox) {
	r := c.taints.revise()
	for i := range edits {
		r.become(c.edit(now, r.taints, &edits[i]), func(*corev1.Taint) api.TaintCause { return askedBy(&edits[i]) })
		if t := edits[i].Taint; !edits[i].Remove && t.TimeAdded != nil {
			r.time(t)
		}
	}
	c.followReady(now, r)
	c.commit(now, r, out)
	if slices.ContainsFunc(edits, func(e messages.TaintEdit) bool { return e.Remove }) {
		c.judging.moved()
	}
}

// askedBy is the person who asks for an edit, as far as that is known.
func askedBy(e *messages.TaintEdit) api.TaintCause {
	cause := e.Cause
	cause.By = byUser
	return cause
}

// edit stamps the taints that the API server stamps.
func (c *Cluster) edit(now time.Time, taints []corev1.Taint, e *messages.TaintEdit) []corev1.Taint {
	t := e.Taint
	if e.Remove {
		taints, _ = taint.Remove(taints, t.Key, t.Effect)
		return taints
	}
	if t.TimeAdded == nil && c.settings.TimesTaints(t.Effect) {
		t.TimeAdded = &metav1.Time{Time: c.ways().Time(now)}
	}
	taints, _ = taint.Add(taints, t)
	return taints
}

// retaint brings the taints up to date with the Ready condition.
func (c *Cluster) retaint(now time.Time, out *actors.Outbox) {
	r := c.taints.revise()
	c.followReady(now, r)
	c.commit(now, r, out)
}

// blackoutDeclared takes back what would empty the cluster, or asks policies and probes again what should.
func (c *Cluster) blackoutDeclared(now time.Time, blind bool, out *actors.Outbox) {
	if c.blackout == blind {
		return
	}
	c.blackout = blind
	c.judging.reopen()
	c.retaint(now, out)
}

// carryOut does what the policies rule, in one change. What no policy asks for any more goes first, so
// that others can put it back. Policies come before the system: what one of them takes from it, it puts
// back.
func (c *Cluster) carryOut(now time.Time, rulings []policy.Ruling, out *actors.Outbox) {
	r := c.taints.revise()
	c.disown(r)
	after, changes, spared := policy.Apply(r.taints, barred(c.ways(), r.taints, r.causes), rulings, c.ways().Time(now))
	if c.admits(after, changes, out) {
		r.become(after, func(t *corev1.Taint) api.TaintCause { return ruledBy(changes, t) })
	}
	c.followReady(now, r)
	c.commit(now, r, out)
	c.spare(spared, out)
}

// commit makes a revision come true, records it and tells everyone whom it concerns. A taint that was
// there and is there again is the same one: it keeps its place, its time unless people give it another, and its
// cause unless another cause asks for it now. Only what a policy took from the system was gone, as in Karmada, where
// two controllers write.
func (c *Cluster) commit(now time.Time, r *revision, out *actors.Outbox) {
	if c.blackout {
		r.withhold()
	}
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

// spare says once of each taint that stays against a policy's will why it does.
func (c *Cluster) spare(spared []policy.TaintChange, out *actors.Outbox) {
	for i := range spared {
		s := &spared[i]
		at := taint.Find(c.taints.list, s.Taint.Key, s.Taint.Effect)
		if c.recovered || at < 0 || slices.ContainsFunc(c.spared, func(o policy.TaintChange) bool { return o.Policy == s.Policy && taint.Same(&o.Taint, &s.Taint) }) {
			continue
		}
		out.Record(&messages.TaintSpared{
			Cluster: c.name, Taint: c.taints.list[at], Cause: c.taints.causes[at], Policy: s.Policy, Because: s.Cause,
		})
	}
	c.spared, c.recovered = spared, false
}

// disown removes the taints that their policies no longer stand for.
func (c *Cluster) disown(r *revision) {
	for i := range c.taints.list {
		if because := c.judging.forsaken(&c.taints.causes[i], &c.taints.list[i]); because != "" {
			cause := api.TaintCause{By: byPolicy, Policy: c.taints.causes[i].Policy, Because: because}
			after, _ := taint.Remove(r.taints, c.taints.list[i].Key, c.taints.list[i].Effect)
			r.become(after, func(*corev1.Taint) api.TaintCause { return cause })
		}
	}
}

func ruledBy(changes []policy.TaintChange, t *corev1.Taint) (cause api.TaintCause) {
	for i := range changes {
		if taint.Same(&changes[i].Taint, t) {
			cause = api.TaintCause{By: byPolicy, Policy: string(changes[i].Policy), Because: changes[i].Cause}
		}
	}
	return cause
}

// followReady makes the taints that follow by themselves what they must be: from Ready, from a deletion,
// and from a drain.
func (c *Cluster) followReady(now time.Time, r *revision) {
	if c.deleting && c.ways().TaintsDeleted() {
		c.follow(now, r, taint.Terminating(true), "the cluster is being deleted")
	}
	if c.drain.status != nil {
		for _, s := range taint.Draining(true) {
			c.follow(now, r, s, "the cluster is being drained")
		}
	}
	ready := c.conditions.ready()
	twins, _ := taint.Legacy(ready, c.conditions.readySince(), c.ways().NotReadyEvictsAfter(), now)
	c.follow(now, r, taint.System(ready, ready != ""), c.conditions.because())
	c.follow(now, r, twins, c.conditions.because())
}

// follow makes one change of the system's own taints.
func (c *Cluster) follow(now time.Time, r *revision, s taint.Swap, because string) {
	after, _ := s.Apply(r.taints, c.ways().Time(now))
	r.become(after, func(*corev1.Taint) api.TaintCause { return api.TaintCause{By: bySystem, Because: because} })
}

// legacyDue is when the system will add its NoExecute twin; zero: not by waiting. One that is due in an
// instant that brings other news is due all the same, unless a blackout withholds it.
func (c *Cluster) legacyDue(now time.Time) time.Time {
	swap, due := taint.Legacy(c.conditions.ready(), c.conditions.readySince(), c.ways().NotReadyEvictsAfter(), now)
	if _, changes := swap.Apply(c.taints.list, now); changes && !c.blackout {
		return now
	}
	return due
}

// retainted tells the scheduler that the taints changed, and bindings that the NoExecute ones did.
func (c *Cluster) retainted(now time.Time, before []corev1.Taint, out *actors.Outbox) {
	c.taints.mark(now)
	c.show(true, out)
	if c.relists() || !slices.EqualFunc(taint.Evicting(before), taint.Evicting(c.taints.list), sameTaint) {
		c.look(now, out)
	}
	c.refreshPreviews(now, out)
}

func sameTaint(a, b corev1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.TimeAdded.Equal(b.TimeAdded)
}

// admits reports whether the cluster would be valid with the taints that policies want. One that it does not
// admit stops all of them, for they are written together; that is recorded once. Source: Karmada's
// ClusterTaintPolicy controller, whose patch the API server refuses, with the event TaintClusterFailed.
func (c *Cluster) admits(after []corev1.Taint, changes []policy.TaintChange, out *actors.Outbox) bool {
	refusal := c.refuse(after, changes)
	if refusal != nil && !sameRequest(refusal, c.refusal) {
		out.Record(refusal)
	}
	c.refusal = refusal
	return refusal == nil
}

// refuse says what is wrong with the taints after some changes; nil: nothing.
func (c *Cluster) refuse(after []corev1.Taint, changes []policy.TaintChange) *messages.TaintingFailed {
	if len(changes) == 0 {
		return nil
	}
	problems := admission.ValidateClusterTaints(after, &c.settings)
	if len(problems) == 0 {
		return nil
	}
	f := &messages.TaintingFailed{Cluster: c.name}
	for _, problem := range problems {
		f.Problems = append(f.Problems, problem.Error())
	}
	for i := range changes {
		t := changes[i].Taint
		t.TimeAdded = nil
		if changes[i].Added {
			f.Add = append(f.Add, t)
		} else {
			f.Remove = append(f.Remove, t)
		}
		if !slices.Contains(f.Policies, changes[i].Policy) {
			f.Policies = append(f.Policies, changes[i].Policy)
		}
	}
	return f
}

// sameRequest reports whether the same was refused before, which may be nothing. What is wrong with it follows
// from it; only its place in the list does not.
func sameRequest(f, before *messages.TaintingFailed) bool {
	return before != nil && slices.Equal(f.Policies, before.Policies) &&
		slices.EqualFunc(f.Add, before.Add, sameID) && slices.EqualFunc(f.Remove, before.Remove, sameID)
}

// drainRequested begins a drain, or gives the one under way another deadline.
func (c *Cluster) drainRequested(now time.Time, deadline time.Time, out *actors.Outbox) {
	d := api.Drain{Since: metav1.Time{Time: now}}
	if c.drain.status != nil {
		d = *c.drain.status
		d.Deadline, d.Missed = nil, false
	}
	if !deadline.IsZero() {
		d.Deadline = &metav1.Time{Time: deadline}
	}
	c.drain = drain{status: &d, asked: true}
	c.retaint(now, out)
}

// drainCancelled ends a drain, and the cordon that came with it.
func (c *Cluster) drainCancelled(now time.Time, out *actors.Outbox) {
	if c.drain.status == nil {
		return
	}
	c.drain = drain{}
	out.Record(&messages.DrainEnded{Cluster: c.name})
	r := c.taints.revise()
	for _, s := range taint.Draining(false) {
		c.follow(now, r, s, "the drain was ended")
	}
	c.commit(now, r, out)
}
