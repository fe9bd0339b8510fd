package live

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// TestOfWhatUsersWriteMachinesWriteTheStatus and nothing else.
func TestOfWhatUsersWriteMachinesWriteTheStatus(t *testing.T) {
	meta := func(label string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: "a", Labels: map[string]string{"by": label}}
	}
	for name, c := range map[string]struct{ ours, old, want api.Object }{
		"of a ClusterTaintPolicy": {
			&api.ClusterTaintPolicy{ObjectMeta: meta("ours"), Status: api.ClusterTaintPolicyStatus{TaintedClusters: 3}},
			&api.ClusterTaintPolicy{ObjectMeta: meta("theirs")},
			&api.ClusterTaintPolicy{ObjectMeta: meta("theirs"), Status: api.ClusterTaintPolicyStatus{TaintedClusters: 3}},
		},
		"of a FederatedResourceQuota": {
			&api.FederatedResourceQuota{ObjectMeta: meta("ours"), Status: api.FederatedResourceQuotaStatus{Overall: corev1.ResourceList{"cpu": {}}}},
			&api.FederatedResourceQuota{ObjectMeta: meta("theirs")},
			&api.FederatedResourceQuota{ObjectMeta: meta("theirs"), Status: api.FederatedResourceQuotaStatus{Overall: corev1.ResourceList{"cpu": {}}}},
		},
		"of a WorkloadRebalancer": {
			&api.WorkloadRebalancer{ObjectMeta: meta("ours"), Status: api.WorkloadRebalancerStatus{ObservedGeneration: 3}},
			&api.WorkloadRebalancer{ObjectMeta: meta("theirs")},
			&api.WorkloadRebalancer{ObjectMeta: meta("theirs"), Status: api.WorkloadRebalancerStatus{ObservedGeneration: 3}},
		},
		"of a Governor": {
			&api.Governor{ObjectMeta: meta("ours"), Status: api.GovernorStatus{Holds: []api.HoldStatus{{}}}},
			&api.Governor{ObjectMeta: meta("theirs")},
			&api.Governor{ObjectMeta: meta("theirs"), Status: api.GovernorStatus{Holds: []api.HoldStatus{{}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			next, changes := written(c.ours, c.old, false)
			require.True(t, changes)
			require.Equal(t, c.want, next)
			_, changes = written(c.ours, next, false)
			require.False(t, changes, "it is that already")
			_, changes = written(c.ours, next, true)
			require.True(t, changes, "what machines decide is not compared")
			if _, made := c.ours.(*api.Governor); !made {
				_, changes = written(c.ours, nil, false)
				require.False(t, changes, "people make it, and somebody has deleted it")
			}
		})
	}
}

func TestWhatMachinesMakeHasAUID(t *testing.T) {
	for _, made := range []api.Object{&api.Governor{}, &api.ResourceBinding{}} {
		next, changes := written(made, nil, false)
		require.True(t, changes)
		require.NotEmpty(t, next.GetUID())
	}
}

func TestOfAClusterMachinesWriteWhatTheyKnowOfIt(t *testing.T) {
	summary, apis := &api.ResourceSummary{}, []api.APIEnablement{{GroupVersion: "v1"}}
	ours := &api.Cluster{Status: api.ClusterStatus{
		Conditions: []metav1.Condition{{Type: "Ready"}}, RemovedConditions: []api.RemovedCondition{{}}, TaintCauses: []api.TaintCause{{}},
		TaintPreviews: []api.TaintPreview{{}}, ReadyObservation: &api.ReadyObservation{}, Drain: &api.Drain{}, WorkloadsStay: "its rack is moved",
	}}
	want := ours.Status
	want.ResourceSummary, want.APIEnablements = summary, apis
	old := &api.Cluster{Status: api.ClusterStatus{ResourceSummary: summary, APIEnablements: apis, KubernetesVersion: "1.35"}}
	want.KubernetesVersion = "1.35"
	next, changes := written(ours, old, false)
	require.True(t, changes)
	require.Equal(t, want, next.(*api.Cluster).Status)
}

func TestAClusterThatIsGoneIsMadeAgainOnlyToLeave(t *testing.T) {
	_, changes := written(&api.Cluster{}, nil, true)
	require.False(t, changes, "the machine has yet to hear of it")
	next, changes := written(&api.Cluster{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}, nil, false)
	require.True(t, changes)
	require.Equal(t, []string{ClusterFinalizer}, next.GetFinalizers())
}

func TestTheGenerationOfAClusterIsThatOfItsTaints(t *testing.T) {
	old := &api.Cluster{ObjectMeta: metav1.ObjectMeta{Generation: 4, Finalizers: []string{ClusterFinalizer}}}
	ours := api.Copy(old).(*api.Cluster)
	_, changes := written(ours, old, false)
	require.False(t, changes)
	_, changes = written(ours, old, true)
	require.True(t, changes, "what machines decide is not compared")
	ours.Status.WorkloadsStay = "its rack is moved"
	next, changes := written(ours, old, false)
	require.True(t, changes)
	require.EqualValues(t, 4, next.GetGeneration())
	ours.Spec.Taints = []corev1.Taint{failed}
	next, changes = written(ours, old, false)
	require.True(t, changes)
	require.EqualValues(t, 5, next.GetGeneration())
	require.Equal(t, []corev1.Taint{failed}, next.(*api.Cluster).Spec.Taints)
}

// TestABindingIsComparedUnlessFactsChangedIt, for what people wrote of it may be what it is.
func TestABindingIsComparedUnlessFactsChangedIt(t *testing.T) {
	old := &api.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", ResourceVersion: "7", Generation: 4}}
	ours := api.Copy(old)
	ours.SetUID("2")
	ours.SetCreationTimestamp(metav1.Unix(1, 0))
	for _, decided := range []bool{false, true} {
		next, changes := written(ours, old, decided)
		require.Equal(t, decided, changes)
		require.Equal(t, old, next, "its identity stays")
	}
	ours.SetLabels(map[string]string{"by": "ours"})
	_, changes := written(ours, old, false)
	require.True(t, changes)
}
