package invariant

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// permits are those of the instant, and what people say of evictions.
type permits struct {
	given map[evictedFrom]bool
	// held is since when people hold a scope, released are the bindings that need no permit.
	held     map[messages.HoldScope]time.Time
	released map[messages.BindingName]bool
	// lost is set where the engine died in the instant, with permits that were not used.
	lost bool
	// worked are the last evictions of each kind of binding that took the time of a worker, the oldest first.
	worked map[bool][]time.Time
}

func newPermits() permits {
	return permits{given: map[evictedFrom]bool{}, held: map[messages.HoldScope]time.Time{}, released: map[messages.BindingName]bool{}, worked: map[bool][]time.Time{}}
}

// permitsSpent asks what became of the permits of an instant that is over, and forgets them.
func (m *Monitor) permitsSpent(at time.Time) {
	p := &m.permits
	var unused []evictedFrom
	for d := range p.given { // order-free: they are sorted
		if !p.lost && !m.begun[d] {
			unused = append(unused, d)
		}
	}
	slices.SortFunc(unused, func(x, y evictedFrom) int {
		return cmp.Or(cmp.Compare(x.binding, y.binding), cmp.Compare(x.cluster, y.cluster))
	})
	for _, d := range unused {
		m.check(PermitsSpent, false, Violation{At: at, Binding: d.binding, Cluster: d.cluster}, "it has a permit, and neither leaves nor gives it back")
	}
	p.given, p.lost = emptied(p.given), false
}

// paceKept asks whether a worker was free for an eviction: bindings with a namespace have workers of their own, and those
// without.
func (m *Monitor) paceKept(at time.Time, v Violation) {
	workers := m.settings.EvictionWorkers
	if workers <= 0 {
		return
	}
	kind := v.Binding.Namespace() == ""
	worked := append(m.permits.worked[kind], at)
	if n := len(worked) - 1 - workers; n >= 0 {
		free := worked[n].Add(m.workerRests())
		m.check(LimitsKept, !at.Before(free), v, "%d workers are busy until %s", workers, free.Format(time.TimeOnly))
		worked = worked[n+1:]
	}
	m.permits.worked[kind] = worked
}

// workerRests is the time that one eviction takes a worker.
func (m *Monitor) workerRests() time.Duration {
	if m.settings.ResourceEvictionRate <= 0 {
		return stoppedPace
	}
	return time.Duration(float64(time.Second) / m.settings.ResourceEvictionRate)
}

// granted notes who may go in this instant.
func (p *permits) granted(f *messages.EvictionsPermitted) {
	for _, r := range f.Returned {
		delete(p.given, evictedFrom{r.Binding, r.Cluster})
	}
	for _, g := range f.Permits {
		p.given[evictedFrom{g.Binding, g.Cluster}] = true
	}
}

// holds reports whether people hold an eviction, and have done so since before an instant; zero: since whenever.
func (p *permits) holds(before time.Time, d evictedFrom) bool {
	for _, of := range d.scopes() {
		if since, held := p.held[of]; held && (before.IsZero() || since.Before(before)) {
			return true
		}
	}
	return false
}

// heldSince reports whether people have held an eviction since after an instant.
func (p *permits) heldSince(at time.Time, d evictedFrom) bool {
	return slices.ContainsFunc(d.scopes(), func(of messages.HoldScope) bool { return p.held[of].After(at) })
}

// scopes are what people may hold for an eviction not to start.
func (d evictedFrom) scopes() []messages.HoldScope {
	return []messages.HoldScope{{}, {Cluster: d.cluster}, {Binding: d.binding}}
}

// permitValid asks for the permit of an eviction that starts. A placement that people ask for, and that does without the
// cluster, takes none.
func (m *Monitor) permitValid(at time.Time, f *messages.EvictionStarted) {
	p, d := &m.permits, evictedFrom{f.Binding, f.Cluster}
	taint := f.Grounds.Reason == api.EvictionReasonTaintUntolerated
	if p.released[f.Binding] || m.edited[f.Binding] || m.budgeted.asked[f.Binding] || !taint && f.Grounds.Reason != api.EvictionReasonApplicationFailure {
		return
	}
	v := Violation{At: at, Binding: f.Binding, Cluster: f.Cluster}
	m.check(PermitValid, !p.holds(at, d), v, "it leaves although evictions are held")
	if !taint {
		return
	}
	if m.counted() {
		m.check(PermitValid, p.given[d], v, "it leaves without a permit of this instant")
	}
	m.paceKept(at, v)
}

// counted reports whether every permit is on record, because some limit of the fleet or of each cluster counts it.
func (m *Monitor) counted() bool {
	return m.settings.FleetEvictionRate > 0 || m.settings.ClusterEvictionRate > 0 || m.settings.FleetBreakerShare > 0
}

// holdsKept asks the objects whether people had an eviction wait, whatever the governor says that it heard. What they hold
// since was free to go.
func (m *Monitor) holdsKept(at time.Time, s *store.Store, f *messages.EvictionStarted) {
	b := s.Binding(f.Binding)
	if b == nil || !eviction.Holdable(f.Grounds.Reason) || m.permits.heldSince(at, evictedFrom{f.Binding, f.Cluster}) || b.Meta.Annotations[api.AnnotationRelease] != "" {
		return
	}
	v := Violation{At: at, Binding: f.Binding, Cluster: f.Cluster}
	m.check(PermitValid, !holds(at, b.Meta.Annotations), v, "the workload is held")
	if c := s.Cluster(f.Cluster); c != nil {
		m.check(PermitValid, !holds(at, c.Annotations), v, "the cluster is held")
	}
	if g, is := s.Get(store.GovernorKey).(*api.Governor); is {
		m.check(PermitValid, !lasts(at, g.Spec.Pause), v, "evictions are paused")
	}
}

func holds(now time.Time, annotations map[string]string) bool {
	h, err := api.HoldIn(annotations)
	return err == nil && lasts(now, h)
}

func lasts(now time.Time, h *api.Hold) bool {
	return h != nil && (h.Until == nil || h.Until.After(now))
}
