package messages

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
)

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
