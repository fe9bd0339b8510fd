package scheduler

import (
	"reflect"
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// moving reports whether a binding must leave a cluster, or is being evicted from one.
func moving(m *messages.PlaceBinding) bool { return len(m.Evicting)+len(m.Leaving)+len(m.Seeking) > 0 }

// lapse ends the permission to leave clusters after an answer, where it was given for the instant.
func lapse(m *messages.PlaceBinding) {
	if m.Lapses {
		m.Leaving, m.Seeking = nil, append(slices.Clip(m.Seeking), m.Leaving...)
	}
}

// fresh reports whether a reschedule was asked for since the last one. Source: Karmada's
// rescheduleTriggeredAt, which counts only for what was scheduled before.
func fresh(m *messages.PlaceBinding) bool {
	return !m.LastScheduled.IsZero() && m.RescheduleAt.After(m.LastScheduled)
}

// scaled reports whether a workload of which every cluster runs a whole copy runs it in another size than it
// should have.
func scaled(m *messages.PlaceBinding) bool {
	return m.HasReplicas && slices.ContainsFunc(m.Targets, func(t api.TargetCluster) bool { return t.Replicas != m.Replicas })
}

// divided reports whether the clusters of a binding share its replicas.
func divided(m *messages.PlaceBinding) bool {
	return m.HasReplicas && m.Placement.ReplicaScheduling.Divides()
}

// replicasNow is how many replicas a binding has, as its policy counts them: where each cluster runs all, those
// of one.
func replicasNow(m *messages.PlaceBinding) (n int32) {
	for _, t := range m.Targets {
		if m.Placement.ReplicaScheduling.Divides() {
			n += t.Replicas
		} else {
			n = max(n, t.Replicas)
		}
	}
	return n
}

// sharesOn is how many replicas, or whole sets, of a binding one of its targets runs.
func sharesOn(m *messages.PlaceBinding, targets []api.TargetCluster, cluster string) int32 {
	if m.Set == nil {
		return api.ReplicasOn(targets, cluster)
	}
	if hasTarget(targets, cluster) {
		return 1
	}
	return 0
}

func samePlacement(m *messages.PlaceBinding) bool {
	return m.Applied == m.Placement || reflect.DeepEqual(m.Applied, m.Placement)
}

// termOf is the index of an affinity group in its placement; negative: it has no such group.
func termOf(p *api.Placement, name string) int {
	if p == nil {
		return -1
	}
	return slices.IndexFunc(p.ClusterAffinities, func(t api.ClusterAffinityTerm) bool { return t.AffinityName == name })
}

func hasTarget(targets []api.TargetCluster, cluster string) bool {
	return api.FindTarget(targets, cluster) >= 0
}

func sameTargets(a, b []api.TargetCluster) bool {
	if len(a) != len(b) {
		return false
	}
	for _, t := range a {
		if !slices.ContainsFunc(b, t.Equal) {
			return false
		}
	}
	return true
}

func replicasOf(targets []api.TargetCluster) (sum int64) {
	for _, t := range targets {
		sum += int64(t.Replicas)
	}
	return sum
}

// gain reports whether some of the clusters have more replicas after than before.
func gain(clusters []messages.ClusterName, before, after []api.TargetCluster) bool {
	return slices.ContainsFunc(clusters, func(c messages.ClusterName) bool {
		return api.ReplicasOn(after, string(c)) > api.ReplicasOn(before, string(c))
	})
}

// leftFor are the clusters of a placement that the next one does without.
func leftFor(now, next []api.TargetCluster) (left []messages.ClusterName) {
	for _, t := range now {
		if !hasTarget(next, t.Name) {
			left = append(left, messages.ClusterName(t.Name))
		}
	}
	return left
}

// shifts reports whether some cluster that is kept has fewer replicas after than before, and another one more.
func shifts(before, after []api.TargetCluster) bool {
	fewer := slices.ContainsFunc(before, func(t api.TargetCluster) bool {
		n := api.ReplicasOn(after, t.Name)
		return n > 0 && n < t.Replicas
	})
	return fewer && slices.ContainsFunc(after, func(t api.TargetCluster) bool { return t.Replicas > api.ReplicasOn(before, t.Name) })
}
