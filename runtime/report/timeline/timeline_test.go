package timeline

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// happening is a fact and when it happened.
type happening struct {
	at   time.Duration
	fact messages.Fact
}

// told returns the timeline of what happened, a line for each lane: its name and its bars.
func told(happenings ...happening) string {
	j := journal.New(start)
	for _, h := range happenings {
		j.Append(start.Add(h.at), messages.Address{}, h.fact)
	}
	t := Of(start, j.Entries())
	var lines []string
	for _, l := range slices.Concat([]*Lane{t.Inputs, t.Governor}, t.Clusters, t.Bindings, t.Nodes, t.Pods) {
		lines = append(lines, l.told("")...)
	}
	return strings.Join(lines, "\n")
}

func (l *Lane) told(above string) (lines []string) {
	line := above + l.Name + ":"
	for _, track := range l.Tracks {
		for _, b := range track.Bars {
			line += fmt.Sprintf(" %s %s-", b.Kind, span.String(b.From.Sub(start)))
			if !b.To.IsZero() {
				line += span.String(b.To.Sub(start))
			}
		}
	}
	if line != "inputs:" && line != "governor:" {
		lines = append(lines, line)
	}
	for _, on := range l.Lanes {
		lines = append(lines, on.told(l.Name+" on ")...)
	}
	return lines
}

func on(clusters ...string) []api.TargetCluster {
	targets := make([]api.TargetCluster, len(clusters))
	for i, c := range clusters {
		targets[i] = api.TargetCluster{Name: c, Replicas: 2}
	}
	return targets
}

var down = corev1.Taint{Key: "down", Effect: corev1.TaintEffectNoExecute}

