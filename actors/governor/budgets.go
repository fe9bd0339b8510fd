package governor

import (
	"cmp"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/budget"
	"leeward/messages"
)

// budgets are what workloads may lose by evictions, and the workloads that they select. They are empty while there are no
// EvictionBudgets.
type budgets struct {
	settings *messages.Settings
	domains  *domains
	queue    *queue
	holds    *holds

	byName    map[messages.BudgetName]*evictionBudget
	workloads map[messages.BindingName]*workload
	// exceeding is why evictions from a cluster may exceed budgets, where an admin says so.
	exceeding map[messages.ClusterName]string
	// unsettled are the budgets that are new since they were last settled, or of which a usage changed.
	unsettled []*evictionBudget
	// expires is when the first move leaves its window; zero: there is none.
	expires time.Time
}

func newBudgets(settings *messages.Settings, ds *domains, q *queue, hs *holds) budgets {
	return budgets{
		settings: settings, domains: ds, queue: q, holds: hs,
		workloads: map[messages.BindingName]*workload{}, exceeding: map[messages.ClusterName]string{},
	}
}

// set takes over all budgets. One that existed keeps what it has counted.
func (bs *budgets) set(m *messages.BudgetsSet) {
	for _, w := range bs.workloads { // order-free: each is taken out by itself
		bs.leave(w)
	}
	before := bs.byName
	bs.byName = make(map[messages.BudgetName]*evictionBudget, len(m.Budgets))
	for _, stored := range m.Budgets {
		b := before[stored.Name]
		if b == nil || b.Spec.PerWorkload != stored.Spec.PerWorkload {
			b = newBudget(stored)
		}
		b.Spec = stored.Spec
		bs.byName[stored.Name] = b
		bs.unsettle(b)
	}
	for _, b := range before { // order-free: each request waits in one heap
		bs.retry(b)
	}
	for _, w := range bs.workloads { // order-free: usages are sums
		bs.enrol(w)
	}
}

// unsettle has a budget settled at the end of the instant.
func (bs *budgets) unsettle(b *evictionBudget) {
	if !b.queued {
		b.queued, bs.unsettled = true, append(bs.unsettled, b)
	}
}

// changed has a usage settled, and the requests that wait for it tried again.
func (bs *budgets) changed(u *usage) {
	if !u.changed {
		u.changed, u.of.changed = true, append(u.of.changed, u)
	}
	bs.unsettle(u.of)
}

// observe takes in how a workload fares.
func (bs *budgets) observe(now time.Time, m *messages.WorkloadObserved) {
	w := bs.workloads[m.Binding]
	if w == nil {
		w = &workload{observed: m}
		bs.workloads[m.Binding] = w
	}
	bs.leave(w)
	bs.retryWorkload(w.observed)
	w.observed = m
	if len(m.Budgets) == 0 {
		delete(bs.workloads, m.Binding)
	}
	bs.enrol(w)
	bs.settleReservations(now, w)
}

// retryWorkload has the requests of a workload tried again, because what they cost may be new.
func (bs *budgets) retryWorkload(m *messages.WorkloadObserved) {
	for i := range m.Shares {
		if n := bs.queue.requests[key{m.Binding, m.Shares[i].Cluster}]; n != nil && n.why != nil {
			bs.queue.retry(n)
		}
	}
}

// enrol adds a workload to the usages of the budgets that select it. A name without a budget is of one that
// is still to come, or was deleted.
func (bs *budgets) enrol(w *workload) {
	for _, name := range w.observed.Budgets {
		if b := bs.byName[name]; b != nil {
			w.usages = append(w.usages, b.usage(w.observed.Binding))
		}
	}
	w.healthy = w.available("", bs.domains.clusters)
	bs.count(w, 1)
}

// leave takes a workload out of its usages.
func (bs *budgets) leave(w *workload) {
	bs.count(w, -1)
	w.usages = w.usages[:0]
}

func (bs *budgets) count(w *workload, by int64) {
	w.count(by)
	for _, u := range w.usages {
		bs.changed(u)
	}
}

// recount looks again at what is available, because a cluster became Ready or ceased to be.
func (bs *budgets) recount() {
	for _, w := range bs.workloads { // order-free: usages are sums
		bs.amend(w, func() {})
	}
}

// amend changes a workload and what it adds to its usages.
func (bs *budgets) amend(w *workload, change func()) {
	bs.count(w, -1)
	change()
	w.healthy = w.available("", bs.domains.clusters)
	bs.count(w, 1)
}

// settleReservations ends those whose permit was used, or given back because the workload stays. A permit that the workload
// has not heard of yet is neither.
func (bs *budgets) settleReservations(now time.Time, w *workload) {
	for _, r := range slices.Clone(w.reservations) {
		d := w.stage(r.cluster)
		if d == messages.Asks || d == messages.Permitted {
			continue
		}
		bs.amend(w, func() { w.end(r) })
		if d == messages.Leaves {
			w.moved(now, r.replicas)
		}
	}
}

// dropped has the requests tried that waited behind one of a workload.
func (bs *budgets) dropped(of messages.BindingName) {
	if w := bs.workloads[of]; w != nil {
		for _, u := range w.usages {
			bs.changed(u)
		}
	}
}

