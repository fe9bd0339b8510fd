package storm

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
)

// followed is the state of one workload, told from facts alone: what it runs, and how far its failover has come.
type followed struct {
	failover.Binding
	binding  messages.BindingName
	replicas int32
	// placement is its policy's; nil: it has none.
	placement *api.Placement
	// held is why it was last not let go from a cluster; empty: that never was so.
	held string

	// due is when the failover that runs, or the last one, had to begin; healthy when its last copy became so.
	due, healthy moment
}

// moment is an instant on both clocks, as a distance from the beginning of the storm.
type moment struct {
	wall  time.Duration
	fleet time.Duration
}

func (s *followed) asks(spec *api.BindingSpec, replicas int32) {
	s.replicas = replicas
	if spec != nil {
		s.placement = spec.Placement
	}
}

// handovers counts the clusters that it is being evicted from.
func (s *followed) handovers() (n int) {
	for range s.Handovers() {
		n++
	}
	return n
}

// whole reports whether all replicas have a place.
func (s *followed) whole() bool {
	want, have := s.replicas, int32(0)
	if s.placement != nil && !s.placement.ReplicaScheduling.Divides() {
		want *= int32(len(s.Clusters))
	}
	for _, t := range s.Clusters {
		have += t.Replicas
	}
	return len(s.Clusters) > 0 && have >= want
}

// overdue reports whether it is to run on a cluster that has taints which it does not tolerate, or no longer.
func (s *followed) overdue(now time.Time, taints map[messages.ClusterName][]corev1.Taint, rule taint.Rule) bool {
	return slices.ContainsFunc(s.Clusters, func(t api.TargetCluster) bool {
		var tolerations []corev1.Toleration
		if s.placement != nil {
			tolerations = s.placement.ClusterTolerations
		}
		v := taint.Deadline(taints[messages.ClusterName(t.Name)], tolerations, rule)
		return v.Outcome == taint.Untolerated || v.Outcome == taint.Until && !v.At.After(now)
	})
}
