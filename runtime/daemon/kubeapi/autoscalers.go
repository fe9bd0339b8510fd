package kubeapi

import (
	"encoding/json"
	"fmt"
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// What autoscaling/v1 has no field for, it has in annotations: metrics in types of its own, the rest as autoscaling/v2 has it.
// Source: kubernetes, pkg/apis/autoscaling.
const (
	metricsAnnotation    = "autoscaling.alpha.kubernetes.io/metrics"
	behaviorAnnotation   = "autoscaling.alpha.kubernetes.io/behavior"
	conditionsAnnotation = "autoscaling.alpha.kubernetes.io/conditions"
)

// addAutoscalers lets HorizontalPodAutoscalers be read and written in both of their versions. They are kept as those of autoscaling/v2.
func addAutoscalers(s *runtime.Scheme) error {
	s.AddKnownTypes(autoscalingv1.SchemeGroupVersion, &autoscalingv1.HorizontalPodAutoscaler{}, &autoscalingv1.HorizontalPodAutoscalerList{})
	metav1.AddToGroupVersion(s, autoscalingv1.SchemeGroupVersion)
	for _, c := range []struct {
		from, to any
		convert  conversion.ConversionFunc
	}{
		{&autoscalingv1.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscaler{}, func(from, to any, _ conversion.Scope) error {
			return toAutoscaler(from.(*autoscalingv1.HorizontalPodAutoscaler), to.(*autoscalingv2.HorizontalPodAutoscaler))
		}},
		{&autoscalingv2.HorizontalPodAutoscaler{}, &autoscalingv1.HorizontalPodAutoscaler{}, func(from, to any, _ conversion.Scope) error {
			return fromAutoscaler(from.(*autoscalingv2.HorizontalPodAutoscaler), to.(*autoscalingv1.HorizontalPodAutoscaler))
		}},
		{&autoscalingv2.HorizontalPodAutoscalerList{}, &autoscalingv1.HorizontalPodAutoscalerList{}, func(from, to any, _ conversion.Scope) error {
			list, older := from.(*autoscalingv2.HorizontalPodAutoscalerList), to.(*autoscalingv1.HorizontalPodAutoscalerList)
			older.ListMeta, older.Items = list.ListMeta, make([]autoscalingv1.HorizontalPodAutoscaler, len(list.Items))
			for i := range list.Items {
				if err := fromAutoscaler(&list.Items[i], &older.Items[i]); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		if err := s.AddConversionFunc(c.from, c.to, c.convert); err != nil {
			return err
		}
	}
	return nil
}

// toAutoscaler writes an autoscaler as autoscaling/v2 has it. The error names an annotation that cannot be read.
func toAutoscaler(a *autoscalingv1.HorizontalPodAutoscaler, to *autoscalingv2.HorizontalPodAutoscaler) error {
	var others []autoscalingv1.MetricSpec
	to.ObjectMeta, to.Annotations = a.ObjectMeta, maps.Clone(a.Annotations)
	for name, into := range map[string]any{ // order-free: each has its own place
		metricsAnnotation: &others, behaviorAnnotation: &to.Spec.Behavior, conditionsAnnotation: &to.Status.Conditions,
	} {
		text, is := to.Annotations[name]
		if !is {
			continue
		}
		if err := json.Unmarshal([]byte(text), into); err != nil {
			return fmt.Errorf("metadata.annotations[%s]: %w", name, err)
		}
		delete(to.Annotations, name)
	}
	to.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference(a.Spec.ScaleTargetRef)
	to.Spec.MinReplicas, to.Spec.MaxReplicas = a.Spec.MinReplicas, a.Spec.MaxReplicas
	for i := range others {
		to.Spec.Metrics = append(to.Spec.Metrics, toMetric(&others[i]))
	}
	if cpu := a.Spec.TargetCPUUtilizationPercentage; cpu != nil {
		to.Spec.Metrics = append(to.Spec.Metrics, autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: targetOf(nil, nil, cpu),
		}})
	}
	to.Status.ObservedGeneration, to.Status.LastScaleTime = a.Status.ObservedGeneration, a.Status.LastScaleTime
	to.Status.CurrentReplicas, to.Status.DesiredReplicas = a.Status.CurrentReplicas, a.Status.DesiredReplicas
	if cpu := a.Status.CurrentCPUUtilizationPercentage; cpu != nil {
		to.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricStatus{
			Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: cpu},
		}}}
	}
	return nil
}

