package binding

import (
	"fmt"
	"slices"
	"strings"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// goesAlone reports whether nothing may go along with what is to be left, and notes that the scheduler is told so.
func (b *Binding) goesAlone() bool {
	if b.curbs == nil {
		return false
	}
	b.curbs.alone = b.goingAlone()
	return b.curbs.alone
}

func (b *Binding) goingAlone() bool { return b.bound() != nil && b.exceeds() == "" }

// exceedAlong says of each eviction that takes something along that a budget minds it, where people allow that.
func (b *Binding) exceedAlong(leaving []messages.ClusterName, out *actors.Outbox) {
	if b.curbs == nil || b.exceeds() == "" {
		return
	}
	g := b.bound()
	if g == nil {
		return
	}
	var permitted, along []string
	for _, c := range leaving {
		switch t := b.target(c); {
		case t == nil:
		case t.leave.permitted:
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
			Budget: g.Name, Binding: b.name, Cluster: messages.ClusterName(c), AllowedBy: "its resource", Reason: b.exceeds(),
			Message: fmt.Sprintf("what runs on %s goes along at once", strings.Join(along, ", ")),
		})
	}
}

// bound is the budget that lets nothing go along with what leaves for its taint; nil: there is none, or nothing that serves
// would go at once. A permit is for one cluster: it takes nothing away on others, which nobody has judged.
func (b *Binding) bound() *messages.Budget {
	if !b.budgeted() || !b.leavesForTaints() || !b.staysServing() || b.settings.GracefulMoves && !b.movesAtOnce() {
		return nil
	}
	for i := range b.curbs.budgets {
		g := &b.curbs.budgets[i]
		if (g.Spec.MinAvailable != nil || g.Spec.MaxUnavailable != nil) && slices.Contains(b.curbs.selecting, g.Name) {
			return g
		}
	}
	return nil
}

// movesAtOnce reports whether the old copy goes first where the binding moves by choice.
func (v *view) movesAtOnce() bool {
	return eviction.PurgeMode(v.spec.Failover, api.PurgeGracefully) == api.PurgeDirectly
}

// leavesForTaints reports whether a departure for a taint waits for a destination.
func (v *view) leavesForTaints() bool {
	return slices.ContainsFunc(v.targets, func(t target) bool { return t.leave.awaits() && !t.leave.sick() })
}

// staysServing reports whether something serves where the binding has no leave to go.
func (v *view) staysServing() bool {
	return slices.ContainsFunc(v.targets, func(t target) bool { return !t.leave.permitted && v.serving(t.cluster) > 0 })
}
