package apiserver

import (
	"cmp"
	"maps"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"leeward/actors"
	"leeward/actors/rules/disruption"
	"leeward/messages"
	"leeward/messages/lists"
)

// budget is a stored PodDisruptionBudget. Its object is replaced and never changed.
type budget struct {
	name     messages.PodBudgetName
	object   *policyv1.PodDisruptionBudget
	selector labels.Selector
	// pods are those that it selects; counts is what came of them, unless it is stale.
	pods   map[messages.PodName]*pod
	counts disruption.Counts
	stale  bool
	// told: its status was recorded once, with that problem. recheck is when a disrupted pod of it counts again; zero: there is none.
	told    bool
	problem string
	recheck time.Time
}

// putBudget creates a budget, or replaces one. A replaced one keeps what it knows of disrupted pods.
func (s *Server) putBudget(now time.Time, m *messages.PutPodBudget) {
	selector, err := disruption.Selector(&m.Object.Spec)
	if err != nil {
		return // it was not admitted
	}
	name := messages.NamePodBudget(m.Object.Namespace, m.Object.Name)
	o := m.Object.DeepCopy()
	if before := s.budgets[name]; before != nil {
		s.dropBudget(before)
		o.UID, o.CreationTimestamp, o.Generation = before.object.UID, before.object.CreationTimestamp, before.object.Generation+1
		o.Status.DisruptedPods, o.Status.Conditions = before.object.Status.DisruptedPods, before.object.Status.Conditions
	}
	if o.UID == "" {
		o.UID = identity(now, "budget/"+string(name))
	}
	if o.CreationTimestamp.IsZero() {
		o.CreationTimestamp = metav1.Time{Time: now}
	}
	o.Generation = max(1, o.Generation)
	s.storeBudget(&budget{name: name, object: o, selector: selector})
}

// storeBudget stores a budget, which is counted at the end of the instant.
func (s *Server) storeBudget(b *budget) {
	s.budgets[b.name] = b
	b.pods = map[messages.PodName]*pod{}
	of := s.budgetsIn[b.object.Namespace]
	if of == nil {
		of = map[messages.PodBudgetName]*budget{}
		s.budgetsIn[b.object.Namespace] = of
	}
	of[b.name] = b
	for _, p := range s.pods { // order-free: each for itself
		if p.object.Namespace == b.object.Namespace {
			b.consider(p)
		}
	}
	s.changes.budget(b)
}

// deleteBudget removes a budget.
func (s *Server) deleteBudget(m *messages.DeletePodBudget) {
	if b := s.budgets[m.Budget]; b != nil {
		s.dropBudget(b)
		s.changes.budgetGone = true
	}
}

func (s *Server) dropBudget(b *budget) {
	delete(s.budgets, b.name)
	if delete(s.budgetsIn[b.object.Namespace], b.name); len(s.budgetsIn[b.object.Namespace]) == 0 {
		delete(s.budgetsIn, b.object.Namespace)
	}
	for _, p := range b.pods { // order-free: each for itself
		p.budgets = slices.DeleteFunc(p.budgets, func(other *budget) bool { return other == b })
	}
}

// consider takes in a pod that the budget selects.
func (b *budget) consider(p *pod) {
	if b.selector.Matches(labels.Set(p.object.Labels)) {
		b.pods[p.name] = p
		p.budgets = append(p.budgets, b)
	}
}

// protect has a pod counted by the budgets that select it, as its labels now are.
func (s *Server) protect(p *pod) {
	s.unprotect(p)
	for _, b := range s.budgetsIn[p.object.Namespace] { // order-free: each for itself
		if b.consider(p); b.pods[p.name] == p {
			s.changes.budget(b)
		}
	}
}

// unprotect has no budget count a pod any more.
func (s *Server) unprotect(p *pod) {
	for _, b := range p.budgets {
		delete(b.pods, p.name)
		s.changes.budget(b)
	}
	p.budgets = nil
}

