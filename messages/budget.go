package messages

import "leeward/messages/api"

// BudgetName is "namespace/name" of an EvictionBudget and "name" of a ClusterEvictionBudget.
type BudgetName string

// Namespace is the namespace of a budget; empty: it is a ClusterEvictionBudget.
func (b BudgetName) Namespace() string {
	namespace, _ := b.Split()
	return namespace
}

// Split returns the namespace of a budget, empty for a ClusterEvictionBudget, and its name there.
func (b BudgetName) Split() (namespace, name string) { return split(string(b)) }

// Budget is an EvictionBudget or ClusterEvictionBudget.
type Budget struct {
	Name BudgetName
	Spec *api.EvictionBudgetSpec
	// Moved is what its status says was let go, for a governor that does not know it yet.
	Moved []api.BudgetMove
}

// BudgetsSet carries all budgets there are from now on, in the order of their names.
// From: ingress. To: the governor and every binding.
type BudgetsSet struct{ Budgets []Budget }

// ExceedingAllowed carries people's word that evictions from a cluster may exceed budgets. From: ingress. To: governor.
type ExceedingAllowed struct {
	Cluster ClusterName
	// Reason: empty takes the word back.
	Reason string
}

// WorkloadObserved says how a workload fares that budgets select. From: binding. To: governor.
type WorkloadObserved struct {
	Binding BindingName
	// Budgets select the workload, in the order of their names. None: none does any more.
	Budgets []BudgetName
	// Expected is how many replicas it is to have in all.
	Expected int64
	// Shares are its targets and the clusters that it is leaving.
	Shares []ServingShare
	// PurgedDirectly is set where an eviction for a taint takes the old copy away before the new one serves.
	PurgedDirectly bool
	// Exceeds is why its evictions may exceed budgets; empty: they may not.
	Exceeds string
}

// ServingShare is what one cluster has of a workload.
type ServingShare struct {
	Cluster ClusterName
	// Replicas are placed there, Serving of them serve.
	Replicas, Serving int32
	Stage             EvictionStage
}

// EvictionStage is how far the eviction of a workload from a cluster is.
type EvictionStage uint8

// The stages of an eviction.
const (
	// Stays: it need not leave, or not yet.
	Stays EvictionStage = iota
	// Asks: it has asked for a permit and heard of none, which may be on its way.
	Asks
	// Permitted: it has a permit, and may wait for a destination.
	Permitted
	// Leaves: an eviction task is written.
	Leaves
)

func (*BudgetsSet) toGovernor()       {}
func (*ExceedingAllowed) toGovernor() {}
func (*WorkloadObserved) toGovernor() {}

func (*BudgetsSet) toBinding() {}
