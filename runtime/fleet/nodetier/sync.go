package nodetier

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"leeward/actors/apiserver"
	"leeward/messages"
	"leeward/messages/api"
)

// SyncNode takes over a node as another API server stores it; nil: it was deleted there.
func (t *Tier) SyncNode(name messages.NodeName, o *corev1.Node) {
	t.kernel.Post(serverAt, &messages.NodeSynced{Node: name, Object: o})
}

// SyncPod takes over a pod as another API server stores it; nil: it is gone there.
func (t *Tier) SyncPod(name messages.PodName, o *corev1.Pod) {
	t.kernel.Post(serverAt, &messages.PodSynced{Pod: name, Object: o})
}

// SyncBudget takes over a PodDisruptionBudget as another API server stores it; nil: it was deleted there.
func (t *Tier) SyncBudget(name messages.PodBudgetName, o *policyv1.PodDisruptionBudget) {
	t.kernel.Post(serverAt, &messages.PodBudgetSynced{Budget: name, Object: o})
}

// SyncScale says how many pods an owner must have that another controller keeps up: what percentages of PodDisruptionBudgets are of. Other
// objects change nothing.
func (t *Tier) SyncScale(o api.Object, gone bool) {
	kind := kindOfOwner(o)
	if kind == "" || kind == messages.KindNameDaemonSet || kind == messages.KindNameJob {
		return
	}
	spec, err := ownerSpec(o)
	if err != nil {
		return // it was admitted, and is no MachineSet
	}
	t.kernel.Post(serverAt, &messages.OwnerScaled{Owner: messages.NameOwner(kind, o.GetNamespace(), o.GetName()), Replicas: spec.Replicas, Gone: gone})
}

// Renewed says when a real kubelet renewed the Lease of its node.
func (t *Tier) Renewed(name messages.NodeName, at time.Time) {
	if t.server.Node(name) != nil {
		t.kernel.Post(nodeAt(name), &messages.KubeletSilent{Last: at})
	}
}

func nodeAt(name messages.NodeName) messages.Address { return at(messages.KindNode, string(name)) }

// TakeEdits returns what the machines have edited since the last call.
func (t *Tier) TakeEdits() *apiserver.Edits { return t.server.TakeEdits() }