func TestWhatLastsIsABar(t *testing.T) {
	const web, m1 = "d/web", "m1"
	placed := happening{0, &messages.Scheduled{Binding: web, Clusters: on("m1", "m2")}}
	leaves := happening{2 * time.Second, &messages.EvictionStarted{Binding: web, Cluster: m1}}
	elsewhere := happening{2 * time.Second, &messages.Scheduled{Binding: web, Clusters: on("m2", "m3")}}
	for _, c := range []struct {
		name string
		told []happening
		want []string
	}{
		{"a cluster has a lane before anything happens to it", []happening{
			{0, &messages.ObjectApplied{Object: "Cluster m1", Created: true}},
		}, []string{"m1:"}},
		{"what is there from the beginning needs no mark", []happening{
			{0, &messages.ObjectApplied{Object: "Deployment d/web", Created: true}},
			{time.Second, &messages.ObjectApplied{Object: "Deployment d/api", Created: true}},
			{2 * time.Second, &messages.Restarted{}},
		}, []string{"inputs: mark 1s-1s warning 2s-2s"}},
		{"a condition lasts until it is another one", []happening{
			{time.Second, &messages.ConditionChanged{Cluster: m1, Type: "Ready", Status: "False"}},
			{3 * time.Second, &messages.ConditionChanged{Cluster: m1, Type: "Ready", Status: "True"}},
			{4 * time.Second, &messages.ConditionChanged{Cluster: m1, Type: "Disk", Status: "True"}},
			{5 * time.Second, &messages.ConditionRemoved{Cluster: m1, Type: "Disk"}},
		}, []string{"m1: bad 1s-3s good 3s- neutral 4s-5s"}},
		{"a taint is told by its effect", []happening{
			{time.Second, &messages.TaintAdded{Cluster: m1, Taint: down}},
			{time.Second, &messages.TaintAdded{Cluster: m1, Taint: corev1.Taint{Key: "down", Effect: corev1.TaintEffectNoSchedule}}},
			{2 * time.Second, &messages.TaintAdopted{Cluster: m1, Taint: down}},
			{3 * time.Second, &messages.TaintRemoved{Cluster: m1, Taint: down}},
			{4 * time.Second, &messages.TaintAdopted{Cluster: m1, Taint: down}},
		}, []string{"m1: noExecute 1s-3s noSchedule 1s-"}},
		{"silence ends when the agent is back", []happening{
			{time.Second, &messages.HeartbeatStopped{Cluster: m1}},
			{2 * time.Second, &messages.HeartbeatReturned{Cluster: m1}},
		}, []string{"m1: bad 1s-2s"}},
		{"an outage lasts, and so does what it takes from users", []happening{
			{time.Second, &messages.OutageBegan{Cluster: m1, Outage: messages.OutagePower}},
			{time.Second, &messages.AvailabilityChanged{Binding: "d/web", Cluster: m1, Before: 2, Outage: messages.OutagePower}},
			{2 * time.Second, &messages.OutageEnded{Cluster: m1, Outage: messages.OutagePower}},
			{3 * time.Second, &messages.AvailabilityChanged{Binding: "d/web", Cluster: m1, Available: 2}},
			{4 * time.Second, &messages.AvailabilityChanged{Binding: "d/web", Cluster: m1, Available: 1, Before: 2}},
		}, []string{"m1: bad 1s-2s", "d/web:", "d/web on m1: unhealthy 1s-3s"}},
		{"the governor is in one state after the other", []happening{
			{time.Second, &messages.GovernorChanged{State: "Slow", EvictionsPerSecond: new(float64)}},
			{2 * time.Second, &messages.GovernorChanged{Region: "eu", State: "Slow", EvictionsPerSecond: new(float64)}},
			{3 * time.Second, &messages.GovernorChanged{State: "Normal"}},
		}, []string{"governor: slowed 1s-3s good 3s- slowed 2s-"}},
		{"a breaker has a track of its own, and permits have none", []happening{
			{time.Second, &messages.EvictionsPermitted{}},
			{time.Second, &messages.BreakerChanged{State: "Open"}},
			{2 * time.Second, &messages.BreakerChanged{Region: "eu", State: "HalfOpen"}},
			{3 * time.Second, &messages.BreakerChanged{State: "Closed"}},
			{4 * time.Second, &messages.BreakerChanged{Priority: new(int32), State: "Open"}},
		}, []string{"governor: slowed 1s-3s good 3s- slowed 2s- slowed 4s-"}},
		{"a drain lasts until the cluster is empty", []happening{
			{1 * time.Second, &messages.DrainProgressed{Cluster: m1, Drain: api.Drain{Bindings: 2, Left: 2}}},
			{2 * time.Second, &messages.DrainProgressed{Cluster: m1, Drain: api.Drain{Bindings: 2, Left: 1}}},
			{3 * time.Second, &messages.DrainProgressed{Cluster: m1, Drain: api.Drain{Bindings: 2}}},
			{4 * time.Second, &messages.DrainProgressed{Cluster: m1, Drain: api.Drain{Bindings: 1, Left: 1}}},
			{5 * time.Second, &messages.DrainEnded{Cluster: m1}},
		}, []string{"m1: neutral 1s-3s neutral 4s-5s"}},
		{"nothing outlives its cluster", []happening{
			{time.Second, &messages.ClusterLeaving{Cluster: m1}},
			{2 * time.Second, &messages.TaintAdded{Cluster: m1, Taint: down}},
			{3 * time.Second, &messages.ClusterRemoved{Cluster: m1}},
		}, []string{"m1: mark 3s-3s evicting 1s-3s noExecute 2s-3s"}},
		{"a binding has a lane for each of its clusters", []happening{placed},
			[]string{"d/web: mark 0s-0s", "d/web on m1: placed 0s-", "d/web on m2: placed 0s-"}},
		{"bindings stand by their names, clusters as they come", []happening{
			{0, &messages.Scheduled{Binding: "d/b", Clusters: on("m2", "m1")}}, {0, &messages.Scheduled{Binding: "d/a"}},
		}, []string{"d/a: mark 0s-0s", "d/b: mark 0s-0s", "d/b on m2: placed 0s-", "d/b on m1: placed 0s-"}},
		{"another share is another bar", []happening{placed,
			{time.Second, &messages.Scheduled{Binding: web, Clusters: []api.TargetCluster{{Name: "m1"}, {Name: "m2", Replicas: 2}}}},
		}, []string{"d/web: mark 0s-0s mark 1s-1s", "d/web on m1: placed 0s-1s placed 1s-", "d/web on m2: placed 0s-"}},
		{"a countdown becomes a handover", []happening{placed,
			{time.Second, &messages.EvictionScheduled{Binding: web, Cluster: m1}}, leaves, elsewhere,
			{3 * time.Second, &messages.EvictionEnded{Binding: web, Cluster: m1, Reason: messages.EndedHealthy}},
		}, []string{"d/web: mark 0s-0s mark 2s-2s", "d/web on m1: placed 0s-2s countdown 1s-2s evicting 2s-3s",
			"d/web on m2: placed 0s-", "d/web on m3: placed 2s-"}},
		{"what is held may stay again", []happening{placed,
			{time.Second, &messages.EvictionScheduled{Binding: web, Cluster: m1}},
			{2 * time.Second, &messages.EvictionBlocked{Binding: web, Cluster: m1, Reason: "NoClusterFit"}},
			{3 * time.Second, &messages.EvictionBlocked{Binding: web, Cluster: m1, Reason: "NoClusterFit"}},
			{4 * time.Second, &messages.EvictionBlocked{Binding: web, Cluster: m1, Reason: "Paused"}},
			{5 * time.Second, &messages.EvictionCancelled{Binding: web, Cluster: m1}},
		}, []string{"d/web: mark 0s-0s", "d/web on m1: placed 0s- countdown 1s-2s blocked 2s-4s blocked 4s-5s", "d/web on m2: placed 0s-"}},
		{"an eviction may be withdrawn", []happening{placed, leaves, elsewhere,
			{3 * time.Second, &messages.EvictionWithdrawn{Binding: web, Cluster: m1, Clusters: on("m1", "m2")}},
		}, []string{"d/web: mark 0s-0s mark 2s-2s", "d/web on m1: placed 0s-2s placed 3s- evicting 2s-3s",
			"d/web on m2: placed 0s-", "d/web on m3: placed 2s-3s"}},
		{"a copy that is kept is part of its handover", []happening{placed, leaves,
			{3 * time.Second, &messages.HandoverBlocked{Binding: web, Cluster: m1}},
			{4 * time.Second, &messages.EvictionEnded{Binding: web, Cluster: m1}},
			{5 * time.Second, &messages.ReplicasReleased{Binding: web, Cluster: m1}},
		}, []string{"d/web: mark 0s-0s", "d/web on m1: mark 5s-5s placed 0s-2s evicting 2s-4s", "d/web on m2: placed 0s-"}},
		{"no place is a warning, and may be the end of the old one", []happening{placed,
			{time.Second, &messages.ScheduleFailed{Binding: web, Reason: "NoClusterFit"}},
			{2 * time.Second, &messages.ScheduleFailed{Binding: web, Reason: "NoClusterFit", Cleared: true}},
		}, []string{"d/web: mark 0s-0s warning 1s-1s warning 2s-2s unschedulable 1s-2s unschedulable 2s-", "d/web on m1: placed 0s-2s", "d/web on m2: placed 0s-2s"}},
		{"descheduled replicas are gone at once", []happening{placed,
			{time.Second, &messages.BindingDescheduled{Binding: web, Cluster: m1, Clusters: on("m2")}},
		}, []string{"d/web: mark 0s-0s", "d/web on m1: mark 1s-1s placed 0s-1s", "d/web on m2: placed 0s-"}},
		{"a copy is told by its health", []happening{
			{0, &messages.CopyStarted{Binding: web, Cluster: m1}},
			{0, &messages.HealthChanged{Binding: web, Cluster: m1, Health: api.Unhealthy, Starting: start}},
			{1 * time.Second, &messages.HealthChanged{Binding: web, Cluster: m1, Health: api.Healthy}},
			{2 * time.Second, &messages.HealthChanged{Binding: web, Cluster: m1, Health: api.Healthy, Ready: 2}},
			{3 * time.Second, &messages.HealthChanged{Binding: web, Cluster: m1, Health: api.Unhealthy}},
			{4 * time.Second, &messages.HealthChanged{Binding: web, Cluster: m1, Health: api.Unknown}},
			{5 * time.Second, &messages.CopyStopped{Binding: web, Cluster: m1}},
			{6 * time.Second, &messages.HealthForgotten{Binding: web, Cluster: m1}},
		}, []string{"d/web:", "d/web on m1: starting 0s-1s healthy 1s-3s unhealthy 3s-4s unknown 4s-5s"}},
		{"a copy that stays behind is nobody's", []happening{
			{0, &messages.CopyStarted{Binding: web, Cluster: m1}},
			{time.Second, &messages.CopyPreserved{Binding: web, Cluster: m1}},
		}, []string{"d/web:", "d/web on m1: mark 1s-1s starting 0s-1s"}},
		{"nothing outlives its binding", []happening{placed,
			{time.Second, &messages.BindingDeleted{Binding: web}},
		}, []string{"d/web: mark 0s-0s mark 1s-1s", "d/web on m1: placed 0s-1s", "d/web on m2: placed 0s-1s"}},
		{"what began at an instant and is another thing at once never was", []happening{
			{0, &messages.CopyStarted{Binding: web, Cluster: m1}},
			{0, &messages.HealthChanged{Binding: web, Cluster: m1, Health: api.Healthy}},
		}, []string{"d/web:", "d/web on m1: healthy 0s-"}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, strings.Join(c.want, "\n"), told(c.told...)) })
	}
}

