package scheduler

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// reservations keep the capacity that decisions have taken, until the clusters report it.
type reservations struct {
	settings *messages.Settings
	fleet    *placement.Fleet
	// kept is capacity that was found for bindings which ask for a permit in this instant.
	kept []*messages.PlaceBinding
}

// move reserves the capacity of a binding's new targets in place of its old ones; either may be nil. It reports whether
// capacity may be free.
func (r *reservations) move(before, after *messages.PlaceBinding) (freed bool) {
	if !r.settings.CapacityReservation || sameCapacity(before, after) {
		return false
	}
	r.reserve(before, -1)
	r.reserve(after, 1)
	return frees(before, after)
}

// sameCapacity reports whether a binding takes the same capacity as before, as most of its requests say.
func sameCapacity(before, after *messages.PlaceBinding) bool {
	return before != nil && after != nil && before.HasReplicas == after.HasReplicas && before.Requirements == after.Requirements &&
		before.Set == after.Set && sameTargets(before.Targets, after.Targets)
}

func (r *reservations) reserve(m *messages.PlaceBinding, sign int32) {
	if m == nil {
		return
	}
	for _, t := range m.Targets {
		switch cluster := messages.ClusterName(t.Name); {
		case m.Set != nil:
			r.fleet.ReserveSet(cluster, sign, m.Set)
		case m.HasReplicas:
			r.fleet.Reserve(cluster, sign*t.Replicas, m.Requirements)
		}
	}
}

// frees reports whether some cluster has fewer replicas of the binding than before, others, or another set.
func frees(before, after *messages.PlaceBinding) bool {
	if before == nil {
		return false
	}
	if after == nil {
		return len(before.Targets) > 0
	}
	for _, t := range before.Targets {
		if api.ReplicasOn(after.Targets, t.Name) < t.Replicas || before.Requirements != after.Requirements || before.Set != nil && !keepsSet(before, after, t.Name) {
			return true
		}
	}
	return false
}

// keepsSet reports whether a cluster runs the same set after as before.
func keepsSet(before, after *messages.PlaceBinding, cluster string) bool {
	return after.Set != nil && equality.Semantic.DeepEqual(before.Set.Components, after.Set.Components) && hasTarget(after.Targets, cluster)
}
