package kubeapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
)

// scalesByAll goes by a metric of each type.
const scalesByAll = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default, annotations: {team: a}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 9
  metrics:
  - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: main, target: {type: Utilization, averageUtilization: 70}}}
  - {type: Pods, pods: {metric: {name: requests, selector: {matchLabels: {a: b}}}, target: {type: AverageValue, averageValue: 1k}}}
  - {type: Object, object: {describedObject: {apiVersion: networking.k8s.io/v1, kind: Ingress, name: web}, metric: {name: hits}, target: {type: Value, value: "5"}}}
  - {type: External, external: {metric: {name: queue, selector: {matchLabels: {q: orders}}}, target: {type: AverageValue, averageValue: "30"}}}
  - {type: External, external: {metric: {name: queue}, target: {type: Value, value: "30"}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 60, selectPolicy: Min, policies: [{type: Pods, value: 1, periodSeconds: 30}]}}
`

// An autoscaler is one object in both versions: what autoscaling/v1 has no field for goes through an edit there unchanged.
func TestAutoscalersAreServedInBothVersions(t *testing.T) {
	d := serve(t)
	client, err := kubernetes.NewForConfig(d.as(kubeapi.Admin()))
	require.NoError(t, err)
	newer, older := client.AutoscalingV2().HorizontalPodAutoscalers("default"), client.AutoscalingV1().HorizontalPodAutoscalers("default")

	t.Run("one of autoscaling/v2 is edited in autoscaling/v1", func(t *testing.T) {
		a := &autoscalingv2.HorizontalPodAutoscaler{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(scalesByAll), a))
		made, err := newer.Create(t.Context(), a, metav1.CreateOptions{})
		require.NoError(t, err)
		table := d.engine.Table(schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"})
		key := engine.Key(schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}, "default", "web")
		stored, version := table.Get(key)
		stored = stored.DeepCopyObject().(engine.Object)
		utilization := int32(40)
		status := autoscalingv2.HorizontalPodAutoscalerStatus{
			CurrentReplicas: 3, DesiredReplicas: 4, Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: "True"}},
			CurrentMetrics: []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricStatus{
				Name: "cpu", Current: autoscalingv2.MetricValueStatus{AverageUtilization: &utilization},
			}}},
		}
		stored.(*autoscalingv2.HorizontalPodAutoscaler).Status = status
		require.NoError(t, d.engine.Commit(engine.Update(key, stored, version)))

		old, err := older.Get(t.Context(), "web", metav1.GetOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 80, *old.Spec.TargetCPUUtilizationPercentage)
		require.EqualValues(t, 40, *old.Status.CurrentCPUUtilizationPercentage)
		require.EqualValues(t, 4, old.Status.DesiredReplicas)
		var others []autoscalingv1.MetricSpec
		require.NoError(t, json.Unmarshal([]byte(old.Annotations["autoscaling.alpha.kubernetes.io/metrics"]), &others))
		require.Len(t, others, 6)
		require.Equal(t, "requests", others[2].Pods.MetricName)
		require.Contains(t, old.Annotations, "autoscaling.alpha.kubernetes.io/behavior")
		require.Contains(t, old.Annotations["autoscaling.alpha.kubernetes.io/conditions"], "ScalingActive")
		old.Spec.MaxReplicas = 12
		_, err = older.Update(t.Context(), old, metav1.UpdateOptions{})
		require.NoError(t, err)

		now, err := newer.Get(t.Context(), "web", metav1.GetOptions{})
		require.NoError(t, err)
		made.Spec.MaxReplicas = 12
		require.Equal(t, made.Spec, now.Spec)
		require.Equal(t, status, now.Status, "a write of the object leaves it")
		require.Equal(t, map[string]string{"team": "a"}, now.Annotations)
		require.Equal(t, made.UID, now.UID)
	})
	t.Run("one of autoscaling/v1 is kept as one of autoscaling/v2", func(t *testing.T) {
		cpu := int32(60)
		a := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{Kind: "Deployment", Name: "web"}, MaxReplicas: 3, TargetCPUUtilizationPercentage: &cpu,
		}}
		_, err := older.Create(t.Context(), a, metav1.CreateOptions{})
		require.NoError(t, err)
		now, err := newer.Get(t.Context(), "old", metav1.GetOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 60, *now.Spec.Metrics[0].Resource.Target.AverageUtilization)
		require.EqualValues(t, 1, *now.Spec.MinReplicas)
		list, err := older.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, 2)
		require.EqualValues(t, 60, *list.Items[0].Spec.TargetCPUUtilizationPercentage)

		text := []byte(`{"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "old"}, "spec": {"maxReplicas": 5}}`)
		force := true
		_, err = older.Patch(t.Context(), "old", types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: "team", Force: &force})
		require.NoError(t, err)
		watched, err := older.Watch(t.Context(), metav1.ListOptions{ResourceVersion: now.ResourceVersion})
		require.NoError(t, err)
		defer watched.Stop()
		require.EqualValues(t, 5, (<-watched.ResultChan()).Object.(*autoscalingv1.HorizontalPodAutoscaler).Spec.MaxReplicas)
	})
	t.Run("what makes no sense is refused in both", func(t *testing.T) {
		a := object("autoscaling/v1", "HorizontalPodAutoscaler", "default", "bad", map[string]any{
			"scaleTargetRef": map[string]any{"kind": "Deployment", "name": "web"}, "minReplicas": int64(3), "maxReplicas": int64(2),
		})
		at := d.client(kubeapi.Admin()).Resource(autoscalingv1.SchemeGroupVersion.WithResource("horizontalpodautoscalers")).Namespace("default")
		create := func(a *unstructured.Unstructured) error {
			_, err := at.Create(t.Context(), a, metav1.CreateOptions{})
			return err
		}
		require.ErrorContains(t, create(a), "maxReplicas")
		require.NoError(t, unstructured.SetNestedField(a.Object, int64(4), "spec", "maxReplicas"))
		a.SetAnnotations(map[string]string{"autoscaling.alpha.kubernetes.io/metrics": "{"})
		require.ErrorContains(t, create(a), "metadata.annotations[autoscaling.alpha.kubernetes.io/metrics]: unexpected end of JSON input")
		a.SetAnnotations(map[string]string{"autoscaling.alpha.kubernetes.io/metrics": `[{"type": "Pods"}]`})
		require.ErrorContains(t, create(a), "spec.metrics[0]")
	})
	t.Run("clients prefer autoscaling/v2", func(t *testing.T) {
		groups, err := client.Discovery().ServerGroups()
		require.NoError(t, err)
		for _, g := range groups.Groups {
			if g.Name == "autoscaling" {
				require.Equal(t, "v2", g.PreferredVersion.Version)
				require.Len(t, g.Versions, 2)
			}
		}
		require.Contains(t, d.answer("/openapi/v3/apis/autoscaling/v1", "application/json"), "targetCPUUtilizationPercentage")
	})
}
