package agent

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"leeward/actors/rules/health"
	"leeward/messages/api"
)

// ruled makes objects of the kinds that the rules of the daemon judge: a copy has the same health by both.
var ruled = map[schema.GroupVersionKind]func() api.Object{
	appsv1.SchemeGroupVersion.WithKind("Deployment"):            func() api.Object { return &appsv1.Deployment{} },
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"):           func() api.Object { return &appsv1.StatefulSet{} },
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"):            func() api.Object { return &appsv1.ReplicaSet{} },
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"):             func() api.Object { return &appsv1.DaemonSet{} },
	batchv1.SchemeGroupVersion.WithKind("Job"):                  func() api.Object { return &batchv1.Job{} },
	corev1.SchemeGroupVersion.WithKind("Pod"):                   func() api.Object { return &corev1.Pod{} },
	corev1.SchemeGroupVersion.WithKind("Service"):               func() api.Object { return &corev1.Service{} },
	corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"): func() api.Object { return &corev1.PersistentVolumeClaim{} },
	networkingv1.SchemeGroupVersion.WithKind("Ingress"):         func() api.Object { return &networkingv1.Ingress{} },
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"): func() api.Object { return &policyv1.PodDisruptionBudget{} },
}

// healthOf judges an object by its status: kinds with a rule of the daemon by that, all others by kstatus, which knows Kubernetes'
// own kinds and, of others, observedGeneration and the conditions Ready, Reconciling and Stalled.
func healthOf(o *unstructured.Unstructured) api.ResourceHealth {
	if o.GetDeletionTimestamp() != nil {
		return api.Unhealthy
	}
	if fresh := ruled[o.GroupVersionKind()]; fresh != nil {
		if typed := fresh(); runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed) == nil {
			return health.Workload(typed)
		}
	}
	r, err := status.Compute(o)
	switch {
	case err != nil:
		return api.Unknown
	case r.Status == status.CurrentStatus:
		return api.Healthy
	}
	return api.Unhealthy
}
