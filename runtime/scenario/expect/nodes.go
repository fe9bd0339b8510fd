package expect

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Nodes is what expectations look at in a scenario of nodes: the nodes and pods of one Kubernetes cluster.
type Nodes interface {
	// Node, Pod and Budget return an object, nil if there is none. An object that was returned never changes: it is replaced.
	Node(name messages.NodeName) *corev1.Node
	Pod(name messages.PodName) *corev1.Pod
	Budget(name messages.PodBudgetName) *policyv1.PodDisruptionBudget
	// EachPod yields all pods, in any order, with what keeps them up, empty for none: of the pods of a Deployment the Deployment.
	EachPod(yield func(pod *corev1.Pod, owner messages.OwnerName) bool)
}

// aboutPod and aboutNode are facts that name a pod, or a node.
type (
	aboutPod  interface{ AboutPod() messages.PodName }
	aboutNode interface{ AboutNode() messages.NodeName }
)

// objects is what an expectation looks at: those of a fleet, and, in a scenario of nodes, nodes and pods.
type objects struct {
	*store.Store
	nodes Nodes
	// podFacts counts the facts about pods and nodes: while it is the same, no pod has changed.
	podFacts int
}

// mark tells versions of an object apart.
type mark struct {
	version uint64
	// available is how many replicas of a binding serve, which no version of it tells.
	available int32
	// object is a node, a pod or a PodDisruptionBudget, which is replaced when it changes.
	object any
	// podFacts is the version of all pods together.
	podFacts int
}

// mark returns the present one of an object.
func (o *objects) mark(key api.Key) mark {
	if o.nodes != nil {
		switch key.Kind {
		case kindNode:
			return mark{object: o.nodes.Node(messages.NodeName(key.Name))}
		case kindPod:
			return mark{object: o.nodes.Pod(messages.NamePod(key.Namespace, key.Name))}
		case kindBudget:
			return mark{object: o.nodes.Budget(messages.NamePodBudget(key.Namespace, key.Name))}
		case kindPodList:
			return mark{podFacts: o.podFacts}
		}
	}
	return mark{version: o.Version(key), available: o.Available(key)}
}

// get returns an object, nil if there is none.
func (o *objects) get(key api.Key) api.Object {
	if o.nodes != nil {
		switch key.Kind {
		case kindNode:
			if n := o.nodes.Node(messages.NodeName(key.Name)); n != nil {
				return n
			}
			return nil
		case kindPod:
			if p := o.nodes.Pod(messages.NamePod(key.Namespace, key.Name)); p != nil {
				return p
			}
			return nil
		case kindBudget:
			if b := o.nodes.Budget(messages.NamePodBudget(key.Namespace, key.Name)); b != nil {
				return b
			}
			return nil
		}
	}
	return o.Get(key)
}

// The kinds of what a scenario of nodes expects something of.
const (
	kindNode    = "Node"
	kindPod     = "Pod"
	kindBudget  = "PodDisruptionBudget"
	kindPodList = "PodList"
)

// NodeKey names a node: in a fleet whose clusters have nodes, with its cluster in front.
func NodeKey(name messages.NodeName) api.Key {
	return api.Key{APIVersion: "v1", Kind: kindNode, Name: string(name)}
}

// PodKey names a pod, as NodeKey a node.
func PodKey(name messages.PodName) api.Key {
	namespace, own := name.Split()
	return api.Key{APIVersion: "v1", Kind: kindPod, Namespace: namespace, Name: own}
}
