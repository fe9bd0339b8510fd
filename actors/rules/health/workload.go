package health

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

// Workload returns the health of one object by its status, Healthy or Unhealthy. A kind without a rule
// is Healthy. Source: Karmada's default resource interpreter; the rule for Jobs is Leeward's own.
func Workload(o api.Object) api.ResourceHealth {
	if healthy(o) {
		return api.Healthy
	}
	return api.Unhealthy
}

func healthy(o api.Object) bool {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return deployment(o)
	case *appsv1.StatefulSet:
		return statefulSet(o)
	case *appsv1.ReplicaSet:
		return replicaSet(o)
	case *appsv1.DaemonSet:
		return daemonSet(o)
	case *batchv1.Job:
		return job(o)
	case *corev1.Pod:
		return pod(o)
	case *corev1.Service:
		return service(o)
	case *networkingv1.Ingress:
		return ingress(o)
	case *corev1.PersistentVolumeClaim:
		return o.Status.Phase == corev1.ClaimBound
	case *policyv1.PodDisruptionBudget:
		return o.Status.CurrentHealthy >= o.Status.DesiredHealthy
	default:
		return true
	}
}

// deployment: the status is about the present spec, every replica is updated, every updated one available.
func deployment(d *appsv1.Deployment) bool {
	s := &d.Status
	return s.ObservedGeneration == d.Generation &&
		s.UpdatedReplicas >= ptr.Deref(d.Spec.Replicas, 1) &&
		s.AvailableReplicas >= s.UpdatedReplicas
}

// statefulSet: as a deployment, but a rolling update stops at its partition; below it, old replicas
// that are available will do.
func statefulSet(d *appsv1.StatefulSet) bool {
	s, update := &d.Status, ptr.Deref(d.Spec.Replicas, 1)
	if r := d.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
		update -= *r.Partition
	}
	return s.ObservedGeneration == d.Generation &&
		s.UpdatedReplicas >= update &&
		s.AvailableReplicas >= max(s.UpdatedReplicas, ptr.Deref(d.Spec.Replicas, 1))
}

func replicaSet(r *appsv1.ReplicaSet) bool {
	return r.Status.ObservedGeneration == r.Generation && r.Status.AvailableReplicas >= ptr.Deref(r.Spec.Replicas, 1)
}

func daemonSet(d *appsv1.DaemonSet) bool {
	s := &d.Status
	return s.ObservedGeneration == d.Generation &&
		s.UpdatedNumberScheduled >= s.DesiredNumberScheduled &&
		s.NumberAvailable >= s.UpdatedNumberScheduled
}

// job: it has not failed. One that runs is healthy, for a Job is not there to stay.
func job(j *batchv1.Job) bool {
	return !slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue
	})
}

// pod: it is done, or runs and is ready.
func pod(p *corev1.Pod) bool {
	ready := false
	for _, c := range p.Status.Conditions {
		ready = ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodRunning && ready
}

// service: only one that asks for a load balancer can lack its address.
func service(s *corev1.Service) bool {
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return true
	}
	return slices.ContainsFunc(s.Status.LoadBalancer.Ingress, func(i corev1.LoadBalancerIngress) bool { return i.IP != "" || i.Hostname != "" })
}

func ingress(n *networkingv1.Ingress) bool {
	return slices.ContainsFunc(n.Status.LoadBalancer.Ingress, func(i networkingv1.IngressLoadBalancerIngress) bool { return i.IP != "" || i.Hostname != "" })
}
