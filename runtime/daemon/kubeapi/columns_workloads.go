package kubeapi

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
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
