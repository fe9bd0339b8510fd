package store

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// Apply makes one fact true of the objects. Every change of a spec raises the object's generation by
// one; a fact that changes nothing leaves the object's version alone. Facts that tell of no object
// (countdowns, holds, copies, inputs) pass by, and so does a fact about an object that is gone.
func (s *Store) Apply(at time.Time, f messages.Fact) {
	switch f := f.(type) {
	case *messages.ClusterRemoved:
		s.Delete(ClusterKey(f.Cluster))
	case *messages.GovernorChanged:
		s.governorChanged(at, f)
	case *messages.BreakerChanged:
		s.breakerChanged(at, f)
	case *messages.StartsCounted:
		s.startsCounted(f)
	case *messages.EvictionsPermitted:
		s.evictionsPermitted(at, f)
	case *messages.HoldPlaced:
		s.hold(f.HoldScope, &api.HoldStatus{
			Binding: string(f.Binding), Cluster: string(f.Cluster), Reason: f.Reason, Since: metav1.MicroTime{Time: at}, Until: microTime(f.Until),
		})
	case *messages.HoldEnded:
		s.hold(f.HoldScope, nil)
	case *messages.ReleaseGranted:
		s.release(f.Binding, &api.ReleaseStatus{Binding: string(f.Binding), Reason: f.Reason, Since: metav1.MicroTime{Time: at}})
	case *messages.ReleaseEnded:
		s.release(f.Binding, nil)
	case *messages.BudgetChanged:
		s.budgetChanged(f)
	case *messages.BindingCreated:
		s.bindingCreated(at, f)
	case *messages.BindingDeleted:
		s.Delete(BindingKey(f.Binding))
	case *messages.CopyWanted, *messages.CopyUnwanted: // they are about bindings, and there are many
	case messages.AboutBinding:
		s.applyToBinding(at, f)
	case messages.AboutCluster:
		s.applyToCluster(at, f)
	}
}

func (s *Store) applyToCluster(at time.Time, f messages.AboutCluster) {
	c := s.Cluster(f.AboutCluster())
	if c == nil || !applyToCluster(c, at, f) {
		return
	}
	e := s.clusters[f.AboutCluster()]
	undecided := e.version == e.settled && reports(f)
	if s.touch(e); undecided {
		e.settled = e.version
	}
	if counts(f) {
		s.recount(f.AboutCluster())
	}
}

func (s *Store) applyToBinding(at time.Time, f messages.AboutBinding) {
	e := s.bindings[f.AboutBinding()]
	if e == nil || e.binding.confirmed(f) {
		return
	}
	was := e.object
	e.own()
	generation, conditions := e.binding.Meta.Generation, e.binding.Status.Conditions
	if w, withdrawn := f.(*messages.EvictionWithdrawn); withdrawn && e.row != nil && !AsBinding(e.row.Object()).isRecording(w.Cluster) {
		e.binding.forgetRecord(w.Cluster) // it was not committed: no client has seen it
	}
	if e.binding.apply(at, f) {
		s.transitions.flipped(at, e.binding, conditions)
		s.touch(e)
	} else if e.object != was {
		e.stand(was)
	}
	if e.binding.Meta.Generation != generation {
		s.recharge(f.AboutBinding())
	}
}

// withCondition returns the conditions with c in its place, and whether that changed them. The time
// of c holds only where its status is new: a reason or a message is no transition.
func withCondition(list []metav1.Condition, c metav1.Condition) ([]metav1.Condition, bool) {
	i := slices.IndexFunc(list, func(o metav1.Condition) bool { return o.Type == c.Type })
	if i < 0 {
		return append(slices.Clip(list), c), true
	}
	if list[i].Status == c.Status {
		c.LastTransitionTime = list[i].LastTransitionTime
	}
	if list[i] == c {
		return list, false
	}
	list = slices.Clone(list)
	list[i] = c
	return list, true
}

// without returns the list without the one item that is meant, and whether it was there.
func without[T any](list []T, meant func(T) bool) ([]T, bool) {
	i := slices.IndexFunc(list, meant)
	if i < 0 {
		return list, false
	}
	return slices.Concat(list[:i], list[i+1:]), true
}