// fromAutoscaler writes an autoscaler as autoscaling/v1 has it.
func fromAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler, to *autoscalingv1.HorizontalPodAutoscaler) error {
	to.ObjectMeta = a.ObjectMeta
	to.Spec.ScaleTargetRef = autoscalingv1.CrossVersionObjectReference(a.Spec.ScaleTargetRef)
	to.Spec.MinReplicas, to.Spec.MaxReplicas = a.Spec.MinReplicas, a.Spec.MaxReplicas
	said := map[string]any{}
	var others []autoscalingv1.MetricSpec
	for i := range a.Spec.Metrics {
		m := &a.Spec.Metrics[i]
		if r := m.Resource; r != nil && r.Name == corev1.ResourceCPU && r.Target.AverageUtilization != nil && to.Spec.TargetCPUUtilizationPercentage == nil {
			to.Spec.TargetCPUUtilizationPercentage = r.Target.AverageUtilization
			continue
		}
		others = append(others, fromMetric(m))
	}
	if len(others) > 0 {
		said[metricsAnnotation] = others
	}
	if a.Spec.Behavior != nil {
		said[behaviorAnnotation] = a.Spec.Behavior
	}
	if len(a.Status.Conditions) > 0 {
		said[conditionsAnnotation] = a.Status.Conditions
	}
	if len(said) > 0 {
		to.Annotations = maps.Clone(a.Annotations)
	}
	for name, value := range said { // order-free: each has its own place
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("metadata.annotations[%s]: %w", name, err)
		}
		metav1.SetMetaDataAnnotation(&to.ObjectMeta, name, string(text))
	}
	to.Status = autoscalingv1.HorizontalPodAutoscalerStatus{
		ObservedGeneration: a.Status.ObservedGeneration, LastScaleTime: a.Status.LastScaleTime,
		CurrentReplicas: a.Status.CurrentReplicas, DesiredReplicas: a.Status.DesiredReplicas,
	}
	for _, m := range a.Status.CurrentMetrics {
		if m.Resource != nil && m.Resource.Name == corev1.ResourceCPU {
			to.Status.CurrentCPUUtilizationPercentage = m.Resource.Current.AverageUtilization
		}
	}
	return nil
}

// targetOf is the target of a metric: the value, average or utilization that is set.
func targetOf(value, average *resource.Quantity, utilization *int32) autoscalingv2.MetricTarget {
	t := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: value, AverageValue: average, AverageUtilization: utilization}
	switch {
	case utilization != nil:
		t.Type = autoscalingv2.UtilizationMetricType
	case average != nil:
		t.Type, t.Value = autoscalingv2.AverageValueMetricType, nil
	}
	return t
}

func identified(name string, selector *metav1.LabelSelector) autoscalingv2.MetricIdentifier {
	return autoscalingv2.MetricIdentifier{Name: name, Selector: selector}
}

// toMetric writes a metric as autoscaling/v2 has it.
func toMetric(m *autoscalingv1.MetricSpec) autoscalingv2.MetricSpec {
	to := autoscalingv2.MetricSpec{Type: autoscalingv2.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		to.Object = &autoscalingv2.ObjectMetricSource{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(o.Target), Metric: identified(o.MetricName, o.Selector), Target: targetOf(&o.TargetValue, o.AverageValue, nil),
		}
	}
	if p := m.Pods; p != nil {
		to.Pods = &autoscalingv2.PodsMetricSource{Metric: identified(p.MetricName, p.Selector), Target: targetOf(nil, &p.TargetAverageValue, nil)}
	}
	if r := m.Resource; r != nil {
		to.Resource = &autoscalingv2.ResourceMetricSource{Name: r.Name, Target: targetOf(nil, r.TargetAverageValue, r.TargetAverageUtilization)}
	}
	if r := m.ContainerResource; r != nil {
		to.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{
			Name: r.Name, Container: r.Container, Target: targetOf(nil, r.TargetAverageValue, r.TargetAverageUtilization),
		}
	}
	if e := m.External; e != nil {
		to.External = &autoscalingv2.ExternalMetricSource{Metric: identified(e.MetricName, e.MetricSelector), Target: targetOf(e.TargetValue, e.TargetAverageValue, nil)}
	}
	return to
}

// fromMetric writes a metric as autoscaling/v1 has it.
func fromMetric(m *autoscalingv2.MetricSpec) autoscalingv1.MetricSpec {
	to := autoscalingv1.MetricSpec{Type: autoscalingv1.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		to.Object = &autoscalingv1.ObjectMetricSource{
			Target: autoscalingv1.CrossVersionObjectReference(o.DescribedObject), MetricName: o.Metric.Name, Selector: o.Metric.Selector,
			TargetValue: ptr.Deref(o.Target.Value, resource.Quantity{}), AverageValue: o.Target.AverageValue,
		}
	}
	if p := m.Pods; p != nil {
		to.Pods = &autoscalingv1.PodsMetricSource{MetricName: p.Metric.Name, Selector: p.Metric.Selector, TargetAverageValue: ptr.Deref(p.Target.AverageValue, resource.Quantity{})}
	}
	if r := m.Resource; r != nil {
		to.Resource = &autoscalingv1.ResourceMetricSource{Name: r.Name, TargetAverageUtilization: r.Target.AverageUtilization, TargetAverageValue: r.Target.AverageValue}
	}
	if r := m.ContainerResource; r != nil {
		to.ContainerResource = &autoscalingv1.ContainerResourceMetricSource{
			Name: r.Name, Container: r.Container, TargetAverageUtilization: r.Target.AverageUtilization, TargetAverageValue: r.Target.AverageValue,
		}
	}
	if e := m.External; e != nil {
		to.External = &autoscalingv1.ExternalMetricSource{
			MetricName: e.Metric.Name, MetricSelector: e.Metric.Selector, TargetValue: e.Target.Value, TargetAverageValue: e.Target.AverageValue,
		}
	}
	return to
}
