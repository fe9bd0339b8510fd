package owner

import (
	"maps"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/draw"
	"leeward/messages"
)

// machineSet keeps up a number of machines, each with a node. The template holds for nodes of new machines alone.
type machineSet struct {
	// machines are the nodes of its machines; true: it had them deleted.
	machines map[messages.NodeName]bool
}

func (s *machineSet) reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	stay := 0
	for _, deleted := range s.machines { // order-free: a count
		if !deleted {
			stay++
		}
	}
	for range int(o.spec.Replicas) - stay {
		s.create(o, now, out)
	}
	s.shrink(o, stay-int(o.spec.Replicas), "scaled down", out)
	return time.Time{}
}

func (s *machineSet) create(o *Owner, now time.Time, out *actors.Outbox) {
	name := messages.NodeName(o.fresh(now, o.local, func(local string) bool {
		_, has := s.machines[messages.NodeName(local)]
		return has
	}))
	s.machines[name] = false
	m := o.spec.Machine
	out.TellAPIServer(&messages.CreateNode{Node: name, Owner: o.name, Labels: m.Labels, Taints: m.Taints, Allocatable: m.Allocatable})
}

// shrink deletes so many machines, any of them: chance decides, as with deletePolicy Random.
func (s *machineSet) shrink(o *Owner, n int, cause string, out *actors.Outbox) {
	if n <= 0 {
		return
	}
	names := slices.Sorted(maps.Keys(s.machines))
	names = slices.DeleteFunc(names, func(name messages.NodeName) bool { return s.machines[name] })
	slices.SortStableFunc(names, func(a, b messages.NodeName) int {
		x, y := draw.Mix(o.seed^draw.Hash(0, string(a))), draw.Mix(o.seed^draw.Hash(0, string(b)))
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		default:
			return 0
		}
	})
	for _, name := range names[:min(n, len(names))] {
		s.machines[name] = true
		out.TellAPIServer(&messages.DeleteNode{Node: name, Cause: cause})
	}
}