func TestABarHasItsFacts(t *testing.T) {
	j := journal.New(start)
	cause := api.TaintCause{Policy: "p", Because: "Ready=False"}
	j.Append(start, messages.Address{}, &messages.TaintAdded{Cluster: "m1", Taint: down, Cause: cause})
	j.Append(start.Add(time.Second), messages.Address{}, &messages.TaintRemoved{Cluster: "m1", Taint: down, Cause: api.TaintCause{By: "user"}})
	b := Of(start, j.Entries()).Clusters[0].Tracks[0].Bars[0]
	require.Equal(t, "down:NoExecute", b.Label)
	require.Equal(t, []int{0, 1}, b.Facts)
}

func TestWhatLastsOfNodesAndPodsIsABar(t *testing.T) {
	const n1, pod = "n1", "d/web-1"
	condition := func(at time.Duration, of corev1.NodeConditionType, is corev1.ConditionStatus) happening {
		return happening{at, &messages.NodeConditionChanged{Node: n1, Type: of, Status: is, By: "kubelet"}}
	}
	running := []happening{
		{0, &messages.PodCreated{Pod: pod, Owner: "deployment/d/web"}},
		{0, &messages.PodBound{Pod: pod, Node: n1}},
		{time.Second, &messages.PodPhaseChanged{Pod: pod, Node: n1, Phase: corev1.PodRunning, Ready: true}},
	}
	const runs = "d/web-1: pending 0s-1s running 1s-"
	scheduled := happening{2 * time.Second, &messages.PodEvictionScheduled{Pod: pod, Node: n1, Deadline: start.Add(time.Minute), Taint: down}}
	blocked := happening{3 * time.Second, &messages.PodEvictionBlocked{Pod: pod, Node: n1, By: "drain", Budget: "d/b"}}
	for _, c := range []struct {
		name string
		told []happening
		want string
	}{
		{"a node has what it came with", []happening{
			{0, &messages.NodeRegistered{Node: n1, Zone: "a", Unschedulable: true, Ready: corev1.ConditionUnknown, Taints: []corev1.Taint{down}}},
		}, "n1: neutral 0s- bad 0s- noExecute 0s-"},
		{"a node that came well has no bar", []happening{{0, &messages.NodeRegistered{Node: n1, Ready: corev1.ConditionTrue}}}, "n1:"},
		{"Ready lasts until it is another, other conditions while they are True", []happening{
			condition(time.Second, corev1.NodeReady, corev1.ConditionUnknown), condition(time.Second, corev1.NodeMemoryPressure, corev1.ConditionUnknown),
			condition(2*time.Second, corev1.NodeReady, corev1.ConditionFalse), condition(3*time.Second, corev1.NodeMemoryPressure, corev1.ConditionTrue),
			condition(4*time.Second, corev1.NodeReady, corev1.ConditionTrue), condition(5*time.Second, corev1.NodeMemoryPressure, corev1.ConditionFalse),
		}, "n1: mark 1s-1s mark 2s-2s mark 3s-3s mark 4s-4s mark 5s-5s bad 1s-2s bad 2s-4s good 4s- neutral 3s-5s"},
		{"a node waits for a taint until it has it", []happening{
			{time.Second, &messages.NodeTaintQueued{Node: n1, Taint: down}},
			{2 * time.Second, &messages.NodeTaintAdded{Node: n1, Taint: corev1.Taint{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}},
			{3 * time.Second, &messages.NodeTaintAdded{Node: n1, Taint: down}},
			{4 * time.Second, &messages.NodeTaintRemoved{Node: n1, Taint: down}},
		}, "n1: mark 2s-2s mark 3s-3s mark 4s-4s slowed 1s-3s noSchedule 2s- noExecute 3s-4s"},
		{"a node that has its taint in the same instant did not wait", []happening{
			{time.Second, &messages.NodeTaintQueued{Node: n1, Taint: down}}, {time.Second, &messages.NodeTaintAdded{Node: n1, Taint: down}},
		}, "n1: mark 1s-1s noExecute 1s-"},
		{"a node that is Ready again waits for no taint", []happening{
			{time.Second, &messages.NodeTaintQueued{Node: n1, Taint: down}}, condition(2*time.Second, corev1.NodeReady, corev1.ConditionTrue),
		}, "n1: mark 2s-2s slowed 1s-2s good 2s-"},
		{"a kubelet is stopped, a node cordoned and drained", []happening{
			{time.Second, &messages.KubeletStopped{Node: n1}}, {2 * time.Second, &messages.KubeletReturned{Node: n1}},
			{3 * time.Second, &messages.NodeCordoned{Node: n1}}, {3 * time.Second, &messages.NodeDrainStarted{Node: n1}},
			{4 * time.Second, &messages.NodeDrained{Node: n1}}, {5 * time.Second, &messages.NodeUncordoned{Node: n1}},
		}, "n1: warning 1s-1s mark 2s-2s mark 3s-3s mark 4s-4s mark 5s-5s bad 1s-2s neutral 3s-5s evicting 3s-4s"},
		{"nothing outlives its node", []happening{
			{time.Second, &messages.NodeTaintAdded{Node: n1, Taint: down}}, {2 * time.Second, &messages.NodeDeleted{Node: n1}},
		}, "n1: mark 1s-1s mark 2s-2s noExecute 1s-2s"},
		{"a pod is pending until it runs, and ready or not", append(slices.Clone(running),
			happening{2 * time.Second, &messages.PodPhaseChanged{Pod: pod, Node: n1, Phase: corev1.PodRunning}},
		), runs + " healthy 1s-2s unhealthy 2s-"},
		{"a pod that was there before the start runs", []happening{
			{0, &messages.PodCreated{Pod: pod, Node: n1, Phase: corev1.PodRunning, Ready: true}},
		}, "d/web-1: running 0s- healthy 0s-"},
		{"a pod is unschedulable until it is bound", []happening{
			{0, &messages.PodCreated{Pod: pod}}, {time.Second, &messages.PodUnschedulable{Pod: pod, Message: "0/1 nodes are available"}},
			{2 * time.Second, &messages.PodBound{Pod: pod, Node: n1}},
		}, "d/web-1: pending 0s-2s pending 2s- unschedulable 1s-2s"},
		{"a countdown becomes an eviction, and that the end", append(slices.Clone(running), scheduled,
			happening{3 * time.Second, &messages.PodEvicted{Pod: pod, Node: n1, Taint: down}},
			happening{4 * time.Second, &messages.PodDeletionRequested{Pod: pod, Node: n1}},
			happening{4 * time.Second, &messages.PodPhaseChanged{Pod: pod, Node: n1, Phase: corev1.PodRunning}},
			happening{5 * time.Second, &messages.PodDeleted{Pod: pod, Node: n1}},
		), "d/web-1: pending 0s-1s running 1s-4s countdown 2s-3s evicting 3s-4s terminating 4s-5s healthy 1s-4s"},
		{"a countdown may be cancelled", append(slices.Clone(running), scheduled,
			happening{3 * time.Second, &messages.PodEvictionCancelled{Pod: pod, Node: n1}},
		), runs + " countdown 2s-3s healthy 1s-"},
		{"what blocks a drain blocks it no longer than that lasts", append(slices.Clone(running), blocked, happening{4 * time.Second, blocked.fact},
			happening{5 * time.Second, &messages.NodeDrainFailed{Node: n1}},
		), "n1: warning 5s-5s\n" + runs + " blocked 3s-5s healthy 1s-"},
		{"a refused request blocks an eviction until it is given up", append(slices.Clone(running),
			happening{2 * time.Second, &messages.PodEvictionFailed{Pod: pod, Node: n1, Verb: messages.VerbDelete, Retry: start.Add(3 * time.Second)}},
			happening{3 * time.Second, &messages.PodEvictionFailed{Pod: pod, Node: n1, Verb: messages.VerbDelete}},
		), "d/web-1: warning 2s-2s warning 3s-3s pending 0s-1s running 1s- blocked 2s-3s healthy 1s-"},
		{"a pod ends by itself", append(slices.Clone(running),
			happening{2 * time.Second, &messages.PodPhaseChanged{Pod: pod, Node: n1, Phase: corev1.PodFailed}},
		), "d/web-1: pending 0s-1s running 1s-2s unhealthy 2s- healthy 1s-2s"},
		{"a pod of the same name goes on in the same lane", append(slices.Clone(running),
			happening{2 * time.Second, &messages.PodDeletionRequested{Pod: pod, Node: n1}},
			happening{3 * time.Second, &messages.PodDeleted{Pod: pod, Node: n1}}, happening{3 * time.Second, &messages.PodCreated{Pod: pod}},
		), "d/web-1: pending 0s-1s running 1s-2s pending 3s- terminating 2s-3s healthy 1s-2s"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, told(c.told...)) })
	}
}

