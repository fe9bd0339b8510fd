package viewer

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/runtime/scenario/replay"
)

var unreachable = corev1.Taint{Key: "node.kubernetes.io/unreachable", Effect: corev1.TaintEffectNoExecute}

// nodeLost is a run in which the node a1 is lost: web-1 is evicted from it when its toleration ends, and web-2 takes its place on b1.
func nodeLost() *replay.Run {
	seconds := int64(300)
	tolerates := corev1.Toleration{Key: unreachable.Key, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
	deadline := start.Add(6 * time.Minute)
	running := func(pod messages.PodName, node messages.NodeName, ready bool) messages.Fact {
		return &messages.PodPhaseChanged{Pod: pod, Node: node, Phase: corev1.PodRunning, Ready: ready}
	}
	return ran(
		happening{0, &messages.NodeRegistered{Node: "b1", Zone: "b"}},
		happening{0, &messages.NodeRegistered{Node: "a1", Zone: "a"}},
		happening{0, &messages.PodCreated{Pod: "d/web-1", Owner: "deployment/d/web"}},
		happening{0, &messages.PodBound{Pod: "d/web-1", Node: "a1"}},
		happening{time.Second, running("d/web-1", "a1", true)},
		happening{time.Minute, &messages.NodeConditionChanged{Node: "a1", Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", By: "node lifecycle"}},
		happening{time.Minute, running("d/web-1", "a1", false)},
		happening{time.Minute, &messages.NodeTaintAdded{Node: "a1", Taint: unreachable, Because: "Ready=Unknown"}},
		happening{time.Minute, &messages.PodEvictionScheduled{Pod: "d/web-1", Node: "a1", Deadline: deadline, Taint: unreachable, Toleration: tolerates}},
		happening{6 * time.Minute, &messages.PodEvicted{Pod: "d/web-1", Node: "a1", Deadline: deadline, Taint: unreachable, Toleration: &tolerates}},
		happening{6 * time.Minute, &messages.PodDeletionRequested{Pod: "d/web-1", Node: "a1", GracePeriodSeconds: 30}},
		happening{6 * time.Minute, &messages.PodCreated{Pod: "d/web-2", Owner: "deployment/d/web"}},
		happening{6 * time.Minute, &messages.PodUnschedulable{Pod: "d/web-2", Message: "0/2 nodes are available"}},
		happening{7 * time.Minute, &messages.PodBound{Pod: "d/web-2", Node: "b1"}},
		happening{8 * time.Minute, running("d/web-2", "b1", true)},
		happening{9 * time.Minute, &messages.PodDeleted{Pod: "d/web-1", Node: "a1"}},
	)
}

func TestNodesAndPodsHaveTheirPlaces(t *testing.T) {
	r := Of(nodeLost())
	require.Equal(t, []string{"a1", "b1"}, []string{r.Nodes[0].Name, r.Nodes[1].Name})
	require.Equal(t, "a", r.Nodes[0].Zone)
	require.Equal(t, "deployment/d/web", r.Strings[r.Pods[0].Owner])
	require.Equal(t, []int{0}, r.Pods[0].Nodes)
	require.Equal(t, []int{1}, r.Pods[1].Nodes)
	require.Equal(t, []Outcome{Evicted, Created}, []Outcome{r.Pods[0].Outcome, r.Pods[1].Outcome})
	tainted, scheduled := find(t, r, "NodeTaintAdded"), find(t, r, "PodEvictionScheduled")
	require.Equal(t, []int{0, -1, -1, 0}, []int{r.Facts.Node[tainted], r.Facts.Pod[tainted], r.Facts.Node[scheduled], r.Facts.Pod[scheduled]})
	require.Equal(t, "eviction scheduled a1", r.Strings[r.Facts.Text[scheduled]], "without the pod, which is told apart")
	require.Equal(t, 360_000, r.Facts.Due[scheduled])
	require.Len(t, r.Facts.Pod, len(r.Facts.At))
}

func TestARunWithoutNodesHasNoColumnsOfThem(t *testing.T) {
	r := Of(ran(happening{time.Second, &messages.Restarted{}}))
	require.Nil(t, r.Facts.Node)
	require.Nil(t, r.PodStates.At)
}

func TestAReasonOfNodesAndPodsHasItsPartsApart(t *testing.T) {
	r := Of(nodeLost())
	eviction := []string{"node a1", "taint node.kubernetes.io/unreachable:NoExecute", "condition Ready=Unknown",
		"toleration node.kubernetes.io/unreachable:NoExecute for 300s", "deadline 00:06:00"}
	for kind, want := range map[string][]string{
		"NodeConditionChanged": {"condition Ready=Unknown", "reason NodeStatusUnknown", "reported by node lifecycle"},
		"NodeTaintAdded":       {"taint node.kubernetes.io/unreachable:NoExecute", "condition Ready=Unknown"},
		"PodEvictionScheduled": eviction,
		"PodEvicted":           eviction,
		"PodDeletionRequested": {"grace period 30s"},
		"PodUnschedulable":     {"message 0/2 nodes are available"},
		"PodBound":             nil,
	} {
		require.Equal(t, want, because(r, find(t, r, kind)), kind)
	}
	var many []messages.PodName
	for i := range 57 {
		many = append(many, messages.PodName(fmt.Sprint("d/", i)))
	}
	r = Of(ran(
		happening{0, &messages.NodeTaintAdded{Node: "a1", Taint: unreachable, Because: "by user"}},
		happening{0, &messages.PodEvicted{Pod: "d/web-1", Node: "a1", Taint: unreachable}},
		happening{0, &messages.NodeDrainFailed{Node: "a1", Error: "timed out", Pending: many}},
		happening{0, &messages.PodEvictionBlocked{Pod: "d/0", Node: "a1", By: "drain", Budget: "d/b", Error: "refused", Detail: "needs 2 and has 2"}},
	))
	require.Equal(t, []string{"node a1", "taint node.kubernetes.io/unreachable:NoExecute", "set by user", "toleration none matches"}, because(r, 1))
	require.Len(t, because(r, 2), 52)
	require.Equal(t, "remains 7 more", because(r, 2)[51])
	require.Equal(t, []string{"blocked by d/b", "message refused", "detail needs 2 and has 2", "evicted by drain"}, because(r, 3))
}

func TestPodsAreCountedOverTime(t *testing.T) {
	c := Of(nodeLost()).PodStates
	require.Equal(t, []int{0, 1000, 60_000, 360_000, 480_000, 540_000}, c.At)
	require.Equal(t, []int{0, 1, 1, 0, 1, 1}, c.Running)
	require.Equal(t, []int{0, 1, 0, 0, 1, 1}, c.Ready)
	require.Equal(t, []int{1, 0, 0, 1, 0, 0}, c.Pending)
	require.Equal(t, []int{0, 0, 0, 1, 1, 0}, c.Terminating)
}

func TestNodesAndPodsBeyondTheLimitAreCounted(t *testing.T) {
	r := of(nodeLost(), limits{facts: 1 << 20, workloads: 1, instants: 3})
	require.Equal(t, Omitted{Nodes: 1, Pods: 1}, r.Omitted)
	require.Len(t, r.Nodes, 1)
	require.Len(t, r.Pods, 1)
	require.LessOrEqual(t, len(r.PodStates.At), 3)
	bound := find(t, r, "PodUnschedulable")
	require.Equal(t, -1, r.Facts.Pod[bound])
	require.Equal(t, "pod d/web-2 unschedulable", r.Strings[r.Facts.Text[bound]], "which then says what it is about")
}

func TestAnOutcomeOfAPodIsTheWorstInTheEnd(t *testing.T) {
	const pod, n1 = "d/web-1", "n1"
	runs := happening{0, &messages.PodCreated{Pod: pod, Node: n1, Phase: corev1.PodRunning, Ready: true}}
	deleted := happening{time.Second, &messages.PodDeletionRequested{Pod: pod, Node: n1}}
	gone := happening{2 * time.Second, &messages.PodDeleted{Pod: pod, Node: n1}}
	evicted := happening{time.Second, &messages.PodEvicted{Pod: pod, Node: n1}}
	for _, c := range []struct {
		then []happening
		want Outcome
	}{
		{nil, Unchanged},
		{[]happening{{time.Second, &messages.PodEvictionScheduled{Pod: pod, Node: n1}}}, Scheduled},
		{[]happening{{time.Second, &messages.PodEvictionBlocked{Pod: pod, Node: n1}}}, Blocked},
		{[]happening{{time.Second, &messages.PodPhaseChanged{Pod: pod, Node: n1, Phase: corev1.PodRunning}}}, Unhealthy},
		{[]happening{{time.Second, &messages.PodPhaseChanged{Pod: pod, Node: n1, Phase: corev1.PodSucceeded}}}, Finished},
		{[]happening{evicted}, Evicting},
		{[]happening{deleted}, Terminating},
		{[]happening{deleted, gone}, Deleted},
		{[]happening{evicted, {1500 * time.Millisecond, deleted.fact}, gone}, Evicted},
		{[]happening{deleted, gone, {3 * time.Second, &messages.PodCreated{Pod: pod}}}, Pending},
		{[]happening{deleted, gone, {3 * time.Second, &messages.PodCreated{Pod: pod}}, {3 * time.Second, &messages.PodUnschedulable{Pod: pod}}}, Unschedulable},
		{[]happening{deleted, gone, {3 * time.Second, &messages.PodCreated{Pod: pod, Node: n1}}, {4 * time.Second, &messages.PodPhaseChanged{Pod: pod, Phase: corev1.PodRunning, Ready: true}}}, Created},
	} {
		require.Equal(t, c.want, Of(ran(append([]happening{runs}, c.then...)...)).Pods[0].Outcome, c.want)
	}
}
