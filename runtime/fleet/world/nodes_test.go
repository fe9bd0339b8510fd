package world_test

import (
	"fmt"
	"strings"
	"sync"
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
	"leeward/runtime/fleet/nodeinvariant"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

// ofNodes is a world with nodes of three zones, under a profile.
func ofNodes(t *testing.T, profile string, n int) *world.World {
	t.Helper()
	settings, err := config.Profile(profile)
	require.NoError(t, err)
	kubelets := map[messages.NodeName]messages.KubeletBehaviour{}
	for i := range n {
		kubelets[messages.NodeName(nodeOf(i).Name)] = messages.KubeletBehaviour{LeasePeriod: 2 * time.Second}
	}
	w := world.New(world.Config{Settings: settings, Seed: 1, Nodes: true, Kubelets: kubelets})
	t.Cleanup(w.Close)
	for i := range n {
		require.NoError(t, w.Nodes().Settle(nodeOf(i)))
	}
	return w
}

// nodeOf is the node of that number, in one of three zones.
func nodeOf(i int) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i+1), Labels: map[string]string{corev1.LabelTopologyZone: string(rune('a' + i%3))}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2000"), corev1.ResourceCPU: resource.MustParse("4")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func webDeployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		},
	}
}

// until lets time pass to so many seconds after the start.
func until(t testing.TB, w *world.World, seconds float64) {
	t.Helper()
	to := world.Start.Add(time.Duration(seconds * float64(time.Second)))
	settle(t, w, w.Now())
	for next, ok := w.Next(); ok && !next.After(to); next, ok = w.Next() {
		settle(t, w, next)
	}
	settle(t, w, to)
}

// watched are the monitors of worlds with nodes, and how far each has got in the journal.
var watched sync.Map

type watch struct {
	*nodeinvariant.Monitor
	seen int
}

// settle runs an instant, and holds it to the invariants of nodes and pods.
func settle(t testing.TB, w *world.World, now time.Time) {
	t.Helper()
	require.NoError(t, w.Settle(now))
	m, known := watched.LoadOrStore(w, &watch{Monitor: nodeinvariant.New(w.Settings(), w.Nodes())})
	if !known {
		t.Cleanup(func() { watched.Delete(w) })
	}
	watching := m.(*watch)
	news := w.Journal().Since(watching.seen)
	watching.seen += len(news)
	watching.Settled(now, news)
	for _, v := range watching.Violations() {
		require.Fail(t, v.String(), "at %s", v.At.Sub(world.Start))
	}
}

// seconds are when facts of a type came, after the start, of those that match.
func secondsOf[F messages.Fact](w *world.World, match func(F) bool) (at []float64) {
	for _, e := range w.Journal().Entries() {
		if f, ok := e.Fact.(F); ok && match(f) {
			at = append(at, e.At.Sub(world.Start).Seconds())
		}
	}
	return at
}

func every[F messages.Fact](F) bool { return true }

// pinned has a pod of no owner run on a node.
func pinned(t *testing.T, w *world.World, name, node string, tolerations ...corev1.Toleration) {
	t.Helper()
	require.NoError(t, w.Nodes().Settle(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       corev1.PodSpec{NodeName: node, Tolerations: tolerations},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}))
}

func tolerate(key string, seconds int64) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
}

func TestANodeThatDiesLosesItsPodsWhenTheirTolerationsEnd(t *testing.T) {
	for profile, want := range map[string]struct{ unknown, evicted []float64 }{
		// the Lease is renewed for the last time at 12, a pass sees it at 15, and the zone looks at its queue half a poll after a pass
		"kubernetes": {[]float64{65}, []float64{365.05}},
		"leeward":    {[]float64{62}, []float64{362}},
	} {
		w := ofNodes(t, profile, 6)
		require.NoError(t, w.Apply(webDeployment("web", 6)))
		until(t, w, 12)
		require.NoError(t, w.Nodes().Stop("n2"))
		until(t, w, 500)
		require.Equal(t, want.unknown, secondsOf(w, func(f *messages.NodeConditionChanged) bool {
			return f.Type == corev1.NodeReady && f.Status == corev1.ConditionUnknown
		}), profile)
		require.Equal(t, want.evicted, secondsOf(w, every[*messages.PodEvicted]), profile)
		require.Len(t, secondsOf(w, every[*messages.PodBound]), 7, "the Deployment has another in its place")
		require.Len(t, w.Nodes().PodsOn("n2"), 1, "nothing ends on a dead node")
		require.NoError(t, w.Nodes().Start("n2"))
		until(t, w, 540)
		require.Empty(t, w.Nodes().PodsOn("n2"), "its kubelet grants the grace period when it is back")
		require.Empty(t, w.Nodes().Node("n2").Spec.Taints)
	}
}

