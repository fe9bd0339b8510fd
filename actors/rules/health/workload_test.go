package health_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/actors/rules/health"
	"leeward/messages/api"
)

var second = metav1.ObjectMeta{Generation: 2}

func deployment(observed int64, replicas *int32, updated, available int32) api.Object {
	return &appsv1.Deployment{ObjectMeta: second, Spec: appsv1.DeploymentSpec{Replicas: replicas},
		Status: appsv1.DeploymentStatus{ObservedGeneration: observed, UpdatedReplicas: updated, AvailableReplicas: available}}
}

func statefulSet(observed int64, partition *int32, updated, available int32) api.Object {
	return &appsv1.StatefulSet{ObjectMeta: second,
		Spec: appsv1.StatefulSetSpec{Replicas: new(int32(3)), UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
			RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: partition}}},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: observed, UpdatedReplicas: updated, AvailableReplicas: available}}
}

func replicaSet(observed int64, available int32) api.Object {
	return &appsv1.ReplicaSet{ObjectMeta: second, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(3))},
		Status: appsv1.ReplicaSetStatus{ObservedGeneration: observed, AvailableReplicas: available}}
}

func daemonSet(observed int64, desired, updated, available int32) api.Object {
	return &appsv1.DaemonSet{ObjectMeta: second, Status: appsv1.DaemonSetStatus{
		ObservedGeneration: observed, DesiredNumberScheduled: desired, UpdatedNumberScheduled: updated, NumberAvailable: available}}
}

func job(kind batchv1.JobConditionType, status corev1.ConditionStatus) api.Object {
	return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status}}}}
}

func pod(phase corev1.PodPhase, kind corev1.PodConditionType, status corev1.ConditionStatus) api.Object {
	return &corev1.Pod{Status: corev1.PodStatus{Phase: phase, Conditions: []corev1.PodCondition{{Type: kind, Status: status}}}}
}

func service(kind corev1.ServiceType, ingress ...corev1.LoadBalancerIngress) api.Object {
	return &corev1.Service{Spec: corev1.ServiceSpec{Type: kind}, Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: ingress}}}
}

func ingress(addresses ...networkingv1.IngressLoadBalancerIngress) api.Object {
	return &networkingv1.Ingress{Status: networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{Ingress: addresses}}}
}

func claim(phase corev1.PersistentVolumeClaimPhase) api.Object {
	return &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: phase}}
}

func budget(current, desired int32) api.Object {
	return &policyv1.PodDisruptionBudget{Status: policyv1.PodDisruptionBudgetStatus{CurrentHealthy: current, DesiredHealthy: desired}}
}

func TestWorkload(t *testing.T) {
	three := new(int32(3))
	for _, c := range []struct {
		name    string
		object  api.Object
		healthy bool
	}{
		{"a Deployment with all replicas", deployment(2, three, 3, 3), true},
		{"a Deployment whose status is about an older spec", deployment(1, three, 3, 3), false},
		{"a Deployment that is being updated", deployment(2, three, 2, 3), false},
		{"a Deployment with updated replicas that are not available", deployment(2, three, 3, 2), false},
		{"a Deployment of no replicas", deployment(2, new(int32(0)), 0, 0), true},
		{"a Deployment that does not say how many asks for one", deployment(2, nil, 1, 1), true},
		{"a Deployment that does not say how many has none", deployment(2, nil, 0, 0), false},
		{"a StatefulSet with all replicas", statefulSet(2, nil, 3, 3), true},
		{"a StatefulSet whose status is about an older spec", statefulSet(1, nil, 3, 3), false},
		{"a StatefulSet that is being updated", statefulSet(2, nil, 2, 3), false},
		{"a StatefulSet updated down to its partition", statefulSet(2, new(int32(1)), 2, 3), true},
		{"a StatefulSet with a partition and old replicas that are not available", statefulSet(2, new(int32(1)), 2, 2), false},
		{"a StatefulSet with updated replicas that are not available", statefulSet(2, nil, 3, 2), false},
		{"a ReplicaSet with all replicas", replicaSet(2, 3), true},
		{"a ReplicaSet that lacks one", replicaSet(2, 2), false},
		{"a ReplicaSet whose status is about an older spec", replicaSet(1, 3), false},
		{"a DaemonSet on every node", daemonSet(2, 5, 5, 5), true},
		{"a DaemonSet that is being updated", daemonSet(2, 5, 4, 5), false},
		{"a DaemonSet that is not available everywhere", daemonSet(2, 5, 5, 4), false},
		{"a DaemonSet whose status is about an older spec", daemonSet(1, 5, 5, 5), false},
		{"a Job that runs", &batchv1.Job{Status: batchv1.JobStatus{Active: 1}}, true},
		{"a Job that is complete", job(batchv1.JobComplete, corev1.ConditionTrue), true},
		{"a Job that has failed", job(batchv1.JobFailed, corev1.ConditionTrue), false},
		{"a Job that has not failed", job(batchv1.JobFailed, corev1.ConditionFalse), true},
		{"a Pod that runs and is ready", pod(corev1.PodRunning, corev1.PodReady, corev1.ConditionTrue), true},
		{"a Pod that runs and is not ready", pod(corev1.PodRunning, corev1.PodReady, corev1.ConditionFalse), false},
		{"a Pod that runs and does not say", pod(corev1.PodRunning, corev1.PodInitialized, corev1.ConditionTrue), false},
		{"a Pod that is ready and does not run", pod(corev1.PodPending, corev1.PodReady, corev1.ConditionTrue), false},
		{"a Pod that is done", pod(corev1.PodSucceeded, corev1.PodReady, corev1.ConditionFalse), true},
		{"a Pod that has failed", pod(corev1.PodFailed, corev1.PodReady, corev1.ConditionTrue), false},
		{"a Service without load balancer", service(corev1.ServiceTypeClusterIP), true},
		{"a Service waiting for its load balancer", service(corev1.ServiceTypeLoadBalancer, corev1.LoadBalancerIngress{}), false},
		{"a Service with an address", service(corev1.ServiceTypeLoadBalancer, corev1.LoadBalancerIngress{IP: "192.0.2.1"}), true},
		{"a Service with a name", service(corev1.ServiceTypeLoadBalancer, corev1.LoadBalancerIngress{Hostname: "lb"}), true},
		{"an Ingress without address", ingress(networkingv1.IngressLoadBalancerIngress{}), false},
		{"an Ingress with an address", ingress(networkingv1.IngressLoadBalancerIngress{IP: "192.0.2.1"}), true},
		{"an Ingress with a name", ingress(networkingv1.IngressLoadBalancerIngress{Hostname: "lb"}), true},
		{"a PersistentVolumeClaim that is bound", claim(corev1.ClaimBound), true},
		{"a PersistentVolumeClaim that is pending", claim(corev1.ClaimPending), false},
		{"a PodDisruptionBudget that is kept", budget(2, 2), true},
		{"a PodDisruptionBudget that is broken", budget(1, 2), false},
		{"a ConfigMap, which has no rule", &corev1.ConfigMap{}, true},
		{"a kind of somebody else's", &unstructured.Unstructured{Object: map[string]any{"kind": "Widget"}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.healthy, health.Workload(c.object) == api.Healthy)
			require.Equal(t, !c.healthy, health.Workload(c.object) == api.Unhealthy)
		})
	}
}
