// Package messages is the language of Leeward: the values its actors speak of, the messages they
// send one another (one file per machine), the settings that shape their decisions and the facts
// that come of them. Package messages/api holds the Kubernetes and Karmada objects.
//
// Nothing here reads a clock, does I/O or holds state. Messages and facts are sent as pointers and
// never changed after sending.
package messages

import (
	"fmt"
	"strings"
)

// Names of the things that actors stand for. Cluster and policy names are those of their objects;
// a BindingName is "namespace/name" of a ResourceBinding and "name" of a ClusterResourceBinding, and a
// PropagationName is that of a policy in the same way.
type (
	ClusterName     string
	PolicyName      string
	PropagationName string
	BindingName     string
)

// Names in one cluster. A NodeName is that of the Node, a PodName "namespace/name".
type (
	NodeName string
	PodName  string
)

// OwnerName names what keeps up pods or nodes: "kind/namespace/name", the kind in lower case.
type OwnerName string

// NameOwner returns the name of the owner of that kind with that name in a namespace.
func NameOwner(kind, namespace, name string) OwnerName {
	return OwnerName(strings.ToLower(kind) + "/" + join(namespace, name))
}

// PodBudgetName names a PodDisruptionBudget: "namespace/name".
type PodBudgetName string

// NamePodBudget returns the name of the PodDisruptionBudget with that name in a namespace.
func NamePodBudget(namespace, name string) PodBudgetName { return PodBudgetName(join(namespace, name)) }

// ClientName is the user agent of a client of the API server, such as "taint-eviction-controller".
type ClientName string

// Split returns the namespace of a pod and its name there.
func (p PodName) Split() (namespace, name string) { return split(string(p)) }

// NamePod returns the name of the pod with that name in a namespace.
func NamePod(namespace, name string) PodName { return PodName(join(namespace, name)) }

// Namespace is the namespace of a binding; empty: it is a ClusterResourceBinding.
func (b BindingName) Namespace() string {
	namespace, _ := b.Split()
	return namespace
}

// Split returns the namespace of a binding, empty for a ClusterResourceBinding, and its name there.
func (b BindingName) Split() (namespace, name string) { return split(string(b)) }

// NameBinding returns the name of the binding with that name in a namespace; an empty one makes it a
// ClusterResourceBinding.
func NameBinding(namespace, name string) BindingName { return BindingName(join(namespace, name)) }

// Namespace is the namespace of a policy; empty: it is a ClusterPropagationPolicy.
func (p PropagationName) Namespace() string {
	namespace, _ := split(string(p))
	return namespace
}

// NamePropagation returns the name of the policy with that name in a namespace; an empty one makes it a
// ClusterPropagationPolicy.
func NamePropagation(namespace, name string) PropagationName {
	return PropagationName(join(namespace, name))
}

func join(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func split(s string) (namespace, name string) {
	namespace, name, namespaced := strings.Cut(s, "/")
	if !namespaced {
		return "", s
	}
	return namespace, name
}

// Kind says which machine an address belongs to. The order of the kinds is part of the engine's
// canonical order: alarms armed for the running instant fire kind by kind, lowest first, each kind
// only when nothing else remains to do (binding before governor before scheduler).
type Kind uint8

// The machines, in canonical order.
const (
	KindCluster Kind = iota
	KindPolicy
	KindPropagation
	KindMember
	KindBinding
	KindGovernor
	KindScheduler
	KindKubelet
	KindNode
	KindNodeLifecycle
	KindZone
	KindPodEviction
	KindAPIClient
	KindPodGC
	KindDrain
	KindOwner
	KindPodScheduler
	KindAPIServer
)

var kindNames = [...]string{
	KindCluster:       "cluster",
	KindPolicy:        "policy",
	KindPropagation:   "propagation",
	KindMember:        "member",
	KindBinding:       "binding",
	KindGovernor:      "governor",
	KindScheduler:     "scheduler",
	KindKubelet:       "kubelet",
	KindNode:          "node",
	KindNodeLifecycle: "node lifecycle",
	KindZone:          "zone",
	KindPodEviction:   "pod eviction",
	KindAPIClient:     "API client",
	KindPodGC:         "pod GC",
	KindDrain:         "drain",
	KindOwner:         "owner",
	KindPodScheduler:  "pod scheduler",
	KindAPIServer:     "API server",
}

// Kinds is how many kinds there are.
const Kinds = len(kindNames)

// String returns the machine's name, as transcripts print it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Address names one actor. Singletons (governor, scheduler) have an empty name.
type Address struct {
	Kind Kind
	Name string
}

// String returns "kind/name", or "kind" for a singleton.
func (a Address) String() string {
	if a.Name == "" {
		return a.Kind.String()
	}
	return a.Kind.String() + "/" + a.Name
}

// Message is what an actor's mailbox holds: a pointer to what its machine accepts. Each machine accepts only its own
// sealed set (ToCluster, ToBinding, ...), and mail is sent only as one of a set, so a wrong address does not compile.
type Message any

// Woken tells a machine that the instant it asked for with Outbox.WakeAt has come.
// From: the host. To: every machine.
type Woken struct{}