func TestNodesAreByZoneAndPodsByName(t *testing.T) {
	j := journal.New(start)
	for _, f := range []messages.Fact{
		&messages.NodeRegistered{Node: "n2", Zone: "b"}, &messages.NodeRegistered{Node: "n9", Zone: "a"}, &messages.NodeRegistered{Node: "n10", Zone: "a"},
		&messages.PodCreated{Pod: "d/b"}, &messages.PodCreated{Pod: "d/a", Owner: "statefulset/d/a"},
		&messages.PodBound{Pod: "d/a", Node: "n2"}, &messages.PodBound{Pod: "d/a", Node: "n9"}, &messages.PodBound{Pod: "d/a", Node: "n2"},
	} {
		j.Append(start, messages.Address{}, f)
	}
	all := Of(start, j.Entries())
	names := func(lanes []*Lane) (names []string) {
		for _, l := range lanes {
			names = append(names, l.Name)
		}
		return names
	}
	require.Equal(t, []string{"n9", "n10", "n2"}, names(all.Nodes))
	require.Equal(t, []string{"d/a", "d/b"}, names(all.Pods))
	require.Equal(t, []string{"n2", "n9"}, all.Pods[0].Nodes)
	require.Equal(t, "statefulset/d/a", all.Pods[0].Owner)
}

