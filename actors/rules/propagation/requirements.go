package propagation

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

// BindingName returns the name of the binding of a resource: "nginx-deployment". Colons, which RBAC
// allows in names, become dots.
func BindingName(kind, name string) string {
	return strings.ToLower(strings.ReplaceAll(name, ":", ".") + "-" + kind)
}

// Requirements returns how many replicas a resource asks for and what each of them needs, nil if
// nothing. Only a workload has replicas: a Deployment, a StatefulSet, a Job (what it runs at a time) and
// a Pod (one); replicas left out count as one, as the API defaults them. Any other kind, DaemonSet and
// ReplicaSet included, goes whole to each of its clusters. What is returned shares memory with the
// object. Source: Karmada's default resource interpreter.
func Requirements(o api.Object) (replicas int32, each *api.ReplicaRequirements, isWorkload bool) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return ptr.Deref(o.Spec.Replicas, 1), ofPod(&o.Spec.Template.Spec), true
	case *appsv1.StatefulSet:
		return ptr.Deref(o.Spec.Replicas, 1), ofPod(&o.Spec.Template.Spec), true
	case *batchv1.Job:
		return atATime(&o.Spec), ofPod(&o.Spec.Template.Spec), true
	case *corev1.Pod:
		return 1, ofPod(&o.Spec), true
	default:
		return 0, nil, false
	}
}

// atATime returns how many pods a job runs side by side: never more than remain to complete.
func atATime(j *batchv1.JobSpec) int32 {
	n := ptr.Deref(j.Parallelism, 1)
	if j.Completions != nil {
		n = min(n, *j.Completions)
	}
	return n
}

// ofPod returns what one pod needs. Requests count as the scheduler of Kubernetes counts them:
// containers add up, init containers count where they need more, sidecars and overhead on top.
func ofPod(s *corev1.PodSpec) *api.ReplicaRequirements {
	r := &api.ReplicaRequirements{NodeClaim: nodeClaim(s), PriorityClassName: s.PriorityClassName}
	if requests := RequestsOf(s); len(requests) > 0 {
		r.ResourceRequest = requests
	}
	if r.NodeClaim == nil && r.ResourceRequest == nil && r.PriorityClassName == "" {
		return nil
	}
	return r
}

// RequestsOf returns the requests of a pod: those of its container, as they are, where it is nothing else.
func RequestsOf(s *corev1.PodSpec) corev1.ResourceList {
	if len(s.Containers) == 1 && len(s.InitContainers) == 0 && len(s.Overhead) == 0 && s.Resources == nil {
		return s.Containers[0].Resources.Requests
	}
	return resource.PodRequests(&corev1.Pod{Spec: *s}, resource.PodResourcesOptions{})
}

// nodeClaim returns what a pod asks of its node, nil if nothing.
func nodeClaim(s *corev1.PodSpec) *api.NodeClaim {
	c := &api.NodeClaim{NodeSelector: s.NodeSelector, Tolerations: s.Tolerations}
	if s.Affinity != nil && s.Affinity.NodeAffinity != nil {
		c.HardNodeAffinity = s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if c.HardNodeAffinity == nil && len(c.NodeSelector) == 0 && len(c.Tolerations) == 0 {
		return nil
	}
	return c
}

// Revision returns the version of a resource's pod template, from 2, as its annotation has it; zero while
// there is only one. An annotation that is no such number says nothing.
func Revision(o api.Object) int32 {
	n, err := strconv.ParseInt(o.GetAnnotations()[api.AnnotationRevision], 10, 32)
	if err != nil || n < 2 {
		return 0
	}
	return int32(n)
}

// Revised returns the revision of a resource that takes the place of an older version of itself: the next
// one if their pod templates differ, else the same. Replicas, labels and all else of the resource are no
// part of it: they restart no pod.
func Revised(o, old api.Object) int32 {
	before := Revision(old)
	if equality.Semantic.DeepEqual(podTemplate(o), podTemplate(old)) {
		return before
	}
	return max(before, 1) + 1
}

// podTemplate is what the pods of a resource are made from; nil where it has none, or none that can change.
func podTemplate(o api.Object) any {
	switch o := o.(type) {
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.ReplicaSet, *appsv1.DaemonSet:
		return api.WorkloadOf(o).Template
	case *unstructured.Unstructured:
		template, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "template")
		return template
	default:
		return nil
	}
}