func TestARecoveredNodeLosesPodsUntilTheNextPassOfKubernetes(t *testing.T) {
	for profile, evicted := range map[string]int{"kubernetes": 4, "leeward": 0} {
		w := ofNodes(t, profile, 6)
		for i := range 4 {
			pinned(t, w, fmt.Sprint("p", i), "n1", tolerate(corev1.TaintNodeNotReady, int64(6+i)))
		}
		until(t, w, 1)
		require.NoError(t, w.Nodes().Report("n1", corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse}))
		until(t, w, 6.5) // in Kubernetes the taint came at 5, the pass after the next is at 15
		if profile == "kubernetes" {
			until(t, w, 10.5)
		}
		require.NoError(t, w.Nodes().Report("n1", corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}))
		until(t, w, 40)
		require.Len(t, secondsOf(w, every[*messages.PodEvicted]), evicted, profile)
	}
}

// Measured on a real kube-controller-manager: the first pod goes after 98.7 s, the last after 148.7 s.
func TestAThousandPodsLeaveANodeAtTheRateOfTheClientOfKubernetes(t *testing.T) {
	for profile, want := range map[string][2]float64{"kubernetes": {98.7, 148.7}, "leeward": {0, 0}} {
		w := ofNodes(t, profile, 3)
		for i := range 1000 {
			pinned(t, w, fmt.Sprintf("p%03d", i), "n1")
		}
		until(t, w, 10)
		require.NoError(t, w.Nodes().Edit(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}}}))
		until(t, w, 300)
		deleted := secondsOf(w, every[*messages.PodDeletionRequested])
		require.Len(t, deleted, 1000, profile)
		require.InDelta(t, 10+want[0], deleted[0], 0.01, profile)
		require.InDelta(t, 10+want[1], deleted[999], 0.1, profile)
		require.Empty(t, w.Nodes().PodsOn("n1"), profile)
	}
}

func TestARestartOfTheControllersOfKubernetesBeginsAgain(t *testing.T) {
	for profile, want := range map[string]struct{ tainted, evicted []float64 }{
		"kubernetes": {[]float64{65.05, 160.05}, []float64{460.05}},
		"leeward":    {[]float64{62}, []float64{362}},
	} {
		w := ofNodes(t, profile, 6)
		pinned(t, w, "web", "n2", tolerate(corev1.TaintNodeUnreachable, 300))
		until(t, w, 12)
		require.NoError(t, w.Nodes().Stop("n2"))
		until(t, w, 160)
		w.Nodes().Restart(w.Now())
		until(t, w, 600)
		require.Equal(t, want.tainted, secondsOf(w, func(f *messages.NodeTaintAdded) bool { return f.Taint.Effect == corev1.TaintEffectNoExecute }), profile)
		require.Equal(t, want.evicted, secondsOf(w, every[*messages.PodEvicted]), profile)
	}
}

// Measured on a real kube-controller-manager: pods of a deleted node were collected after 56.8 s, of 20 s for the check and 40 s of quarantine.
func TestThePodsOfADeletedNodeAreCollected(t *testing.T) {
	for profile, collected := range map[string]float64{"kubernetes": 60, "leeward": 43} {
		w := ofNodes(t, profile, 3)
		pinned(t, w, "a", "n2")
		pinned(t, w, "b", "n2")
		until(t, w, 3)
		require.True(t, w.Delete(api.Key{APIVersion: "v1", Kind: "Node", Name: "n2"}))
		until(t, w, 200)
		require.Equal(t, []float64{collected, collected}, secondsOf(w, every[*messages.PodDeleted]), profile)
		require.Empty(t, w.Nodes().Pods())
	}
}

func TestPodsThatEndOnANodeOutOfServiceAreCollected(t *testing.T) {
	for profile, collected := range map[string]float64{"kubernetes": 120, "leeward": 101} {
		w := ofNodes(t, profile, 3)
		pinned(t, w, "a", "n2")
		until(t, w, 1)
		require.NoError(t, w.Nodes().Stop("n2"))
		until(t, w, 100)
		require.True(t, w.Nodes().DeletePod("shop/a", nil))
		until(t, w, 101)
		require.NotNil(t, w.Nodes().Pod("shop/a"), "no kubelet ends it")
		require.NoError(t, w.Nodes().Edit(&messages.EditNode{Node: "n2", Taint: []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoSchedule}}}))
		until(t, w, 200)
		require.Equal(t, []float64{collected}, secondsOf(w, every[*messages.PodDeleted]), profile)
	}
}

