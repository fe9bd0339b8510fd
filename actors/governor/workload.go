package governor

import (
	"slices"
	"time"

	"leeward/actors/rules/budget"
	"leeward/messages"
)

// workload is what is known of one binding that budgets select.
type workload struct {
	observed *messages.WorkloadObserved
	usages   []*usage
	// healthy and pending are what it adds to its usages.
	healthy, pending int64
	// reservations are its permits that have not been seen to be used or given back.
	reservations []reservation
}

// reservation is that of a permit to move so many replicas.
type reservation struct {
	cluster  messages.ClusterName
	replicas int64
}

// count adds what a workload has to its usages, or takes it out of them.
func (w *workload) count(by int64) {
	for _, u := range w.usages {
		u.workloads += by
		u.Expected += by * w.observed.Expected
		u.Healthy += by * w.healthy
		u.Pending += by * w.pending
	}
}

// available is how many replicas of a workload serve, or would if it was evicted from a cluster now. Those on clusters that
// are not Ready, and those that a permit takes away, do not; those beyond what is expected do not count.
func (w *workload) available(without messages.ClusterName, clusters map[messages.ClusterName]*domain) (n int64) {
	for i := range w.observed.Shares {
		s := &w.observed.Shares[i]
		gone := w.observed.PurgedDirectly && (s.Stage > messages.Asks || s.Cluster == without || w.reserved(s.Cluster))
		if c := clusters[s.Cluster]; !gone && (c == nil || !c.state.unhealthy) {
			n += int64(s.Serving)
		}
	}
	return min(n, w.observed.Expected)
}

func (w *workload) reserved(c messages.ClusterName) bool {
	return slices.ContainsFunc(w.reservations, func(r reservation) bool { return r.cluster == c })
}

// cost is what the eviction of a workload from a cluster costs.
func (w *workload) cost(from messages.ClusterName, clusters map[messages.ClusterName]*domain) budget.Cost {
	e := budget.Cost{Takes: w.healthy - w.available(from, clusters)}
	for i := range w.observed.Shares {
		if s := &w.observed.Shares[i]; s.Cluster == from {
			e.Moves = int64(s.Replicas)
		}
	}
	return e
}

// reserve counts a permit until it is used or given back.
func (w *workload) reserve(from messages.ClusterName, replicas int64) {
	w.reservations = append(w.reservations, reservation{from, replicas})
	w.pending += replicas
}

// end ends a reservation.
func (w *workload) end(r reservation) {
	w.pending -= r.replicas
	w.reservations = slices.DeleteFunc(w.reservations, func(o reservation) bool { return o == r })
}

// stage is how far the eviction from a cluster is; from one where it does not run, there is none.
func (w *workload) stage(from messages.ClusterName) messages.EvictionStage {
	for i := range w.observed.Shares {
		if s := &w.observed.Shares[i]; s.Cluster == from {
			return s.Stage
		}
	}
	return messages.Stays
}

// moved counts replicas that are evicted now, where that is limited.
func (w *workload) moved(now time.Time, replicas int64) {
	for _, u := range w.usages {
		if u.of.Spec.MaxMoved != nil {
			u.Moves.Add(now, replicas)
		}
	}
}
