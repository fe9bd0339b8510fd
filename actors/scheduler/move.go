package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// moveTo returns why a binding that gets new targets hands over what it does by choice, and which clusters it leaves
// so, beside those that it must leave. Nothing is handed over where moves are not graceful, where nothing is asked
// for any more, or on a cluster that is gone.
func (s *Scheduler) moveTo(m *messages.PlaceBinding, next []api.TargetCluster, must []messages.ClusterName) (move string, moved []messages.ClusterName) {
	if !s.settings.GracefulMoves || len(next) == 0 {
		return "", nil
	}
	moved = s.along(m, next, must)
	switch {
	case fresh(m):
		return api.EvictionReasonRebalance, moved
	case len(moved) > 0 || shifts(m.Targets, next):
		return api.EvictionReasonReschedule, moved
	default:
		return "", nil
	}
}

// along are the clusters, but for those that are gone, that new targets do without beside those that a binding must leave.
func (s *Scheduler) along(m *messages.PlaceBinding, next []api.TargetCluster, must []messages.ClusterName) (along []messages.ClusterName) {
	for _, t := range m.Targets {
		c := messages.ClusterName(t.Name)
		if !hasTarget(next, t.Name) && !slices.Contains(must, c) && s.fleet.Has(c) {
			along = append(along, c)
		}
	}
	return along
}

// alone refuses a placement that takes something along, where nothing may go along.
func (s *Scheduler) alone(m *messages.PlaceBinding, d placement.Decision, must []messages.ClusterName) placement.Decision {
	if !m.Alone || len(d.Targets) == 0 {
		return d
	}
	along := s.along(m, d.Targets, must)
	if len(along) == 0 {
		return d
	}
	names := make([]string, len(along))
	for i, c := range along {
		names[i] = string(c)
	}
	return placement.Decision{
		Reason:  api.ReasonBudgetSpent,
		Message: fmt.Sprintf("only the whole workload can be moved; the copies on %s would be removed at the same time", strings.Join(names, ", ")),
	}
}

// heard refuses a placement in which a cluster takes over that is told nothing: an old copy would go for one that never
// starts.
func heard(m *messages.PlaceBinding, d placement.Decision) placement.Decision {
	if m.Untold == nil {
		return d
	}
	for _, c := range m.Untold.ClusterNames {
		if more := api.ReplicasOn(d.Targets, c) - api.ReplicasOn(m.Targets, c); more > 0 {
			return placement.Decision{
				Affinity: m.Affinity, Reason: api.ReasonUnschedulable,
				Message: fmt.Sprintf("%s would take %d replicas, but dispatching to it is suspended", c, more),
			}
		}
	}
	return d
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

func hasTarget(targets []api.TargetCluster, cluster string) bool {
	return api.FindTarget(targets, cluster) >= 0
}

// shifts reports whether some cluster that is kept has fewer replicas after than before, and another one more.
func shifts(before, after []api.TargetCluster) bool {
	fewer := slices.ContainsFunc(before, func(t api.TargetCluster) bool {
		n := api.ReplicasOn(after, t.Name)
		return n > 0 && n < t.Replicas
	})
	return fewer && slices.ContainsFunc(after, func(t api.TargetCluster) bool { return t.Replicas > api.ReplicasOn(before, t.Name) })
}