// TestEveryFactOfNodesAndPodsIsShown as a bar, the end of one, or a mark, where transcripts tell it.
func TestEveryFactOfNodesAndPodsIsShown(t *testing.T) {
	const pod, n1 = messages.PodName("d/web-1"), messages.NodeName("n1")
	before := []happening{
		{0, &messages.NodeRegistered{Node: n1, Unschedulable: true, Taints: []corev1.Taint{{}}}},
		{0, &messages.PodCreated{Pod: pod, Node: n1}},
		{time.Second, &messages.PodEvictionScheduled{Pod: pod, Node: n1, Deadline: start.Add(time.Minute)}},
	}
	for _, f := range messages.Facts() {
		v := reflect.ValueOf(f).Elem()
		_, ofNode := f.(messages.AboutNode)
		_, ofPod := f.(messages.AboutPod)
		switch {
		case ofPod:
			v.FieldByName("Pod").Set(reflect.ValueOf(pod))
		case ofNode:
			v.FieldByName("Node").Set(reflect.ValueOf(n1))
		}
		if !ofNode && !ofPod || journal.Tell(start, f).Level <= zerolog.DebugLevel {
			continue
		}
		require.NotEqual(t, told(before...), told(append(before, happening{3 * time.Second, f})...), f.Kind())
	}
}

