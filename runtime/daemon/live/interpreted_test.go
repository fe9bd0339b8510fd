package live

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// scripted reads and writes caches, whose nodes are their replicas.
func scripted() *api.ResourceInterpreterCustomization {
	c := named(&api.ResourceInterpreterCustomization{}, api.ConfigGroupVersion, "ResourceInterpreterCustomization", "", "caches")
	c.Spec.Target = api.CustomizationTarget{APIVersion: "example.com/v1", Kind: "Cache"}
	c.Spec.Customizations = api.CustomizationRules{
		ReplicaResource: &api.LuaRule{LuaScript: "function GetReplicas(o) return o.spec.nodes, nil end"},
		ReplicaRevision: &api.LuaRule{LuaScript: "function ReviseReplica(o, n) o.spec.nodes = n return o end"},
		StatusAggregation: &api.LuaRule{LuaScript: `
function AggregateStatus(o, items)
  local ready = 0
  for i = 1, #items do ready = ready + items[i].status.ready end
  o.status = {ready = ready}
  return o
end`},
	}
	return c
}

func cacheOf(nodes int64) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"nodes": nodes}}}
	return named(o, "example.com/v1", "Cache", "default", "web")
}

// nodes are those of the copies of the cache, by cluster.
func (f *fixture) nodes() map[string]int64 {
	asked := map[string]int64{}
	for _, w := range all[*api.Work](f, catalog.Works) {
		var o struct{ Spec struct{ Nodes int64 } }
		require.NoError(f.t, json.Unmarshal(w.Spec.Workload.Manifests[0].Raw, &o))
		asked[strings.TrimPrefix(w.Namespace, api.WorkNamespacePrefix)] = o.Spec.Nodes
	}
	return asked
}

// The scripts of a customization say what copies ask for and what they add up to, also after a start; one that fails is told of, and an edit
// of a script holds for what there is.
func TestACustomKindIsDividedByItsScripts(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "example.com/v1", Kind: "Cache"}}
	p.Spec.Placement = api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted}}
	objects := []api.Object{scripted(), p, cacheOf(6)}
	for _, name := range []string{"m1", "m2"} {
		m := member(name)
		m.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "example.com/v1", Resources: []api.APIResource{{Kind: "Cache"}}}}
		objects = append(objects, m)
	}
	f.apply(objects...)
	require.Equal(t, map[string]int64{"m1": 3, "m2": 3}, f.nodes())
	for _, w := range all[*api.Work](f, catalog.Works) {
		edit(f, w, func(w *api.Work) {
			w.Status.ManifestStatuses = []api.ManifestStatus{{Health: api.Healthy, Status: &runtime.RawExtension{Raw: []byte(`{"ready":3}`)}}}
		})
	}
	require.NoError(t, f.step())
	require.Equal(t, map[string]any{"ready": int64(6)}, get(f, cacheOf(0)).Object["status"])
	f.clock.Add(time.Second) // Events are numbered by the time of the start
	f.restart()
	require.Equal(t, map[string]int64{"m1": 3, "m2": 3}, f.nodes())

	edit(f, scripted(), func(c *api.ResourceInterpreterCustomization) {
		c.Spec.Customizations.ReplicaResource.LuaScript = "function GetReplicas(o) return o.spec.nodes * 2, nil end"
	})
	require.NoError(t, f.step())
	require.Equal(t, map[string]int64{"m1": 6, "m2": 6}, f.nodes())

	edit(f, scripted(), func(c *api.ResourceInterpreterCustomization) {
		c.Spec.Customizations.ReplicaRevision.LuaScript = "function ReviseReplica(o, n) while true do end end"
	})
	require.NoError(t, f.step())
	require.Equal(t, map[string]int64{"m1": 6, "m2": 6}, f.nodes(), "that of the template")
	b := named(&api.ResourceBinding{}, api.WorkGroupVersion, "ResourceBinding", "default", "web-cache")
	require.Contains(t, strings.Join(f.events(b), "\n"), "too many steps; the rules of its kind are used")
	f.remove(scripted())
	require.NoError(t, f.step())
	require.Equal(t, map[string]int64{"m1": 6, "m2": 6}, f.nodes(), "whole on each")
}

// A copy of several components is the template as it is, whatever other scripts make of its replicas.
func TestAWorkloadOfSeveralComponentsGoesWhole(t *testing.T) {
	f := newFixture(t)
	c := scripted()
	componentsOf := func(list string) *api.LuaRule {
		return &api.LuaRule{LuaScript: "function GetComponents(o) return " + list + " end"}
	}
	c.Spec.Customizations.ComponentResource = componentsOf(`{{name = "manager", replicas = 1}, {name = "worker", replicas = o.spec.nodes}}`)
	p := policy()
	p.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "example.com/v1", Kind: "Cache"}}
	p.Spec.Placement = api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted}}
	objects := []api.Object{c, p, cacheOf(6)}
	for _, name := range []string{"m1", "m2"} {
		m := member(name)
		m.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "example.com/v1", Resources: []api.APIResource{{Kind: "Cache"}}}}
		objects = append(objects, m)
	}
	f.apply(objects...)
	whole := map[string]int64{"m1": 6, "m2": 6}
	require.Equal(t, whole, f.nodes())
	b := get(f, named(&api.ResourceBinding{}, api.WorkGroupVersion, "ResourceBinding", "default", "web-cache"))
	require.Equal(t, []api.Component{{Name: "manager", Replicas: 1}, {Name: "worker", Replicas: 6}}, b.Spec.Components)
	require.EqualValues(t, 7, b.Spec.Clusters[0].Pods())
	f.restart()
	require.Equal(t, whole, f.nodes())

	edit(f, c, func(c *api.ResourceInterpreterCustomization) {
		c.Spec.Customizations.ComponentResource = componentsOf(`{{name = "worker", replicas = o.spec.nodes + 1}}`)
	})
	require.NoError(t, f.step())
	require.Equal(t, map[string]int64{"m1": 3, "m2": 3}, f.nodes(), "one component is replicas, which a script counts")
	edit(f, c, func(c *api.ResourceInterpreterCustomization) { c.Spec.Customizations.ReplicaResource = nil })
	require.NoError(t, f.step())
	require.Equal(t, whole, f.nodes(), "the template has no replicas, and is as it is")
}

