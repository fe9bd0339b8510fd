package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func names(objects []api.Object) (keys []string) {
	for _, o := range objects {
		keys = append(keys, api.KeyOf(o).String())
	}
	return keys
}

func TestObjectsComeInCanonicalOrder(t *testing.T) {
	s := store.New(1)
	for _, o := range []api.Object{
		object(api.AppsGroupVersion, "WorkloadRebalancer", "", "again"),
		object(api.WorkGroupVersion, "ClusterResourceBinding", "", "role"),
		object(api.WorkGroupVersion, "ResourceBinding", "default", "web"),
		object("apps/v1", "StatefulSet", "default", "db"),
		object("apps/v1", "Deployment", "shop", "api"),
		object("apps/v1", "Deployment", "default", "web"),
		object("apps/v1", "Deployment", "default", "api"),
		object("cluster.x-k8s.io/v1beta1", "Cluster", "default", "member1"),
		object(api.PolicyGroupVersion, "FederatedResourceQuota", "default", "team"),
		object(api.PolicyGroupVersion, "ClusterPropagationPolicy", "", "all"),
		object(api.PolicyGroupVersion, "PropagationPolicy", "default", "web"),
		object(api.PolicyGroupVersion, "ClusterTaintPolicy", "", "down"),
		cluster("member2"),
		cluster("member1"),
	} {
		s.Put(o)
	}

	require.Equal(t, []string{
		"Cluster member1",
		"Cluster member2",
		"ClusterTaintPolicy down",
		"PropagationPolicy default/web",
		"ClusterPropagationPolicy all",
		"FederatedResourceQuota default/team",
		"Cluster default/member1",
		"Deployment default/api",
		"Deployment default/web",
		"Deployment shop/api",
		"StatefulSet default/db",
		"ResourceBinding default/web",
		"ClusterResourceBinding role",
		"WorkloadRebalancer again",
	}, names(s.Objects()))
	require.Equal(t, []string{"Cluster member1", "Cluster member2", "Cluster default/member1"}, names(s.List("Cluster")))
	require.Empty(t, s.List("Secret"))
}

func TestPutStoresAndReplaces(t *testing.T) {
	s := store.New(1)
	key := api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	require.Nil(t, s.Get(key))
	require.Zero(t, s.Version(key))

	s.Put(deployment(1))
	first := s.Version(key)
	require.Equal(t, "1", s.Get(key).GetResourceVersion())
	require.EqualValues(t, 1, s.Get(key).GetGeneration(), "a new object starts at 1")

	s.Put(deployment(3))
	require.Greater(t, s.Version(key), first)
	require.EqualValues(t, 3, *s.Get(key).(*appsv1.Deployment).Spec.Replicas)
	require.EqualValues(t, 2, s.Get(key).GetGeneration(), "one without a generation gets the next")

	kept := deployment(5)
	kept.Generation = 7
	s.Put(kept)
	require.EqualValues(t, 7, s.Get(key).GetGeneration(), "a generation given is kept")
	require.Len(t, s.Objects(), 1)
}

func deployment(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   typeMeta("apps/v1", "Deployment"),
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas},
	}
}

func TestPutPanicsOnAnObjectWithoutKind(t *testing.T) {
	nameless := &api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "member1"}}
	require.PanicsWithValue(t, `store: put an object without a kind: "member1", a *api.Cluster`,
		func() { store.New(1).Put(nameless) })
}

func TestDelete(t *testing.T) {
	s := store.New(1)
	s.Put(cluster("member1"))
	s.Put(object("v1", "ConfigMap", "default", "cfg"))
	s.Apply(start, &messages.BindingCreated{Binding: web, Spec: &api.BindingSpec{}})
	s.Apply(start, &messages.BindingCreated{Binding: "role", Spec: &api.BindingSpec{}})
	before := s.Version(store.ClusterKey("member1"))

	for _, o := range s.Objects() {
		s.Delete(api.KeyOf(o))
		require.Nil(t, s.Get(api.KeyOf(o)))
		require.Zero(t, s.Version(api.KeyOf(o)))
	}
	require.Empty(t, s.Objects())
	require.Nil(t, s.Cluster("member1"))
	require.Nil(t, s.Binding(web))
	require.Nil(t, s.Binding("role"))

	s.Delete(store.ClusterKey("member1")) // again: nothing to do
	s.Put(cluster("member1"))
	require.Greater(t, s.Version(store.ClusterKey("member1")), before, "a version never comes twice")
}

