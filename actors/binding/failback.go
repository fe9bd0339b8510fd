package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// homeward is a binding's way back: to an earlier affinity group, or to clusters that it was evicted from. A
// binding that has no such way has none.
type homeward struct {
	// at is when it returns to an earlier group if that stays able to take it; zero: no group is. asked is set
	// from then on, until the scheduler lets it go.
	at    time.Time
	asked bool
	// shares are what clusters ran before the first of them failed, by name; none: it is at home.
	shares []homeShare
	// shrinking is why clusters run more than their shares until the others serve, and since when; empty: none does.
	shrinking string
	since     time.Time
}

// homeShare is what one cluster ran at home.
type homeShare struct {
	api.TargetCluster
	// at is when it has that back if it stays able to take it; zero: it is not. asked is set from then on.
	at    time.Time
	asked bool
	// kept is set while the cluster, which was cut off, runs its old copy until that is judged.
	kept bool
}

// failsBack reports whether the policy lets the workload return by itself.
func (v *view) failsBack() bool {
	f := v.spec.Failover
	return f != nil && f.Cluster != nil && f.Cluster.Failback != nil && f.Cluster.Failback.Mode == api.FailbackAutomatic
}

// homeWish is what the scheduler must know of the way back; nil: there is none.
func (b *Binding) homeWish() *messages.Homeward {
	if b.home == nil && !b.failsBack() {
		return nil
	}
	w := owned(&b.home)
	wish := &messages.Homeward{
		ToGroup: b.failsBack(), MayReturn: !w.at.IsZero(), ReturnDue: w.asked, Returning: b.returning(),
	}
	for i := range w.shares {
		s := &w.shares[i]
		wish.Shares = append(wish.Shares, messages.HomeShare{TargetCluster: s.TargetCluster, Able: !s.at.IsZero(), Due: s.asked, Kept: s.kept})
	}
	return wish
}

// returnJudged begins or ends the time for which an earlier group, or a cluster of home, must stay able to take
// what is to return.
func (b *Binding) returnJudged(now time.Time, m *messages.ReturnJudged, out *actors.Outbox) {
	if m.Cluster != "" {
		b.shareJudged(now, m, out)
		return
	}
	switch planned := b.home != nil && !b.home.at.IsZero(); {
	case planned && !m.Possible:
		b.home.at, b.home.asked = time.Time{}, false
		out.Record(&messages.ReturnDropped{Binding: b.name})
	case !planned && m.Possible && b.failsBack():
		owned(&b.home).at = now.Add(b.spec.Failover.Cluster.Failback.Stabilization())
		out.Record(&messages.ReturnPlanned{Binding: b.name, Affinity: m.Affinity, At: b.home.at})
	}
}

// returnDue asks to return, once the earlier group, or a cluster of home, has been able to take the workload
// for long enough.
func (b *Binding) returnDue(now time.Time, out *actors.Outbox) {
	if at := b.home.alarm(); at.IsZero() || at.After(now) {
		return
	}
	b.home.asked = b.home.asked || reached(b.home.at, now)
	for i := range b.home.shares {
		s := &b.home.shares[i]
		if !s.asked && reached(s.at, now) {
			b.askFor(s, out)
		}
	}
	b.ask(now, out)
}

func reached(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// alarm is when the next return falls due; zero: none does.
func (w *homeward) alarm() (next time.Time) {
	if w == nil {
		return next
	}
	if !w.asked {
		next = w.at
	}
	for i := range w.shares {
		if s := &w.shares[i]; !s.asked {
			next = actors.Earlier(next, s.at)
		}
	}
	return next
}

// moves gives the clusters that are left by choice their grounds, and begins a return. One that may be left anyway has
// grounds of its own; but one that must, and waits for leave to, is left by choice, too.
func (b *Binding) moves(m *messages.PlacementDecided, out *actors.Outbox) {
	if m.Move == "" {
		return
	}
	for _, c := range m.Leaving {
		t := b.target(c)
		if t == nil || t.leave.permitted {
			continue
		}
		if t.leave.requested {
			out.TellGovernor(&messages.WithdrawRequest{Binding: b.name, Cluster: c})
		}
		t.leave.grounds = messages.Grounds{Reason: m.Move}
	}
	if m.Move == api.EvictionReasonFailback {
		b.startReturn(m, out)
	}
}

// startReturn ends the waits of what returns. An earlier group is another home.
func (b *Binding) startReturn(m *messages.PlacementDecided, out *actors.Outbox) {
	started := &messages.ReturnStarted{Binding: b.name}
	if m.Affinity != b.affinity {
		started.Affinity = m.Affinity
		b.forgetHome(out)
	}
	w := owned(&b.home)
	w.at, w.asked = time.Time{}, false
	for i := range w.shares {
		if s := &w.shares[i]; s.asked {
			s.at, s.asked, s.kept = time.Time{}, false, false
			started.Clusters = append(started.Clusters, s.TargetCluster)
		}
	}
	out.Record(started)
}

// returning reports whether a return is under way.
func (b *Binding) returning() bool {
	return b.home != nil && b.home.shrinking == api.EvictionReasonFailback ||
		slices.ContainsFunc(b.tasks, func(k task) bool { return k.Reason == api.EvictionReasonFailback })
}

// abandonReturn marks a return to be withdrawn where what it returns to must be left before it took over: any
// cluster of an earlier group, or one that has the task's replicas.
func (b *Binding) abandonReturn() {
	for i := range b.tasks {
		k := &b.tasks[i]
		if k.Reason != api.EvictionReasonFailback {
			continue
		}
		byShares := k.FromAffinity == b.affinity
		k.back = k.back || slices.ContainsFunc(b.targets, func(t target) bool {
			return t.leave.due && (!byShares || k.isReplacedBy(t.cluster))
		})
	}
}

// takenBack puts a withdrawn return's affinity group in use again, and says why the task was withdrawn.
func (b *Binding) takenBack(k *task) string {
	if k.Reason != api.EvictionReasonFailback {
		return "the cluster recovered before the hand-over was done"
	}
	b.affinity = k.FromAffinity
	return "what it returned to failed before the hand-over was done"
}

func (b *Binding) restoreReturn(s *api.BindingStatus) {
	b.home = nil
	if s.ReturnAt != nil {
		owned(&b.home).at = s.ReturnAt.Time
	}
	for i := range s.Home {
		h := homeShare{TargetCluster: s.Home[i].TargetCluster, kept: s.Home[i].Kept}
		if s.Home[i].ReturnAt != nil {
			h.at = s.Home[i].ReturnAt.Time
		}
		owned(&b.home).shares = append(b.home.shares, h)
	}
}
