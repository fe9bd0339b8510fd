package invariant

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Watched returns the invariants that a monitor of Watch asks.
func Watched() []Name {
	return slices.DeleteFunc(All(), func(n Name) bool { return n == CopiesAgree || n == BeliefFollows })
}

// Watch returns a monitor of an engine whose members are real, from now on: what went before, it takes as it finds it.
// Of bindings it hears by Meet. What a member runs is known by what it reports, so that CopiesAgree and BeliefFollows are
// not asked, nor whether enough serve under EvictionBudgets.
func Watch(s messages.Settings, now time.Time, st *store.Store) *Monitor {
	m := New(s, nil)
	m.real = true
	for _, o := range st.List("Cluster") {
		m.clusterChanged[messages.ClusterName(o.GetName())] = now
	}
	for _, o := range st.List("Governor") {
		m.resume(&o.(*api.Governor).Status)
	}
	return m
}

// Meet takes in the bindings that were there before. Others may read the store meanwhile.
func (m *Monitor) Meet(now time.Time, st *store.Store) {
	st.EachBinding(func(b *store.Binding) { m.meet(now, b) })
}

func (m *Monitor) meet(now time.Time, b *store.Binding) {
	name := b.Name()
	m.census.count(name, b)
	m.notePreferred(b)
	if len(b.Spec.GracefulEvictionTasks) > 0 {
		m.open[name], m.changed[name] = true, now
	}
}

// resume takes in how evictions were governed.
func (m *Monitor) resume(g *api.GovernorStatus) {
	m.resumeScope(scope{}, &g.Governance)
	m.limits.fleet = g.EvictionsPerSecond
	for i := range g.Regions {
		m.resumeScope(scope{region: g.Regions[i].Name}, &g.Regions[i].Governance)
	}
	for i := range g.Priorities {
		p := &g.Priorities[i]
		m.resumeBreaker(scope{priority: fmt.Sprint(p.Priority)}, p.Breaker)
	}
	for i := range g.Holds {
		h := &g.Holds[i]
		m.permits.held[messages.HoldScope{Binding: messages.BindingName(h.Binding), Cluster: messages.ClusterName(h.Cluster)}] = time.Time{}
	}
	for i := range g.Releases {
		m.permits.released[messages.BindingName(g.Releases[i].Binding)] = true
	}
}

func (m *Monitor) resumeScope(s scope, g *api.Governance) {
	m.governed[s.region] = g.State != "" && g.State != string(storm.Normal)
	m.resumeBreaker(s, g.Breaker)
}

func (m *Monitor) resumeBreaker(s scope, b *api.BreakerStatus) {
	if b != nil {
		m.limits.breakers[s] = &broken{state: storm.BreakerState(b.State)}
	}
}
