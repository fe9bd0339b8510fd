package invariant

import (
	"reflect"
	"slices"
	"time"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"

	"k8s.io/utils/ptr"
)

// starts are the bindings that had to leave a cluster for another and have not served there yet, as far as is known. Who
// starts by choice and has to leave a third one later counts, too, for the scheduler; that is not followed here.
type starts map[messages.ClusterName]map[messages.BindingName]bool

// backoff is how many a cluster may start at the same time, and since when it backs off.
type backoff struct {
	most  int
	since time.Time
}

// arrival is a binding that began to run on a cluster, and when it did.
type arrival struct {
	evictedFrom
	at time.Time
}

// backsOff notes how many a cluster may start that backs off.
func (m *Monitor) backsOff(now time.Time, f *messages.StartsCounted) {
	c := messages.ClusterName(f.Cluster)
	switch _, known := m.backoffs[c]; {
	case f.Most == 0:
		delete(m.backoffs, c)
	case !known:
		m.backoffs[c] = backoff{f.Most, now}
	}
}

// mostStarts is how many a cluster may start at the same time; zero: any number. A back-off counts from the next instant on: what is
// decided in its first may come before it.
func (m *Monitor) mostStarts(now time.Time, c messages.ClusterName) int {
	most := m.settings.MaxStartingPerCluster
	if b := m.backoffs[c]; b.most > 0 && b.since.Before(now) && (most == 0 || b.most < most) {
		return b.most
	}
	return most
}

// arrive notes where a binding begins to run that had to leave another cluster in the instant, if that is limited there.
func (m *Monitor) arrive(at time.Time, f *messages.Scheduled) {
	if m.settings.MaxStartingPerCluster == 0 && len(m.backoffs) == 0 || !m.evicted[f.Binding] {
		return
	}
	for _, t := range f.Clusters {
		came := api.FindTarget(f.Before, t.Name) < 0
		if c := messages.ClusterName(t.Name); came && m.mostStarts(at, c) > 0 {
			m.arrivals = append(m.arrivals, arrival{evictedFrom{f.Binding, c}, at})
			if m.starting[c] == nil {
				m.starting[c] = map[messages.BindingName]bool{}
			}
			m.starting[c][f.Binding] = true
		}
	}
}

// startsKept asks the clusters to which evictions moved a binding in the instant whether they start no more than they may.
func (m *Monitor) startsKept(s *store.Store) {
	for _, a := range m.arrivals {
		n, most := m.startingOn(a.at, s, a.cluster), m.mostStarts(a.at, a.cluster)
		m.check(StartsKept, most == 0 || n <= most, Violation{At: a.at, Binding: a.binding, Cluster: a.cluster}, "%d start there at the same time, and no more than %d may", n, most)
	}
	m.arrivals = m.arrivals[:0]
}

// startingOn counts the bindings that still start on a cluster. Who does no longer is forgotten.
func (m *Monitor) startingOn(now time.Time, s *store.Store, c messages.ClusterName) int {
	for name := range m.starting[c] { // order-free: each by itself
		if b := s.Binding(name); b == nil || !targets(b, string(c)) || !m.underWay(now, b) || hasServed(b, string(c)) {
			delete(m.starting[c], name)
		}
	}
	return len(m.starting[c])
}

// underWay reports whether the handover from a cluster is in time: what is overdue keeps no workload waiting, also where the engine was
// gone when its time was up.
func (m *Monitor) underWay(now time.Time, b *store.Binding) bool {
	h := eviction.Handover{Timeout: m.settings.GracefulEvictionTimeout, KeepLastCopy: m.settings.KeepLastCopy}
	return slices.ContainsFunc(b.Spec.GracefulEvictionTasks, func(k api.GracefulEvictionTask) bool {
		why := eviction.Assess(&k, now, h).Why
		return why != eviction.Timeout && why != eviction.LastCopy
	})
}

// hasServed reports whether the copy on a cluster was healthy once, as far as it was heard of.
func hasServed(b *store.Binding, cluster string) bool {
	r := b.Status.Of(cluster)
	return r != nil && r.Health != "" && r.StartingSince == nil
}

