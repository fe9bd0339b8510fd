package world

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/rebalance"
	"leeward/messages"
	"leeward/messages/api"
)

// admitRebalancer has the bindings of the named workloads placed afresh. Success says that the binding
// was asked, as in Karmada.
func (w *World) admitRebalancer(o *api.WorkloadRebalancer, old api.Object) {
	var before api.WorkloadRebalancerStatus
	if old != nil {
		before = old.(*api.WorkloadRebalancer).Status
	}
	o.Status = api.WorkloadRebalancerStatus{
		ObservedGeneration: max(1, o.Generation), FinishTime: &metav1.Time{Time: w.now},
	}
	for _, r := range o.Spec.Workloads {
		outcome := rebalance.Done(&before, r, w.settings.RepeatableRebalance)
		if outcome == nil {
			outcome = w.rebalance(o, r)
		}
		o.Status.ObservedWorkloads = append(o.Status.ObservedWorkloads, *outcome)
	}
	w.store.Put(o)
}

// rebalance asks the binding of one workload for a fresh placement.
func (w *World) rebalance(o *api.WorkloadRebalancer, r api.RebalancedReference) *api.ObservedWorkload {
	name := bindingOf(r.Namespace, r.Kind, r.Name)
	b := w.store.Binding(name)
	if b == nil {
		return &api.ObservedWorkload{Workload: r, Result: rebalance.Failed, Reason: rebalance.NotFound}
	}
	if asOf := rebalance.AsOf(o, w.now, w.settings.RepeatableRebalance); rebalance.Asks(b.Spec, asOf) {
		w.kernel.Post(bindingAt(name), &messages.RescheduleTriggered{At: asOf, By: o.Name})
	}
	return &api.ObservedWorkload{Workload: r, Result: rebalance.Successful}
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
		w.note(&messages.ObjectExpired{Object: api.KeyOf(r).String(), After: w.now.Sub(r.Status.FinishTime.Time)})
		w.store.Delete(api.KeyOf(r))
	}
}