// scaleOwner notes how many pods an owner must have, and has the budgets of its pods counted again.
func (s *Server) scaleOwner(m *messages.OwnerScaled) {
	if m.Gone {
		delete(s.scales, m.Owner)
	} else {
		s.scales[m.Owner] = m.Replicas
	}
	for _, b := range s.budgets { // order-free: a set
		s.changes.budget(b)
	}
}

// count counts the pods of a budget, where anything of them has changed.
func (s *Server) count(now time.Time, b *budget) *disruption.Counts {
	if b.stale {
		b.stale = false
		b.counts = disruption.Count(now, b.object, b.each, func(owner string) (int32, bool) {
			n, known := s.scales[messages.OwnerName(owner)]
			return n, known
		})
	}
	return &b.counts
}

// each yields the pods of a budget, in any order.
func (b *budget) each(yield func(disruption.Pod) bool) {
	for _, p := range b.pods { // order-free: they are counted
		one := disruption.Pod{Name: p.object.Name, Ready: disruption.Ready(p.object), Terminating: p.terminating(), Owner: string(p.owner)}
		if c := metav1.GetControllerOf(p.object); c != nil && p.owner == "" {
			one.Owner = string(messages.NameOwner(c.Kind, p.object.Namespace, c.Name)) // which no actor keeps up
		}
		if !yield(one) {
			return
		}
	}
}

// refuses is why the Eviction API refuses a pod, nil if it does not.
func (s *Server) refuses(now time.Time, p *pod, unready bool) *disruption.Refusal {
	budgets := lists.Of(p.budgets, func(b *budget) disruption.Budget {
		return disruption.Budget{Object: b.object, Counts: *s.count(now, b)}
	})
	return disruption.Evict(p.object, budgets, unready)
}

// The condition of a pod that the Eviction API deletes, unless the request has words of its own.
const (
	evictedReason  = "EvictionByEvictionAPI"
	evictedMessage = "Eviction API: evicting"
)

// evictPod deletes a pod, unless its budget does not allow that, and answers the request.
func (s *Server) evictPod(now time.Time, m *messages.EvictPod, out *actors.Outbox) {
	answer := &messages.PodEvictionAnswered{Pod: m.Pod, UID: m.UID, Attempt: m.Attempt}
	p := s.find(m.Pod, m.UID)
	if p == nil {
		answer.Gone = true
		s.answer(m, answer, out)
		return
	}
	if r := s.refuses(now, p, m.Unready); r != nil {
		answer.Error, answer.Later, answer.Detail = r.Error, r.Later, r.Detail
		if r.Budget != "" {
			answer.Budget = messages.NamePodBudget(p.object.Namespace, r.Budget)
		}
		if m.For == "" {
			p.waitsUnready = m.Unready
			s.waiting[p.name] = p
		}
		s.answer(m, answer, out)
		return
	}
	cause := ""
	if m.For != "" {
		cause = "drain of node " + string(m.For)
	}
	s.markDisrupted(now, &messages.MarkDisrupted{
		Pod: m.Pod, UID: m.UID, Reason: cmp.Or(m.Reason, evictedReason), Message: cmp.Or(m.Message, evictedMessage),
	})
	s.deletePod(now, &messages.DeletePod{Pod: m.Pod, UID: m.UID, GracePeriodSeconds: m.GracePeriodSeconds, Cause: cause, Eviction: true}, out)
	s.answer(m, answer, out)
}

func (s *Server) answer(m *messages.EvictPod, answer *messages.PodEvictionAnswered, out *actors.Outbox) {
	if m.For == "" {
		out.TellPodEviction(m.Pod, answer)
	} else {
		out.TellDrain(m.For, answer)
	}
}

