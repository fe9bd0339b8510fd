package invariant

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/rules/budget"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// budgetMoves is what is known of the moves that EvictionBudgets bound.
type budgetMoves struct {
	// moved are the moves of each account since its budget is as it is.
	moved map[account]budget.Window
	specs map[messages.BudgetName]*api.EvictionBudgetSpec
	// Of the instant: took is what evictions took away directly of what served, and lost what else ceased to serve.
	took map[evictedFrom]int32
	lost int64
	// fewer is set where old copies gave replicas up in the instant: there were more.
	fewer bool
	// sums are how many replicas accounts expect at the end of the instant.
	sums map[account]int64
	// exceeded are those that were permitted in the instant against a budget.
	exceeded map[evictedFrom]bool
	// asked are the bindings that were to be placed afresh in the instant.
	asked map[messages.BindingName]bool
}

// account is what a budget counts together: all its workloads, or one by itself.
type account struct {
	budget  messages.BudgetName
	binding messages.BindingName
}

// evictedFrom is the way of a binding out of a cluster.
type evictedFrom struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

func newBudgetMoves() budgetMoves {
	return budgetMoves{
		moved: map[account]budget.Window{}, specs: map[messages.BudgetName]*api.EvictionBudgetSpec{},
		exceeded: map[evictedFrom]bool{}, took: map[evictedFrom]int32{}, sums: map[account]int64{}, asked: map[messages.BindingName]bool{},
	}
}

// settled forgets what was of an instant.
func (l *budgetMoves) settled() {
	l.exceeded, l.asked, l.took, l.sums = emptied(l.exceeded), emptied(l.asked), emptied(l.took), emptied(l.sums)
	l.lost, l.fewer = 0, false
}

// budgetsKept holds the evictions of the instant to the budgets.
func (m *Monitor) budgetsKept(s *store.Store) {
	if len(m.batch.started) == 0 {
		return
	}
	if m.settings.EvictionBudgets {
		for _, g := range s.Budgets() {
			m.movesKept(s, &g)
			m.servingKept(s, &g)
		}
	}
}

// movesKept asks one budget. One that was edited counts again.
func (m *Monitor) movesKept(s *store.Store, g *messages.Budget) {
	if g.Spec.MaxMoved == nil {
		return
	}
	if l := &m.budgeted; l.specs[g.Name] != g.Spec {
		l.specs[g.Name] = g.Spec
		for of := range l.moved { // order-free: each by itself
			if of.budget == g.Name {
				delete(l.moved, of)
			}
		}
	}
	for _, e := range m.batch.started {
		if m.bounds(s, g, e.fact) {
			m.moves(e.at, s, g, e.fact)
		}
	}
}

// bounds reports whether a budget is about an eviction. A placement that people ask for, and that does without the
// cluster, takes no permit.
func (m *Monitor) bounds(s *store.Store, g *messages.Budget, f *messages.EvictionStarted) bool {
	b := s.Binding(f.Binding)
	if b == nil || f.Grounds.Reason != api.EvictionReasonTaintUntolerated || m.edited[f.Binding] || m.budgeted.asked[f.Binding] {
		return false
	}
	return budget.Selects(g, workload(s, b))
}

// accountOf is where a budget counts a binding.
func accountOf(g *messages.Budget, b messages.BindingName) account {
	if g.Spec.PerWorkload {
		return account{g.Name, b}
	}
	return account{budget: g.Name}
}

// moves counts one eviction for a budget, and asks whether the budget allowed it.
func (m *Monitor) moves(at time.Time, s *store.Store, g *messages.Budget, f *messages.EvictionStarted) {
	d, of := evictedFrom{f.Binding, f.Cluster}, accountOf(g, f.Binding)
	window, goes := m.budgeted.moved[of], budget.Cost{Moves: int64(departing(s.Binding(f.Binding), &f.Task))}
	window.Forget(at, budget.Span(g.Spec.MaxMoved))
	if expected, known := m.expected(s, g, of); known && !m.budgeted.exceeded[d] {
		v := budget.Judge(g.Spec, &budget.Account{Expected: expected, Healthy: endless, Moves: window}, goes)
		m.check(BudgetsKept, v.Message == "", Violation{At: at, Binding: f.Binding, Cluster: f.Cluster}, "budget %s: %s", g.Name, v.Message)
	}
	window.Add(at, goes.Moves)
	m.budgeted.moved[of] = window
}

// expected is how many replicas an account expects at most, where its budget asks, and whether that is known: not
// where there were more of them in the instant.
func (m *Monitor) expected(s *store.Store, g *messages.Budget, of account) (sum int64, known bool) {
	if g.Spec.MaxMoved.Replicas.Type == intstr.Int {
		return 0, true
	}
	if len(m.edited) > 0 || m.limits.gone > 0 || m.budgeted.fewer {
		return 0, false
	}
	sum, known = m.budgeted.sums[of]
	if !known {
		m.eachIn(s, g, of, func(b *store.Binding) { sum += replicas(b) })
		m.budgeted.sums[of] = sum
	}
	return sum, true
}

// eachIn visits the bindings of an account, in no order.
func (m *Monitor) eachIn(s *store.Store, g *messages.Budget, of account, visit func(*store.Binding)) {
	selected := func(b *store.Binding) {
		if budget.Selects(g, workload(s, b)) {
			visit(b)
		}
	}
	if of.binding != "" {
		selected(s.Binding(of.binding))
		return
	}
	s.EachBinding(selected)
}

// replicas are those that a binding is to have, and those that it is leaving. What has none counts one on each cluster.
func replicas(b *store.Binding) (sum int64) {
	for _, t := range b.Spec.Clusters {
		sum += int64(max(1, t.Pods()))
	}
	for i := range b.Spec.GracefulEvictionTasks {
		sum += max(int64(departing(b, &b.Spec.GracefulEvictionTasks[i])), pods(b))
	}
	return max(sum, int64(b.Spec.Replicas))
}

// departing is how many replicas leave by a task, at least. What has none counts one; of several components it is not known how
// many pods there were.
func departing(b *store.Binding, k *api.GracefulEvictionTask) int32 {
	switch {
	case k.Replicas != nil:
		return *k.Replicas
	case len(b.Spec.Components) > 0:
		return 0
	default:
		return 1
	}
}

// pods is how many a copy of a workload of several components runs; zero: it has none.
func pods(b *store.Binding) (sum int64) {
	for i := range b.Spec.Components {
		sum += int64(b.Spec.Components[i].Replicas)
	}
	return sum
}

// workload is what selects a binding.
func workload(s *store.Store, b *store.Binding) budget.Workload {
	w := budget.Workload{Namespace: b.Name().Namespace(), Priority: priorityOf(b)}
	if o := s.Get(b.Spec.Resource.Key()); o != nil {
		w.Labels = o.GetLabels()
	}
	return w
}
