package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// lookAtBinding asks the invariants about one binding, and returns when time alone can change their answer, and whether it waits
// for something.
func (m *Monitor) lookAtBinding(now time.Time, s *store.Store, b *store.Binding) (next time.Time, waits bool) {
	m.oneTask(now, b)
	m.replicasConserved(now, b)
	m.scaledToZero(now, s, b)
	m.copiesAgree(now, s, b)
	m.beliefFollows(now, b)
	m.deadlinesFollow(now, s, b)
	m.observedFollows(now, b)
	next = actors.Earlier(m.tasksEnd(now, b), m.turns(now, b))
	late, waits := m.neverLate(now, s, b)
	return actors.Earlier(next, late), waits || len(b.Spec.GracefulEvictionTasks) > 0
}

// turns is when time alone next changes what is known of the copies of a binding: one has had the time to start, or what its
// cluster says arrives again.
func (m *Monitor) turns(now time.Time, b *store.Binding) (next time.Time) {
	for i := range m.copies.of[b.Name()] {
		k := &m.copies.of[b.Name()][i]
		if up := k.started.Add(m.members[k.cluster].StartupMin); len(b.Spec.GracefulEvictionTasks) > 0 && up.After(now) {
			next = actors.Earlier(next, up)
		}
		next = actors.Earlier(next, m.heardAgain(now, k.cluster))
	}
	for i := range b.Spec.Clusters {
		next = actors.Earlier(next, m.heardAgain(now, messages.ClusterName(b.Spec.Clusters[i].Name)))
	}
	return next
}

// heardAgain is when what a cluster says arrives again; zero: it does, for all that time has to do with it.
func (m *Monitor) heardAgain(now time.Time, c messages.ClusterName) time.Time {
	if until, late := m.copies.mishears[c]; late && !now.After(until) {
		return until.Add(1)
	}
	return time.Time{}
}

func (m *Monitor) oneTask(now time.Time, b *store.Binding) {
	tasks := b.Spec.GracefulEvictionTasks
	for i := range tasks {
		c := tasks[i].FromCluster
		twice, stays := slices.ContainsFunc(tasks[:i], func(t api.GracefulEvictionTask) bool { return t.FromCluster == c }), targets(b, c)
		if twice || stays {
			v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(c)}
			m.check(OneTask, false, v, "%d tasks, target: %t", len(tasks), stays)
		}
	}
}

func targets(b *store.Binding, cluster string) bool {
	return api.FindTarget(b.Spec.Clusters, cluster) >= 0
}

func divides(b *store.Binding) bool {
	return b.Spec.Placement != nil && b.Spec.Placement.ReplicaScheduling.Divides()
}

// byCapacity reports whether replicas that are placed so go by the capacity of clusters.
func byCapacity(p *api.Placement) bool {
	if p == nil || !p.ReplicaScheduling.Divides() {
		return false
	}
	how := p.ReplicaScheduling
	return how.ReplicaDivisionPreference == api.Aggregated || how.WeightPreference != nil && how.WeightPreference.DynamicWeight != ""
}

// settled reports whether the scheduler has seen the binding as it is, and found a place for all of it.
func settled(b *store.Binding) bool {
	return b.Status.SchedulerObservedGeneration == b.Meta.Generation && meta.IsStatusConditionTrue(b.Status.Conditions, api.ConditionScheduled)
}

// replicasConserved leaves out what is held: of a workload that may not leave yet and grows meanwhile, what
// there was has a place.
func (m *Monitor) replicasConserved(now time.Time, b *store.Binding) {
	if !settled(b) || slices.ContainsFunc(b.Status.Evictions, blocked) || b.Spec.Replicas == 0 || b.Spec.Placement == nil || len(b.Spec.Components) > 1 {
		return
	}
	v := Violation{At: now, Binding: b.Name()}
	sum := int32(0)
	for _, t := range b.Spec.Clusters {
		sum += t.Replicas
		if !divides(b) {
			m.check(ReplicasConserved, t.Replicas == b.Spec.Replicas, v, "%s has %d of %d replicas", t.Name, t.Replicas, b.Spec.Replicas)
		}
	}
	if divides(b) {
		m.check(ReplicasConserved, sum == b.Spec.Replicas, v, "clusters have %d of %d replicas", sum, b.Spec.Replicas)
	}
}

