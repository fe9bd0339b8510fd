package governor

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/budget"
	"leeward/messages"
	"leeward/messages/api"
)

// sums are what accounts add up to.
type sums struct{ workloads, expected, healthy, desired, allowed, moved, waiting int64 }

func (s *sums) add(o sums, by int64) {
	s.workloads += by * o.workloads
	s.expected += by * o.expected
	s.healthy += by * o.healthy
	s.desired += by * o.desired
	s.allowed += by * o.allowed
	s.waiting += by * o.waiting
}

// expireMoves forgets moves that have left their windows.
func (g *Governor) expireMoves(now time.Time) {
	l := &g.ledger
	if l.expires.IsZero() || l.expires.After(now) {
		return
	}
	l.eachWindow(func(a *account) {
		if span := budget.Span(a.fund.Spec.MaxMoved); !a.Moves.Ends(span).After(now) {
			a.Moves.Forget(now, span)
			l.changed(a)
		}
	})
}

// eachWindow visits the accounts that count moves, in any order.
func (l *ledger) eachWindow(visit func(*account)) {
	for _, f := range l.funds { // order-free: as the visits are
		if f.Spec.MaxMoved == nil {
			continue
		}
		for _, a := range f.accounts { // order-free: as the visits are
			if len(a.Moves) > 0 {
				visit(a)
			}
		}
	}
}

// settle records how budgets stand at the end of an instant.
func (g *Governor) settle(now time.Time, out *actors.Outbox) {
	l := &g.ledger
	if len(l.stirred) == 0 {
		return
	}
	slices.SortFunc(l.stirred, func(x, y *fund) int { return cmp.Compare(x.Name, y.Name) })
	for _, f := range l.stirred {
		for _, a := range f.news {
			a.settle()
		}
		f.news, f.stirred = nil, false
		if l.funds[f.Name] == f && g.settings.EvictionBudgets {
			f.show(now, out)
		}
	}
	l.stirred = l.stirred[:0]
	l.expires = time.Time{}
	l.eachWindow(func(a *account) {
		l.expires = actors.Earlier(l.expires, a.Moves.Ends(budget.Span(a.fund.Spec.MaxMoved)))
	})
}

// sums are what an account has now.
func (a *account) sums() sums {
	spec := a.fund.Spec
	return sums{
		workloads: a.workloads, expected: a.Expected, healthy: a.Healthy, desired: budget.Desired(spec, a.Expected),
		allowed: a.Allowed(spec), moved: a.Moves.Sum(), waiting: int64(a.waiting.Len() + a.never.Len()),
	}
}

// settle adds what an account has now to the total of its fund. One that is about nothing is forgotten.
func (a *account) settle() {
	if a.fund.Spec.MaxMoved == nil {
		a.Moves = nil
	}
	a.fund.total.add(a.added, -1)
	a.added = a.sums()
	a.trying, a.stirred = nil, false
	if a.workloads == 0 && len(a.Moves) == 0 {
		delete(a.fund.accounts, a.binding)
		return
	}
	a.fund.total.add(a.added, 1)
}

// show records how a fund stands, if that is news.
func (f *fund) show(now time.Time, out *actors.Outbox) {
	t := &f.total
	next := &messages.BudgetChanged{Budget: f.Name, Status: api.EvictionBudgetStatus{
		ExpectedWorkloads: t.workloads, ExpectedReplicas: t.expected, CurrentHealthy: t.healthy, DesiredHealthy: t.desired,
		DisruptionsAllowed: t.allowed, Waiting: t.waiting, Message: f.message(), Moved: f.moved(now),
	}}
	if !reflect.DeepEqual(f.shown, next) {
		f.shown = next
		out.Record(next)
	}
}

// message says what the most urgent request waits for, where there is one line of them.
func (f *fund) message() string {
	a := f.accounts[""]
	switch {
	case f.total.workloads == 0:
		return "it selects no workload"
	case a == nil:
		return ""
	case a.waiting.Len() > 0:
		return a.waiting.nodes[0].why.message
	case a.never.Len() > 0:
		return a.never.nodes[0].why.message
	}
	return ""
}

// moved are the moves that are still counted. Those that have not left yet count as of now.
func (f *fund) moved(now time.Time) (moved []api.BudgetMove) {
	if f.Spec.MaxMoved == nil {
		return nil
	}
	for _, of := range slices.Sorted(maps.Keys(f.accounts)) {
		a := f.accounts[of]
		all := slices.Clone(a.Moves)
		if a.Pending > 0 {
			all.Add(now, a.Pending)
		}
		for _, m := range all {
			moved = append(moved, api.BudgetMove{At: metav1.MicroTime{Time: m.At}, Binding: string(of), Replicas: m.Replicas})
		}
	}
	return moved
}
