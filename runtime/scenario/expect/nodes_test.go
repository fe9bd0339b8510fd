package expect_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/runtime/scenario/expect"
)

// objects are nodes and pods as a world of nodes has them: replaced, never changed.
type objects struct {
	nodes  map[messages.NodeName]*corev1.Node
	pods   map[messages.PodName]*corev1.Pod
	owners map[messages.PodName]messages.OwnerName
	// walks counts how often all pods were looked at.
	walks int
}

func (o *objects) Node(name messages.NodeName) *corev1.Node                    { return o.nodes[name] }
func (o *objects) Budget(messages.PodBudgetName) *policyv1.PodDisruptionBudget { return nil }
func (o *objects) Pod(name messages.PodName) *corev1.Pod                       { return o.pods[name] }

func (o *objects) EachPod(yield func(*corev1.Pod, messages.OwnerName) bool) {
	o.walks++
	for name, pod := range o.pods {
		if !yield(pod, o.owners[name]) {
			return
		}
	}
}

// put stores a pod, with a fact about it.
func (o *objects) put(pod *corev1.Pod) messages.Fact {
	name := messages.NamePod(pod.Namespace, pod.Name)
	o.pods[name] = pod
	return &messages.PodDeletionRequested{Pod: name}
}

func newObjects() *objects {
	return &objects{map[messages.NodeName]*corev1.Node{}, map[messages.PodName]*corev1.Pod{}, map[messages.PodName]messages.OwnerName{}, 0}
}

type podOption func(*corev1.Pod)

func aPod(name string, options ...podOption) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for _, change := range options {
		change(pod)
	}
	return pod
}

func running(pod *corev1.Pod)     { pod.Status.Phase = corev1.PodRunning }
func terminating(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: start} }

func on(node string) podOption { return func(pod *corev1.Pod) { pod.Spec.NodeName = node } }

func with(kind corev1.PodConditionType, status corev1.ConditionStatus, message string) podOption {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Message: message})
	}
}

var (
	isReady   = with(corev1.PodReady, corev1.ConditionTrue, "")
	disrupted = with(corev1.DisruptionTarget, corev1.ConditionTrue, "")
	pends     = with(corev1.PodScheduled, corev1.ConditionFalse, "0/2 nodes are available: 2 node(s) had untolerated taint(s).")
)

func expecting(mode expect.Mode, from, until time.Duration, subject expect.Subject) expect.Expectation {
	return expect.Expectation{Mode: mode, From: from, Until: until, Subject: subject}
}

// one judges one expectation on one instant.
func one(t *testing.T, o *objects, subject expect.Subject) expect.Result {
	t.Helper()
	r := play(t, expecting(expect.At, 0, 0, subject))
	r.checker.OfNodes(o)
	r.at(0)
	return r.end(s)[0]
}

func TestNodesHaveTaints(t *testing.T) {
	o := newObjects()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute}}
	o.nodes["n1"] = n
	require.True(t, one(t, o, &expect.Taint{Node: "n1", Key: "k"}).Passed)
	require.True(t, one(t, o, &expect.Taint{Node: "n1", Key: "x", Absent: true}).Passed)
	require.Equal(t, "its taints are k=v:NoExecute", one(t, o, &expect.Taint{Node: "n1", Key: "k", Effect: corev1.TaintEffectNoSchedule}).Reason)
	require.Equal(t, "there is no node n2", one(t, o, &expect.Taint{Node: "n2", Key: "k", Absent: true}).Reason)
	require.Equal(t, "there is no cluster n1", one(t, o, &expect.Taint{Cluster: "n1", Key: "k"}).Reason)
	object := &expect.Object{Key: (&expect.Taint{Node: "n1"}).ObjectKey(), Want: map[string]any{"spec": map[string]any{"taints": []any{map[string]any{"key": "k"}}}}}
	require.True(t, one(t, o, object).Passed)
	object.Key.Name = "n2"
	require.Equal(t, "there is no Node n2", one(t, o, object).Reason)
}

