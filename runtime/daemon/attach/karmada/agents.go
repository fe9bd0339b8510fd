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
			if before, is := old.(*work); is && before.UID != now.UID { // it was deleted in between
				t.workGone(before)
			}
			t.works[now.of] = now
			t.tellWork(now)
			t.match(now.of)
		}
		return
	}
	if before, was := old.(*work); was && before.ours && t.works[before.of] == before { // else it came and went between two looks
		delete(t.works, before.of)
		t.workGone(before)
	}
}

// workGone tells that a Work is gone, where that is what became of a decision of Leeward.
func (t *twin) workGone(w *work) {
	delete(t.leaving, w.of)
	if t.actsOn(w.of.binding) {
		t.world.TellAgent(w.of.cluster, &messages.WorkGone{Binding: w.of.binding})
	}
}

// keeps ends the wait for Works to go whose binding runs on their clusters again, and was not written meanwhile: nothing deletes those.
func (t *twin) keeps(name messages.BindingName, on []api.TargetCluster) {
	for i := range on {
		if p := (place{name, messages.ClusterName(on[i].Name)}); t.leaving[p] {
			delete(t.leaving, p)
			t.unwanted = append(t.unwanted, p)
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
		if t.works[p] != nil && t.actsOn(p.binding) && !t.runsOn(p) {
			t.leaving[p] = true
			continue
		}
		t.world.TellAgent(p.cluster, &messages.WorkGone{Binding: p.binding})
	}
	for _, p := range t.asked {
		t.match(p)
	}
	t.asked, t.unwanted = nil, nil
}

// runsOn reports whether a binding runs on a cluster, as the machines have it.
func (t *twin) runsOn(p place) bool {
	b := t.world.Store().Binding(p.binding)
	return b != nil && api.FindTarget(b.Spec.Clusters, string(p.cluster)) >= 0
}