// notifyBudgets writes the status of budgets whose pods changed, and tells the taint evictions that waited for them.
func (s *Server) notifyBudgets(now time.Time, c *changes, out *actors.Outbox) {
	for _, name := range slices.Sorted(maps.Keys(c.budgets)) {
		if b := c.budgets[name]; s.budgets[name] == b {
			s.writeStatus(now, b, out)
		}
	}
	if len(c.budgets) == 0 && !c.budgetGone {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.waiting)) {
		p := s.waiting[name]
		if s.pods[name] != p || s.refuses(now, p, p.waitsUnready) == nil {
			delete(s.waiting, name)
		}
		if s.pods[name] == p && s.waiting[name] == nil {
			out.TellPodEviction(name, &messages.PodBudgetAllows{})
		}
	}
}

// writeStatus replaces the status of a budget that has another one.
func (s *Server) writeStatus(now time.Time, b *budget, out *actors.Outbox) {
	counts := *s.count(now, b)
	st := &b.object.Status
	if b.told && b.problem == counts.Problem && st.ObservedGeneration == b.object.Generation && st.ExpectedPods == counts.Expected && st.CurrentHealthy == counts.Healthy &&
		st.DesiredHealthy == counts.Desired && st.DisruptionsAllowed == counts.Allowed {
		return
	}
	o := *b.object
	o.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: o.Generation, ExpectedPods: counts.Expected, CurrentHealthy: counts.Healthy, DesiredHealthy: counts.Desired,
		DisruptionsAllowed: counts.Allowed, DisruptedPods: unconfirmed(now, b), Conditions: budgetConditions(now, st.Conditions, &counts, o.Generation),
	}
	b.object, b.told, b.problem = &o, true, counts.Problem
	s.edits.budget(b.name)
	out.Record(&messages.PodBudgetChanged{
		Budget: b.name, ExpectedPods: counts.Expected, CurrentHealthy: counts.Healthy, DesiredHealthy: counts.Desired,
		DisruptionsAllowed: counts.Allowed, Problem: counts.Problem,
	})
}

// unconfirmed are the disrupted pods that are still there, not being deleted, and for a short time only.
func unconfirmed(now time.Time, b *budget) map[string]metav1.Time {
	kept := map[string]metav1.Time{}
	for name, at := range b.object.Status.DisruptedPods { // order-free: a set
		p := b.pods[messages.NamePod(b.object.Namespace, name)]
		if p != nil && !p.terminating() && at.Add(disruption.Confirmed).After(now) {
			kept[name] = at
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// budgetConditions are those of a budget: whether it allows disruptions.
func budgetConditions(now time.Time, had []metav1.Condition, c *disruption.Counts, generation int64) []metav1.Condition {
	one := metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason, ObservedGeneration: generation,
		LastTransitionTime: metav1.Time{Time: now},
	}
	switch {
	case c.Problem != "":
		one.Reason, one.Message = policyv1.SyncFailedReason, c.Problem
	case c.Allowed > 0:
		one.Status, one.Reason = metav1.ConditionTrue, policyv1.SufficientPodsReason
	}
	for i := range had {
		if had[i].Type == one.Type && had[i].Status == one.Status {
			one.LastTransitionTime = had[i].LastTransitionTime
		}
	}
	return []metav1.Condition{one}
}

// recheck has budgets counted again whose disrupted pods are confirmed by then, and returns when the next are; zero: none.
func (s *Server) recheck(now time.Time) (next time.Time) {
	for _, b := range s.budgets { // order-free: a set, and the earliest
		if len(b.object.Status.DisruptedPods) == 0 {
			continue
		}
		if !b.recheck.IsZero() && !b.recheck.After(now) {
			s.changes.budget(b)
		}
		b.recheck = disruption.Recheck(now, b.object)
		if !b.recheck.IsZero() {
			next = actors.Earlier(next, b.recheck)
		}
	}
	return next
}

// Budget returns a PodDisruptionBudget as it is stored, nil if there is none. It must not be changed.
func (s *Server) Budget(name messages.PodBudgetName) *policyv1.PodDisruptionBudget {
	if b := s.budgets[name]; b != nil {
		return b.object
	}
	return nil
}

// Budgets returns the names of all budgets, sorted.
func (s *Server) Budgets() []messages.PodBudgetName { return slices.Sorted(maps.Keys(s.budgets)) }
