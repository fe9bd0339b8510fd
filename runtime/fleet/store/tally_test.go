package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

var downPolicy = api.Key{APIVersion: api.PolicyGroupVersion, Kind: "ClusterTaintPolicy", Name: "down"}

// policyOf is a ClusterTaintPolicy that selects clusters of a tier.
func policyOf(tier string) *api.ClusterTaintPolicy {
	return &api.ClusterTaintPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: downPolicy.APIVersion, Kind: downPolicy.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: downPolicy.Name},
		Spec: api.ClusterTaintPolicySpec{TargetClusters: &api.ClusterAffinity{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}},
		}},
		Status: api.ClusterTaintPolicyStatus{MatchedClusters: 99},
	}
}

func TestAPolicyCountsItsClusters(t *testing.T) {
	down, byPolicy := taint("down", "", "NoSchedule", start), api.TaintCause{By: "policy", Policy: "down"}
	preview := func(evicts int32, add, remove []corev1.Taint) *messages.TaintsPreviewed {
		return &messages.TaintsPreviewed{Cluster: "member1", TaintPreview: api.TaintPreview{Policy: "down", Add: add, Remove: remove, WouldEvict: evicts}}
	}
	f := newFleet(t)
	f.Put(policyOf("gold"))
	for _, step := range []struct {
		name string
		fact messages.Fact
		want api.ClusterTaintPolicyStatus
	}{
		{"nothing at first, whatever the manifest said", &messages.Restarted{}, api.ClusterTaintPolicyStatus{}},
		{"a label selects a cluster", &messages.LabelsChanged{Cluster: "member1", Labels: map[string]string{"tier": "gold"}},
			api.ClusterTaintPolicyStatus{MatchedClusters: 1}},
		{"a person's taint is none of the policy's", &messages.TaintAdded{Cluster: "member1", Taint: down, Cause: api.TaintCause{By: "user"}},
			api.ClusterTaintPolicyStatus{MatchedClusters: 1}},
		{"until the policy stands for it", &messages.TaintAdopted{Cluster: "member1", Taint: down, Cause: byPolicy},
			api.ClusterTaintPolicyStatus{MatchedClusters: 1, TaintedClusters: 1}},
		{"a preview", preview(3, []corev1.Taint{down}, nil),
			api.ClusterTaintPolicyStatus{MatchedClusters: 1, TaintedClusters: 1, WouldTaint: 1, WouldEvict: 3}},
		{"another in its place", preview(1, nil, []corev1.Taint{down}),
			api.ClusterTaintPolicyStatus{MatchedClusters: 1, TaintedClusters: 1, WouldUntaint: 1, WouldEvict: 1}},
		{"an empty one ends it", preview(0, nil, nil), api.ClusterTaintPolicyStatus{MatchedClusters: 1, TaintedClusters: 1}},
		{"a taint that is left behind counts", &messages.LabelsChanged{Cluster: "member1"}, api.ClusterTaintPolicyStatus{TaintedClusters: 1}},
		{"a cluster that is gone does not", &messages.ClusterRemoved{Cluster: "member1"}, api.ClusterTaintPolicyStatus{}},
	} {
		f.apply(step.fact)
		require.Equal(t, step.want, f.Get(downPolicy).(*api.ClusterTaintPolicy).Status, step.name)
	}
}

func TestAPolicyCountsAgainWhenItIsApplied(t *testing.T) {
	f := newFleet(t)
	gold := cluster("gold")
	gold.Labels = map[string]string{"tier": "gold"}
	f.Put(gold)
	matched := func() int32 { return f.Get(downPolicy).(*api.ClusterTaintPolicy).Status.MatchedClusters }
	f.Put(policyOf("gold"))
	require.EqualValues(t, 1, matched())
	f.Put(policyOf("silver"))
	require.EqualValues(t, 0, matched())
	before := f.Version(downPolicy)
	f.apply(ready("True", "Up"))
	require.Equal(t, before, f.Version(downPolicy), "a condition counts for nothing")
	f.Delete(downPolicy)
	f.apply(&messages.LabelsChanged{Cluster: "gold", Labels: map[string]string{"tier": "silver"}})
	f.Put(policyOf("silver"))
	require.EqualValues(t, 1, matched())
}