// tasksEnd judges tasks by their own words and by what is believed of the copies that take over. It returns when the first
// is overdue.
func (m *Monitor) tasksEnd(now time.Time, b *store.Binding) (next time.Time) {
	for i := range b.Spec.GracefulEvictionTasks {
		k := &b.Spec.GracefulEvictionTasks[i]
		h := eviction.Handover{Timeout: m.settings.GracefulEvictionTimeout, KeepLastCopy: m.settings.KeepLastCopy, HealthyElsewhere: m.allServe(now, b) && !m.untold(b)}
		if k.CreationTimestamp.IsZero() || k.SuppressDeletion != nil || eviction.Assess(k, now, h).Why == eviction.LastCopy {
			continue
		}
		due := actors.Later(eviction.Assess(k, k.CreationTimestamp.Time.Add(-time.Second), h).Recheck, m.changed[b.Name()])
		if now.After(due) {
			v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(k.FromCluster)}
			m.check(TasksEnd, false, v, "the task of %s was due at %s", k.CreationTimestamp.UTC().Format(time.TimeOnly), due.Format(time.TimeOnly))
		} else {
			next = actors.Earlier(next, due.Add(1))
		}
	}
	return next
}

// allServe reports whether the whole placement can serve, and has said so.
func (m *Monitor) allServe(now time.Time, b *store.Binding) bool {
	for _, t := range b.Spec.Clusters {
		k := m.copies.find(b.Name(), messages.ClusterName(t.Name))
		if !m.serves(now, k) || k.ready < t.Replicas || k.unheard || !m.hears(now, k.cluster) {
			return false
		}
	}
	return len(b.Spec.Clusters) > 0 && settled(b)
}

// untold reports whether a target that took over is told nothing, for which an old copy waits, whatever serves meanwhile.
func (m *Monitor) untold(b *store.Binding) bool {
	if !m.settings.DestinationsMustHear {
		return false
	}
	for i := range b.Spec.GracefulEvictionTasks {
		for _, by := range b.Spec.GracefulEvictionTasks[i].ReplacedBy {
			if b.Spec.Suspension.Dispatch(by.Name) && api.FindTarget(b.Spec.Clusters, by.Name) >= 0 {
				return true
			}
		}
	}
	return false
}

// copiesAgree compares what members run with what the binding says, where a policy made the binding: what
// people wrote themselves may tell of copies that no agent started.
func (m *Monitor) copiesAgree(now time.Time, s *store.Store, b *store.Binding) {
	if m.real || b.Owner() == "" || len(b.Spec.RequiredBy) > 0 || b.Spec.Suspension != nil {
		return
	}
	for i := range b.Spec.Clusters {
		m.targetRuns(now, s, b, &b.Spec.Clusters[i])
	}
	for i := range b.Spec.GracefulEvictionTasks {
		m.oldCopyStays(now, b, &b.Spec.GracefulEvictionTasks[i])
	}
	for _, k := range m.copies.of[b.Name()] {
		if k.runs && m.hears(now, k.cluster) {
			m.check(CopiesAgree, expected(b, string(k.cluster)), Violation{At: now, Binding: b.Name(), Cluster: k.cluster}, "a copy of %d replicas runs that was not requested", k.replicas)
		}
	}
}

// beliefFollows compares what is on record of copies with what was said of them. Of one that is to go nothing is heard.
func (m *Monitor) beliefFollows(now time.Time, b *store.Binding) {
	for i := range b.Status.AggregatedStatus {
		item := &b.Status.AggregatedStatus[i]
		k := m.copies.find(b.Name(), messages.ClusterName(item.ClusterName))
		if k == nil || k.said == nil || item.Health == "" || !expected(b, item.ClusterName) || purges(b, k.cluster) {
			continue
		}
		if item.Health == k.said.Health && item.ReadyReplicas == k.said.Ready {
			continue
		}
		v := Violation{At: now, Binding: b.Name(), Cluster: k.cluster}
		m.check(BeliefFollows, false, v, "it is %s with %d replicas, and is believed to be %s with %d", k.said.Health, k.said.Ready, item.Health, item.ReadyReplicas)
	}
}

// hears reports whether what a cluster says arrives.
func (m *Monitor) hears(now time.Time, c messages.ClusterName) bool {
	return !m.copies.cutOff[c] && now.After(m.copies.mishears[c])
}

// targetRuns asks for the copy of a target, unless it may have to wait: for one that is purged directly, or for
// the word that the old one is gone.
func (m *Monitor) targetRuns(now time.Time, s *store.Store, b *store.Binding, t *api.TargetCluster) {
	name := messages.ClusterName(t.Name)
	if !m.hears(now, name) || s.Cluster(name) == nil || slices.ContainsFunc(b.Spec.GracefulEvictionTasks, purged) {
		return
	}
	k := m.copies.find(b.Name(), name)
	v := Violation{At: now, Binding: b.Name(), Cluster: name}
	if k == nil || !k.runs {
		m.check(CopiesAgree, false, v, "no copy runs on a target")
		return
	}
	m.check(CopiesAgree, k.replicas == t.Pods() || b.Status.Shrinking != nil, v, "%d replicas run, not %d", k.replicas, t.Pods())
}

