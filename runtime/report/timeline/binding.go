package timeline

import (
	"fmt"
	"strconv"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
)

// binding takes a fact about a binding into its lane, or into the one of the cluster that the fact names.
func (t *telling) binding(l *Lane, f messages.AboutBinding) {
	if _, gone := f.(*messages.BindingDeleted); gone {
		t.gone(l)
		l.failovers = failover.Binding{}
		return
	}
	l.failovers.Take(t.now, f.(messages.Fact), func(_ time.Time, s failover.Step, o *failover.Failover) { t.step(l.on(o.Cluster), s, o) })
	t.placed(l, l.failovers.Clusters)
	switch f := f.(type) {
	case *messages.ScheduleFailed:
		t.mark(l)
		t.begin(l.track(trackUnschedulable), Unschedulable, unschedulable(f))
	case *messages.Scheduled:
		t.mark(l)
		t.end(l.track(trackUnschedulable))
	case messages.AboutCluster:
		t.copied(l.on(f.AboutCluster()), f)
	default:
		t.mark(l)
	}
}

// unschedulable says how many replicas no cluster can take, where that is known, and why.
func unschedulable(f *messages.ScheduleFailed) string {
	if f.Missing == 0 {
		return "unschedulable: " + f.Reason
	}
	return fmt.Sprintf("%d unschedulable: %s", f.Missing, f.Reason)
}

// on returns a binding's lane for a cluster.
func (l *Lane) on(c messages.ClusterName) *Lane {
	for _, sub := range l.Lanes {
		if sub.Name == string(c) {
			return sub
		}
	}
	sub := &Lane{Name: string(c), Tracks: []*Track{{Name: trackPlacement}, {Name: trackEviction}, {Name: trackCopy}}}
	l.Lanes = append(l.Lanes, sub)
	return sub
}

// placed lets a binding run on these clusters and on no other one.
func (t *telling) placed(l *Lane, clusters []api.TargetCluster) {
	stays := map[string]bool{}
	for i := range clusters {
		c := &clusters[i]
		stays[c.Name] = true
		track := l.on(messages.ClusterName(c.Name)).track(trackPlacement)
		if label := share(c); !track.is(Placed) || track.last().Label != label {
			t.begin(track, Placed, label)
		}
	}
	for _, sub := range l.Lanes {
		if !stays[sub.Name] {
			t.end(sub.track(trackPlacement), Placed)
		}
	}
}

// share is what a cluster is to run.
func share(c *api.TargetCluster) string {
	if c.Replicas == 0 {
		return "placed"
	}
	return "placed ×" + strconv.Itoa(int(c.Replicas))
}

// step takes the way from the countdown to the end of the handover.
func (t *telling) step(on *Lane, s failover.Step, f *failover.Failover) {
	eviction := on.track(trackEviction)
	switch s {
	case failover.Scheduled:
		t.begin(eviction, Countdown, "eviction scheduled")
	case failover.Blocked:
		t.blocked(eviction, "blocked: "+f.BlockedBy.Reason)
	case failover.Evicted:
		t.begin(eviction, Evicting, "evicting")
	case failover.Released, failover.Cancelled:
		t.end(eviction)
	}
}

// blocked goes on with what is blocked again for the same reason as one bar.
func (t *telling) blocked(eviction *Track, label string) {
	if eviction.is(Blocked) && eviction.last().Label == label {
		t.note(eviction)
		return
	}
	t.begin(eviction, Blocked, label)
}

// noted tells of a handover what it is itself, and where there is none, of the lane.
func (t *telling) noted(on *Lane, eviction *Track) {
	if eviction.open() {
		t.note(eviction)
		return
	}
	t.mark(on)
}

// copied takes what a member does and what its copy reports.
func (t *telling) copied(on *Lane, f messages.AboutCluster) {
	track := on.track(trackCopy)
	switch role := failover.RoleOf(f.(messages.Fact)); {
	case role.Is(failover.Evicts): // the way to the end of the handover shows it
		return
	case role.Is(failover.Notes):
		t.noted(on, on.track(trackEviction))
		return
	}
	switch f := f.(type) {
	case *messages.CopyStarted:
		t.begin(track, Starting, "starting")
	case *messages.AvailabilityChanged:
		t.available(on, f)
	case *messages.HealthChanged:
		t.health(track, f)
	case *messages.CopyStopped:
		t.end(track)
		t.endAvailable(on)
	case *messages.CopyPreserved:
		t.end(track)
		t.mark(on)
	default:
		t.mark(on)
	}
}

// available shows for how long replicas do not serve that an outage took, whatever is reported of them meanwhile.
func (t *telling) available(on *Lane, f *messages.AvailabilityChanged) {
	if f.Outage != "" {
		t.begin(on.track(trackAvailable), Unhealthy, strconv.Itoa(int(f.Available))+" available")
		return
	}
	t.endAvailable(on)
}

// endAvailable ends what an outage took, if it took something.
func (t *telling) endAvailable(on *Lane) {
	for _, track := range on.Tracks {
		if track.Name == trackAvailable {
			t.end(track)
		}
	}
}

// health begins a bar where the health is another. A copy that was never healthy goes on starting, which is what
// Starting says of it.
func (t *telling) health(track *Track, f *messages.HealthChanged) {
	kind := Unknown
	switch {
	case f.Health == api.Healthy:
		kind = Healthy
	case f.Health == api.Unhealthy && !f.Starting.IsZero():
		kind = Starting
	case f.Health == api.Unhealthy:
		kind = Unhealthy
	}
	if track.is(kind) {
		t.note(track)
		return
	}
	t.begin(track, kind, string(kind))
}
