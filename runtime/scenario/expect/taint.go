package expect

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Taint expects a cluster or a node to have a taint, or not to have it.
type Taint struct {
	// Cluster is empty where Node is not.
	Cluster messages.ClusterName
	Node    messages.NodeName
	Key     string
	// Value and Effect: empty means any.
	Value  string
	Effect corev1.TaintEffect
	Absent bool
}

func (*Taint) subject() {}

// ObjectKey is that of the cluster or the node.
func (t *Taint) ObjectKey() api.Key {
	if t.Node != "" {
		return NodeKey(t.Node)
	}
	return store.ClusterKey(t.Cluster)
}

// String returns "cluster member2 has the taint failed:NoExecute".
func (t *Taint) String() string {
	has := " has the taint "
	if t.Absent {
		has = " has no taint "
	}
	return t.whose() + has + taint.String(&corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
}

// whose is what has the taint.
func (t *Taint) whose() string {
	if t.Node != "" {
		return "node " + string(t.Node)
	}
	return "cluster " + string(t.Cluster)
}

func (t *Taint) judge(o *objects) (holds bool, seen string) {
	taints, there := t.all(o)
	if !there {
		return false, "there is no " + t.whose()
	}
	return slices.ContainsFunc(taints, t.matches) != t.Absent, listed(taints)
}

// all returns the taints of the cluster or the node, and whether there is one.
func (t *Taint) all(o *objects) (taints []corev1.Taint, there bool) {
	switch {
	case t.Node == "":
		if c := o.Cluster(t.Cluster); c != nil {
			return c.Spec.Taints, true
		}
	case o.nodes != nil:
		if n := o.nodes.Node(t.Node); n != nil {
			return n.Spec.Taints, true
		}
	}
	return nil, false
}

func (t *Taint) matches(got corev1.Taint) bool {
	return got.Key == t.Key && (t.Effect == "" || got.Effect == t.Effect) && (t.Value == "" || got.Value == t.Value)
}

func listed(taints []corev1.Taint) string {
	if len(taints) == 0 {
		return "it has no taints"
	}
	words := make([]string, len(taints))
	for i := range taints {
		words[i] = taint.String(&taints[i])
	}
	return "its taints are " + strings.Join(words, ", ")
}