// startsOver forgets what starts of a binding of which a handover is over, or overdue: that keeps no workload waiting. One that
// has others does, for the scheduler.
func (m *Monitor) startsOver(b messages.BindingName) {
	for _, on := range m.starting { // order-free: each by itself
		delete(on, b)
	}
}

// Bytes estimates the memory that the monitor has for bindings: what it has for clusters and for the instant at hand is little
// beside that. Names and objects are the store's. It reads no more than the sizes of maps.
func (m *Monitor) Bytes() (sum int64) {
	sum += mapBytes(m.census.of) + mapBytes(m.changed) + mapBytes(m.open) + mapBytes(m.applied) + mapBytes(m.replacements) + mapBytes(m.copies.of)
	for _, l := range m.census.on { // order-free: a sum
		sum += mapBytes(l.bindings)
	}
	sum += mapBytes(m.due.ids) + int64(cap(m.due.names))*nameBytes + int64(len(m.due.ids))*deadlineBytes
	sum += mapBytes(m.budgeted.moved) + mapBytes(m.budgeted.took) + mapBytes(m.permits.given) + mapBytes(m.permits.released)
	return sum + int64(cap(m.violations))*int64(reflect.TypeFor[Violation]().Size())
}

// What a name in a list, and a deadline in the heap with its index, take.
const (
	nameBytes     = 16
	deadlineBytes = 20
)

// mapBytes is what the entries of a map take. Go's maps are three quarters full, and have a byte of control for each entry.
func mapBytes[K comparable, V any](m map[K]V) int64 {
	return int64(len(m)) * int64(reflect.TypeFor[K]().Size()+reflect.TypeFor[V]().Size()+1) * 4 / 3
}

// scaledToZero asks that nothing remains of a workload that is to run no replicas: no target, no task, no copy. Clusters
// that cannot be reached hear of it later, and a person who suppresses a deletion keeps that copy.
func (m *Monitor) scaledToZero(now time.Time, s *store.Store, b *store.Binding) {
	if !asksForNothing(b) || !m.placedByUs(b) {
		return
	}
	for i := range b.Spec.Clusters {
		t := &b.Spec.Clusters[i]
		v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(t.Name)}
		m.check(ScaledToZero, t.Replicas == 0, v, "%d replicas are placed", t.Replicas)
	}
	for i := range b.Spec.GracefulEvictionTasks {
		k := &b.Spec.GracefulEvictionTasks[i]
		v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(k.FromCluster)}
		m.check(ScaledToZero, k.Replicas == nil || k.SuppressDeletion != nil, v, "an eviction task remains")
	}
	for _, k := range m.copies.of[b.Name()] {
		if k.runs && k.replicas > 0 && m.hears(now, k.cluster) && s.Cluster(k.cluster) != nil && !kept(b, string(k.cluster)) {
			m.check(ScaledToZero, false, Violation{At: now, Binding: b.Name(), Cluster: k.cluster}, "%d replicas run", k.replicas)
		}
	}
}

// asksForNothing reports whether a binding asks for no replicas. What has none by its kind asks for none either: it has
// targets and copies without replicas, which are not what this is about.
func asksForNothing(b *store.Binding) bool {
	return b.Spec.Replicas == 0 && !slices.ContainsFunc(b.Spec.Components, func(c api.Component) bool { return c.Replicas > 0 })
}

// placedByUs reports whether the scheduler has placed a binding as it is now, or can whatever clusters there are.
func (m *Monitor) placedByUs(b *store.Binding) bool {
	if b.Owner() == "" || b.Spec.Placement == nil || len(b.Spec.RequiredBy) > 0 {
		return false
	}
	suspended := b.Spec.Suspension != nil && b.Spec.Suspension.Scheduling != nil && *b.Spec.Suspension.Scheduling
	ours := b.Spec.SchedulerName == "" || b.Spec.SchedulerName == api.DefaultScheduler
	return ours && !suspended && (m.settings.ZeroReplicasNeedNoCluster || settled(b))
}

// kept reports whether a person has a task keep the old copy on a cluster.
func kept(b *store.Binding, cluster string) bool {
	k := b.Spec.TaskFrom(cluster)
	return k != nil && ptr.Deref(k.SuppressDeletion, false)
}