func TestPodsAreWhatTheyAre(t *testing.T) {
	o := newObjects()
	o.put(aPod("up", running, isReady, on("n1")))
	o.put(aPod("going", running, disrupted, terminating, on("n1")))
	o.put(aPod("waiting", pends))
	yes, no := true, false
	n1, nowhere := messages.NodeName("n1"), messages.NodeName("")
	for about, c := range map[string]struct {
		want expect.Pod
		not  string
	}{
		"all of one that runs":       {expect.Pod{Name: "default/up", Phase: "Running", Node: &n1, Ready: &yes, Evicted: &no, Terminating: &no}, ""},
		"another phase":              {expect.Pod{Name: "default/up", Phase: "Pending"}, "it is Running, on n1, ready"},
		"no node":                    {expect.Pod{Name: "default/up", Node: &nowhere}, "it is Running, on n1, ready"},
		"not ready":                  {expect.Pod{Name: "default/up", Ready: &no}, "it is Running, on n1, ready"},
		"unschedulable":              {expect.Pod{Name: "default/up", Unschedulable: "taint"}, "it is Running, on n1, ready"},
		"present":                    {expect.Pod{Name: "default/up"}, ""},
		"absent though it is there":  {expect.Pod{Name: "default/up", Absent: true}, "it is Running, on n1, ready"},
		"absent":                     {expect.Pod{Name: "default/other", Absent: true}, ""},
		"there though it is absent":  {expect.Pod{Name: "default/other", Ready: &no}, "there is no such pod"},
		"one that was evicted":       {expect.Pod{Name: "default/going", Evicted: &yes, Terminating: &yes}, ""},
		"one that was not":           {expect.Pod{Name: "default/going", Evicted: &no}, "it is Running, on n1, not ready, evicted, terminating"},
		"one that is not deleted":    {expect.Pod{Name: "default/going", Terminating: &no}, "it is Running, on n1, not ready, evicted, terminating"},
		"one that waits":             {expect.Pod{Name: "default/waiting", Phase: "Pending", Node: &nowhere, Unschedulable: "untolerated taint"}, ""},
		"one that waits for another": {expect.Pod{Name: "default/waiting", Unschedulable: "Insufficient cpu"}, `it is Pending, not bound, not ready, unschedulable with "0/2 nodes are available: 2 node(s) had untolerated taint(s)."`},
	} {
		got := one(t, o, &c.want)
		require.Equal(t, c.not, got.Reason, about)
		require.Equal(t, c.not == "", got.Passed, about)
	}
	require.Equal(t, "there are no pods", play(t, expecting(expect.At, 0, 0, &expect.Pod{Name: "default/up", Absent: true})).without(), "a fleet has none")
	require.Equal(t, "there are no pods", play(t, expecting(expect.At, 0, 0, &expect.Pods{})).without())
}

// without judges an expectation of a run without nodes.
func (r *run) without() string {
	r.at(0)
	return r.end(s)[0].Reason
}

func TestPodsAreCounted(t *testing.T) {
	o := newObjects()
	o.put(aPod("a", running, isReady, on("n1")))
	o.put(aPod("b", running, on("n2")))
	o.put(aPod("c", running, isReady, disrupted, terminating, on("n1")))
	o.put(aPod("d", pends))
	o.put(aPod("e"))
	o.owners["default/a"], o.owners["default/d"] = "deployment/default/web", "deployment/default/web"
	number := func(of expect.PodState, n int) expect.PodNumber {
		return expect.PodNumber{Of: of, Bounds: expect.Exactly(n)}
	}
	got := one(t, o, &expect.Pods{Wants: []expect.PodNumber{
		number(expect.AllPods, 5), number(expect.RunningPods, 2), number(expect.ReadyPods, 1), number(expect.PendingPods, 2),
		number(expect.UnschedulablePods, 1), number(expect.EvictedPods, 1), number(expect.TerminatingPods, 1),
	}})
	require.True(t, got.Passed, got.Reason)
	require.True(t, one(t, o, &expect.Pods{Of: "deployment/default/web", Wants: []expect.PodNumber{number(expect.AllPods, 2)}}).Passed)
	require.True(t, one(t, o, &expect.Pods{Nodes: []messages.NodeName{"n1", "n3"}, Wants: []expect.PodNumber{number(expect.AllPods, 2)}}).Passed)
	require.True(t, one(t, o, &expect.Pods{Nodes: []messages.NodeName{}, Wants: []expect.PodNumber{number(expect.AllPods, 0)}}).Passed)
	require.True(t, one(t, o, &expect.Pods{Namespace: "shop", Wants: []expect.PodNumber{number(expect.AllPods, 0)}}).Passed)
	require.Equal(t, "there are 2 running, 1 ready", one(t, o, &expect.Pods{Wants: []expect.PodNumber{number(expect.RunningPods, 2), number(expect.ReadyPods, 2)}}).Reason)
}

