package binding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/actors"
	"leeward/actors/rules/budget"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// disruption is what a binding knows of budgets, and what it said of itself.
type disruption struct {
	// alone is what the scheduler last heard: that nothing may move along with what must be evicted.
	alone   bool
	budgets []messages.Budget
	// selecting are those that select the workload as it was last looked at, with that priority.
	selecting []messages.BudgetName
	workload  *messages.Workload
	priority  int32
	// told is what the governor last heard; nil: nothing.
	told *messages.WorkloadObserved
}

// goesAlone reports whether nothing may move along with what must be evicted, and notes that the scheduler is told so.
func (d *disruption) goesAlone(v *view) bool {
	if d == nil {
		return false
	}
	d.alone = d.goingAlone(v)
	return d.alone
}

func (d *disruption) goingAlone(v *view) bool { return d.bound(v) != nil && v.exceeds() == "" }

// exceedAlong says of each eviction that takes something along that a budget minds it, where people allow that.
func (d *disruption) exceedAlong(v *view, leaving []messages.ClusterName, out *actors.Outbox) {
	if d == nil || v.exceeds() == "" {
		return
	}
	g := d.bound(v)
	if g == nil {
		return
	}
	var permitted, along []string
	for _, c := range leaving {
		switch t := v.targets.of(c); {
		case t == nil:
		case t.countdown.permitted:
			permitted = append(permitted, string(c))
		default:
			along = append(along, string(c))
		}
	}
	if len(along) == 0 {
		return
	}
	for _, c := range permitted {
		out.Record(&messages.BudgetExceeded{
			Budget: g.Name, Binding: v.name, Cluster: messages.ClusterName(c), AllowedBy: "its resource", Reason: v.exceeds(),
			Message: fmt.Sprintf("the copies on %s are removed at the same time", strings.Join(along, ", ")),
		})
	}
}

// bound is the budget that lets nothing go along with what leaves for its taint; nil: there is none, or nothing that serves
// would go immediately. A permit is for one cluster: it takes nothing away on others, which were not judged.
func (d *disruption) bound(v *view) *messages.Budget {
	if !d.budgeted(v) || !v.targets.awaitsForTaint() || !v.staysServing() || v.ways().MovesGracefully() && !v.movesDirectly() {
		return nil
	}
	for i := range d.budgets {
		g := &d.budgets[i]
		if (g.Spec.MinAvailable != nil || g.Spec.MaxUnavailable != nil) && slices.Contains(d.selecting, g.Name) {
			return g
		}
	}
	return nil
}

// movesDirectly reports whether the old copy goes first where the binding moves by choice.
func (d *declared) movesDirectly() bool {
	return eviction.PurgeMode(d.spec.Failover, api.PurgeGracefully) == api.PurgeDirectly
}

// budgeted reports whether there are budgets that count, whatever they select.
func (d *disruption) budgeted(v *view) bool {
	return d != nil && len(d.budgets) > 0 && v.settings.EvictionBudgets
}

// renew finds them again where the workload or its priority changed.
func (d *disruption) renew(v *view) {
	if d.workload != v.workload || d.priority != v.priority() {
		d.look(v)
	}
}

// look finds the budgets that select the workload.
func (d *disruption) look(v *view) {
	d.selecting, d.workload, d.priority = nil, v.workload, v.priority()
	w := budget.Workload{Namespace: v.name.Namespace(), Priority: d.priority}
	if v.workload != nil {
		w.Labels = v.workload.Labels
	}
	for i := range d.budgets {
		if budget.Selects(&d.budgets[i], w) {
			d.selecting = append(d.selecting, d.budgets[i].Name)
		}
	}
}

// apply takes over other budgets.
func (d *disruption) apply(v *view, m *messages.BudgetsSet) {
	d.budgets = m.Budgets
	d.look(v)
}

