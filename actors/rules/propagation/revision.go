package propagation

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
)

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
	case *appsv1.Deployment:
		return o.Spec.Template
	case *appsv1.StatefulSet:
		return o.Spec.Template
	case *appsv1.ReplicaSet:
		return o.Spec.Template
	case *appsv1.DaemonSet:
		return o.Spec.Template
	case *unstructured.Unstructured:
		template, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "template")
		return template
	default:
		return nil
	}
}
