package invariant

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
	"leeward/runtime/kernel/timers"
)

// deadlinesFollow asks what a binding says of its evictions to come for the deadlines that taints and tolerations give as they
// are now, however often they were edited. What is blocked says why instead, and an eviction that is due waits for others.
func (m *Monitor) deadlinesFollow(now time.Time, s *store.Store, b *store.Binding) {
	tolerations, known := m.tolerations(b)
	if !m.settings.Evicts() || !known {
		return
	}
	m.shownWhereItRuns(now, b)
	for i := range b.Spec.Clusters {
		c := s.Cluster(messages.ClusterName(b.Spec.Clusters[i].Name))
		if c == nil {
			continue
		}
		at, leaves := deadline(c.Spec.Taints, tolerations, m.rule())
		shown := api.Eviction{}
		if i := slices.IndexFunc(b.Status.Evictions, func(e api.Eviction) bool { return e.Cluster == c.Name }); i >= 0 {
			shown = b.Status.Evictions[i]
		}
		if blocked(shown) || leaves && !at.After(now) {
			continue
		}
		v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(c.Name)}
		if counts, byTaint := shown.State == api.EvictionScheduled, shown.Reason == api.EvictionReasonTaintUntolerated; leaves {
			latest := m.noticed(at, b.Name(), v.Cluster)
			m.check(DeadlinesFollow, counts, v, "its eviction at %s is not scheduled", at.Format(time.TimeOnly))
			m.check(DeadlinesFollow, !counts || !byTaint || !before(shown.Deadline.Time, at), v, "its eviction is scheduled for %s, and it is tolerated until %s", shown.Deadline.Format(time.TimeOnly), at.Format(time.TimeOnly))
			m.check(DeadlinesFollow, !counts || !before(latest, shown.Deadline.Time), v, "its eviction is scheduled for %s, and it is tolerated only until %s", shown.Deadline.Format(time.TimeOnly), at.Format(time.TimeOnly))
		} else {
			m.check(DeadlinesFollow, !counts || !byTaint, v, "its eviction is scheduled for %s, and every taint is tolerated for good", shown.Deadline.Format(time.TimeOnly))
		}
	}
}

// shownWhereItRuns asks that no eviction is shown from a cluster that the binding neither runs on nor is taken off.
func (m *Monitor) shownWhereItRuns(now time.Time, b *store.Binding) {
	for i := range b.Status.Evictions {
		e := &b.Status.Evictions[i]
		leaves := b.Spec.TaskFrom(e.Cluster) != nil
		v := Violation{At: now, Binding: b.Name(), Cluster: messages.ClusterName(e.Cluster)}
		m.check(DeadlinesFollow, leaves || api.FindTarget(b.Spec.Clusters, e.Cluster) >= 0, v, "an eviction is shown (%s), and it does not run there", e.State)
	}
}

// before compares instants as a status keeps them.
func before(a, b time.Time) bool {
	return a.Truncate(time.Microsecond).Before(b.Truncate(time.Microsecond))
}

// noticed is until when a deadline counts at the latest: where clusters are looked at only now and then, a change is noticed
// at the next look.
func (m *Monitor) noticed(at time.Time, b messages.BindingName, c messages.ClusterName) time.Time {
	if m.settings.TaintRelistPeriod == 0 {
		return at
	}
	return actors.Later(at, actors.Later(m.changed[b], m.clusterChanged[c]).Add(m.settings.TaintRelistPeriod))
}

// deadline is until when tolerations keep a workload on a cluster with these taints, and whether it has to leave at all; zero:
// immediately. It is worked out again, from what the words of taints and tolerations mean, and not as machines do: of each taint
// that evicts, what covers it and counts lasts from when it was added.
func deadline(taints []corev1.Taint, tolerations []corev1.Toleration, r taint.Rule) (at time.Time, leaves bool) {
	const most = math.MaxInt64 / int64(time.Second)
	first := map[int]bool{} // tolerations that are the first to cover some taint
	var covers [][]int
	for i := range taints {
		var by []int
		for j := range tolerations {
			if taints[i].Effect == corev1.TaintEffectNoExecute && taint.Tolerates(&tolerations[j], &taints[i], r.Numeric) {
				by = append(by, j)
			}
		}
		if covers = append(covers, by); len(by) > 0 {
			first[by[0]] = true
		} else if taints[i].Effect == corev1.TaintEffectNoExecute {
			return time.Time{}, true
		}
	}
	for i := range taints {
		for _, j := range covers[i] {
			seconds := tolerations[j].TolerationSeconds
			if counts := first[j] || r.Match == messages.MatchMinimum; counts && seconds != nil && taints[i].TimeAdded != nil {
				at = actors.Earlier(at, taints[i].TimeAdded.Add(time.Duration(min(max(*seconds, -most), most))*time.Second))
			}
		}
	}
	return at, !at.IsZero()
}

// agenda is when each binding must be looked at next, of those that time alone can change.
type agenda struct {
	heap timers.Heap
	// ids and names are of the bindings whose deadlines the heap has; free are the ids that no binding has.
	ids   map[messages.BindingName]int32
	names []messages.BindingName
	free  []int32
}

// set has a binding come up at an instant and not before; zero: never.
func (a *agenda) set(b messages.BindingName, at time.Time) {
	id, known := a.ids[b]
	switch {
	case at.IsZero():
		if known {
			a.heap.Clear(id)
			a.forget(b, id)
		}
		return
	case !known:
		id = a.enter(b)
	}
	a.heap.Set(id, at.UnixNano())
}

func (a *agenda) enter(b messages.BindingName) int32 {
	if n := len(a.free); n > 0 {
		id := a.free[n-1]
		a.free, a.ids[b], a.names[id] = a.free[:n-1], id, b
		return id
	}
	id := int32(len(a.names))
	a.names, a.ids[b] = append(a.names, b), id
	return id
}

func (a *agenda) forget(b messages.BindingName, id int32) {
	delete(a.ids, b)
	a.names[id] = ""
	a.free = append(a.free, id)
}

// eachDue visits the bindings whose time has come, and forgets them.
func (a *agenda) eachDue(now time.Time, visit func(messages.BindingName)) {
	for {
		id, due := a.heap.PopDue(now.UnixNano())
		if !due {
			return
		}
		visit(a.names[id])
		a.forget(a.names[id], id)
	}
}
