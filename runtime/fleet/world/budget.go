package world

import (
	"leeward/messages"
	"leeward/messages/api"
)

// admitBudget has everybody know a budget. What the engine wrote of one that was there stays.
func (w *World) admitBudget(o, old api.Object) {
	switch o := o.(type) {
	case *api.EvictionBudget:
		if old != nil {
			o.Status = old.(*api.EvictionBudget).Status
		}
	case *api.ClusterEvictionBudget:
		if old != nil {
			o.Status = old.(*api.ClusterEvictionBudget).Status
		}
	}
	w.store.Put(o)
	w.tellBudgets()
}

// tellBudgets tells the governor and every binding which budgets there are.
func (w *World) tellBudgets() {
	w.budgets = &messages.BudgetsSet{Budgets: w.store.Budgets()}
	w.kernel.Post(governorAt, w.budgets)
	w.kernel.PostAll(messages.KindBinding, w.budgets)
}

// recoverBudgets tells a new governor of the budgets. Bindings hear of them when they are hosted.
func (w *World) recoverBudgets() {
	if all := w.store.Budgets(); w.budgets != nil || len(all) > 0 { // which Load may have brought
		w.budgets = &messages.BudgetsSet{Budgets: all}
		w.kernel.Post(governorAt, w.budgets)
	}
}