func purged(k api.GracefulEvictionTask) bool { return !eviction.KeepsCopy(&k) }

// oldCopyStays asks for the copy of a cluster that is evicted from, if it ran when its task began: a cluster
// that comes back does immediately what it was told long ago.
func (m *Monitor) oldCopyStays(now time.Time, b *store.Binding, t *api.GracefulEvictionTask) {
	name := messages.ClusterName(t.FromCluster)
	k := m.copies.find(b.Name(), name)
	if k == nil || purged(*t) || m.copies.cutOff[name] || !t.CreationTimestamp.Time.Before(k.stopped) {
		return
	}
	m.check(CopiesAgree, k.runs || k.late, Violation{At: now, Binding: b.Name(), Cluster: name}, "the old copy went before its task")
}

// expected reports whether a binding accounts for a copy.
func expected(b *store.Binding, cluster string) bool {
	return targets(b, cluster) || b.Spec.TaskFrom(cluster) != nil ||
		slices.ContainsFunc(b.Status.Home, func(h api.PreferredShare) bool { return h.Name == cluster && h.Kept })
}

// neverLate asks whether the binding stays where it may not, and returns whether it has to leave some time, and when it is
// late.
func (m *Monitor) neverLate(now time.Time, s *store.Store, b *store.Binding) (next time.Time, waits bool) {
	tolerations, known := m.tolerations(b)
	if !m.settings.Evicts() || !known {
		return time.Time{}, false
	}
	for _, t := range b.Spec.Clusters {
		c := s.Cluster(messages.ClusterName(t.Name))
		if c == nil {
			continue
		}
		verdict := taint.Deadline(c.Spec.Taints, tolerations, m.rule())
		if verdict.Outcome == taint.Forever {
			continue
		}
		waits = true
		if held(b, t.Name) || m.interfered() {
			continue
		}
		due := actors.Later(verdict.At, actors.Later(m.changed[b.Name()], actors.Later(m.clusterChanged[messages.ClusterName(t.Name)], m.idled)))
		late, patience := now.Sub(due), m.patience()
		v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(t.Name)}
		if m.check(NeverLate, late <= patience, v, "still there %s after it had to leave", late); late <= patience {
			next = actors.Earlier(next, due.Add(patience+1))
		}
	}
	return next, waits
}

func held(b *store.Binding, cluster string) bool {
	return slices.ContainsFunc(b.Status.Evictions, func(e api.Eviction) bool { return e.Cluster == cluster && blocked(e) })
}

func blocked(e api.Eviction) bool { return e.State == api.EvictionBlocked }

func (m *Monitor) rule() taint.Rule {
	return taint.Rule{Match: m.settings.TolerationMatch, Numeric: m.settings.NumericTolerations}
}

// tolerations are those that count for eviction, and whether they are known.
func (m *Monitor) tolerations(b *store.Binding) ([]corev1.Toleration, bool) {
	source := b.Spec.Placement
	if m.settings.TolerationSource == messages.SourceAppliedPlacement {
		source = b.Applied
	}
	if source == nil {
		return nil, false
	}
	return source.ClusterTolerations, true
}

// stoppedPace is how long a worker rests between evictions at rate zero. Source: Karmada's eviction worker.
const stoppedPace = 30 * time.Minute

// patience is how long an eviction that is due may take where no fact says what blocks it: until the next
// re-list, and then until every other workload had a permit; a second more where what was evicted may return immediately.
func (m *Monitor) patience() time.Duration {
	rest := time.Duration(0)
	if !m.settings.PlacementHonoursDeadlines {
		rest = time.Second
	}
	return rest + m.settings.TaintRelistPeriod + time.Duration(1+m.census.most)*m.pace()
}

// pace is the longest that one permit takes: each of the limits may have to be waited for.
func (m *Monitor) pace() (pace time.Duration) {
	s := &m.settings
	if s.EvictionWorkers > 0 {
		if pace = m.workerRests(); pace == stoppedPace {
			return stoppedPace
		}
	}
	for _, rate := range []float64{s.FleetEvictionRate, s.RegionEvictionRate, s.ClusterEvictionRate} {
		if rate > 0 {
			pace += time.Duration(float64(time.Second) / rate)
		}
	}
	return pace
}
