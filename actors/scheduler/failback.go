package scheduler

import (
	"slices"
	"time"

	"leeward/actors/rules/failback"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// failbacks are the bindings that run in a later affinity group than their first, or elsewhere than before a failure, and
// may return.
type failbacks struct {
	settings *messages.Settings
	plans    *plans
	// away are those that will return; returning are those whose return is under way.
	away      map[messages.BindingName]*entry
	returning map[messages.BindingName]bool
	// held is what admins hold: a binding that runs there remains for the time being.
	held map[messages.HoldScope]bool
	// news is set when the fleet changed, or a return or a hold ended: all that are away are looked at again.
	news bool
}

func newFailbacks(settings *messages.Settings, p *plans) failbacks {
	return failbacks{
		settings: settings, plans: p,
		away: map[messages.BindingName]*entry{}, returning: map[messages.BindingName]bool{}, held: map[messages.HoldScope]bool{},
	}
}

// note takes in what a binding says of its return: whether it is under way.
func (f *failbacks) note(name messages.BindingName, says *messages.FailbackState) {
	switch {
	case says != nil && says.Returning:
		f.returning[name] = true
	case f.returning[name]:
		delete(f.returning, name)
		f.news = true
	}
}

// forget ends what is known of a binding that is gone.
func (f *failbacks) forget(name messages.BindingName) {
	delete(f.away, name)
	f.note(name, nil)
}

// hold takes in what admins hold, or hold no longer, and reports whether they hold it.
func (f *failbacks) hold(m *messages.ReturnsHeld) (held bool) {
	if m.Held {
		f.held[m.HoldScope] = true
		return true
	}
	delete(f.held, m.HoldScope)
	f.news = true
	return false
}

// isHeld reports whether admins hold a binding where it runs.
func (f *failbacks) isHeld(m *messages.PlaceBinding) bool {
	if len(f.held) == 0 {
		return false
	}
	return f.held[messages.HoldScope{}] || f.held[messages.HoldScope{Binding: m.Binding}] ||
		slices.ContainsFunc(m.Targets, func(t api.TargetCluster) bool {
			return f.held[messages.HoldScope{Cluster: messages.ClusterName(t.Name)}]
		})
}

// mayBegin reports whether the return of a binding may begin now.
func (f *failbacks) mayBegin(m *messages.PlaceBinding) bool {
	limit := f.settings.ConcurrentReturns
	return (limit == 0 || len(f.returning) < limit) && !f.isHeld(m)
}

// toJudge returns the entries whose return is judged in this instant, in canonical order: those that were decided on, and
// all that are away where the fleet changed.
func (f *failbacks) toJudge(decided []*entry) []*entry {
	if !f.news {
		return decided
	}
	f.news = false
	entries := decided
	for _, e := range f.away { // order-free: sorted below
		if !slices.Contains(decided, e) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, urgency)
	return entries
}

// keep keeps the list of those that are away.
func (f *failbacks) keep(e *entry) {
	if away(e.asked) {
		f.away[e.asked.Binding] = e
	} else {
		delete(f.away, e.asked.Binding)
	}
}

// away reports whether a binding will return, now or later.
func away(m *messages.PlaceBinding) bool {
	return m.Home != nil && len(m.Targets) > 0 && (toGroup(m) || len(m.Home.Shares) > 0)
}

// toGroup reports whether a binding returns to an earlier affinity group, as a whole.
func toGroup(m *messages.PlaceBinding) bool {
	return m.Home.ToGroup && termOf(m.Placement, m.Affinity) > 0
}

// groupPlan is the placement in an earlier group, if one has capacity for all.
func (f *failbacks) groupPlan(now time.Time, m *messages.PlaceBinding) (placement.Decision, bool) {
	if !away(m) || !toGroup(m) || moving(m) {
		return placement.Decision{}, false
	}
	r := f.plans.request(m)
	r.Fresh, r.Return = true, true
	d := f.plans.plan(now, m, r)
	if earlier := termOf(m.Placement, d.Affinity); d.Reason != "" || len(d.Targets) == 0 || earlier < 0 || earlier >= termOf(m.Placement, m.Affinity) {
		return placement.Decision{}, false
	}
	return d, true
}

// takesBack reports whether a cluster lacks the share that it ran before, or some of it, and can take that. What runs
// nowhere is not away but without a placement.
func (f *failbacks) takesBack(now time.Time, m *messages.PlaceBinding, share api.TargetCluster) bool {
	lack, lacks := failback.Lacks(m.Targets, share)
	r := f.plans.request(m)
	r.Return = true
	return lacks && len(m.Targets) > 0 && f.plans.planner.Takes(now, r, api.TargetCluster{Name: share.Name, Replicas: lack})
}

// free reports whether nothing else moves a binding, and none of its replicas waits for capacity or a quota. Where groups of
// clusters are counted by anything but clusters, it returns as a whole or not at all, for only the former placement is known
// to be what the policy asks for.
func free(m *messages.PlaceBinding, back []string) bool {
	if moving(m) || divided(m) && replicasOf(m.Targets) != int64(m.Replicas) {
		return false
	}
	byGroups := slices.ContainsFunc(m.Placement.SpreadConstraints, func(c api.SpreadConstraint) bool {
		return c.SpreadByLabel != "" || c.SpreadByField != "" && c.SpreadByField != api.SpreadByCluster
	})
	return !byGroups || !slices.ContainsFunc(m.Home.Shares, func(h messages.PreferredShare) bool {
		_, lacks := failback.Lacks(m.Targets, h.TargetCluster)
		return lacks && !slices.Contains(back, h.Name)
	})
}

// sharePlan is the placement in which some clusters have back what they ran before.
func sharePlan(m *messages.PlaceBinding, back []string) placement.Decision {
	home := make([]api.TargetCluster, len(m.Home.Shares))
	for i := range m.Home.Shares {
		home[i] = m.Home.Shares[i].TargetCluster
	}
	return placement.Decision{Targets: failback.Return(m.Targets, home, back, divided(m)), Affinity: m.Affinity}
}