// blocks is the gate of budgets. A request waits for the first budget that blocks it, and behind the more urgent ones that
// wait for it.
func (bs *budgets) blocks(_ time.Time, n *node) *wait {
	if n.scope != nil || len(bs.workloads) == 0 || !bs.settings.EvictionBudgets {
		return nil
	}
	w := bs.workloads[n.head.Binding]
	if w == nil {
		return nil
	}
	if _, allowed := bs.exceeds(w, n.head.Cluster); allowed != "" {
		return nil
	}
	cost := w.cost(n.head.Cluster, bs.domains.clusters)
	for _, u := range w.usages {
		if why := u.blocks(n, cost); why != nil {
			return why
		}
	}
	return nil
}

// exceeds is why a workload may be evicted against its budgets, and where an admin said so; empty: it may not. A request that
// is permitted without being asked was released.
func (bs *budgets) exceeds(w *workload, from messages.ClusterName) (by, reason string) {
	switch r := bs.exceeding[from]; {
	case w.observed.Exceeds != "":
		return "its resource", w.observed.Exceeds
	case r != "":
		return "cluster " + string(from), r
	default:
		return "its binding", bs.holds.releases[w.observed.Binding]
	}
}

// allowExceeding lets evictions from a cluster exceed budgets, or not any more.
func (bs *budgets) allowExceeding(m *messages.ExceedingAllowed) {
	if m.Reason == "" {
		delete(bs.exceeding, m.Cluster)
	} else {
		bs.exceeding[m.Cluster] = m.Reason
	}
	bs.review()
}

// charge counts a permitted request: what it takes away is gone from now on, and what it moves counts.
func (bs *budgets) charge(r *messages.RequestEviction, out *actors.Outbox) {
	w := bs.workloads[r.Binding]
	if w == nil || !bs.settings.EvictionBudgets {
		return
	}
	cost := w.cost(r.Cluster, bs.domains.clusters)
	for _, u := range w.usages {
		if v := budget.Judge(u.of.Spec, &u.Account, cost); v.Message != "" {
			by, reason := bs.exceeds(w, r.Cluster)
			out.Record(&messages.BudgetExceeded{
				Budget: u.of.Name, Binding: r.Binding, Cluster: r.Cluster, AllowedBy: by, Reason: reason, Message: v.Message,
			})
		}
	}
	bs.amend(w, func() { w.reserve(r.Cluster, cost.Moves) })
}

// review has all requests that wait for a budget tried again, because budgets count from now on, or do not any more.
func (bs *budgets) review() {
	for _, b := range bs.byName { // order-free: each is asked by itself
		bs.retry(b)
		bs.unsettle(b)
	}
}

// retry has all requests that wait for a budget tried again.
func (bs *budgets) retry(b *evictionBudget) {
	for _, u := range b.usages { // order-free: each request waits in one heap
		bs.queue.retryHeap(&u.waiting)
		bs.queue.retryHeap(&u.never)
	}
}

// retryNever has the requests tried again that could not be permitted as things were, where things have changed.
func (bs *budgets) retryNever(now time.Time) {
	bs.expireMoves(now)
	for _, b := range bs.unsettled {
		for _, u := range b.changed {
			if u.news() {
				bs.queue.retryHeap(&u.never)
			}
		}
	}
}

// retryWaiting has the most urgent request that waits for each changed usage tried again, and the next one where
// that did not come back. It reports whether there was one.
func (bs *budgets) retryWaiting() (tried bool) {
	for _, b := range bs.unsettled {
		for _, u := range b.changed {
			if u.waiting.Len() == 0 || u.trying != nil && u.trying.in == &u.waiting || !u.news() {
				continue
			}
			u.trying, tried = u.waiting.nodes[0], true
			bs.queue.retry(u.trying)
		}
	}
	return tried
}

// expireMoves forgets moves that have left their windows.
func (bs *budgets) expireMoves(now time.Time) {
	if bs.expires.IsZero() || bs.expires.After(now) {
		return
	}
	bs.eachWindow(func(u *usage) {
		if span := budget.Span(u.of.Spec.MaxMoved); !u.Moves.Ends(span).After(now) {
			u.Moves.Forget(now, span)
			bs.changed(u)
		}
	})
}

// eachWindow visits the usages that count moves, in any order.
func (bs *budgets) eachWindow(visit func(*usage)) {
	for _, b := range bs.byName { // order-free: as the visits are
		if b.Spec.MaxMoved == nil {
			continue
		}
		for _, u := range b.usages { // order-free: as the visits are
			if len(u.Moves) > 0 {
				visit(u)
			}
		}
	}
}

// settle records how budgets are used at the end of an instant.
func (bs *budgets) settle(now time.Time, out *actors.Outbox) {
	if len(bs.unsettled) == 0 {
		return
	}
	slices.SortFunc(bs.unsettled, func(x, y *evictionBudget) int { return cmp.Compare(x.Name, y.Name) })
	for _, b := range bs.unsettled {
		b.settle()
		if bs.byName[b.Name] == b && bs.settings.EvictionBudgets {
			b.record(now, out)
		}
	}
	bs.unsettled = bs.unsettled[:0]
	bs.expires = time.Time{}
	bs.eachWindow(func(u *usage) {
		bs.expires = actors.Earlier(bs.expires, u.Moves.Ends(budget.Span(u.of.Spec.MaxMoved)))
	})
}

// due is when budgets have to be settled: now, or when a move leaves its window; zero: never.
func (bs *budgets) due(now time.Time) time.Time {
	if len(bs.unsettled) > 0 {
		return now
	}
	return bs.expires
}
