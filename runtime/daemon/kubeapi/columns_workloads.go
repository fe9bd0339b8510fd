package kubeapi

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	"leeward/messages/lists"
	"leeward/runtime/daemon/engine"
)

// The columns of Kubernetes' kinds are those that kubectl shows elsewhere. Source: kubernetes,
// pkg/printers/internalversion.

var deploymentColumns = []column{
	shown("Ready", func(d *appsv1.Deployment) any { return ready(d.Status.ReadyReplicas, d.Spec.Replicas) }),
	number(shown("Up-to-date", func(d *appsv1.Deployment) any { return d.Status.UpdatedReplicas })),
	number(shown("Available", func(d *appsv1.Deployment) any { return d.Status.AvailableReplicas })),
	ageColumn,
}

var statefulSetColumns = []column{
	shown("Ready", func(s *appsv1.StatefulSet) any { return ready(s.Status.ReadyReplicas, s.Spec.Replicas) }),
	ageColumn,
}

// ready is "ready/wanted".
func ready(n int32, wanted *int32) string { return fmt.Sprintf("%d/%d", n, ptr.Deref(wanted, 1)) }

var priorityColumns = []column{
	number(shown("Value", func(p *schedulingv1.PriorityClass) any { return p.Value })),
	shown("Global-Default", func(p *schedulingv1.PriorityClass) any { return p.GlobalDefault }),
	ageColumn,
}

var replicaSetColumns = []column{
	number(shown("Desired", func(s *appsv1.ReplicaSet) any { return ptr.Deref(s.Spec.Replicas, 1) })),
	number(shown("Current", func(s *appsv1.ReplicaSet) any { return s.Status.Replicas })),
	number(shown("Ready", func(s *appsv1.ReplicaSet) any { return s.Status.ReadyReplicas })),
	ageColumn,
}

var daemonSetColumns = []column{
	number(shown("Desired", func(s *appsv1.DaemonSet) any { return s.Status.DesiredNumberScheduled })),
	number(shown("Current", func(s *appsv1.DaemonSet) any { return s.Status.CurrentNumberScheduled })),
	number(shown("Ready", func(s *appsv1.DaemonSet) any { return s.Status.NumberReady })),
	number(shown("Up-to-date", func(s *appsv1.DaemonSet) any { return s.Status.UpdatedNumberScheduled })),
	number(shown("Available", func(s *appsv1.DaemonSet) any { return s.Status.NumberAvailable })),
	ageColumn,
}

var jobColumns = []column{
	shown("Completions", func(j *batchv1.Job) any {
		return fmt.Sprintf("%d/%d", j.Status.Succeeded, ptr.Deref(j.Spec.Completions, 1))
	}),
	{TableColumnDefinition: metav1.TableColumnDefinition{Name: "Duration", Type: "string"}, cell: jobDuration},
	ageColumn,
}

func jobDuration(o engine.Object, now time.Time) any {
	status := o.(*batchv1.Job).Status
	switch {
	case status.StartTime == nil:
		return ""
	case status.CompletionTime == nil:
		return since(*status.StartTime, now)
	default:
		return duration.HumanDuration(status.CompletionTime.Sub(status.StartTime.Time))
	}
}

var cronJobColumns = []column{
	shown("Schedule", func(c *batchv1.CronJob) any { return c.Spec.Schedule }),
	shown("Suspend", func(c *batchv1.CronJob) any { return fmt.Sprint(ptr.Deref(c.Spec.Suspend, false)) }),
	number(shown("Active", func(c *batchv1.CronJob) any { return len(c.Status.Active) })),
	ageColumn,
}

var namespaceColumns = []column{
	shown("Status", func(n *corev1.Namespace) any {
		if n.DeletionTimestamp != nil {
			return string(corev1.NamespaceTerminating)
		}
		return string(n.Status.Phase)
	}),
	ageColumn,
}

var configMapColumns = []column{
	number(shown("Data", func(c *corev1.ConfigMap) any { return len(c.Data) + len(c.BinaryData) })),
	ageColumn,
}

var secretColumns = []column{
	shown("Type", func(s *corev1.Secret) any { return string(s.Type) }),
	number(shown("Data", func(s *corev1.Secret) any { return len(s.Data) })),
	ageColumn,
}

var serviceColumns = []column{
	shown("Type", func(s *corev1.Service) any { return string(s.Spec.Type) }),
	shown("Cluster-IP", func(s *corev1.Service) any { return orNone(s.Spec.ClusterIP) }),
	shown("Port(s)", func(s *corev1.Service) any { return ports(s.Spec.Ports) }),
	ageColumn,
}

func ports(list []corev1.ServicePort) string {
	return orNone(strings.Join(lists.Of(list, func(p corev1.ServicePort) string { return fmt.Sprintf("%d/%s", p.Port, p.Protocol) }), ","))
}

var eventColumns = []column{
	{TableColumnDefinition: metav1.TableColumnDefinition{Name: "Last Seen", Type: "string"}, cell: lastSeen},
	shown("Type", func(e *corev1.Event) any { return e.Type }),
	shown("Reason", func(e *corev1.Event) any { return e.Reason }),
	shown("Object", func(e *corev1.Event) any {
		return strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
	}),
	shown("Message", func(e *corev1.Event) any { return strings.TrimSpace(e.Message) }),
	wide(nameColumn),
}

// lastSeen says when an event was last seen, however its writer has put it.
func lastSeen(o engine.Object, now time.Time) any {
	e := o.(*corev1.Event)
	switch {
	case e.Series != nil:
		return since(metav1.Time(e.Series.LastObservedTime), now)
	case !e.LastTimestamp.IsZero():
		return since(e.LastTimestamp, now)
	default:
		return since(metav1.Time(e.EventTime), now)
	}
}

var claimColumns = []column{
	shown("Status", func(c *corev1.PersistentVolumeClaim) any { return string(c.Status.Phase) }),
	shown("Volume", func(c *corev1.PersistentVolumeClaim) any { return c.Spec.VolumeName }),
	shown("StorageClass", func(c *corev1.PersistentVolumeClaim) any { return ptr.Deref(c.Spec.StorageClassName, "") }),
	ageColumn,
}

var leaseColumns = []column{
	shown("Holder", func(l *coordinationv1.Lease) any { return orNone(ptr.Deref(l.Spec.HolderIdentity, "")) }),
	ageColumn,
}

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
