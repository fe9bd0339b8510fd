package messages

import "leeward/messages/api"

// BudgetChanged says the state of a budget from now on.
type BudgetChanged struct {
	Budget BudgetName               `json:"budget"`
	Status api.EvictionBudgetStatus `json:"status"`
}

// BudgetExceeded says that an eviction was permitted against a budget, because people want it so.
type BudgetExceeded struct {
	Budget  BudgetName  `json:"budget"`
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	// AllowedBy is what carries the permission, "its resource", "its binding" or "cluster e1", Reason what they gave, Message what
	// the budget had against it.
	AllowedBy string `json:"allowedBy"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

func (*BudgetChanged) Kind() string  { return "BudgetChanged" }
func (*BudgetExceeded) Kind() string { return "BudgetExceeded" }

func (f *BudgetExceeded) AboutBinding() BindingName { return f.Binding }
func (f *BudgetExceeded) AboutCluster() ClusterName { return f.Cluster }
