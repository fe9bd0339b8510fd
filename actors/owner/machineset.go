package owner

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/draw"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// machineSet keeps up a number of machines, each with a node. The template holds for new machines alone.
type machineSet struct {
	machines map[messages.NodeName]*machine
	// viewed are the nodes to look at.
	viewed map[messages.NodeName]bool
}

// machine is one machine. It has the taints of the template that it was made of; deleted: its deletion was asked for.
type machine struct {
	taints  []corev1.Taint
	deleted bool
}

func newMachineSet() *machineSet {
	return &machineSet{machines: map[messages.NodeName]*machine{}, viewed: map[messages.NodeName]bool{}}
}

func (s *machineSet) reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	stay := 0
	for _, m := range s.machines { // order-free: a count
		if !m.deleted {
			stay++
		}
	}
	for range int(o.spec.Replicas) - stay {
		s.create(o, now, out)
	}
	s.shrink(o, stay-int(o.spec.Replicas), "scaled down", out)
	s.link(o, out)
	return time.Time{}
}

func (s *machineSet) create(o *Owner, now time.Time, out *actors.Outbox) {
	name := messages.NodeName(o.fresh(now, o.local, func(local string) bool {
		_, has := s.machines[messages.NodeName(local)]
		return has
	}))
	m := o.spec.Machine
	s.machines[name] = &machine{taints: m.Taints}
	out.TellAPIServer(&messages.CreateNode{Node: name, Owner: o.name, Labels: m.Labels, Taints: m.Taints, Allocatable: m.Allocatable})
}

// link gives nodes the taints of their machines that they lack, also where a user removed one. It changes no value, and removes none. Source: the
// nodelink controller of OpenShift.
func (s *machineSet) link(o *Owner, out *actors.Outbox) {
	for _, name := range slices.Sorted(maps.Keys(s.viewed)) {
		m, view := s.machines[name], o.nodes[name]
		if m == nil || m.deleted || view == nil {
			continue
		}
		c := messages.ChangeTaints{Node: name}
		for _, t := range m.taints {
			if taint.Find(view.Taints, t.Key, t.Effect) < 0 {
				c.Add, c.Because = append(c.Add, t), append(c.Because, "its Machine has it")
			}
		}
		if len(c.Add) > 0 {
			out.TellAPIServer(&c)
		}
	}
	clear(s.viewed)
}

// shrink deletes so many machines, any of them: chance decides, as with deletePolicy Random.
func (s *machineSet) shrink(o *Owner, n int, cause string, out *actors.Outbox) {
	if n <= 0 {
		return
	}
	names := slices.Sorted(maps.Keys(s.machines))
	names = slices.DeleteFunc(names, func(name messages.NodeName) bool { return s.machines[name].deleted })
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
		s.machines[name].deleted = true
		out.TellAPIServer(&messages.DeleteNode{Node: name, Cause: cause})
	}
}
