package api

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Workload is where a workload of Kubernetes says which pods it wants; each nil where its kind does not say it.
type Workload struct {
	Template *corev1.PodTemplateSpec
	Replicas **int32
	Selector **metav1.LabelSelector
}

// WorkloadOf is the Workload of an object. What it points to is in the object.
func WorkloadOf(o runtime.Object) Workload {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return Workload{&o.Spec.Template, &o.Spec.Replicas, &o.Spec.Selector}
	case *appsv1.StatefulSet:
		return Workload{&o.Spec.Template, &o.Spec.Replicas, &o.Spec.Selector}
	case *appsv1.ReplicaSet:
		return Workload{&o.Spec.Template, &o.Spec.Replicas, &o.Spec.Selector}
	case *appsv1.DaemonSet:
		return Workload{Template: &o.Spec.Template, Selector: &o.Spec.Selector}
	case *batchv1.Job:
		return Workload{Template: &o.Spec.Template}
	case *batchv1.CronJob:
		return Workload{Template: &o.Spec.JobTemplate.Spec.Template}
	}
	return Workload{}
}
