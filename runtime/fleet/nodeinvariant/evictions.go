package nodeinvariant

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/kernel/timers"
)

// requests is how many requests to the API server an eviction takes: get, patch and delete.
const requests = 3

// due is when pods must leave.
type due struct {
	heap timers.Heap
	pods []*pod
	free []int32
	// overdue are the pods that had to leave and wait for requests; busy is until when the client of the API server may have requests to make.
	overdue map[*pod]bool
	busy    time.Time
	// waiting are the pods that had to leave and wait for their budgets.
	waiting map[*pod]bool
}

func newDue() due { return due{overdue: map[*pod]bool{}, waiting: map[*pod]bool{}} }

// set has a pod looked at, at an instant.
func (d *due) set(p *pod, at time.Time) {
	if p.id < 0 {
		if n := len(d.free); n > 0 {
			p.id, d.free = d.free[n-1], d.free[:n-1]
			d.pods[p.id] = p
		} else {
			p.id = int32(len(d.pods))
			d.pods = append(d.pods, p)
		}
	}
	d.heap.Set(p.id, at.UnixNano())
}

// forget has a pod not looked at any more.
func (d *due) forget(p *pod) {
	delete(d.overdue, p)
	delete(d.waiting, p)
	if p.id >= 0 {
		d.heap.Clear(p.id)
		d.pods[p.id] = nil
		d.free = append(d.free, p.id)
		p.id = -1
	}
}

// evictionsKept holds each eviction to its reason.
func (m *Monitor) evictionsKept(now time.Time, news []journal.Entry) {
	for i := range news {
		f, is := news[i].Fact.(*messages.PodEvicted)
		if !is {
			continue
		}
		m.check(now, NeverEarly, !f.Deadline.After(now), ofPod(f.Pod), "the deadline is %s later", f.Deadline.Sub(now))
		n, p := m.census.nodes[f.Node], m.census.pods[f.Pod]
		if n != nil && failureTaint(&f.Taint) && !m.passes() {
			m.check(now, NoneWhileDisrupted, !m.zones.was || !m.zones.full || n.byHand[f.Taint.Key], ofPod(f.Pod), "it is evicted for %s", f.Taint.Key)
		}
		if p == nil || p.object == nil {
			continue
		}
		m.daemonsSpared(now, f, p)
		if m.exact() {
			m.neverEarly(now, f, n, p)
		}
	}
}

func (m *Monitor) daemonsSpared(now time.Time, f *messages.PodEvicted, p *pod) {
	if !strings.HasPrefix(string(p.owner), "daemonset/") || !failureTaint(&f.Taint) {
		return
	}
	timed := slices.ContainsFunc(p.object.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.TolerationSeconds != nil && taint.Tolerates(&t, &f.Taint, m.settings.NumericTolerations)
	})
	m.check(now, DaemonsSpared, timed, ofPod(f.Pod), "it is evicted for %s", f.Taint.Key)
}

// neverEarly looks for the taint on the node, as it was or is, and at how long the pod tolerates it. Nothing is known of a node that is gone,
// and of a pod that was edited in the instant.
func (m *Monitor) neverEarly(now time.Time, f *messages.PodEvicted, n *node, p *pod) {
	if n == nil || n.before == nil && n.object == nil || p.isNew {
		return
	}
	taints := slices.Clone(m.instant.added[f.Node])
	for _, o := range []*corev1.Node{n.before, n.object} {
		if o != nil {
			taints = append(taints, o.Spec.Taints...)
		}
	}
	i := slices.IndexFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&f.Taint) && t.Value == f.Taint.Value })
	if i < 0 {
		m.check(now, NeverEarly, false, ofPod(f.Pod), "its node %s has no taint %s", f.Node, f.Taint.Key)
		return
	}
	at, ends := m.toleratedUntil(&taints[i], p.object.Spec.Tolerations)
	m.check(now, NeverEarly, ends, ofPod(f.Pod), "it tolerates %s for good", f.Taint.Key)
	m.check(now, NeverEarly, !ends || !at.After(now), ofPod(f.Pod), "it tolerates %s for another %s", f.Taint.Key, at.Sub(now))
}