func TestBindingsAreKnownByName(t *testing.T) {
	tests := []struct {
		name messages.BindingName
		key  api.Key
	}{
		{"default/web-deployment", api.Key{
			APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "web-deployment",
		}},
		{"role-clusterrole", api.Key{APIVersion: api.WorkGroupVersion, Kind: "ClusterResourceBinding", Name: "role-clusterrole"}},
	}
	for _, test := range tests {
		t.Run(test.key.Kind, func(t *testing.T) {
			s := store.New(1)
			require.Equal(t, test.key, store.BindingKey(test.name))
			s.Apply(start, &messages.BindingCreated{Binding: test.name, Spec: &api.BindingSpec{}})
			require.Equal(t, test.key, api.KeyOf(s.Get(test.key)))
			require.Equal(t, test.name, s.Binding(test.name).Name())
		})
	}
}

func TestABindingMadeByUsersIsReadWhole(t *testing.T) {
	s := store.New(1)
	s.Put(&api.ResourceBinding{
		TypeMeta: typeMeta(api.WorkGroupVersion, "ResourceBinding"),
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-deployment", Generation: 4, Annotations: map[string]string{
			api.AnnotationAppliedPlacement: `{"clusterAffinity":{"clusterNames":["member1"]}}`,
		}},
		Spec: api.BindingSpec{Clusters: targets("member1")},
	})

	b := s.Binding(web)
	require.Equal(t, []string{"member1"}, b.Applied.ClusterAffinity.ClusterNames)
	require.EqualValues(t, 4, b.Meta.Generation)
	require.Equal(t, targets("member1"), b.Spec.Clusters)
	require.Equal(t, `{"clusterAffinity":{"clusterNames":["member1"]}}`,
		s.Get(store.BindingKey(web)).GetAnnotations()[api.AnnotationAppliedPlacement], "as it was written")
}

func TestAnUnreadableAppliedPlacementCountsAsNone(t *testing.T) {
	for _, text := range []string{"", "{", `{"clusterAffinity":3}`, "null"} {
		s := store.New(1)
		s.Put(&api.ClusterResourceBinding{
			TypeMeta:   typeMeta(api.WorkGroupVersion, "ClusterResourceBinding"),
			ObjectMeta: metav1.ObjectMeta{Name: "role", Annotations: map[string]string{api.AnnotationAppliedPlacement: text}},
		})
		require.Nil(t, s.Binding("role").Applied, "%q", text)
	}
}

func TestPlacementsThatReadAlikeAreOne(t *testing.T) {
	s := store.New(1)
	spread := func() *api.Placement {
		return &api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: "cluster", MinGroups: 2}}}
	}
	own := spread()
	require.Same(t, own, s.Placement(own), "nobody else has it")
	policy := &api.PropagationPolicy{TypeMeta: typeMeta(api.PolicyGroupVersion, "PropagationPolicy"), ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	policy.Spec.Placement = *spread()
	s.Put(policy)
	require.Same(t, &policy.Spec.Placement, s.Placement(own))
	require.Nil(t, s.Placement(nil))
}

func TestKeysComeInOrder(t *testing.T) {
	s := store.New(1)
	s.Put(object("apps/v1", "Deployment", "default", "web"))
	s.Put(cluster("member1"))
	s.Put(object("apps/v1", "Deployment", "default", "api"))
	deployments := func(k api.Key) bool { return k.Kind == "Deployment" }
	web, api := api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}, api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "api"}
	require.Equal(t, []string{api.String(), web.String()}, []string{s.Keys(deployments)[0].String(), s.Keys(deployments)[1].String()})
	require.Len(t, s.Keys(deployments), 2)
	require.ElementsMatch(t, s.Keys(deployments), s.KeysOf("Deployment", deployments))
	require.Empty(t, s.KeysOf("Cluster", deployments))
	require.True(t, s.Has(web))
	s.Delete(web)
	require.False(t, s.Has(web))
}

func TestBindingsComeInOrderThoseWithANamespaceFirst(t *testing.T) {
	s := store.New(1)
	for _, name := range []string{"web", "api"} {
		s.Put(&api.ClusterResourceBinding{TypeMeta: typeMeta(api.WorkGroupVersion, "ClusterResourceBinding"), ObjectMeta: metav1.ObjectMeta{Name: name}})
		s.Put(&api.ResourceBinding{TypeMeta: typeMeta(api.WorkGroupVersion, "ResourceBinding"), ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	}
	var order []messages.BindingName
	for _, b := range s.Bindings() {
		order = append(order, b.Name())
	}
	require.Equal(t, []messages.BindingName{"default/api", "default/web", "api", "web"}, order)
}
