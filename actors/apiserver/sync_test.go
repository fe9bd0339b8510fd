package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/actorstest"
	"leeward/actors/apiserver"
	"leeward/messages"
)

// following is a server that follows another one, which has the node n1.
func following(t *testing.T) *driver {
	t.Helper()
	d := drive(t, apiserver.Rules{Follows: true, StampTaints: true})
	d.Tell(synced("n1"))
	require.Equal(t, []string{"NodeRegistered n1"}, d.facts())
	d.server.TakeEdits()
	return d
}

func synced(name string, taints ...corev1.Taint) *messages.NodeSynced {
	o := node(name, taints...).Object
	o.UID = "1"
	return &messages.NodeSynced{Node: messages.NodeName(name), Object: o}
}

func syncedPod(uid, node string, edit func(*corev1.Pod)) *messages.PodSynced {
	o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "web", UID: "1", Labels: map[string]string{"app": "web"}}, Spec: *template}
	o.Spec.NodeName, o.Status.Phase = node, corev1.PodRunning
	if edit != nil {
		edit(o)
	}
	return &messages.PodSynced{Pod: "d/web", Object: o}
}

func TestWhatOthersChangeOfANodeIsTold(t *testing.T) {
	d := following(t)
	d.Tell(synced("n1", maintenance))
	require.Equal(t, []string{"NodeTaintAdded n1"}, d.facts())
	require.NotNil(t, d.server.Node("n1").Spec.Taints[0].TimeAdded)
	require.True(t, d.server.TakeEdits().Nodes["n1"], "the time must be written")

	m := synced("n1")
	m.Object.Labels, m.Object.Spec.Unschedulable = map[string]string{"a": "b"}, true
	m.Object.Status.Conditions[0].Status = corev1.ConditionFalse
	d.Tell(m)
	require.Equal(t, []string{"NodeLabelsChanged n1", "NodeCordoned n1", "NodeTaintRemoved n1", "NodeConditionChanged n1"}, d.facts())

	m = synced("n1")
	m.Object.UID = "2"
	d.Tell(m)
	require.Equal(t, []string{"NodeDeleted n1", "NodeRegistered n1"}, d.facts(), "another node of that name")
	d.Tell(&messages.NodeSynced{Node: "n1"})
	require.Equal(t, []string{"NodeDeleted n1"}, d.facts())
	d.Tell(&messages.NodeSynced{Node: "n1"})
	require.Empty(t, d.facts())
}

func TestWhatANodeAndAPodComeWithIsTold(t *testing.T) {
	d := following(t)
	m := synced("n2", corev1.Taint{Key: "gpu", Effect: corev1.TaintEffectNoSchedule})
	m.Object.Labels = map[string]string{corev1.LabelTopologyZone: "a"}
	m.Object.Spec.Unschedulable, m.Object.Status.Conditions[0].Status = true, corev1.ConditionUnknown
	d.Tell(m)
	require.Equal(t, []messages.Fact{&messages.NodeRegistered{Node: "n2", Zone: "a", Taints: m.Object.Spec.Taints, Unschedulable: true, Ready: corev1.ConditionUnknown}}, d.Facts())

	d.Tell(syncedPod("1", "n1", func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	}))
	require.Equal(t, []messages.Fact{&messages.PodCreated{Pod: "d/web", Node: "n1", Phase: corev1.PodRunning, Ready: true}}, d.Facts())
	d.Tell(&messages.PodSynced{Pod: "d/web"}, create("d/p", "1"))
	require.Equal(t, &messages.PodCreated{Pod: "d/p", Owner: owner}, d.Facts()[len(d.Facts())-1], "Pending goes without saying")
}

func TestWhatOthersChangeOfAPodIsTold(t *testing.T) {
	d := following(t)
	d.Tell(syncedPod("1", "", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))
	require.Equal(t, []string{"PodCreated d/web"}, d.facts())
	d.Tell(syncedPod("1", "n1", nil))
	require.Equal(t, []string{"PodBound d/web", "PodPhaseChanged d/web"}, d.facts())
	require.Equal(t, []messages.PodName{"d/web"}, d.server.PodsOn("n1"))
	require.NotContains(t, d.mail(), "kubelet/n1: KubeletPod", "kubelets are real")

	d.Tell(syncedPod("1", "n1", func(p *corev1.Pod) {
		now := metav1.Now()
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &now, new(int64)
	}))
	require.Equal(t, []string{"PodDeletionRequested d/web"}, d.facts())
	d.Tell(&messages.PodSynced{Pod: "d/web"})
	require.Equal(t, []string{"PodDeleted d/web"}, d.facts())
	require.Empty(t, d.server.TakeEdits().RemovedPods, "there it is gone already")

	d.Tell(syncedPod("1", "gone", nil))
	d.Tell(synced("gone"))
	require.Equal(t, []messages.PodName{"d/web"}, d.server.PodsOn("gone"), "its node comes after it")
}

func TestWhatIsDecidedIsAmongTheEdits(t *testing.T) {
	d := following(t)
	d.Tell(syncedPod("1", "n1", nil))
	d.server.TakeEdits()
	d.Tell(&messages.DeletePod{Pod: "d/web", Cause: "a test"})
	e := d.server.TakeEdits()
	require.True(t, e.Pods["d/web"], "it has 30 seconds to end")
	require.Empty(t, e.RemovedPods)
	d.Tell(&messages.DeletePod{Pod: "d/web", GracePeriodSeconds: new(int64), Cause: "a test"})
	e = d.server.TakeEdits()
	require.Empty(t, e.Pods)
	require.EqualValues(t, "1", e.RemovedPods["d/web"].UID)
	require.Nil(t, drive(t, apiserver.Rules{}).server.TakeEdits(), "no other server is followed")
}

func TestABudgetIsAsTheOtherServerStoresIt(t *testing.T) {
	d := following(t)
	d.Tell(syncedPod("1", "n1", func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}))
	none := intstr.FromInt32(0)
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "b", Generation: 1}}
	b.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: &none, Selector: &metav1.LabelSelector{}}
	d.Tell(&messages.PodBudgetSynced{Budget: "d/b", Object: b})
	require.EqualValues(t, 1, d.server.Budget("d/b").Status.DisruptionsAllowed)

	spent := d.server.Budget("d/b").DeepCopy()
	spent.Status.DisruptionsAllowed, spent.Status.DisruptedPods = 0, map[string]metav1.Time{"web": {Time: actorstest.Start}}
	d.server.TakeEdits()
	d.Tell(&messages.PodBudgetSynced{Budget: "d/b", Object: spent})
	require.Zero(t, d.server.Budget("d/b").Status.DisruptionsAllowed, "an eviction was allowed there")
	require.Contains(t, d.server.Budget("d/b").Status.DisruptedPods, "web")
	d.Tell(&messages.PodBudgetSynced{Budget: "d/b"})
	require.Nil(t, d.server.Budget("d/b"))
}
