package governor

import (
	"fmt"
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

// evictionBudget is one EvictionBudget, and what is used of it.
type evictionBudget struct {
	messages.Budget
	// usages has one for all workloads, without a name, or one for each.
	usages map[messages.BindingName]*usage
	// changed are the usages that changed since they were last settled; queued is set while the budget is among those
	// that have to be settled.
	changed []*usage
	queued  bool
	// total is the sum of usages, shown what was last recorded of the budget.
	total sums
	shown *messages.BudgetChanged
}

// usage is what a budget counts of one workload, or of all together.
type usage struct {
	budget.Account
	of        *evictionBudget
	binding   messages.BindingName
	workloads int64
	// waiting are the requests whose turn comes, the most urgent first. Never are those whose turn does not come
	// as things are: no other request waits behind them.
	waiting, never nodeHeap
	// trying is the request that was last taken out of waiting to be asked again.
	trying  *node
	changed bool
	// added is what the usage adds to the total of its budget.
	added sums
}

// sums are what usages add up to.
type sums struct{ workloads, expected, healthy, desired, allowed, moved, waiting int64 }

func (s *sums) add(o sums, by int64) {
	s.workloads += by * o.workloads
	s.expected += by * o.expected
	s.healthy += by * o.healthy
	s.desired += by * o.desired
	s.allowed += by * o.allowed
	s.waiting += by * o.waiting
}

// newBudget returns a budget that has the moves which are stored.
func newBudget(stored messages.Budget) *evictionBudget {
	b := &evictionBudget{Budget: stored, usages: map[messages.BindingName]*usage{}}
	for _, m := range stored.Moved {
		u := b.usage(messages.BindingName(m.Binding))
		u.Moves = append(u.Moves, budget.Move{At: m.At.Time, Replicas: m.Replicas})
	}
	return b
}

// String names the budget as transcripts do.
func (b *evictionBudget) String() string { return "budget " + string(b.Name) }

// usage returns what a workload uses.
func (b *evictionBudget) usage(of messages.BindingName) *usage {
	if !b.Spec.PerWorkload {
		of = ""
	}
	u := b.usages[of]
	if u == nil {
		u = &usage{of: b, binding: of, waiting: nodeHeap{before: moreUrgent}, never: nodeHeap{before: moreUrgent}}
		b.usages[of] = u
	}
	return u
}

// blocks says why a budget blocks a request that costs so much; nil: it does not.
func (u *usage) blocks(n *node, cost budget.Cost) *wait {
	spec := u.of.Spec
	if cost.Takes == 0 && (spec.MaxMoved == nil || cost.Moves == 0) {
		return nil
	}
	switch v := budget.Judge(spec, &u.Account, cost); {
	case v.Never:
		return &wait{
			reason: "BudgetNeverMet", message: fmt.Sprintf("%s: %s; the eviction cannot start under these conditions", u.of, v.Message),
			heap: &u.never, usage: u,
		}
	case v.Message != "":
		return u.spent(v.Message, v.Until)
	case u.waiting.Len() > 0 && moreUrgent(u.waiting.nodes[0], n):
		return u.spent(fmt.Sprintf("%s is evicted first", u.waiting.nodes[0].head.Binding), time.Time{})
	}
	return nil
}

// spent has a request wait its turn.
func (u *usage) spent(why string, ends time.Time) *wait {
	return &wait{reason: api.ReasonBudgetSpent, message: fmt.Sprintf("%s: %s", u.of, why), ends: ends, heap: &u.waiting, usage: u}
}

// sums are what a usage comes to now.
func (u *usage) sums() sums {
	spec := u.of.Spec
	return sums{
		workloads: u.workloads, expected: u.Expected, healthy: u.Healthy, desired: budget.Desired(spec, u.Expected),
		allowed: u.Allowed(spec), moved: u.Moves.Sum(), waiting: int64(u.waiting.Len() + u.never.Len()),
	}
}

// news reports whether a usage comes to something else than when it was last settled.
func (u *usage) news() bool { return u.sums() != u.added }

// settle adds what a usage comes to now to the total of its budget. One that is about nothing is forgotten.
func (u *usage) settle() {
	if u.of.Spec.MaxMoved == nil {
		u.Moves = nil
	}
	u.of.total.add(u.added, -1)
	u.added = u.sums()
	u.trying, u.changed = nil, false
	if u.workloads == 0 && len(u.Moves) == 0 {
		delete(u.of.usages, u.binding)
		return
	}
	u.of.total.add(u.added, 1)
}

// settle settles the usages of a budget that changed.
func (b *evictionBudget) settle() {
	for _, u := range b.changed {
		u.settle()
	}
	b.changed, b.queued = nil, false
}

// record tells how a budget is used, if that is news.
func (b *evictionBudget) record(now time.Time, out *actors.Outbox) {
	t := &b.total
	next := &messages.BudgetChanged{Budget: b.Name, Status: api.EvictionBudgetStatus{
		ExpectedWorkloads: t.workloads, ExpectedReplicas: t.expected, CurrentHealthy: t.healthy, DesiredHealthy: t.desired,
		DisruptionsAllowed: t.allowed, Waiting: t.waiting, Message: b.message(), Moved: b.moved(now),
	}}
	if !reflect.DeepEqual(b.shown, next) {
		b.shown = next
		out.Record(next)
	}
}

// message says what the most urgent request waits for, where there is one usage of all workloads.
func (b *evictionBudget) message() string {
	u := b.usages[""]
	switch {
	case b.total.workloads == 0:
		return "it selects no workload"
	case u == nil:
		return ""
	case u.waiting.Len() > 0:
		return u.waiting.nodes[0].why.message
	case u.never.Len() > 0:
		return u.never.nodes[0].why.message
	}
	return ""
}

// moved are the moves that are still counted. Those that have not been evicted yet count as of now.
func (b *evictionBudget) moved(now time.Time) (moved []api.BudgetMove) {
	if b.Spec.MaxMoved == nil {
		return nil
	}
	for _, of := range slices.Sorted(maps.Keys(b.usages)) {
		u := b.usages[of]
		all := slices.Clone(u.Moves)
		if u.Pending > 0 {
			all.Add(now, u.Pending)
		}
		for _, m := range all {
			moved = append(moved, api.BudgetMove{At: metav1.MicroTime{Time: m.At}, Binding: string(of), Replicas: m.Replicas})
		}
	}
	return moved
}