// tell tells the governor what is new of the workload, if a budget selects it.
func (d *disruption) tell(v *view, out *actors.Outbox) {
	next := &messages.WorkloadObserved{Binding: v.name}
	if v.created && d.budgeted(v) && len(d.selecting) > 0 {
		next = d.observed(v)
	}
	if d.told == nil && len(next.Budgets) == 0 || d.told != nil && sameNews(d.told, next) {
		return
	}
	d.told = next
	out.TellGovernor(next)
}

// exceeds is why evictions may exceed budgets, by the word of the resource; empty: they may not.
func (d *declared) exceeds() string {
	if d.workload == nil {
		return ""
	}
	return d.workload.Annotations[api.AnnotationExceedBudget]
}

func sameNews(x, y *messages.WorkloadObserved) bool {
	return x.Expected == y.Expected && x.PurgedDirectly == y.PurgedDirectly && x.Exceeds == y.Exceeds &&
		slices.Equal(x.Budgets, y.Budgets) && slices.Equal(x.Shares, y.Shares)
}

// observed is how the workload fares.
func (d *disruption) observed(v *view) *messages.WorkloadObserved {
	m := &messages.WorkloadObserved{
		Binding: v.name, Budgets: d.selecting, Expected: v.expected(),
		PurgedDirectly: eviction.PurgeMode(v.spec.Failover, v.settings.NoExecuteTaintEvictionPurgeMode) == api.PurgeDirectly,
		Exceeds:        v.exceeds(),
	}
	for i := range v.targets {
		t := &v.targets[i]
		s := messages.ServingShare{Cluster: t.cluster, Replicas: v.weight(t.pods()), Serving: v.serving(t.cluster)}
		switch {
		case t.countdown.permitted:
			s.Stage = messages.Permitted
		case t.countdown.requested:
			s.Stage = messages.Asks
		}
		m.Shares = append(m.Shares, s)
	}
	for i := range v.handover.tasks {
		if c := messages.ClusterName(v.handover.tasks[i].FromCluster); v.targets.of(c) == nil {
			m.Shares = append(m.Shares, messages.ServingShare{Cluster: c, Serving: v.serving(c), Stage: messages.Leaves})
		}
	}
	return m
}

// expected is how many replicas must exist in all: those placed, those that have no place yet, and those
// on clusters that are evicted from that no other cluster has taken over.
func (v *view) expected() (all int64) {
	for i := range v.targets {
		all += int64(v.weight(v.targets[i].pods()))
	}
	for i := range v.handover.tasks {
		k := &v.handover.tasks[i]
		switch {
		case v.targets.of(messages.ClusterName(k.FromCluster)) != nil:
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

// permits reports whether an eviction needs a permit of the governor. Its limits are meant for taints,
// which strike many workloads together; one that is evicted for its health asks only while people hold any eviction. Where nothing
// can block an eviction, the two messages of a permit are spared, and the instant has one round less. Without the
// need for a destination its order matters all the same: tasks are written in the order of permits.
func (d *disruption) permits(v *view, unhealthy bool) bool {
	return v.heard&held != 0 || !unhealthy && (v.ways().EvictsToNowhere() || v.settings.LimitsEvictions() || d.budgeted(v))
}

// obstructed is why an eviction is blocked by an obstacle, with the budget or the time that it is about.
func (d *disruption) obstructed(v *view, now time.Time, o *messages.Obstacle) blocked {
	why := blocked{reason: o.Reason, message: o.Message}
	if g := d.bound(v); g != nil && o.Reason == api.ReasonBudgetSpent {
		why.message = fmt.Sprintf("budget %s: %s", g.Name, o.Message)
		return why
	}
	return v.rests(now, why)
}

// lapses reports whether a permit that is not used is void when the instant is over: what allows the eviction now may not
// later. A permit that the governor did not give lasts.
func (d *disruption) lapses(v *view) bool {
	for i := range v.targets {
		if t := &v.targets[i]; t.countdown.permitted && d.permits(v, t.countdown.unhealthy()) {
			return true
		}
	}
	return false
}

// heldAnnounced notes whether an admin holds any evictions.
func (v *view) heldAnnounced(holds bool) {
	v.heard &^= held
	if holds {
		v.heard |= held
	}
}
