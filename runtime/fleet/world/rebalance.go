package world

import (
	"maps"
	"time"

	"leeward/actors"
	"leeward/actors/rules/rebalance"
	"leeward/messages"
	"leeward/messages/api"
)

// admitRebalancer has the bindings of the named workloads placed afresh. In Karmada success says that the
// binding was asked; where rebalancers repeat, that it was answered (K38).
func (w *World) admitRebalancer(o *api.WorkloadRebalancer, old api.Object) {
	var before api.WorkloadRebalancerStatus
	if old != nil {
		before = old.(*api.WorkloadRebalancer).Status
	}
	o.Status = api.WorkloadRebalancerStatus{ObservedGeneration: max(1, o.Generation)}
	for _, r := range o.Spec.Workloads {
		outcome := rebalance.Done(&before, r, w.settings.RepeatableRebalance)
		if outcome == nil {
			outcome = w.rebalance(o, r)
		}
		o.Status.ObservedWorkloads = append(o.Status.ObservedWorkloads, *outcome)
	}
	rebalance.Finish(&o.Status, w.now)
	w.store.Put(o)
}

// rebalance asks the binding of one workload for a fresh placement. The outcome has no result while the
// answer is waited for.
func (w *World) rebalance(o *api.WorkloadRebalancer, r api.RebalancedReference) *api.ObservedWorkload {
	name := bindingOf(r.Namespace, r.Kind, r.Name)
	b := w.store.Binding(name)
	if b == nil {
		return &api.ObservedWorkload{Workload: r, Result: rebalance.Failed, Reason: rebalance.NotFound}
	}
	asOf := rebalance.AsOf(o, w.now, w.settings.RepeatableRebalance)
	if !rebalance.Asks(b.Spec, asOf) {
		return &api.ObservedWorkload{Workload: r, Result: rebalance.Successful}
	}
	w.kernel.Post(bindingAt(name), &messages.RescheduleTriggered{At: asOf, By: o.Name})
	if w.settings.RepeatableRebalance {
		return &api.ObservedWorkload{Workload: r}
	}
	return &api.ObservedWorkload{Workload: r, Result: rebalance.Successful}
}

// answer is what the scheduler came to for a binding that was asked to be placed afresh, so far.
type answer struct {
	given  bool
	reason string // of a failure
}

// noteAnswer notes of a binding that must be placed afresh what came of it. The last word of an instant counts.
func (w *World) noteAnswer(f messages.Fact) {
	switch f := f.(type) {
	case *messages.RescheduleRequested:
		w.answers[f.Binding] = answer{}
	case *messages.Scheduled:
		w.answered(f.Binding, "")
	case *messages.PlacementConfirmed:
		w.answered(f.Binding, "")
	case *messages.ScheduleFailed:
		w.answered(f.Binding, f.Reason)
	case *messages.BindingDeleted:
		w.answered(f.Binding, rebalance.NotFound)
	}
}

func (w *World) answered(b messages.BindingName, reason string) {
	if _, asked := w.answers[b]; asked {
		w.answers[b] = answer{given: true, reason: reason}
	}
}

// reportAnswers tells the rebalancers that wait for them what the answers of this instant are.
func (w *World) reportAnswers() {
	if len(w.answers) == 0 {
		return
	}
	for _, o := range w.store.List("WorkloadRebalancer") {
		w.reportTo(*o.(*api.WorkloadRebalancer))
	}
	maps.DeleteFunc(w.answers, func(_ messages.BindingName, a answer) bool { return a.given })
}

func (w *World) reportTo(r api.WorkloadRebalancer) {
	news := false
	for i := range r.Status.ObservedWorkloads {
		o := &r.Status.ObservedWorkloads[i]
		a := w.answers[bindingOf(o.Workload.Namespace, o.Workload.Kind, o.Workload.Name)]
		if rebalance.Awaited(o) && a.given {
			rebalance.Answer(&r.Status, i, a.reason, w.now)
			news = true
		}
	}
	if news {
		w.store.Put(&r)
	}
}

// awaitAnswers is for a restart: whom rebalancers wait for is asked again.
func (w *World) awaitAnswers() {
	for _, o := range w.store.List("WorkloadRebalancer") {
		for _, k := range o.(*api.WorkloadRebalancer).Status.ObservedWorkloads {
			if rebalance.Awaited(&k) {
				w.answers[bindingOf(k.Workload.Namespace, k.Workload.Kind, k.Workload.Name)] = answer{}
			}
		}
	}
}

// nextExpiry is when the first rebalancer goes by itself; zero: none does. It follows from what is stored,
// so that no restart forgets it.
func (w *World) nextExpiry() (first time.Time) {
	for _, o := range w.store.List("WorkloadRebalancer") {
		first = actors.Earlier(first, rebalance.Expires(o.(*api.WorkloadRebalancer)))
	}
	return first
}

// expire deletes the rebalancers whose time has come.
func (w *World) expire() {
	for _, o := range w.store.List("WorkloadRebalancer") {
		r := o.(*api.WorkloadRebalancer)
		if at := rebalance.Expires(r); at.IsZero() || at.After(w.now) {
			continue
		}
		w.Note(&messages.ObjectExpired{Object: api.KeyOf(r).String(), After: w.now.Sub(r.Status.FinishTime.Time)})
		w.store.Delete(api.KeyOf(r))
	}
}
