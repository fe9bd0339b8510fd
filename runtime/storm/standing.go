package storm

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// standing is where one workload stands, told from facts alone: what it runs, and how far its failover has come.
type standing struct {
	binding  messages.BindingName
	targets  []api.TargetCluster
	replicas int32
	// placement is its policy's; nil: it has none.
	placement *api.Placement
	// tasks counts the clusters that are being left, unplaced those of them for which there is no other place yet.
	tasks, unplaced int16
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

func (m moment) since(due moment) moment { return moment{m.wall - due.wall, m.fleet - due.fleet} }

func (s *standing) asks(spec *api.BindingSpec, replicas int32) {
	s.replicas = replicas
	if spec != nil {
		s.placement = spec.Placement
	}
}

// runs takes over a result. The slice is the standing's own, so that no fact is kept.
func (s *standing) runs(targets []api.TargetCluster) { s.targets = append(s.targets[:0], targets...) }

// leaves takes a cluster off the targets.
func (s *standing) leaves(c messages.ClusterName) {
	s.targets = slices.DeleteFunc(s.targets, func(t api.TargetCluster) bool { return t.Name == string(c) })
}

// whole reports whether all replicas have a place.
func (s *standing) whole() bool {
	want, have := s.replicas, int32(0)
	if s.placement != nil && !s.placement.ReplicaScheduling.Divides() {
		want *= int32(len(s.targets))
	}
	for _, t := range s.targets {
		have += t.Replicas
	}
	return len(s.targets) > 0 && have >= want
}

// overdue reports whether it is to run on a cluster that has taints which it does not tolerate, or no longer.
func (s *standing) overdue(now time.Time, taints map[messages.ClusterName][]corev1.Taint, rule taint.Rule) bool {
	return slices.ContainsFunc(s.targets, func(t api.TargetCluster) bool {
		var tolerations []corev1.Toleration
		if s.placement != nil {
			tolerations = s.placement.ClusterTolerations
		}
		v := taint.Deadline(taints[messages.ClusterName(t.Name)], tolerations, rule)
		return v.Outcome == taint.Untolerated || v.Outcome == taint.Until && !v.At.After(now)
	})
}
