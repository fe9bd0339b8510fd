package governor

import (
	"fmt"
	"time"

	"leeward/actors"
	"leeward/actors/rules/budget"
	"leeward/messages"
	"leeward/messages/api"
)

// Why a budget keeps a request waiting.
const (
	budgetSpent = api.ReasonBudgetSpent
	budgetNever = "BudgetNeverMet"
)

// budgets are what workloads may lose by evictions. A request waits for the first budget that minds, and behind
// the more urgent ones that do.
func budgets(g *Governor, _ time.Time, n *node) *wait {
	if n.scope != nil || len(g.ledger.workloads) == 0 || !g.settings.EvictionBudgets {
		return nil
	}
	w := g.ledger.workloads[n.head.Binding]
	if w == nil {
		return nil
	}
	if _, allowed := g.exceeds(w, n.head.Cluster); allowed != "" {
		return nil
	}
	e := g.eviction(w, n.head.Cluster)
	for _, a := range w.accounts {
		if why := a.minds(n, e); why != nil {
			why.account = a
			return why
		}
	}
	return nil
}

// eviction is what the departure of a workload from a cluster costs.
func (g *Governor) eviction(w *workload, from messages.ClusterName) budget.Eviction {
	e := budget.Eviction{Takes: w.healthy - g.healthy(w, from)}
	for i := range w.news.Shares {
		if s := &w.news.Shares[i]; s.Cluster == from {
			e.Moves = int64(s.Replicas)
		}
	}
	return e
}

// minds says why an account lets a request wait; nil: it does not.
func (a *account) minds(n *node, e budget.Eviction) *wait {
	spec := a.fund.Spec
	if e.Takes == 0 && (spec.MaxMoved == nil || e.Moves == 0) {
		return nil
	}
	v := budget.Judge(spec, &a.Account, e)
	switch {
	case v.Never:
		return &wait{reason: budgetNever, message: fmt.Sprintf("%s: %s; the eviction cannot start under these conditions", a.fund, v.Message), line: &a.never}
	case v.Message != "":
		return &wait{reason: budgetSpent, message: fmt.Sprintf("%s: %s", a.fund, v.Message), ends: v.Until, line: &a.waiting}
	case a.waiting.Len() > 0 && moreUrgent(a.waiting.nodes[0], n):
		first := a.waiting.nodes[0].head
		return &wait{reason: budgetSpent, message: fmt.Sprintf("%s: %s is evicted first", a.fund, first.Binding), line: &a.waiting}
	}
	return nil
}

// String names the budget as transcripts do.
func (f *fund) String() string { return "budget " + string(f.Name) }

// spend notes that a request goes: what it takes away is gone from now on, and what it moves counts.
func (g *Governor) spend(r *messages.RequestEviction, out *actors.Outbox) {
	w := g.ledger.workloads[r.Binding]
	if w == nil || !g.settings.EvictionBudgets {
		return
	}
	e := g.eviction(w, r.Cluster)
	for _, a := range w.accounts {
		if v := budget.Judge(a.fund.Spec, &a.Account, e); v.Message != "" {
			by, reason := g.exceeds(w, r.Cluster)
			out.Record(&messages.BudgetExceeded{
				Budget: a.fund.Name, Binding: r.Binding, Cluster: r.Cluster, AllowedBy: by, Reason: reason, Message: v.Message,
			})
		}
	}
	g.amend(w, func() {
		w.grants = append(w.grants, grant{r.Cluster, e.Moves})
		w.pending += e.Moves
	})
}

// exceeds is why a workload may leave a cluster against its budgets, and what bears people's word; empty: it may not.
// Whoever goes without being asked was released.
func (g *Governor) exceeds(w *workload, from messages.ClusterName) (by, reason string) {
	switch r := g.ledger.exceeding[from]; {
	case w.news.Exceeds != "":
		return "its resource", w.news.Exceeds
	case r != "":
		return "cluster " + string(from), r
	default:
		return "its binding", g.releases[w.news.Binding]
	}
}

// exceedingAllowed lets what leaves a cluster exceed budgets, or not any more.
func (g *Governor) exceedingAllowed(m *messages.ExceedingAllowed) {
	if m.Reason == "" {
		delete(g.ledger.exceeding, m.Cluster)
	} else {
		g.ledger.exceeding[m.Cluster] = m.Reason
	}
	g.reviewBudgets()
}

// tryAgain has a request asked again, and told again if it still has to wait.
func (g *Governor) tryAgain(n *node) {
	g.wakeUp(n)
	g.tell(n)
}

// reviewBudgets has everything asked again, because budgets count from now on, or do not any more.
func (g *Governor) reviewBudgets() {
	for _, f := range g.ledger.funds { // order-free: each is asked by itself
		g.askAgain(f)
		g.ledger.stir(f)
	}
}

// reopen has asked again what could not go as things were, where things have changed.
func (g *Governor) reopen(now time.Time) {
	g.expireMoves(now)
	for _, f := range g.ledger.stirred {
		for _, a := range f.news {
			if a.sums() != a.added {
				g.askNever(a)
			}
		}
	}
}

// askAgain has all that waits for a fund asked again.
func (g *Governor) askAgain(f *fund) {
	for _, a := range f.accounts { // order-free: each request stands in one line
		for a.waiting.Len() > 0 {
			g.tryAgain(a.waiting.nodes[0])
		}
		g.askNever(a)
	}
}

func (g *Governor) askNever(a *account) {
	for a.never.Len() > 0 {
		g.tryAgain(a.never.nodes[0])
	}
}

// tryWaiting has the most urgent request that waits for each stirred account asked again, and the next one where
// that did not come back. It reports whether there was one.
func (g *Governor) tryWaiting() (tried bool) {
	for _, f := range g.ledger.stirred {
		for _, a := range f.news {
			if a.waiting.Len() == 0 || a.trying != nil && a.trying.in == &a.waiting || a.sums() == a.added {
				continue
			}
			a.trying, tried = a.waiting.nodes[0], true
			g.tryAgain(a.trying)
		}
	}
	return tried
}
