package binding

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/budget"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// curbs is what a binding knows of budgets, and what it said of itself.
type curbs struct {
	// alone is what the scheduler last heard: that nothing may go along with what is to be left.
	alone   bool
	budgets []messages.Budget
	// selecting are those that select the workload as it was last looked at, with that priority.
	selecting []messages.BudgetName
	workload  *messages.Workload
	priority  int32
	// told is what the governor last heard; nil: nothing.
	told *messages.WorkloadObserved
}

func (b *Binding) holdsAnnounced(now time.Time, any bool, out *actors.Outbox) {
	b.heard &^= held
	if any {
		b.heard |= held
	}
	b.seekAnew(now, out)
}

func (b *Binding) budgetsSet(now time.Time, budgets []messages.Budget, out *actors.Outbox) {
	owned(&b.curbs).budgets = budgets
	b.curbs.look(b)
	if b.returnPermits(out) || b.curbs.alone && b.seeks() { // what may not go along may go by itself now
		b.ask(now, out)
	}
}

// budgeted reports whether there are budgets that count, whoever they select.
func (b *Binding) budgeted() bool {
	return b.curbs != nil && len(b.curbs.budgets) > 0 && b.settings.EvictionBudgets
}

// look finds the budgets that select the workload.
func (s *curbs) look(b *Binding) {
	s.selecting, s.workload, s.priority = nil, b.workload, b.priority()
	w := budget.Workload{Namespace: b.name.Namespace(), Priority: s.priority}
	if b.workload != nil {
		w.Labels = b.workload.Labels
	}
	for i := range s.budgets {
		if budget.Selects(&s.budgets[i], w) {
			s.selecting = append(s.selecting, s.budgets[i].Name)
		}
	}
}

// tellBudgets tells the governor what is new of the workload, if a budget selects it.
func (b *Binding) tellBudgets(now time.Time, out *actors.Outbox) {
	s := b.curbs
	if s.workload != b.workload || s.priority != b.priority() {
		s.look(b)
	}
	if b.leavesForTaints() && s.alone != b.goingAlone() {
		b.ask(now, out)
	}
	next := &messages.WorkloadObserved{Binding: b.name}
	if b.created && b.budgeted() && len(s.selecting) > 0 {
		next = b.observed()
	}
	if s.told == nil && len(next.Budgets) == 0 || s.told != nil && sameNews(s.told, next) {
		return
	}
	s.told = next
	out.TellGovernor(next)
}

// exceeds is why evictions may exceed budgets, by the word of the resource; empty: they may not.
func (v *view) exceeds() string {
	if v.workload == nil {
		return ""
	}
	return v.workload.Annotations[api.AnnotationExceedBudget]
}

func sameNews(x, y *messages.WorkloadObserved) bool {
	return x.Expected == y.Expected && x.AtOnce == y.AtOnce && x.Exceeds == y.Exceeds &&
		slices.Equal(x.Budgets, y.Budgets) && slices.Equal(x.Shares, y.Shares)
}

// observed is how the workload fares.
func (b *Binding) observed() *messages.WorkloadObserved {
	m := &messages.WorkloadObserved{
		Binding: b.name, Budgets: b.curbs.selecting, Expected: b.expected(),
		AtOnce:  eviction.PurgeMode(b.spec.Failover, b.settings.NoExecuteTaintEvictionPurgeMode) == api.PurgeDirectly,
		Exceeds: b.exceeds(),
	}
	for i := range b.targets {
		t := &b.targets[i]
		s := messages.Share{Cluster: t.cluster, Replicas: b.weight(t.pods()), Serving: b.serving(t.cluster)}
		switch {
		case t.leave.permitted:
			s.Departure = messages.Permitted
		case t.leave.requested:
			s.Departure = messages.Asks
		}
		m.Shares = append(m.Shares, s)
	}
	for i := range b.tasks {
		if c := messages.ClusterName(b.tasks[i].FromCluster); b.target(c) == nil {
			m.Shares = append(m.Shares, messages.Share{Cluster: c, Serving: b.serving(c), Departure: messages.Leaves})
		}
	}
	return m
}

// expected is how many replicas are to be there in all: those placed, those that have no place yet, and those
// on clusters that are being left that nobody has taken over.
func (v *view) expected() (all int64) {
	for i := range v.targets {
		all += int64(v.weight(v.targets[i].pods()))
	}
	for i := range v.tasks {
		k := &v.tasks[i]
		switch {
		case v.target(messages.ClusterName(k.FromCluster)) != nil:
		case k.Replicas != nil:
			all += max(0, int64(*k.Replicas)-replicasOf(k.ReplacedBy))
		case len(k.ReplacedBy) == 0:
			all += int64(v.weight(v.copyPods()))
		}
	}
	if v.spec.Placement == nil || v.duplicated() { // what others need has no placement of its own
		return all
	}
	return max(all, int64(v.spec.Replicas))
}

// copyPods is how many pods a whole copy runs where replicas are not divided.
func (v *view) copyPods() int32 {
	if s := v.set(); s != nil {
		return s.Targets.Pods()
	}
	return v.spec.Replicas
}

// weight is what a share of so many pods counts. A resource without pods counts one.
func (v *view) weight(pods int32) int32 {
	if v.hasReplicas() || v.set() != nil {
		return pods
	}
	return 1
}

// serving is how many replicas of a copy serve.
func (v *view) serving(c messages.ClusterName) int32 {
	k := v.copy(c)
	switch {
	case k == nil || k.removing || !k.reported:
		return 0
	case v.weight(0) == 0:
		return min(k.ready, k.replicas)
	case k.health == api.Healthy:
		return 1
	}
	return 0
}
