package rehearsal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/rehearsal"
)

// cluster is a running cluster of three nodes, with a Deployment of two pods and its ReplicaSet, and a pod of no owner that tolerates a
// maintenance for a minute.
func cluster(t *testing.T) rehearsal.Fleet {
	t.Helper()
	settings, err := config.Profile("kubernetes")
	require.NoError(t, err)
	f := rehearsal.Fleet{Settings: settings, Seed: 1, Now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	for i := range 3 {
		f.Objects = append(f.Objects, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)},
			Status: corev1.NodeStatus{
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
				Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")},
			},
		})
	}
	labels, yes := map[string]string{"app": "web"}, true
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	of := func(kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, Controller: &yes}}
	}
	f.Objects = append(f.Objects,
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
		}},
		&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", OwnerReferences: of("Deployment", "web")}, Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
		}},
	)
	for i := range 2 {
		f.Objects = append(f.Objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("web-1-", i), Labels: labels, OwnerReferences: of("ReplicaSet", "web-1")},
			Spec:       corev1.PodSpec{NodeName: "n0", Containers: template.Spec.Containers}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	f.Objects = append(f.Objects, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "alone"},
		Spec: corev1.PodSpec{NodeName: "n1", Tolerations: []corev1.Toleration{
			{Key: "maintenance", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(60))},
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	})
	return f
}

func taintOf(node messages.NodeName) *messages.EditNode {
	return &messages.EditNode{Node: node, Taint: []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}}}
}

func TestWhichPodsATaintWouldEvict(t *testing.T) {
	f := cluster(t)
	before := api.Shallow(f.Objects[0])
	moves, err := rehearsal.Nodes(t.Context(), f, taintOf("n0"), taintOf("n1"))
	require.NoError(t, err)
	require.Equal(t, []rehearsal.PodMove{
		{Pod: "shop/web-1-0", Node: "n0", Why: "taint maintenance:NoExecute; not tolerated"},
		{Pod: "shop/web-1-1", Node: "n0", Why: "taint maintenance:NoExecute; not tolerated"},
		{Pod: "shop/alone", Node: "n1", After: time.Minute, Why: "taint maintenance:NoExecute; toleration 60s"},
	}, moves.Evicted)
	require.Equal(t, map[messages.NodeName]int{"n2": 2}, moves.Replaced, "its Deployment replaces two, and nothing the third")
	require.Empty(t, moves.Pending)
	require.Equal(t, "3 pods would be evicted within 1h0m0s, 2 bound elsewhere, 0 pending at the end", moves.String())
	require.Equal(t, before, f.Objects[0], "nothing was changed")
}

func TestWhichPodsNoNodeWouldTake(t *testing.T) {
	moves, err := rehearsal.Nodes(t.Context(), cluster(t), taintOf("n0"), taintOf("n1"), taintOf("n2"))
	require.NoError(t, err)
	require.Len(t, moves.Pending, 2)
	for _, why := range moves.Pending {
		require.Contains(t, why, "0/3 nodes are available: 3 node(s) had untolerated taint(s)")
	}
}

func TestARehearsalOfANodeThatIsNotThere(t *testing.T) {
	_, err := rehearsal.Nodes(t.Context(), cluster(t), taintOf("n9"))
	require.EqualError(t, err, `there is no node "n9"`)
}