// What no fact tells of is not looked at again; numbers of pods are looked at in their window only, whose first instant is asked for.
func TestPodsAreLookedAtWhenTheyChange(t *testing.T) {
	o := newObjects()
	pod := &expect.Pod{Name: "default/a", Phase: "Running"}
	count := &expect.Pods{Wants: []expect.PodNumber{{Of: expect.RunningPods, Bounds: expect.Exactly(1)}}}
	r := play(t,
		expecting(expect.Within, 0, 9*s, pod), expecting(expect.Always, 2*s, 3*s, pod), expecting(expect.Never, 0, 9*s, pod),
		expecting(expect.At, 2*s, 2*s, count), expecting(expect.Always, 0, 9*s, count), expecting(expect.Always, 5*s, 9*s, count))
	r.checker.OfNodes(o)
	next := func() time.Duration {
		at, more := r.checker.Next()
		require.True(t, more)
		return at.Sub(start)
	}
	require.Equal(t, 2*s, next())
	r.at(0)
	r.at(1*s, o.put(aPod("a", running)))
	require.Equal(t, 3, o.walks, "one fails at the start, and a pod is looked for that explains it; the others have not begun")
	require.Equal(t, 2*s, next())
	r.at(2 * s)
	r.at(3 * s)
	require.Equal(t, 4, o.walks)
	require.Equal(t, 5*s, next())
	r.at(5 * s)
	r.at(6*s, o.put(aPod("a")))
	_, more := r.checker.Next()
	require.False(t, more)
	results := r.end(9 * s)
	for i, passed := range []bool{true, true, false, true, false, false} {
		require.Equal(t, passed, results[i].Passed, results[i].Text+results[i].Reason)
	}
	for i, at := range map[int]float64{0: 1, 2: 1, 4: 0, 5: 6} {
		require.Equal(t, at, results[i].At)
	}
}

// The pod that a number of pods is explained by is one of those that are too many, or one that is missing from those that are too few.
func TestANumberOfPodsIsAboutOneOfThem(t *testing.T) {
	o := newObjects()
	for name, options := range map[string][]podOption{"a": {running, isReady, on("n1")}, "b": {running, on("n1")}, "c": {pends}} {
		o.put(aPod(name, options...))
	}
	for name, c := range map[string]struct {
		of    expect.PodState
		wants expect.Bounds
		nodes []messages.NodeName
	}{
		"a": {of: expect.ReadyPods, wants: expect.Exactly(0)},
		"b": {of: expect.ReadyPods, wants: expect.Exactly(2), nodes: []messages.NodeName{"n1"}},
		"c": {of: expect.RunningPods, wants: expect.Exactly(3)},
		"":  {of: expect.AllPods, wants: expect.Exactly(4)},
	} {
		pods := &expect.Pods{Nodes: c.nodes, Wants: []expect.PodNumber{{Of: c.of, Bounds: c.wants}}}
		require.Equal(t, name, one(t, o, pods).About.Name)
	}
}

func TestRunsShareAnExpectation(t *testing.T) {
	pods := &expect.Pods{Nodes: []messages.NodeName{"n1", "n2"}, Wants: []expect.PodNumber{{Of: expect.AllPods, Bounds: expect.Exactly(1)}}}
	for range 4 {
		t.Run("run", func(t *testing.T) {
			t.Parallel()
			o := newObjects()
			o.put(aPod("a", on("n2")))
			require.True(t, one(t, o, pods).Passed)
		})
	}
}
