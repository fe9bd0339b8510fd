package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/nodeinvariant"
)

// nothing is a cluster without nodes, pods and budgets.
type nothing struct{}

func (nothing) Node(messages.NodeName) *corev1.Node                         { return nil }
func (nothing) Pod(messages.PodName) *corev1.Pod                            { return nil }
func (nothing) Budgets() []messages.PodBudgetName                           { return nil }
func (nothing) Budget(messages.PodBudgetName) *policyv1.PodDisruptionBudget { return nil }
func (nothing) Replicas(messages.OwnerName) (replicas int, known bool)      { return 0, false }
func (nothing) Fewer(messages.OwnerName) int                                { return 0 }

func TestABrokenInvariantOfNodesNamesWhatExplainsIt(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for cluster, about := range map[messages.ClusterName]api.Key{
		"":     {APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-1"},
		"eu-1": {APIVersion: "v1", Kind: "Pod", Namespace: "eu-1", Name: "shop/web-1"},
	} {
		m := nodeinvariant.New(&messages.Settings{}, nothing{})
		early := &messages.PodEvicted{Pod: "shop/web-1", Node: "n1", Deadline: start.Add(time.Minute)}
		m.Settled(start.Add(time.Second), []journal.Entry{{At: start.Add(time.Second), Fact: early}})
		r, run := &replay{start: start, end: start.Add(time.Second)}, &Run{Passed: true}
		r.reportNodesOf(run, cluster, m)
		require.False(t, run.Passed)
		require.Equal(t, about, run.Expectations[0].About)
		require.Contains(t, run.Expectations[0].Reason, ": "+string(messages.NamePod(about.Namespace, about.Name))+": the deadline is 59s later")
	}
}