// TestACountdownEndsWithItsTarget has the scheduler move a binding while it counts down on the cluster that it leaves so.
func TestACountdownEndsWithItsTarget(t *testing.T) {
	const web = "shop/web"
	transcript := told(
		happening{0, &messages.Scheduled{Binding: web, Clusters: on("m1")}},
		happening{time.Second, &messages.EvictionScheduled{Binding: web, Cluster: "m1"}},
		happening{3 * time.Second, &messages.Scheduled{Binding: web, Clusters: on("m2")}},
		happening{5 * time.Second, &messages.CopyStopped{Binding: web, Cluster: "m1"}},
	)
	require.Contains(t, transcript, "countdown 1s-3s")
}

// TestEveryFactAboutACopyIsShown as a bar, the end of one, a line of its timeline, or a mark: during the countdown or the handover.
func TestEveryFactAboutACopyIsShown(t *testing.T) {
	const web, m1 = messages.BindingName("d/web"), messages.ClusterName("m1")
	before := []happening{
		{0, &messages.Scheduled{Binding: web, Clusters: on("m1", "m2")}},
		{0, &messages.CopyStarted{Binding: web, Cluster: m1}},
		{time.Second, &messages.AvailabilityChanged{Binding: web, Cluster: m1, Outage: messages.OutagePower}},
		{time.Second, &messages.EvictionScheduled{Binding: web, Cluster: m1}},
	}
	evicted := append(slices.Clone(before), happening{2 * time.Second, &messages.EvictionStarted{Binding: web, Cluster: m1}})
	shown := func(happenings []happening) string {
		j := journal.New(start)
		for _, h := range happenings {
			j.Append(start.Add(h.at), messages.Address{}, h.fact)
		}
		text, err := json.Marshal(Of(start, j.Entries()).Bindings)
		require.NoError(t, err)
		return string(text)
	}
	for _, f := range messages.Facts() {
		_, ofBinding := f.(messages.AboutBinding)
		_, ofCluster := f.(messages.AboutCluster)
		if !ofBinding || !ofCluster {
			continue
		}
		v := reflect.ValueOf(f).Elem()
		v.FieldByName("Binding").Set(reflect.ValueOf(web))
		v.FieldByName("Cluster").Set(reflect.ValueOf(m1))
		if journal.Tell(start, f).Level <= zerolog.DebugLevel {
			continue // it follows from another
		}
		next := happening{3 * time.Second, f}
		require.True(t, shown(append(before, next)) != shown(before) || shown(append(evicted, next)) != shown(evicted), f.Kind())
	}
}
