// Package descheduling holds the rules by which a cluster gives up replicas that it cannot start, so that
// the scheduler may place them elsewhere. Pure functions of values.
//
// Source: Karmada's descheduler.
package descheduling

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// Concerns reports whether replicas of a resource may be given up: those of a Deployment whose replicas
// go where there is capacity for them.
func Concerns(r *api.ObjectReference, p *api.Placement) bool {
	if r.APIVersion != "apps/v1" || r.Kind != "Deployment" || p == nil || p.ReplicaScheduling == nil {
		return false
	}
	s := p.ReplicaScheduling
	if s.ReplicaSchedulingType != api.Divided {
		return false
	}
	byWeight := s.ReplicaDivisionPreference == api.Weighted && s.WeightPreference != nil && s.WeightPreference.DynamicWeight != ""
	return byWeight || s.ReplicaDivisionPreference == api.Aggregated
}

// Counted returns the replicas that wait, now that a cluster says how many of its do: those that are new
// wait from now on, and those that no longer wait are the ones that waited longest, for clusters serve them
// in that order. The result is in order of time, then cluster, and shares no memory with what was given.
func Counted(waiting []api.UnschedulableReplicas, cluster string, replicas int32, now time.Time) []api.UnschedulableReplicas {
	next := make([]api.UnschedulableReplicas, 0, len(waiting)+1)
	more := replicas - Of(waiting, cluster)
	for _, w := range waiting {
		if w.ClusterName == cluster && more < 0 {
			gone := min(w.Replicas, -more)
			w.Replicas -= gone
			more += gone
		}
		if w.Replicas > 0 {
			next = append(next, w)
		}
	}
	if more > 0 {
		next = append(next, api.UnschedulableReplicas{ClusterName: cluster, Replicas: more, Since: metav1.NewMicroTime(now)})
	}
	slices.SortStableFunc(next, func(a, b api.UnschedulableReplicas) int {
		return cmp.Or(a.Since.Compare(b.Since.Time), cmp.Compare(a.ClusterName, b.ClusterName))
	})
	return next
}

// Of counts the replicas that wait on a cluster.
func Of(waiting []api.UnschedulableReplicas, cluster string) (replicas int32) {
	for i := range waiting {
		if waiting[i].ClusterName == cluster {
			replicas += waiting[i].Replicas
		}
	}
	return replicas
}

// Sweep returns when replicas that wait since then are given up: once they have waited for the threshold,
// at the next multiple of the interval; with an interval of zero, immediately.
func Sweep(since time.Time, threshold, interval time.Duration) time.Time {
	due := since.Add(threshold)
	if at := due.Truncate(interval); at.Before(due) {
		return at.Add(interval)
	}
	return due
}

// Lowered returns what remains of a cluster's share when it gives up what is due: never less than serves.
func Lowered(share, ready, due int32) int32 {
	return min(share, max(ready, share-due))
}
