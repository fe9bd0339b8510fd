package messages

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
)

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

// PutPodBudget creates a PodDisruptionBudget, or replaces one. The status of a new one counts no further than the pods that it says are being
// disrupted. From: ingress. To: API server.
type PutPodBudget struct{ Object *policyv1.PodDisruptionBudget }

// DeletePodBudget removes a PodDisruptionBudget. From: ingress. To: API server.
type DeletePodBudget struct{ Budget PodBudgetName }

// PodBudgetSynced carries a PodDisruptionBudget as another API server stores it, with its status: evictions that were allowed there are in
// it. From: ingress. To: API server.
type PodBudgetSynced struct {
	Budget PodBudgetName
	// Object is the budget, nil where it was deleted.
	Object *policyv1.PodDisruptionBudget
}

// OwnerScaled says how many pods an owner must have: what the percentages of PodDisruptionBudgets are of. From: ingress. To: API server.
type OwnerScaled struct {
	Owner    OwnerName
	Replicas int32
	// Gone: it was deleted.
	Gone bool
}

// EvictPod asks the Eviction API to evict a pod: it is deleted unless its PodDisruptionBudget does not allow that. The API server answers
// the request. From: drain, taint eviction. To: API server.
type EvictPod struct {
	Pod PodName
	UID types.UID
	// GracePeriodSeconds is granted in place of the pod's own, where it is set.
	GracePeriodSeconds *int64
	// For is the drain that asks, named by its node; empty: it is the taint eviction of the pod.
	For NodeName
	// Attempt numbers the attempts of a taint eviction; the answer carries it.
	Attempt int
	// Unready: a pod that is not ready is evicted whatever its budget says.
	Unready bool
	// Reason and Message are those of the condition DisruptionTarget.
	Reason, Message string
}

// PodEvictionAnswered answers EvictPod. From: API server. To: the drain or the taint eviction that asked.
type PodEvictionAnswered struct {
	Pod PodName
	UID types.UID
	// Attempt is that of the request.
	Attempt int
	// Gone: there is no such pod any more.
	Gone bool
	// Error is why the eviction was refused; empty: the pod is being deleted. Later: it may be allowed later (429 Too Many Requests).
	Error string
	Later bool
	// Budget is the budget that refused it, with what it lacks in Detail.
	Budget PodBudgetName
	Detail string
}

// PodBudgetAllows says that a taint eviction that was refused may be asked for again. From: API server. To: pod eviction.
type PodBudgetAllows struct{}

func (*PutPodBudget) toAPIServer()    {}
func (*DeletePodBudget) toAPIServer() {}
func (*OwnerScaled) toAPIServer()     {}
func (*EvictPod) toAPIServer()        {}

func (*PodEvictionAnswered) toPodEviction() {}
func (*PodBudgetAllows) toPodEviction()     {}
