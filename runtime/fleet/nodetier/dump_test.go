package nodetier_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
)

// Pods of a Deployment of a dumped cluster are spread with those that replace them, for they have the same hash.
func TestReplacementsAreOfTheReplicaSetOfTheDump(t *testing.T) {
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	labels := map[string]string{"app": "web"}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	two := int32(2)
	deployment := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: &two, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}
	set := func(hash, image string) *appsv1.ReplicaSet {
		yes := true
		s := &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: metav1.ObjectMeta{
			Namespace: "d", Name: "web-" + hash, OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "u", Controller: &yes}},
		}}
		template.DeepCopyInto(&s.Spec.Template)
		s.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		s.Spec.Template.Spec.Containers[0].Image = image
		s.Spec.Selector = &metav1.LabelSelector{MatchLabels: s.Spec.Template.Labels}
		return s
	}
	for name, objects := range map[string][]api.Object{
		"after the Deployment":  {deployment, set("5d4f", "older"), set("7c8b", "i")},
		"before the Deployment": {set("7c8b", "i"), set("5d4f", "older"), deployment},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(world.Config{Settings: settings, Seed: 1, Nodes: true})
			defer w.Close()
			for _, o := range objects {
				require.NoError(t, w.Apply(api.Copy(o)))
			}
			require.NoError(t, w.Settle(w.Now()))
			require.Len(t, w.Nodes().Pods(), 2)
			for _, pod := range w.Nodes().Pods() {
				require.Equal(t, "7c8b", w.Nodes().Pod(pod).Labels[appsv1.DefaultDeploymentUniqueLabelKey])
				require.Equal(t, "web-7c8b", w.Nodes().Pod(pod).OwnerReferences[0].Name)
			}
		})
	}
}

func TestAMachineThatCannotBeReadIsRefused(t *testing.T) {
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	w := world.New(world.Config{Settings: settings, Seed: 1, Nodes: true})
	defer w.Close()
	require.NoError(t, w.Apply(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "metadata": map[string]any{"namespace": "m", "name": "a"}, "spec": map[string]any{"taints": "none"},
	}}))
	var problems []string
	for _, e := range w.Journal().Since(0) {
		if f, is := e.Fact.(*messages.ObjectRejected); is {
			problems = f.Problems
		}
	}
	require.Len(t, problems, 1)
	require.Contains(t, problems[0], "Machine m/a: ")
}

func TestMachinesOfferNothingNegative(t *testing.T) {
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	w := world.New(world.Config{Settings: settings, Seed: 1, Nodes: true})
	defer w.Close()
	set := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
		"metadata": map[string]any{"namespace": "d", "name": "m", "annotations": map[string]any{"machine.openshift.io/vCPU": "-4"}},
	}}
	require.EqualError(t, w.Nodes().Apply(set), `MachineSet d/m: metadata.annotations[machine.openshift.io/vCPU]: "-4" is not a quantity of 0 or more`)
}
