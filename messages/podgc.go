package messages

import "k8s.io/apimachinery/pkg/types"

// ToPodGC is what the pod garbage collector understands.
type ToPodGC interface{ toPodGC() }

// GarbageCause is why a pod that no kubelet ends is collected; empty: it is not.
type GarbageCause string

// The causes.
const (
	// NodeMissing: the node that the pod is bound to does not exist.
	NodeMissing GarbageCause = "node no longer exists"
	// NodeOutOfService: the pod is being deleted, and its node is not Ready and has the taint node.kubernetes.io/out-of-service.
	NodeOutOfService GarbageCause = "node is out of service"
)

// PodStranded says that no kubelet ends a pod, and why; without a cause, that this is no longer so.
// From: API server. To: pod GC.
type PodStranded struct {
	Pod   PodName
	UID   types.UID
	Node  NodeName
	Cause GarbageCause
}

// CollectPod removes a pod without its kubelet: its phase becomes Failed, and it has no grace period. Where the cause is no longer so nothing
// happens. From: pod GC. To: API server.
type CollectPod struct {
	Pod   PodName
	UID   types.UID
	Cause GarbageCause
}

func (*PodStranded) toPodGC()    {}
func (*Woken) toPodGC()          {}
func (*CollectPod) toAPIServer() {}
