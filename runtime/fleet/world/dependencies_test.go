package world_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/interpreter"
	"leeward/runtime/fleet/world"
)

// selecting is a world with a cache whose script selects the ConfigMaps of its namespace that carry its name.
func selecting(t *testing.T) *world.World {
	t.Helper()
	w := small(t, false)
	c := &api.ResourceInterpreterCustomization{
		TypeMeta: metav1.TypeMeta{APIVersion: api.ConfigGroupVersion, Kind: "ResourceInterpreterCustomization"}, ObjectMeta: metav1.ObjectMeta{Name: "caches"},
	}
	c.Spec.Target = api.CustomizationTarget{APIVersion: "example.com/v1", Kind: "Cache"}
	c.Spec.Customizations.DependencyInterpretation = &api.LuaRule{LuaScript: `
function GetDependencies(o)
  local all = {matchLabels = {cache = o.metadata.name}}
  return {
    {apiVersion = "v1", kind = "ConfigMap", namespace = "default", name = "map-0003"}, {apiVersion = "v1", kind = "ConfigMap", namespace = "default", labelSelector = all},
    {apiVersion = "example.com/v1", kind = "Cache", namespace = "default", labelSelector = {}},
  }
end`}
	p := spreadPolicy()
	p.Name, p.Spec.PropagateDeps = "caches", true
	p.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "example.com/v1", Kind: "Cache"}}
	require.NoError(t, w.Apply(c))
	require.NoError(t, w.Apply(p))
	require.NoError(t, w.Apply(cacheObject()))
	return w
}

func cacheObject() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion("example.com/v1")
	o.SetKind("Cache")
	o.SetNamespace("default")
	o.SetName("web")
	return o
}

func selectable(i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("map-%04d", i), Labels: map[string]string{"cache": "web"}},
	}
}

// required counts the ConfigMaps that the cache requires somewhere.
func required(w *world.World) (n int) {
	for _, b := range w.Store().Bindings() {
		if len(b.Spec.RequiredBy) > 0 {
			n++
		}
	}
	return n
}

func isRequired(w *world.World, i int) bool {
	b := w.Store().Binding(messages.BindingName(fmt.Sprintf("default/map-%04d-configmap", i)))
	return b != nil && len(b.Spec.RequiredBy) > 0
}

// A selection may grow beyond what is followed: the first objects by their names are, whichever came first, and one more takes none away
// but that which it comes before.
func TestMoreObjectsThanAreFollowedAreSelected(t *testing.T) {
	const most = interpreter.MostDependencies
	w, now := selecting(t), world.Start
	settle := func() {
		t.Helper()
		now = now.Add(time.Second)
		require.NoError(t, w.Settle(now))
	}
	told := func() (n int) {
		for _, e := range w.Journal().Entries() {
			if f, is := e.Fact.(*messages.InterpretationFailed); is {
				require.Equal(t, "dependencyInterpretation selects more than 1000 objects by labels; the first 1000 by their names are followed", f.Reason)
				n++
			}
		}
		return n
	}
	for i := most; i > 0; i-- {
		require.NoError(t, w.Apply(selectable(i)))
	}
	settle()
	require.Equal(t, most, required(w), "the cache itself is not among them, and what is named, too, counts once")
	require.Zero(t, told())
	require.NoError(t, w.Apply(selectable(most+1)))
	settle()
	require.Equal(t, most, required(w))
	require.False(t, isRequired(w, most+1))
	require.NoError(t, w.Apply(selectable(0)))
	settle()
	require.True(t, isRequired(w, 0))
	require.False(t, isRequired(w, most))
	require.Equal(t, 1, told())

	require.NoError(t, w.Apply(cacheObject()))
	settle()
	require.Equal(t, 1, told(), "it is no news")
	require.NoError(t, w.Set(nil)) // what is remembered of workloads is forgotten
	require.True(t, w.Delete(api.KeyOf(selectable(0))))
	require.True(t, w.Delete(api.KeyOf(selectable(1))))
	settle()
	require.Equal(t, most, required(w))
	require.True(t, isRequired(w, most+1))
	w.Restart()
	settle()
	require.Equal(t, most, required(w))
	require.True(t, w.Delete(api.KeyOf(cacheObject())))
	settle()
	require.Zero(t, required(w))
}