// toleratedUntil is until when tolerations cover a taint; false: for good.
func (m *Monitor) toleratedUntil(t *corev1.Taint, tolerations []corev1.Toleration) (at time.Time, ends bool) {
	covered, least := false, int64(0)
	for i := range tolerations {
		l := &tolerations[i]
		if !taint.Tolerates(l, t, m.settings.NumericTolerations) {
			continue
		}
		covered = true
		if s := l.TolerationSeconds; s != nil && (!ends || *s < least) {
			ends, least = true, *s
		}
	}
	switch {
	case !covered:
		return time.Time{}, true
	case !ends:
		return time.Time{}, false
	case t.TimeAdded != nil:
		at = t.TimeAdded.Time
	}
	return at.Add(actors.Seconds(least)), true
}

// deadline is when a pod must leave; false: it need not.
func (m *Monitor) deadline(p *pod) (at time.Time, must bool) {
	o := p.object
	if o == nil || p.on == nil || p.on.object == nil || finished(o) || o.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	if _, mirror := o.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return time.Time{}, false
	}
	for i := range p.on.object.Spec.Taints {
		t := &p.on.object.Spec.Taints[i]
		if t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if until, ends := m.toleratedUntil(t, o.Spec.Tolerations); ends && (!must || until.Before(at)) {
			at, must = until, true
		}
	}
	return at, must
}

// noneLate looks at the pods that must have left, and notes when to look at those that changed. After a restart it looks at all: taints
// came and went while the controllers were down.
func (m *Monitor) noneLate(now time.Time, nodes []messages.NodeName, pods []*pod) {
	if !m.exact() || m.settings.PodEvictionsHonourBudgets && m.settings.KubeAPIQPS > 0 {
		return
	}
	m.awaited(now)
	for _, p := range pods {
		m.schedule(now, p)
	}
	for _, name := range nodes {
		if n := m.census.nodes[name]; m.instant.restarted || !taint.SameNoExecute(taintsOf(n.before), taintsOf(n.object), true) {
			for _, p := range n.pods {
				m.schedule(now, p)
			}
		}
	}
	for id, more := m.due.heap.PopDue(now.UnixNano()); more; id, more = m.due.heap.PopDue(now.UnixNano()) {
		m.late(now, m.due.pods[id])
	}
	m.pace(now)
}

func taintsOf(o *corev1.Node) []corev1.Taint {
	if o == nil {
		return nil
	}
	return o.Spec.Taints
}

// schedule has a pod looked at when it must have left. One that need not leave any more is not late.
func (m *Monitor) schedule(now time.Time, p *pod) {
	at, must := m.deadline(p)
	if !must {
		m.due.forget(p)
		return
	}
	if at.Before(now) {
		at = now
	}
	if !at.After(now) && m.due.overdue[p] {
		return
	}
	delete(m.due.overdue, p)
	m.due.set(p, at)
}

// late looks at a pod whose deadline is over.
func (m *Monitor) late(now time.Time, p *pod) {
	at, must := m.deadline(p)
	switch {
	case !must || at.After(now):
	case p.excused.After(now):
		m.due.set(p, p.excused)
	case m.withheld(now, p):
		m.due.waiting[p] = true
	case m.settings.KubeAPIQPS > 0:
		m.due.overdue[p] = true
		m.asked(now, 1)
	default:
		m.check(now, NeverLate, false, ofPod(p.name), "it had to leave %s at %s", p.object.Spec.NodeName, at.Format(time.RFC3339))
	}
}

// asked has the client be busy with so many more evictions.
func (m *Monitor) asked(now time.Time, evictions int) {
	if qps := m.settings.KubeAPIQPS; qps > 0 {
		m.due.busy = actors.Later(m.due.busy, now).Add(time.Duration(float64(requests*evictions) / qps * float64(time.Second)))
	}
}

// pace asks whether pods wait although the client has had the time for all requests.
func (m *Monitor) pace(now time.Time) {
	if m.instant.restarted {
		m.asked(now, len(m.due.overdue))
	}
	if len(m.due.overdue) == 0 || now.Before(m.due.busy.Add(time.Duration(float64(time.Second)/m.settings.KubeAPIQPS))) {
		return
	}
	waiting := map[messages.PodName]bool{}
	for p := range m.due.overdue { // order-free: they are sorted
		if !p.excused.After(now) {
			waiting[p.name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		m.check(now, NeverLate, false, ofPod(name), "the requests of all evictions were over at %s", m.due.busy.Format(time.RFC3339Nano))
	}
}
