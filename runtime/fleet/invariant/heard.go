package invariant

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// heard takes in one fact.
func (m *Monitor) heard(s *store.Store, e *journal.Entry) {
	if m.heardOfEngine(e.At, s, e.Fact) {
		return
	}
	m.heardOfGovernor(e.At, s, e.Fact)
	m.heardOfCluster(e.At, e.Fact)
	m.heardOfBinding(e.At, s, e.Fact)
	if !m.real {
		m.copies.heard(e)
	}
	if f, ok := e.Fact.(messages.AboutBinding); ok {
		m.open[f.AboutBinding()] = true
		m.noteObserved(f)
		m.changed[f.AboutBinding()] = e.At
	}
	if f, ok := e.Fact.(messages.AboutCluster); ok {
		m.touched[f.AboutCluster()] = true
	}
}

// heardOfEngine takes in what concerns all that there is; false: the fact is about something else.
func (m *Monitor) heardOfEngine(at time.Time, s *store.Store, f messages.Fact) bool {
	switch f := f.(type) {
	case *messages.SettingChanged:
		m.settingChanged(at, s, f)
	case *messages.Crashed:
		m.away, m.permits.lost = true, true
	case *messages.Restarted:
		m.limits.retried()
		clear(m.permits.worked) // who served last is not remembered
		m.permits.lost = true
		m.away = false
		m.allChanged(at, s)
	case *messages.ClockStepped: // told by the clock as it was
		m.allChanged(actors.Later(at, at.Add(f.By)), s)
	default:
		return false
	}
	return true
}

// heardOfGovernor takes in what may go, and what is held.
func (m *Monitor) heardOfGovernor(at time.Time, s *store.Store, f messages.Fact) {
	switch f := f.(type) {
	case *messages.GovernorChanged:
		m.govern(at, s, f)
	case *messages.BreakerChanged:
		m.breakerChanged(at, f)
	case *messages.EvictionsPermitted:
		m.permitted(at, s, f)
		m.permits.granted(f)
	case *messages.HoldPlaced:
		m.permits.held[f.HoldScope] = at
	case *messages.HoldEnded:
		delete(m.permits.held, f.HoldScope)
	case *messages.ReleaseGranted:
		m.permits.released[f.Binding] = true
	case *messages.ReleaseEnded:
		delete(m.permits.released, f.Binding)
	case *messages.StartsCounted:
		m.backsOff(at, f)
	case *messages.BudgetExceeded:
		m.budgeted.exceeded[evictedFrom{f.Binding, f.Cluster}] = true
	}
}

func (m *Monitor) heardOfCluster(at time.Time, f messages.Fact) {
	switch f := f.(type) {
	case *messages.ClusterRemoved:
		m.copies.dropCluster(f.Cluster)
		m.limits.fleetChanged()
	case *messages.ConditionChanged:
		m.judged[f.Cluster] = true
		m.limits.fleetChanged()
	case *messages.TaintAdded:
		m.retainted(at, f.Cluster)
	case *messages.TaintRemoved:
		m.batch.untainted[f.Cluster] = append(m.batch.untainted[f.Cluster], f.Taint)
		m.retainted(at, f.Cluster)
	case *messages.TaintingFailed:
		m.refused[f.Cluster] = true
	case *messages.CapacityChanged:
		m.resized[f.Cluster] = true
	}
}

func (m *Monitor) heardOfBinding(at time.Time, s *store.Store, f messages.Fact) {
	switch f := f.(type) {
	case *messages.BindingUpdated:
		m.edited[f.Binding] = true
		m.forgetReturns(f.Binding)
		m.limits.grown() // of its priority, perhaps
		if slices.ContainsFunc(f.Changed, asksForAnother) {
			m.failsBackNoMore(f.Binding)
		}
	case *messages.BindingDeleted:
		delete(m.changed, f.Binding)
		delete(m.applied, f.Binding)
		delete(m.preferred, f.Binding)
		m.forgetHealth(f.Binding)
		m.limits.shrunk(endless)
	case *messages.FailbackTargetsChanged:
		m.failbackTo(f.Binding, f.Clusters)
	case *messages.ShareFailbackScheduled:
		m.returns[evictedFrom{f.Binding, f.Cluster}] = at
		m.failsBackTo(at, s, f.Binding, f.Cluster)
	case *messages.ShareFailbackCancelled:
		delete(m.returns, evictedFrom{f.Binding, f.Cluster})
	case *messages.FailbackStarted:
		m.returnStarted(at, s, f)
		m.failbackStarted(at, s, f)
	case *messages.RescheduleRequested:
		m.budgeted.asked[f.Binding] = true
		m.failsBackNoMore(f.Binding)
	case *messages.Scheduled:
		m.scheduled(at, s, f)
	case *messages.ScheduleFailed:
		m.cleared(f)
	case *messages.EvictionStarted:
		m.evictionStarted(at, s, f)
	case *messages.ReplicasReleased:
		m.budgeted.fewer = true
	case *messages.HandoverBlocked:
		m.startsOver(f.Binding)
	case *messages.EvictionEnded:
		m.batch.released = append(m.batch.released, instantOf[*messages.EvictionEnded]{at, f})
		m.batch.let[f.Binding] = true
		m.limits.shrunk(1)
		m.startsOver(f.Binding)
	case *messages.EvictionWithdrawn:
		m.limits.grown()
		m.startsOver(f.Binding)
	case *messages.HealthChanged:
		m.notesHealth(f)
		m.lose(f.Binding, f.Cluster, f.Ready)
	case *messages.HealthForgotten:
		delete(m.unhealthy, evictedFrom{f.Binding, f.Cluster})
		m.lose(f.Binding, f.Cluster, 0)
	}
}

func (m *Monitor) evictionStarted(at time.Time, s *store.Store, f *messages.EvictionStarted) {
	m.batch.started = append(m.batch.started, instantOf[*messages.EvictionStarted]{at, f})
	m.begun[evictedFrom{f.Binding, f.Cluster}] = true
	m.leaves(at, f)
	m.leavesUnhealthy(f)
	if eviction.Holdable(f.Grounds.Reason) {
		m.evicted[f.Binding] = true
	}
	m.take(s, f)
}
