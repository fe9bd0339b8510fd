package propagation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/actors/rules/propagation"
	"leeward/messages/api"
)

func running(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
}

func deployment(image string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: running(image)}}
}

// numbered gives a resource a revision, as it is in the annotation.
func numbered(o api.Object, revision string) api.Object {
	o.SetAnnotations(map[string]string{api.AnnotationRevision: revision})
	return o
}

func custom(image string, replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas": replicas, "template": map[string]any{"image": image},
	}}}
}

func TestRevised(t *testing.T) {
	labelled := deployment("a", 2)
	labelled.Labels = map[string]string{"team": "x"}
	for _, c := range []struct {
		name     string
		old, new api.Object
		want     int32
	}{
		{"the same", deployment("a", 2), deployment("a", 2), 0},
		{"another image", deployment("a", 2), deployment("b", 2), 2},
		{"other replicas restart no pod", deployment("a", 2), deployment("a", 3), 0},
		{"other labels of the resource restart no pod", deployment("a", 2), labelled, 0},
		{"edited again", numbered(deployment("b", 2), "2"), deployment("a", 2), 3},
		{"the same as before the manifest was applied again", numbered(deployment("b", 2), "2"), deployment("b", 2), 2},
		{"a manifest that brings a number of its own", numbered(deployment("b", 2), "2"), numbered(deployment("b", 2), "7"), 2},
		{"a number that is none", numbered(deployment("a", 2), "x"), deployment("b", 2), 2},
		{"a number below the first", numbered(deployment("a", 2), "-4"), deployment("b", 2), 2},
		{"a StatefulSet", &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: running("a")}}, &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: running("b")}}, 2},
		{"a ReplicaSet", &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: running("a")}}, &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: running("b")}}, 2},
		{"a DaemonSet", &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: running("a")}}, &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: running("b")}}, 2},
		{"another kind with another template", custom("a", 1), custom("b", 1), 2},
		{"another kind with other replicas", custom("a", 1), custom("a", 2), 0},
		{"what runs no pods", &corev1.ConfigMap{Data: map[string]string{"a": "1"}}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, propagation.Revised(c.new, c.old))
		})
	}
}

func TestRevision(t *testing.T) {
	for text, want := range map[string]int32{"": 0, "1": 0, "2": 2, "17": 17, "-3": 0, "two": 0, "99999999999": 0} {
		require.Equal(t, want, propagation.Revision(numbered(deployment("a", 1), text)), text)
	}
}
