package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// The objects that Karmada's own guides show users, as they would write them to a file.
const karmadaGuides = `
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata:
  name: foo
spec:
  targetClusters:
    clusterNames:
    - member1
    - member2
  addOnConditions:
  - conditionType: KubeComponentsHealthy
    operator: NotIn
    statusValues:
    - "True"
  removeOnConditions:
  - conditionType: KubeComponentsHealthy
    operator: In
    statusValues:
    - "True"
  taints:
  - key: kube-components-unhealthy
    effect: NoSchedule
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata:
  name: bar
spec:
  addOnConditions:
  - conditionType: Ready
    operator: NotIn
    statusValues:
    - "True"
  - conditionType: NetworkAvailable
    operator: NotIn
    statusValues:
    - "True"
  taints:
  - key: not-ready
    effect: NoSchedule
  - key: not-ready
    effect: NoExecute
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: nginx-propagation
  namespace: default
spec:
  placement:
    clusterTolerations:
    - effect: NoExecute
      key: cluster.karmada.io/not-ready
      operator: Exists
      tolerationSeconds: 300
    - effect: NoExecute
      key: cluster.karmada.io/unreachable
      operator: Exists
      tolerationSeconds: 300
  resourceSelectors:
  - apiVersion: apps/v1
    kind: Deployment
    name: nginx
    namespace: default
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: nginx
  labels:
    app: nginx
spec:
  replicas: 2
  selector:
    matchLabels:
      app: nginx
  template:
    metadata:
      labels:
        app: nginx
    spec:
      containers:
      - image: nginx
        name: nginx
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: duplicated
spec:
  resourceSelectors:
  - apiVersion: apps/v1
    kind: Deployment
    name: nginx
  placement:
    clusterAffinity:
      clusterNames:
      - member1
      - member2
      - member3
      - member5
    spreadConstraints:
    - maxGroups: 2
      minGroups: 2
    replicaScheduling:
      replicaSchedulingType: Duplicated
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: divided
spec:
  resourceSelectors:
  - apiVersion: apps/v1
    kind: Deployment
    name: nginx
  placement:
    clusterAffinity:
      clusterNames:
      - member1
      - member2
    replicaScheduling:
      replicaDivisionPreference: Weighted
      replicaSchedulingType: Divided
      weightPreference:
        staticWeightList:
        - targetCluster:
            clusterNames:
            - member1
          weight: 1
        - targetCluster:
            clusterNames:
            - member2
          weight: 2
`

func TestTheObjectsOfKarmadasGuides(t *testing.T) {
	documents, problems := Decode("guides.yaml", []byte(karmadaGuides))
	require.Empty(t, problems)
	require.Len(t, documents, 6)

	foo := documents[0].Object.(*api.ClusterTaintPolicy)
	require.Equal(t, api.ClusterTaintPolicySpec{
		TargetClusters: &api.ClusterAffinity{ClusterNames: []string{"member1", "member2"}},
		AddOnConditions: []api.MatchCondition{{
			ConditionType: "KubeComponentsHealthy", Operator: api.MatchNotIn, StatusValues: []metav1.ConditionStatus{"True"}}},
		RemoveOnConditions: []api.MatchCondition{{
			ConditionType: "KubeComponentsHealthy", Operator: api.MatchIn, StatusValues: []metav1.ConditionStatus{"True"}}},
		Taints: []api.PolicyTaint{{Key: "kube-components-unhealthy", Effect: corev1.TaintEffectNoSchedule}},
	}, foo.Spec)

	nginx := documents[2].Object.(*api.PropagationPolicy)
	require.Equal(t, "cluster.karmada.io/unreachable", nginx.Spec.Placement.ClusterTolerations[1].Key)
	require.Equal(t, int64(300), *nginx.Spec.Placement.ClusterTolerations[1].TolerationSeconds)

	duplicated := documents[4].Object.(*api.PropagationPolicy)
	require.Equal(t, []api.SpreadConstraint{{MinGroups: 2, MaxGroups: 2}}, duplicated.Spec.Placement.SpreadConstraints)

	weights := documents[5].Object.(*api.PropagationPolicy).Spec.Placement.ReplicaScheduling.WeightPreference.StaticWeightList
	require.Equal(t, int64(2), weights[1].Weight)
	require.Equal(t, []string{"member2"}, weights[1].TargetCluster.ClusterNames)
}