func TestAStatefulPodComesBackUnderItsName(t *testing.T) {
	w := ofNodes(t, "leeward", 3)
	labels := map[string]string{"app": "db"}
	require.NoError(t, w.Apply(&appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		},
	}))
	until(t, w, 10)
	first := w.Nodes().Pod("shop/db-0")
	require.NotNil(t, first)
	require.NoError(t, w.Nodes().Edit(&messages.EditNode{
		Node: messages.NodeName(first.Spec.NodeName), Taint: []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}},
	}))
	until(t, w, 60)
	second := w.Nodes().Pod("shop/db-0")
	require.NotNil(t, second)
	require.NotEqual(t, first.UID, second.UID)
	require.NotEqual(t, first.Spec.NodeName, second.Spec.NodeName)
	require.Equal(t, corev1.PodRunning, second.Status.Phase)
	require.NotNil(t, w.Nodes().Pod("shop/db-1"))
}

// The order of mailboxes changes no state of nodes and pods.
func TestNodesAreConfluent(t *testing.T) {
	var want string
	for interleaving := range uint64(20) {
		settings, err := config.Profile("leeward")
		require.NoError(t, err)
		w := world.New(world.Config{Settings: settings, Seed: 1, Order: kernel.Seeded, Interleaving: interleaving + 1, Nodes: true})
		for i := range 9 {
			require.NoError(t, w.Nodes().Settle(nodeOf(i)))
		}
		require.NoError(t, w.Apply(webDeployment("web", 40)))
		until(t, w, 20)
		for _, dead := range []messages.NodeName{"n1", "n4", "n7"} {
			require.NoError(t, w.Nodes().Stop(dead))
		}
		require.NoError(t, w.Nodes().Edit(&messages.EditNode{Node: "n2", Taint: []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}}}))
		until(t, w, 700)
		require.NoError(t, w.Nodes().Start("n4"))
		require.True(t, w.Delete(api.Key{APIVersion: "v1", Kind: "Node", Name: "n7"}))
		until(t, w, 900)
		var state strings.Builder
		for _, p := range w.Nodes().Pods() {
			o := w.Nodes().Pod(p)
			fmt.Fprintln(&state, p, o.Spec.NodeName, o.Status.Phase, o.DeletionTimestamp)
		}
		for _, n := range w.Nodes().Nodes() {
			fmt.Fprintln(&state, n, w.Nodes().Node(n).Spec.Taints)
		}
		if want == "" {
			want = state.String()
			require.Contains(t, want, "Running")
		}
		require.Equal(t, want, state.String(), "interleaving %d", interleaving)
		w.Close()
	}
}

// A pod that would leave in the instant in which it is bound waits, and its owner does not make one after the other.
func TestPodsWaitWhereTheyWouldLeaveImmediately(t *testing.T) {
	w := ofNodes(t, "leeward", 2)
	web := webDeployment("web", 4)
	web.Spec.Template.Spec.Tolerations = []corev1.Toleration{tolerate("ours", 30)}
	require.NoError(t, w.Apply(web))
	until(t, w, 10)
	ours := []corev1.Taint{{Key: "ours", Effect: corev1.TaintEffectNoExecute}}
	for _, n := range []messages.NodeName{"n1", "n2"} {
		require.NoError(t, w.Nodes().Edit(&messages.EditNode{Node: n, Taint: ours}))
	}
	until(t, w, 100)
	require.Equal(t, []float64{40, 40, 40, 40}, secondsOf(w, every[*messages.PodEvicted]))
	require.Len(t, secondsOf(w, every[*messages.PodBound]), 4)
	require.NoError(t, w.Nodes().Edit(&messages.EditNode{Node: "n1", Untaint: ours}))
	until(t, w, 110)
	require.Len(t, w.Nodes().PodsOn("n1"), 4)
}

func TestANodeMayGoInTheInstantInWhichItComesOrMoves(t *testing.T) {
	w := ofNodes(t, "leeward", 3)
	until(t, w, 1)
	gone := func(n string) { require.True(t, w.Nodes().Delete(api.Key{APIVersion: "v1", Kind: "Node", Name: n})) }
	require.NoError(t, w.Nodes().Edit(&messages.EditNode{Node: "n1", Label: map[string]string{corev1.LabelTopologyZone: "new"}}))
	gone("n1")
	gone("n2")
	require.NoError(t, w.Nodes().Apply(nodeOf(1)))
	gone("n2")
	gone("n3")
	require.NoError(t, w.Nodes().Apply(nodeOf(2)))
	until(t, w, 2)
	require.Equal(t, []messages.NodeName{"n3"}, w.Nodes().Nodes())
	require.Len(t, secondsOf(w, every[*messages.NodeDeleted]), 4)
}
