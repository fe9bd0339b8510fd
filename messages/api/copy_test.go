package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

func TestAShallowCopyOfAnUntypedObjectHasItsOwnFieldsAndMetadata(t *testing.T) {
	original := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Topic", "metadata": map[string]any{"name": "a", "labels": map[string]any{"app": "web"}},
			"status": map[string]any{"phase": "Ready"},
		}}
	}
	from := original()
	c := api.Shallow(from).(*unstructured.Unstructured)
	require.Equal(t, from, c)
	c.SetResourceVersion("5")
	c.SetLabels(map[string]string{"app": "other"})
	delete(c.Object, "status")
	require.Equal(t, original(), from)
	require.NotPanics(t, func() { api.Shallow(&unstructured.Unstructured{}).SetName("a") })
}

func TestACopyIsEqualAndSharesNothing(t *testing.T) {
	exact := metav1.Time{Time: time.Unix(1, 500)}
	original := func() *api.Cluster {
		return &api.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: "m1", Labels: map[string]string{"tier": "gold"}},
			Spec:       api.ClusterSpec{Zones: []string{"a"}, Taints: []corev1.Taint{{Key: "k", TimeAdded: &exact}}},
			Status: api.ClusterStatus{ResourceSummary: &api.ResourceSummary{
				Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
			}},
		}
	}
	from := original()
	c := api.Copy(from).(*api.Cluster)
	require.Equal(t, from, c)

	c.Labels["tier"], c.Spec.Zones[0], c.Spec.Taints[0].Key = "tin", "b", "other"
	c.Spec.Taints[0].TimeAdded.Time = time.Unix(2, 0)
	cpu := c.Status.ResourceSummary.Allocatable[corev1.ResourceCPU]
	cpu.Add(resource.MustParse("1"))
	c.Status.ResourceSummary.Allocatable[corev1.ResourceCPU] = cpu
	exact = metav1.Time{Time: time.Unix(1, 500)}
	require.Equal(t, original(), from)
}

func TestACopyOfAKubernetesObjectIsItsOwnDeepCopy(t *testing.T) {
	replicas := int32(2)
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
	c := api.Copy(d).(*appsv1.Deployment)
	*c.Spec.Replicas = 3
	require.Equal(t, int32(2), *d.Spec.Replicas)
}

func TestACopyOfAListSharesNoItems(t *testing.T) {
	l := &api.List[api.Cluster]{Items: []api.Cluster{{Spec: api.ClusterSpec{Zones: []string{"a"}}}}}
	c := l.DeepCopyObject().(*api.List[api.Cluster])
	require.Equal(t, l, c)
	c.Items[0].Spec.Zones[0] = "b"
	require.Equal(t, "a", l.Items[0].Spec.Zones[0])
	require.Equal(t, "leeward.messages.api.ClusterList", l.OpenAPIModelName())
}

func TestACopyOfAWorkHasItsOwnManifests(t *testing.T) {
	w := &api.Work{Spec: api.WorkSpec{Workload: api.WorkloadTemplate{Manifests: []api.Manifest{{
		RawExtension: runtime.RawExtension{Raw: []byte(`{"kind":"Deployment"}`)},
	}}}}}
	c := api.Copy(w).(*api.Work)
	require.Equal(t, w, c)
	c.Spec.Workload.Manifests[0].Raw[0] = '['
	require.JSONEq(t, `{"kind":"Deployment"}`, string(w.Spec.Workload.Manifests[0].Raw))
}

func TestAShallowCopyHasFieldsOfItsOwn(t *testing.T) {
	c := &api.Cluster{Spec: api.ClusterSpec{Zones: []string{"a"}}}
	s := api.Shallow(c).(*api.Cluster)
	s.Spec.Region = "eu"
	require.Empty(t, c.Spec.Region)
	require.Same(t, &c.Spec.Zones[0], &s.Spec.Zones[0])
}

func TestNilStaysNilInACopy(t *testing.T) {
	c := api.Copy(&api.ClusterTaintPolicy{}).(*api.ClusterTaintPolicy)
	require.Nil(t, c.Spec.TargetClusters)
	require.Nil(t, c.Spec.Taints)
	require.Nil(t, c.Labels)
}

func TestAKeyReadsAsKubectlSaysIt(t *testing.T) {
	require.Equal(t, "Deployment default/web", api.Key{Kind: "Deployment", Namespace: "default", Name: "web"}.String())
	require.Equal(t, "Cluster m1", api.Key{Kind: "Cluster", Name: "m1"}.String())
}
