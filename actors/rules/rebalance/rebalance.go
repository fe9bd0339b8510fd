// Package rebalance holds the rules of a WorkloadRebalancer: which workloads it asks to be placed afresh,
// as of when, and when it has done its work and goes. Pure functions of values: no state and no clock.
//
// Source: Karmada's "Workload Rebalancer" and its workloadrebalancer controller.
package rebalance

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// The results of one workload, and the reason of a failure.
const (
	Successful = "Successful"
	Failed     = "Failed"
	NotFound   = "ReferencedBindingNotFound"
)

// AsOf returns the instant as of which placements are stale: those made before it are made again. In Karmada
// that is when the rebalancer was created, so that to apply it again asks for nothing of what was placed since
// (K38); where it repeats, it is when the rebalancer was applied.
func AsOf(r *api.WorkloadRebalancer, applied time.Time, repeats bool) time.Time {
	if repeats {
		return applied
	}
	return r.CreationTimestamp.Time
}

// Done returns the outcome for a workload that an earlier application of the rebalancer dealt with: nil where
// there is none, or none that counts. What failed is tried again, and so is everything where it repeats.
func Done(before *api.WorkloadRebalancerStatus, w api.RebalancedReference, repeats bool) *api.ObservedWorkload {
	if repeats {
		return nil
	}
	i := slices.IndexFunc(before.ObservedWorkloads, func(o api.ObservedWorkload) bool {
		return o.Workload == w && o.Result == Successful
	})
	if i < 0 {
		return nil
	}
	return &before.ObservedWorkloads[i]
}

// Asks reports whether a binding must be placed afresh: the last request asked for less.
func Asks(b *api.BindingSpec, asOf time.Time) bool {
	return b.RescheduleTriggeredAt == nil || b.RescheduleTriggeredAt.Time.Before(asOf)
}

// Answer notes what the scheduler came to for one workload, where that is waited for: no reason is success. The
// rebalancer is finished when nothing is waited for.
func Answer(s *api.WorkloadRebalancerStatus, i int, reason string, now time.Time) {
	s.ObservedWorkloads = slices.Clone(s.ObservedWorkloads)
	o := &s.ObservedWorkloads[i]
	o.Result, o.Reason = Successful, reason
	if reason != "" {
		o.Result = Failed
	}
	Finish(s, now)
}

// Awaited reports whether the answer for a workload is still to come.
func Awaited(o *api.ObservedWorkload) bool { return o.Result == "" }

// Finish sets the time at which a rebalancer was done, unless some answer is still to come.
func Finish(s *api.WorkloadRebalancerStatus, now time.Time) {
	for i := range s.ObservedWorkloads {
		if Awaited(&s.ObservedWorkloads[i]) {
			return
		}
	}
	s.FinishTime = &metav1.Time{Time: now}
}

// Expires returns when a rebalancer is deleted by itself: its ttlSecondsAfterFinished after its finishTime.
// Zero: never, because it has no TTL or is not finished.
func Expires(r *api.WorkloadRebalancer) time.Time {
	if r.Spec.TTLSecondsAfterFinished == nil || r.Status.FinishTime == nil {
		return time.Time{}
	}
	return r.Status.FinishTime.Add(time.Duration(*r.Spec.TTLSecondsAfterFinished) * time.Second)
}
