package binding

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// rememberHome notes where the workload runs as its home, before it leaves the first cluster for a failure, if
// its policy lets it return. What the workload, its policy or people ask for otherwise is no home yet.
func (b *Binding) rememberHome(out *actors.Outbox) {
	if !b.mayReturn() || b.home != nil && len(b.home.shares) > 0 || !b.asWished() {
		return
	}
	clusters := b.sortedClusters()
	w := owned(&b.home)
	for _, c := range clusters {
		w.shares = append(w.shares, homeShare{TargetCluster: c})
	}
	out.Record(&messages.HomeChanged{Binding: b.name, Clusters: clusters})
}

// leavesHome remembers home where the first cluster fails. An application that is sick there does not return.
func (b *Binding) leavesHome(t *target, out *actors.Outbox) {
	switch t.leave.grounds.Reason {
	case api.EvictionReasonTaintUntolerated:
		b.rememberHome(out)
	case api.EvictionReasonApplicationFailure:
		b.forgetHome(out)
	}
}

func (v *view) sortedClusters() []api.TargetCluster {
	clusters := v.clusters()
	slices.SortFunc(clusters, func(x, y api.TargetCluster) int { return cmp.Compare(x.Name, y.Name) })
	return clusters
}

// asWished reports whether the result is what is asked for at present: it has the replicas, it was placed by
// this placement, and no fresh one was asked for since.
func (b *Binding) asWished() bool {
	sum := int64(0)
	for i := range b.targets {
		sum += int64(b.targets[i].replicas)
	}
	wanted := int64(b.spec.Replicas)
	if b.duplicated() {
		wanted *= int64(len(b.targets))
	}
	return len(b.targets) > 0 && sum == wanted && !b.rescheduleAt.After(b.lastScheduled) && b.placedAsAsked()
}

// placedAsAsked reports whether the placement that is asked for is the one that was last carried out.
func (v *view) placedAsAsked() bool {
	return v.applied == v.spec.Placement || reflect.DeepEqual(v.applied, v.spec.Placement)
}

// forgetHome ends the way back to single clusters: what they ran before is no longer what is asked for, or runs
// there again.
func (b *Binding) forgetHome(out *actors.Outbox) {
	if b.home == nil || len(b.home.shares) == 0 {
		return
	}
	b.home.shares = nil
	out.Record(&messages.HomeChanged{Binding: b.name})
	b.dropCopies(out)
}

// arrive ends the way back once all runs where it ran.
func (b *Binding) arrive(out *actors.Outbox) {
	if b.home == nil || len(b.home.shares) == 0 {
		return
	}
	if slices.EqualFunc(b.sortedClusters(), b.home.shares, func(c api.TargetCluster, s homeShare) bool { return c == s.TargetCluster }) {
		b.forgetHome(out)
	}
}

// edited forgets what was home where people ask for something else, or no longer for a return.
func (b *Binding) edited(changed []string, out *actors.Outbox) {
	for _, what := range []string{"resource", "replicas", "placement"} {
		if slices.Contains(changed, what) {
			b.forgetHome(out)
		}
	}
	if !b.mayReturn() {
		b.forgetHome(out)
	}
	if b.home == nil || b.failsBack() {
		return
	}
	if !b.home.at.IsZero() {
		b.home.at, b.home.asked = time.Time{}, false
		out.Record(&messages.ReturnDropped{Binding: b.name})
	}
}

// shareJudged begins or ends the time for which a cluster of home must stay able to take its share.
func (b *Binding) shareJudged(now time.Time, m *messages.ReturnJudged, out *actors.Outbox) {
	s := b.homeShare(m.Cluster)
	switch {
	case s == nil, !b.failsBack() && !s.kept && s.at.IsZero():
	case m.Possible && s.at.IsZero():
		s.at = now.Add(b.stabilization())
		out.Record(&messages.ShareReturnPlanned{Binding: b.name, Cluster: m.Cluster, At: s.at})
	case !m.Possible && !s.at.IsZero():
		s.at, s.asked = time.Time{}, false
		out.Record(&messages.ShareReturnDropped{Binding: b.name, Cluster: m.Cluster})
	}
}

func (b *Binding) homeShare(c messages.ClusterName) *homeShare {
	if b.home == nil {
		return nil
	}
	i := slices.IndexFunc(b.home.shares, func(s homeShare) bool { return s.Name == string(c) })
	if i < 0 {
		return nil
	}
	return &b.home.shares[i]
}