// selecting are the scripts of caches by which one depends on the ConfigMaps that carry its name.
func selecting() *api.ResourceInterpreterCustomization {
	c := scripted()
	c.Spec.Customizations = api.CustomizationRules{DependencyInterpretation: &api.LuaRule{LuaScript: `
function GetDependencies(o)
  return {{apiVersion = "v1", kind = "ConfigMap", namespace = o.metadata.namespace, labelSelector = {matchLabels = {cache = o.metadata.name}}}}
end`}}
	return c
}

// labelled is a ConfigMap that the cache depends on, or, without the label, one that it does not.
func labelled(name string, labels map[string]string) *corev1.ConfigMap {
	c := named(&corev1.ConfigMap{}, "v1", "ConfigMap", "default", name)
	c.Labels = labels
	return c
}

// copies are the names of the objects that Works apply, but for those that are being deleted.
func (f *fixture) copies() (names []string) {
	for _, w := range all[*api.Work](f, catalog.Works) {
		var o struct{ Metadata struct{ Name string } }
		require.NoError(f.t, json.Unmarshal(w.Spec.Workload.Manifests[0].Raw, &o))
		if w.DeletionTimestamp == nil {
			names = append(names, o.Metadata.Name)
		}
	}
	slices.Sort(names)
	return names
}

// What a script selects by labels goes where the workload goes, as the labels are, also if they changed while no daemon ran.
func TestADependencyIsSelectedByItsLabels(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.ResourceSelectors, p.Spec.PropagateDeps = []api.ResourceSelector{{APIVersion: "example.com/v1", Kind: "Cache"}}, true
	m := member("m1")
	m.Status.APIEnablements = append(m.Status.APIEnablements, api.APIEnablement{GroupVersion: "example.com/v1", Resources: []api.APIResource{{Kind: "Cache"}}})
	of := map[string]string{"cache": "web"}
	f.apply(m, selecting(), p, labelled("a", of), labelled("b", nil), cacheOf(1))
	require.Equal(t, []string{"a", "web"}, f.copies())
	edit(f, labelled("b", nil), func(c *corev1.ConfigMap) { c.Labels = of })
	require.NoError(t, f.step())
	require.Equal(t, []string{"a", "b", "web"}, f.copies())
	f.restart()
	require.Equal(t, []string{"a", "b", "web"}, f.copies())
	f.Close()
	edit(f, labelled("b", nil), func(c *corev1.ConfigMap) { c.Labels = nil })
	f.write(labelled("c", of))
	f.open()
	require.Equal(t, []string{"a", "c", "web"}, f.copies())
	f.remove(labelled("a", nil))
	require.Equal(t, []string{"c", "web"}, f.copies())
	for _, name := range []string{"v", "w", "x", "y", "z"} {
		another := cacheOf(1)
		another.SetName(name)
		f.apply(another, labelled("of-"+name, map[string]string{"cache": name}))
	}
	require.Len(t, f.copies(), 12)
	f.Close()
	for _, name := range []string{"v", "w", "x", "y", "z", "web"} {
		gone := cacheOf(1)
		gone.SetName(name)
		table, key := f.table(gone)
		_, version := table.Get(key)
		require.NoError(t, f.engine.Commit(engine.Delete(key, version)))
	}
	f.open()
	require.Empty(t, f.copies())
}

// An object of a cluster-scoped custom kind is in no namespace, as the server stored it.
func TestACustomKindMayHaveNoNamespace(t *testing.T) {
	f := newFixture(t)
	p := named(&api.ClusterPropagationPolicy{}, api.PolicyGroupVersion, "ClusterPropagationPolicy", "", "zones")
	p.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "example.com/v1", Kind: "Zone"}}
	m := member("m1")
	m.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "example.com/v1", Resources: []api.APIResource{{Kind: "Zone"}}}}
	zone := named(&unstructured.Unstructured{Object: map[string]any{}}, "example.com/v1", "Zone", "", "a")
	zone.SetUID("a server gave it")
	f.apply(m, p, zone)
	check := func() {
		t.Helper()
		works := all[*api.Work](f, catalog.Works)
		require.Len(t, works, 1)
		require.JSONEq(t, `{"apiVersion":"example.com/v1","kind":"Zone","metadata":{"name":"a"}}`, string(works[0].Spec.Workload.Manifests[0].Raw))
		require.Len(t, all[*api.ClusterResourceBinding](f, catalog.ClusterBindings), 1)
	}
	check()
	f.restart()
	check()
	f.remove(zone)
	require.NotNil(t, all[*api.Work](f, catalog.Works)[0].DeletionTimestamp)
}
