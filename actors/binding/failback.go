package binding

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// failback returns a binding: to an earlier affinity group, or to clusters that it was evicted from. A
// binding that has no such way has none.
type failback struct {
	// at is when it returns to an earlier group if that stays able to take it; zero: no group is. asked is set
	// from then on, until the scheduler lets it go.
	at    time.Time
	asked bool
	// shares are what clusters ran before the first of them failed, by name; none: it runs where it prefers to.
	shares []preferred
	// shrinking is why clusters run more than their shares until the others serve, and since when; empty: none does.
	shrinking string
	since     time.Time
}

// preferred is what one preferred cluster ran.
type preferred struct {
	api.TargetCluster
	// at is when it has that back if it stays able to take it; zero: it is not. asked is set from then on.
	at    time.Time
	asked bool
	// kept is set while the cluster, which was cut off, runs its old copy until that is judged.
	kept bool
}

// failsBack reports whether the policy lets the workload return by itself.
func (d *declared) failsBack() bool {
	f := d.spec.Failover
	return f != nil && f.Cluster != nil && f.Cluster.Failback != nil && f.Cluster.Failback.Mode == api.FailbackAutomatic
}

// apply begins or ends the time for which an earlier group, or a preferred cluster, must stay able to take
// what is to return.
func (f *failback) apply(v *view, now time.Time, m *messages.ReturnJudged, out *actors.Outbox) {
	if m.Cluster != "" {
		f.shareJudged(v, now, m, out)
		return
	}
	switch planned := !f.at.IsZero(); {
	case planned && !m.Possible:
		f.drop(v, out)
	case !planned && m.Possible && v.failsBack():
		f.at = now.Add(v.spec.Failover.Cluster.Failback.Stabilization())
		out.Record(&messages.FailbackScheduled{Binding: v.name, Affinity: m.Affinity, At: f.at})
	}
}

func reached(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// returnsAt is when the next return falls due; zero: none does.
func (w *failback) returnsAt() (next time.Time) {
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

// start ends the waits of what returns.
func (f *failback) start(started *messages.FailbackStarted, out *actors.Outbox) {
	f.at, f.asked = time.Time{}, false
	for i := range f.shares {
		if s := &f.shares[i]; s.asked {
			s.at, s.asked, s.kept = time.Time{}, false, false
			started.Clusters = append(started.Clusters, s.TargetCluster)
		}
	}
	out.Record(started)
}

// returning reports whether a return is under way.
func (f *failback) returning(v *view) bool {
	return f != nil && f.shrinking == api.EvictionReasonFailback ||
		slices.ContainsFunc(v.handover.tasks, func(k task) bool { return k.Reason == api.EvictionReasonFailback })
}

// restoreFailback takes over what returns, and when; nil: nothing does.
func restoreFailback(s *api.BindingStatus) *failback {
	if s.ReturnAt == nil && len(s.Home) == 0 {
		return nil
	}
	f := &failback{}
	if s.ReturnAt != nil {
		f.at = s.ReturnAt.Time
	}
	for i := range s.Home {
		share := preferred{TargetCluster: s.Home[i].TargetCluster, kept: s.Home[i].Kept}
		if s.Home[i].ReturnAt != nil {
			share.at = s.Home[i].ReturnAt.Time
		}
		f.shares = append(f.shares, share)
	}
	return f
}

// remember notes where the workload runs, before it is evicted from the first cluster for a failure: it may return there.
func (f *failback) remember(v *view, out *actors.Outbox) {
	clusters := v.sortedClusters()
	for _, c := range clusters {
		f.shares = append(f.shares, preferred{TargetCluster: c})
	}
	out.Record(&messages.FailbackTargetsChanged{Binding: v.name, Clusters: clusters})
}

// returns reports whether there are clusters to return to.
func (f *failback) returns() bool { return f != nil && len(f.shares) > 0 }

// forget ends the return to single clusters: what they ran before is no longer what is asked for, or runs there again.
func (f *failback) forget(v *view, out *actors.Outbox) {
	f.shares = nil
	out.Record(&messages.FailbackTargetsChanged{Binding: v.name})
}

// returned reports whether all runs again where it ran.
func (f *failback) returned(v *view) bool {
	return f.returns() && slices.EqualFunc(v.sortedClusters(), f.shares, func(c api.TargetCluster, s preferred) bool { return c == s.TargetCluster })
}

func (v *view) sortedClusters() []api.TargetCluster {
	clusters := v.targets.shown()
	slices.SortFunc(clusters, func(x, y api.TargetCluster) int { return cmp.Compare(x.Name, y.Name) })
	return clusters
}

// endsReturn reports whether what was edited ends a return: people ask for something else, or no longer for a return.
func (d *declared) endsReturn(changed []string) bool {
	return !d.mayReturn() || slices.ContainsFunc(changed, func(what string) bool {
		return what == "resource" || what == "replicas" || what == "placement"
	})
}

// drop ends the wait for an earlier group.
func (f *failback) drop(v *view, out *actors.Outbox) {
	f.at, f.asked = time.Time{}, false
	out.Record(&messages.FailbackCancelled{Binding: v.name})
}

// shareJudged begins or ends the time for which a preferred cluster must stay able to take its share.
func (f *failback) shareJudged(v *view, now time.Time, m *messages.ReturnJudged, out *actors.Outbox) {
	s := f.share(m.Cluster)
	switch {
	case s == nil, !v.failsBack() && !s.kept && s.at.IsZero():
	case m.Possible && s.at.IsZero():
		s.at = now.Add(v.stabilization())
		out.Record(&messages.ShareFailbackScheduled{Binding: v.name, Cluster: m.Cluster, At: s.at})
	case !m.Possible && !s.at.IsZero():
		s.at, s.asked = time.Time{}, false
		out.Record(&messages.ShareFailbackCancelled{Binding: v.name, Cluster: m.Cluster})
	}
}

func (f *failback) share(c messages.ClusterName) *preferred {
	if f == nil {
		return nil
	}
	i := slices.IndexFunc(f.shares, func(s preferred) bool { return s.Name == string(c) })
	if i < 0 {
		return nil
	}
	return &f.shares[i]
}

// mayReturn reports whether anything of the workload may go back to where it was.
func (d *declared) mayReturn() bool { return d.failsBack() || d.judges() }

// stabilization is how long a preferred cluster must be able to take its share: no time where only an old copy
// that runs anyway is judged.
func (d *declared) stabilization() time.Duration {
	if f := d.spec.Failover; f != nil && f.Cluster != nil && f.Cluster.Failback != nil {
		return f.Cluster.Failback.Stabilization()
	}
	return 0
}
