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

// Taint expects a cluster to have a taint, or not to have it.
type Taint struct {
	Cluster messages.ClusterName
	Key     string
	// Value and Effect: empty means any.
	Value  string
	Effect corev1.TaintEffect
	Absent bool
}

func (*Taint) subject() {}

// ObjectKey is the cluster's.
func (t *Taint) ObjectKey() api.Key { return store.ClusterKey(t.Cluster) }

// String returns "cluster member2 has the taint failed:NoExecute".
func (t *Taint) String() string {
	has := " has the taint "
	if t.Absent {
		has = " has no taint "
	}
	return "cluster " + string(t.Cluster) + has + taint.String(&corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
}

func (t *Taint) judge(s *store.Store) (holds bool, seen string) {
	cluster := s.Cluster(t.Cluster)
	if cluster == nil {
		return false, "there is no cluster " + string(t.Cluster)
	}
	found := slices.ContainsFunc(cluster.Spec.Taints, t.matches)
	return found != t.Absent, taintsOf(cluster)
}

func (t *Taint) matches(got corev1.Taint) bool {
	return got.Key == t.Key && (t.Effect == "" || got.Effect == t.Effect) && (t.Value == "" || got.Value == t.Value)
}

func taintsOf(c *api.Cluster) string {
	if len(c.Spec.Taints) == 0 {
		return "it has no taints"
	}
	words := make([]string, len(c.Spec.Taints))
	for i := range c.Spec.Taints {
		words[i] = taint.String(&c.Spec.Taints[i])
	}
	return "its taints are " + strings.Join(words, ", ")
}
