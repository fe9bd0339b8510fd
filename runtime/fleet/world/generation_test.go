package world_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
	"leeward/runtime/fleet/world"
)

func TestOnlyAChangeOfTheSpecRaisesTheGeneration(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*appsv1.Deployment)
		want   int64
	}{
		"the same manifest":            {func(*appsv1.Deployment) {}, 1},
		"other labels of the object":   {func(d *appsv1.Deployment) { d.Labels = map[string]string{"team": "a"} }, 1},
		"a status, as dumps have it":   {func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 3 }, 1},
		"other replicas":               {func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) }, 2},
		"another image of its pods":    {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "web:2" }, 2},
		"a generation of the manifest": {func(d *appsv1.Deployment) { d.Generation = 7 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := small(t, true)
			d := deployment(0)
			c.change(d)
			require.NoError(t, w.Apply(d))
			require.NoError(t, w.Settle(world.Start))
			require.Equal(t, c.want, w.Store().Get(appKey).GetGeneration())
		})
	}
}

// Of what has no spec, all counts but its metadata.
func TestOnlyAChangeOfTheDataRaisesTheGeneration(t *testing.T) {
	w := small(t, false)
	settings := func(value, team string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "default", Labels: map[string]string{"team": team}},
			Data:       map[string]string{"a": value},
		}
	}
	for i, c := range []struct {
		value, team string
		want        int64
	}{{"1", "a", 1}, {"1", "b", 1}, {"2", "b", 2}, {"2", "b", 2}} {
		require.NoError(t, w.Apply(settings(c.value, c.team)))
		require.Equal(t, c.want, w.Store().Get(api.KeyOf(settings("", ""))).GetGeneration(), "apply %d", i)
	}
}

func TestAnApplyWithoutAChangeAsksForNothing(t *testing.T) {
	w := small(t, true)
	before := *w.Store().Binding("default/app00000-deployment")
	generation := before.Meta.Generation
	require.Equal(t, generation, before.Status.SchedulerObservedGeneration)
	require.NoError(t, w.Apply(deployment(0)))
	require.NoError(t, w.Apply(spreadPolicy()))
	require.NoError(t, w.Scale(appKey, *deployment(0).Spec.Replicas))
	require.NoError(t, w.Settle(world.Start))
	after := w.Store().Binding("default/app00000-deployment")
	require.Equal(t, []int64{generation, generation}, []int64{after.Meta.Generation, after.Status.SchedulerObservedGeneration})
	require.EqualValues(t, 1, w.Store().Get(appKey).GetGeneration())
	require.EqualValues(t, 1, w.Store().Get(api.KeyOf(spreadPolicy())).GetGeneration())
}

func TestTheGenerationOfAnyKindFollowsItsFields(t *testing.T) {
	w := small(t, false)
	resource := func(size int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Bucket", "metadata": map[string]any{"name": "b", "namespace": "default"},
			"spec": map[string]any{"size": size}, "status": map[string]any{"used": size},
		}}
	}
	for i, size := range []int64{1, 1, 2, 2} {
		require.NoError(t, w.Apply(resource(size)))
		require.Equal(t, size, w.Store().Get(api.KeyOf(resource(1))).GetGeneration(), "apply %d", i)
	}
}
