package karmada

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"leeward/messages"
	"leeward/messages/api"
)

func renewal(l *coordinationv1.Lease) time.Time {
	if l.Spec.RenewTime == nil {
		return time.Time{}
	}
	return l.Spec.RenewTime.UTC()
}

// renewed takes in a sign of life of an agent.
func (t *twin) renewed(l *coordinationv1.Lease, at time.Time) {
	cluster := messages.ClusterName(l.Name)
	if l.Namespace != api.LeaseNamespace || !renewal(l).After(t.leases[cluster]) {
		return
	}
	t.leases[cluster] = renewal(l)
	t.world.TellAgent(cluster, &messages.LeaseRenewed{At: at})
}

// workChanged tells the machine of an agent what that says of a copy. That a Work is gone is an answer of the other control plane, unless it is
// what became of Leeward's own decision.
func (t *twin) workChanged(old, o api.Object) {
	if now, is := o.(*work); is {
		if now.ours {
			t.works[now.of] = now
			t.tellWork(now)
			t.match(now.of)
		}
		return
	}
	if before := old.(*work); before.ours && t.works[before.of] == before {
		delete(t.works, before.of)
		if t.actsOn(before.of.binding) {
			t.world.TellAgent(before.of.cluster, &messages.WorkGone{Binding: before.of.binding})
		}
	}
}

// tellWork tells what a Work of the server says, unless it is being deleted.
func (t *twin) tellWork(w *work) {
	if w.DeletionTimestamp == nil {
		t.world.TellAgent(w.of.cluster, &messages.WorkObserved{Binding: w.of.binding, Generation: w.Generation, Report: w.report})
	}
}

// match says that a copy that the machines want is asked for, if the server's Work asks for the same: then reports about that count.
func (t *twin) match(p place) {
	wish, w := t.wishes[p], t.works[p]
	if wish == nil || w == nil || w.DeletionTimestamp != nil || w.counted && w.replicas != wish.Replicas {
		return
	}
	delete(t.wishes, p)
	t.world.TellAgent(p.cluster, &messages.WorkWritten{Binding: p.binding, Placement: wish.Placement, Generation: w.Generation})
	t.tellWork(w)
}

// answer tells the machines of copies that they asked for, or want no more: as far as they are concerned, those are gone, unless Leeward
// acts on the binding: then its Work is awaited.
func (t *twin) answer() {
	for _, p := range t.unwanted {
		if t.works[p] != nil && t.actsOn(p.binding) {
			continue
		}
		t.world.TellAgent(p.cluster, &messages.WorkGone{Binding: p.binding})
	}
	for _, p := range t.asked {
		t.match(p)
	}
	t.asked, t.unwanted = nil, nil
}
