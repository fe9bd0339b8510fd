package store

import (
	"cmp"
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// BudgetKey returns the key of a budget: an EvictionBudget if its name has a namespace, otherwise a
// ClusterEvictionBudget.
func BudgetKey(name messages.BudgetName) api.Key {
	namespace, local := name.Split()
	if namespace == "" {
		return api.Key{APIVersion: api.LeewardGroupVersion, Kind: "ClusterEvictionBudget", Name: local}
	}
	return api.Key{APIVersion: api.LeewardGroupVersion, Kind: "EvictionBudget", Namespace: namespace, Name: local}
}

// Budgets returns all budgets, in the order of their names.
func (s *Store) Budgets() []messages.Budget {
	var all []messages.Budget
	for _, e := range s.kinds["EvictionBudget"] {
		o := e.object.(*api.EvictionBudget)
		all = append(all, budgetOf(o.Namespace+"/"+o.Name, &o.Spec, &o.Status))
	}
	for _, e := range s.kinds["ClusterEvictionBudget"] {
		o := e.object.(*api.ClusterEvictionBudget)
		all = append(all, budgetOf(o.Name, &o.Spec, &o.Status))
	}
	slices.SortFunc(all, func(x, y messages.Budget) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

func budgetOf(name string, spec *api.EvictionBudgetSpec, status *api.EvictionBudgetStatus) messages.Budget {
	return messages.Budget{Name: messages.BudgetName(name), Spec: spec, Moved: status.Moved}
}

// budgetChanged shows the state of a budget. A budget that is gone shows nothing.
func (s *Store) budgetChanged(f *messages.BudgetChanged) {
	e := s.find(BudgetKey(f.Budget))
	if e == nil {
		return
	}
	switch o := e.object.(type) {
	case *api.EvictionBudget:
		o.Status = f.Status
	case *api.ClusterEvictionBudget:
		o.Status = f.Status
	}
	s.touch(e)
}
