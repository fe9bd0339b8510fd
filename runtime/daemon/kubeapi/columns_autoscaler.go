package kubeapi

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The columns of HorizontalPodAutoscalers. Source: kubernetes, pkg/printers/internalversion.
var autoscalerColumns = []column{
	shown("Reference", func(a *autoscalingv2.HorizontalPodAutoscaler) any {
		return a.Spec.ScaleTargetRef.Kind + "/" + a.Spec.ScaleTargetRef.Name
	}),
	shown("Targets", func(a *autoscalingv2.HorizontalPodAutoscaler) any { return metrics(a) }),
	shown("MinPods", func(a *autoscalingv2.HorizontalPodAutoscaler) any {
		if a.Spec.MinReplicas == nil {
			return "<unset>"
		}
		return fmt.Sprint(*a.Spec.MinReplicas)
	}),
	shown("MaxPods", func(a *autoscalingv2.HorizontalPodAutoscaler) any { return fmt.Sprint(a.Spec.MaxReplicas) }),
	shown("Replicas", func(a *autoscalingv2.HorizontalPodAutoscaler) any { return fmt.Sprint(a.Status.CurrentReplicas) }),
	ageColumn,
}

// mostMetrics is how many metrics of an autoscaler are shown.
const mostMetrics = 2

// metrics are what an autoscaler goes by, each as "now/target".
func metrics(a *autoscalingv2.HorizontalPodAutoscaler) string {
	var words []string
	for i := range a.Spec.Metrics {
		now := autoscalingv2.MetricValueStatus{}
		if i < len(a.Status.CurrentMetrics) {
			now = currentOf(&a.Status.CurrentMetrics[i])
		}
		words = append(words, metric(&a.Spec.Metrics[i], &now))
	}
	if more := len(words) - mostMetrics; more > 0 {
		return fmt.Sprintf("%s + %d more...", strings.Join(words[:mostMetrics], ", "), more)
	}
	return orNone(strings.Join(words, ", "))
}

// metric is one of them, as far as it says what it is.
func metric(m *autoscalingv2.MetricSpec, now *autoscalingv2.MetricValueStatus) string {
	switch {
	case m.Resource != nil:
		return m.Resource.Name.String() + ": " + usage(&m.Resource.Target, now)
	case m.ContainerResource != nil:
		return m.ContainerResource.Name.String() + ": " + usage(&m.ContainerResource.Target, now)
	case m.Pods != nil:
		return quantity(now.AverageValue) + "/" + quantity(m.Pods.Target.AverageValue)
	case m.Object != nil:
		return valueOf(&m.Object.Target, now)
	case m.External != nil:
		return valueOf(&m.External.Target, now)
	}
	return "<unknown type>"
}

// usage is what pods use of a resource, in amounts or in percent of what they request.
func usage(target *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return quantity(now.AverageValue) + "/" + quantity(target.AverageValue)
	}
	return percent(now.AverageUtilization, "<unknown>") + "/" + percent(target.AverageUtilization, "<auto>")
}

// valueOf is a metric of something other than pods.
func valueOf(target *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return quantity(now.AverageValue) + "/" + quantity(target.AverageValue) + " (avg)"
	}
	return quantity(now.Value) + "/" + quantity(target.Value)
}

func percent(n *int32, unset string) string {
	if n == nil {
		return unset
	}
	return fmt.Sprintf("%d%%", *n)
}

// quantity shows an amount that may not be known.
func quantity(q *resource.Quantity) string {
	if q == nil {
		return "<unknown>"
	}
	return q.String()
}

// currentOf is what a metric was last.
func currentOf(m *autoscalingv2.MetricStatus) (none autoscalingv2.MetricValueStatus) {
	switch {
	case m.Resource != nil:
		return m.Resource.Current
	case m.ContainerResource != nil:
		return m.ContainerResource.Current
	case m.Pods != nil:
		return m.Pods.Current
	case m.Object != nil:
		return m.Object.Current
	case m.External != nil:
		return m.External.Current
	}
	return none
}
