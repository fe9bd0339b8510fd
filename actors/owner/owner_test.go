package owner_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/owner"
	"leeward/messages"
)

// driver drives one owner. As the API server does, it keeps the pods that the owner created.
type driver struct {
	*actorstest.Driver[messages.ToOwner]
	t    *testing.T
	uids map[messages.PodName]*messages.OwnedPodViewed
}

func drive(t *testing.T, kind string, spec *messages.OwnerSpec, before ...messages.ToOwner) *driver {
	t.Helper()
	return driveWith(t, kind, false, spec, before...)
}

func driveWith(t *testing.T, kind string, numeric bool, spec *messages.OwnerSpec, before ...messages.ToOwner) *driver {
	t.Helper()
	o, err := owner.New(kind, "default", "web", 1, numeric)
	require.NoError(t, err)
	d := &driver{t: t, Driver: actorstest.Drive(t, o), uids: map[messages.PodName]*messages.OwnedPodViewed{}}
	d.Tell(append(before, &messages.OwnerApplied{Spec: spec})...)
	return d
}

// requests are what the last step asked the API server for.
func (d *driver) requests() []messages.Message {
	return actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindAPIServer})
}

// created are the pods that the last step created; it created nothing else.
func (d *driver) created() (pods []*messages.CreatePod) {
	d.t.Helper()
	for _, m := range d.requests() {
		pod, is := m.(*messages.CreatePod)
		require.True(d.t, is, "%T", m)
		pods = append(pods, pod)
		d.uids[pod.Pod] = &messages.OwnedPodViewed{Pod: pod.Pod, UID: pod.UID, Phase: corev1.PodPending}
	}
	return pods
}

// names are the names of the created pods, without the namespace.
func (d *driver) names() (names []string) {
	d.t.Helper()
	for _, pod := range d.created() {
		_, local := pod.Pod.Split()
		names = append(names, local)
	}
	return names
}

// deleted are the pods that the last step deleted, with the cause that all have; it did nothing else.
func (d *driver) deleted(cause string) (names []string) {
	d.t.Helper()
	for _, m := range d.requests() {
		pod, is := m.(*messages.DeletePod)
		require.True(d.t, is, "%T", m)
		require.Equal(d.t, cause, pod.Cause)
		require.Equal(d.t, d.uids[pod.Pod].UID, pod.UID)
		_, local := pod.Pod.Split()
		names = append(names, local)
	}
	return names
}

// becomes tells the owner what became of a pod.
func (d *driver) becomes(pod string, edits ...func(*messages.OwnedPodViewed)) *driver {
	d.t.Helper()
	view := *d.uids[messages.PodName("default/"+pod)]
	for _, edit := range edits {
		edit(&view)
	}
	d.uids[view.Pod] = &view
	d.Tell(&view)
	return d
}

func (d *driver) gone(pod string) *driver {
	d.t.Helper()
	view := d.uids[messages.PodName("default/"+pod)]
	d.Tell(&messages.OwnedPodGone{Pod: view.Pod, UID: view.UID})
	return d
}

type edit = func(*messages.OwnedPodViewed)

func ready(after time.Duration) edit {
	return func(v *messages.OwnedPodViewed) {
		v.Phase, v.ReadySince = corev1.PodRunning, actorstest.Start.Add(after)
	}
}
func on(n messages.NodeName) edit            { return func(v *messages.OwnedPodViewed) { v.Node = n } }
func terminating(v *messages.OwnedPodViewed) { v.Terminating = true }
func failed(v *messages.OwnedPodViewed)      { v.Phase = corev1.PodFailed }
func succeeded(v *messages.OwnedPodViewed)   { v.Phase = corev1.PodSucceeded }

func pods(replicas int32, edits ...func(*messages.OwnerSpec)) *messages.OwnerSpec {
	labels := map[string]string{"app": "web"}
	s := &messages.OwnerSpec{
		Replicas: replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}},
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func (d *driver) apply(s *messages.OwnerSpec) *driver {
	d.t.Helper()
	d.Tell(&messages.OwnerApplied{Spec: s})
	return d
}

func node(name messages.NodeName, taints ...corev1.Taint) *messages.NodeViewed {
	return &messages.NodeViewed{View: &messages.NodeView{Name: name, Taints: taints, Labels: map[string]string{"name": string(name)}}}
}

func taint(key string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Effect: effect}
}

func TestAnUnknownKindIsRefused(t *testing.T) {
	_, err := owner.New("Bogus", "default", "web", 1, false)
	require.EqualError(t, err, `owner bogus/default/web: kind "Bogus": supported values: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, MachineSet`)
}

func TestADeploymentCreatesItsPods(t *testing.T) {
	d := drive(t, "Deployment", pods(3))
	created := d.created()
	require.Len(t, created, 3)
	pattern := regexp.MustCompile(`^default/web-[bcdfghjklmnpqrstvwxz2456789]{10}-[bcdfghjklmnpqrstvwxz2456789]{5}$`)
	seen := map[messages.PodName]bool{}
	for _, pod := range created {
		require.Regexp(t, pattern, string(pod.Pod))
		require.False(t, seen[pod.Pod])
		seen[pod.Pod] = true
		require.Equal(t, "ReplicaSet", pod.Controller.Kind)
		require.Equal(t, "web-"+pod.Labels["pod-template-hash"], pod.Controller.Name)
		require.Equal(t, pod.Labels, pod.Peers.MatchLabels)
		require.Same(t, created[0].Spec, pod.Spec)
		require.Equal(t, messages.OwnerName("deployment/default/web"), pod.Owner)
	}
	d.apply(pods(3)).Quiet()
}

func TestADeletedPodIsReplacedInTheSameInstant(t *testing.T) {
	for _, what := range []edit{terminating, failed, succeeded} {
		d := drive(t, "ReplicaSet", pods(2))
		names := d.names()
		require.Len(t, d.becomes(names[0], what).names(), 1)
		d.gone(names[0]).Quiet()
	}
}

func TestAPodThatVanishesIsReplaced(t *testing.T) {
	d := drive(t, "ReplicaSet", pods(2))
	first := d.names()[0]
	d.Tell(&messages.OwnedPodGone{Pod: messages.PodName("default/" + first), UID: "another"}).Quiet()
	require.Len(t, d.gone(first).names(), 1)
}

func TestPodsThatWereThereAreKept(t *testing.T) {
	there := &messages.OwnedPodViewed{Pod: "default/web-old", UID: "1", Phase: corev1.PodRunning}
	d := drive(t, "ReplicaSet", pods(2), there)
	require.Len(t, d.names(), 1)
}

func TestAScaleDownDeletesTheLeastWanted(t *testing.T) {
	for _, c := range []struct {
		name        string
		wanted      []edit
		leastWanted []edit
	}{
		{"without a node", []edit{on("n1")}, nil},
		{"pending", []edit{on("n1"), ready(0)}, []edit{on("n2")}},
		{"not ready", []edit{on("n1"), ready(0)}, []edit{on("n2"), func(v *messages.OwnedPodViewed) { v.Phase = corev1.PodRunning }}},
		{"ready for less than half as long", []edit{on("n1"), ready(time.Second)}, []edit{on("n2"), ready(50 * time.Second)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for first := range 2 {
				d := drive(t, "ReplicaSet", pods(2))
				names := d.names()
				d.becomes(names[first], c.wanted...).becomes(names[1-first], c.leastWanted...)
				d.Advance(time.Minute)
				require.Equal(t, []string{names[1-first]}, d.apply(pods(1)).deleted("scaled down"))
				d.apply(pods(1)).Quiet()
			}
		})
	}
	t.Run("beside another one of its Deployment", func(t *testing.T) {
		for kind, want := range map[string]int{"Deployment": 2, "ReplicaSet": 0} {
			d := drive(t, kind, pods(3))
			names := d.names()
			d.becomes(names[0], on("n1"), ready(58*time.Second)).becomes(names[1], on("n2"), ready(0)).becomes(names[2], on("n2"), ready(50*time.Second))
			d.Advance(time.Minute)
			require.Equal(t, []string{names[want]}, d.apply(pods(2)).deleted("scaled down"), kind)
		}
	})
	t.Run("any of those that are ready for about as long", func(t *testing.T) {
		for first := range 2 {
			d := drive(t, "ReplicaSet", pods(2))
			names := d.names()
			d.becomes(names[first], on("n1"), ready(0)).becomes(names[1-first], on("n2"), ready(20*time.Second))
			d.Advance(time.Minute)
			require.Equal(t, []string{min(names[0], names[1])}, d.apply(pods(1)).deleted("scaled down"))
		}
	})
	t.Run("and a scale-up makes no use of it", func(t *testing.T) {
		d := drive(t, "ReplicaSet", pods(2))
		d.names()
		d.apply(pods(1))
		require.Len(t, d.apply(pods(2)).names(), 1)
	})
}

func TestADeletedOwnerDeletesItsPods(t *testing.T) {
	d := drive(t, "Deployment", pods(2))
	names := d.names()
	d.Tell(&messages.OwnerDeleted{})
	require.ElementsMatch(t, names, d.deleted("its deployment was deleted"))
	d.becomes(names[0], terminating).Quiet()
	d.gone(names[0]).Quiet()
}

// Recording b36: the pod of an ordinal is created when the old one is gone, and the next one waits until it is ready.
func TestAStatefulSetKeepsOrder(t *testing.T) {
	d := drive(t, "StatefulSet", pods(3))
	require.Equal(t, []string{"web-0"}, d.names())
	require.Equal(t, []string{"web-1"}, d.becomes("web-0", ready(0)).names())
	require.Equal(t, []string{"web-2"}, d.becomes("web-1", ready(0)).names())
	d.becomes("web-2", ready(0)).Quiet()

	d.becomes("web-0", terminating).Quiet()
	d.becomes("web-1", terminating).Quiet()
	require.Equal(t, []string{"web-0"}, d.gone("web-0").names())
	d.gone("web-1").Quiet()
	require.Equal(t, []string{"web-1"}, d.becomes("web-0", ready(0)).names())

	d.becomes("web-1", ready(0)).Quiet()
	require.Equal(t, []string{"web-2"}, d.apply(pods(1)).deleted("scaled down"))
	d.becomes("web-2", terminating).Quiet()
	require.Equal(t, []string{"web-1"}, d.gone("web-2").deleted("scaled down"))
	d.gone("web-1").Quiet()
}

func TestAFinishedPodOfAStatefulSetIsDeletedFirst(t *testing.T) {
	d := drive(t, "StatefulSet", pods(1))
	d.names()
	require.Equal(t, []string{"web-0"}, d.becomes("web-0", failed).deleted("finished: it is created again"))
	require.Equal(t, []string{"web-0"}, d.gone("web-0").names())
}

func TestAParallelStatefulSetDoesNotWait(t *testing.T) {
	parallel := func(s *messages.OwnerSpec) { s.Parallel = true }
	d := drive(t, "StatefulSet", pods(3, parallel))
	require.Equal(t, []string{"web-0", "web-1", "web-2"}, d.names())
	d.becomes("web-1", terminating).Quiet()
	require.Equal(t, []string{"web-1"}, d.gone("web-1").names())
	require.Equal(t, []string{"web-2", "web-1"}, d.apply(pods(1, parallel)).deleted("scaled down"))
}

func TestADaemonSetRunsOnEachNode(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0), node("n1"), node("n2"))
	created := d.created()
	require.Len(t, created, 2)
	for i, pod := range created {
		term := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0]
		require.Equal(t, []string{fmt.Sprint("n", i+1)}, term.MatchFields[0].Values)
		var keys []string
		for _, l := range pod.Spec.Tolerations {
			keys = append(keys, l.Key+":"+string(l.Effect))
		}
		require.Equal(t, []string{
			"node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/unreachable:NoExecute", "node.kubernetes.io/disk-pressure:NoSchedule",
			"node.kubernetes.io/memory-pressure:NoSchedule", "node.kubernetes.io/pid-pressure:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule",
		}, keys)
	}
	d.Tell(node("n3"))
	require.Len(t, d.names(), 1)
	d.Tell(node("n3", taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute), taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule))).Quiet()
}

func TestATaintedNodeGetsNoDaemonPod(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0), node("n1", taint("dedicated", corev1.TaintEffectNoSchedule)))
	d.Quiet()
	d.Tell(node("n1"))
	name := d.names()[0]
	d.becomes(name, on("n1"), ready(0)).Quiet()
	d.Tell(node("n1", taint("dedicated", corev1.TaintEffectNoSchedule))).Quiet() // it can remain
	d.Tell(node("n1", taint("dedicated", corev1.TaintEffectNoExecute)))
	require.Equal(t, []string{name}, d.deleted("its node should not run it"))
	d.gone(name).Quiet()
	d.Tell(node("n1"))
	require.Len(t, d.names(), 1)
}

// TestWhereDaemonPodsRun has a pod created on a node that has these taints, or not, and kept there, or not.
func TestWhereDaemonPodsRun(t *testing.T) {
	equal := func(key, value string, effect corev1.TaintEffect) corev1.Taint {
		return corev1.Taint{Key: key, Value: value, Effect: effect}
	}
	const keepsOff, evicts = corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute
	for name, c := range map[string]struct {
		taints         []corev1.Taint
		tolerates      []corev1.Toleration
		runs, isKept   bool
		withoutNumbers bool // the same where the operators Lt and Gt are not allowed
	}{
		"no taint, and a toleration of one": {nil, []corev1.Toleration{{Key: "team", Operator: "Exists"}}, true, true, true},
		"it is not ready":                   {[]corev1.Taint{taint(corev1.TaintNodeNotReady, evicts)}, nil, true, true, true},
		"it is silent":                      {[]corev1.Taint{taint(corev1.TaintNodeUnreachable, evicts)}, nil, true, true, true},
		"it lacks memory, disk and PIDs": {
			[]corev1.Taint{taint(corev1.TaintNodeMemoryPressure, keepsOff), taint(corev1.TaintNodeDiskPressure, keepsOff), taint(corev1.TaintNodePIDPressure, keepsOff)}, nil, true, true, true,
		},
		"it is cordoned":                       {[]corev1.Taint{taint(corev1.TaintNodeUnschedulable, keepsOff)}, nil, true, true, true},
		"it is not ready, with NoSchedule":     {[]corev1.Taint{taint(corev1.TaintNodeNotReady, keepsOff)}, nil, false, true, true},
		"its network is unavailable":           {[]corev1.Taint{taint(corev1.TaintNodeNetworkUnavailable, keepsOff)}, nil, false, true, true},
		"a preference against it":              {[]corev1.Taint{taint("team", corev1.TaintEffectPreferNoSchedule)}, nil, true, true, true},
		"the value is tolerated":               {[]corev1.Taint{equal("team", "red", evicts)}, []corev1.Toleration{{Key: "team", Value: "red"}}, true, true, true},
		"another value is tolerated":           {[]corev1.Taint{equal("team", "red", evicts)}, []corev1.Toleration{{Key: "team", Value: "blue"}}, false, false, true},
		"a number above the bound, to evict":   {[]corev1.Taint{equal("load", "70", evicts)}, []corev1.Toleration{{Key: "load", Operator: "Gt", Value: "60"}}, true, true, false},
		"a number above the bound":             {[]corev1.Taint{equal("load", "70", keepsOff)}, []corev1.Toleration{{Key: "load", Operator: "Gt", Value: "60"}}, true, true, false},
		"a number that is not above the bound": {[]corev1.Taint{equal("load", "60", evicts)}, []corev1.Toleration{{Key: "load", Operator: "Gt", Value: "60"}}, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			spec := pods(0, func(s *messages.OwnerSpec) { s.Template.Spec.Tolerations = c.tolerates })
			for _, numeric := range []bool{true, false} {
				counts := numeric || c.withoutNumbers // without numbers such a taint is not tolerated
				d := driveWith(t, "DaemonSet", numeric, spec, node("n1", c.taints...))
				require.Equal(t, c.runs && counts, len(d.requests()) > 0, "created, numbers %t", numeric)
				d = driveWith(t, "DaemonSet", numeric, spec, node("n1", c.taints...), &messages.OwnedPodViewed{Pod: "default/web-a", UID: "1", Node: "n1", Phase: corev1.PodRunning})
				keeps := c.isKept && (counts || c.taints[0].Effect != evicts)
				require.Equal(t, keeps, len(d.requests()) == 0, "kept, numbers %t", numeric)
			}
		})
	}
}

func TestADaemonPodIsReplacedWhenItIsGone(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0), node("n1"))
	name := d.names()[0]
	d.becomes(name, on("n1"), terminating).Quiet()
	require.Len(t, d.gone(name).names(), 1)
}

func TestAFailedDaemonPodIsReplacedEverMoreSlowly(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0), node("n1"))
	name := d.names()[0]
	require.Equal(t, []string{name}, d.becomes(name, on("n1"), failed).deleted("finished: it is created again"))
	name = d.gone(name).names()[0]
	d.becomes(name, on("n1"), failed).WakesIn(time.Second)
	d.Advance(time.Second)
	require.Equal(t, []string{name}, d.deleted("finished: it is created again"))
	name = d.gone(name).names()[0]
	d.becomes(name, on("n1"), failed).WakesIn(2 * time.Second)
}

func TestADaemonPodWithoutItsNode(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0), node("n1"), node("n2"))
	names := d.names()
	d.becomes(names[0], on("n1"), ready(0))
	d.Tell(&messages.NodeGone{Name: "n1"}).Quiet() // pod garbage collection's
	d.Tell(&messages.NodeGone{Name: "n2"})
	require.Equal(t, []string{names[1]}, d.deleted("its node is gone"))
}

func TestDaemonPodsThatWereThereAreKept(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0), node("n1"), node("n2"),
		&messages.OwnedPodViewed{Pod: "default/web-a", UID: "1", Target: "n1"}, &messages.OwnedPodViewed{Pod: "default/web-b", UID: "2", Node: "n2"})
	d.Quiet()
	d.Tell(&messages.OwnedPodViewed{Pod: "default/web-a", UID: "3", Target: "n1"}).Quiet() // created again meanwhile
	d.Tell(&messages.OwnedPodGone{Pod: "default/web-a", UID: "3"})
	require.Len(t, d.names(), 1)
}

func TestADaemonSetWithANodeSelector(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0, func(s *messages.OwnerSpec) {
		s.Template.Spec.NodeSelector = map[string]string{"name": "n2"}
		s.Template.Spec.HostNetwork = true
	}), node("n1"), node("n2"))
	created := d.created()
	require.Len(t, created, 1)
	require.Equal(t, corev1.TaintNodeNetworkUnavailable, created[0].Spec.Tolerations[6].Key)
	d.Tell(&messages.NodeViewed{View: &messages.NodeView{Name: "n2"}})
	require.Len(t, d.deleted("its node should not run it"), 1)
}

func jobOf(parallelism, completions, backoffLimit int32) *messages.OwnerSpec {
	return pods(0, func(s *messages.OwnerSpec) {
		s.Parallelism, s.Completions, s.BackoffLimit = parallelism, completions, backoffLimit
	})
}

func TestAJobRunsToItsCompletions(t *testing.T) {
	d := drive(t, "Job", jobOf(2, 3, 6))
	names := d.names()
	require.Len(t, names, 2)
	names = append(names, d.becomes(names[0], succeeded).names()...)
	require.Len(t, names, 3)
	d.becomes(names[1], succeeded).Quiet()
	d.becomes(names[2], succeeded).Quiet()
	d.gone(names[2]).Quiet()
}

func TestAFailedPodOfAJobIsReplacedAfterABackoff(t *testing.T) {
	d := drive(t, "Job", jobOf(1, 1, 2))
	d.becomes(d.names()[0], failed).WakesIn(10 * time.Second)
	d.Advance(10 * time.Second)
	d.becomes(d.names()[0], terminating).WakesIn(20 * time.Second) // evicted: it counts, too
	d.Advance(20 * time.Second)
	d.becomes(d.names()[0], failed).Sleeps() // the third: more than backoffLimit
	d.QuietFor(time.Hour)
}

func TestAJobThatFailsDeletesTheRest(t *testing.T) {
	d := drive(t, "Job", jobOf(2, 2, 0))
	names := d.names()
	require.Equal(t, []string{names[1]}, d.becomes(names[0], failed).deleted("the Job failed: BackoffLimitExceeded"))
	d.becomes(names[1], terminating).Quiet()
}

func TestAQueueOfJobsEndsWithTheFirstSuccess(t *testing.T) {
	d := drive(t, "Job", jobOf(2, 0, 6))
	names := d.names()
	d.becomes(names[0], succeeded).Quiet()
	d.becomes(names[1], failed).Quiet()
}

func TestALowerParallelismIsNoFailure(t *testing.T) {
	d := drive(t, "Job", jobOf(2, 4, 0))
	names := d.names()
	gone := d.apply(jobOf(1, 4, 0)).deleted("parallelism was lowered")
	require.Len(t, gone, 1)
	d.becomes(gone[0], terminating).Quiet()
	d.gone(gone[0]).Quiet()
	require.Contains(t, names, gone[0])
}

func machines(replicas int32, taints ...corev1.Taint) *messages.OwnerSpec {
	return &messages.OwnerSpec{Replicas: replicas, Machine: &messages.MachineTemplate{Taints: taints, Labels: map[string]string{"pool": "spot"}}}
}

func TestAMachineSetTaintsTheNodesOfNewMachines(t *testing.T) {
	d := drive(t, "MachineSet", machines(2, taint("spot", corev1.TaintEffectNoExecute)))
	var names []messages.NodeName
	for _, m := range d.requests() {
		created := m.(*messages.CreateNode)
		require.Regexp(t, "^web-.{5}$", string(created.Node))
		require.Equal(t, []corev1.Taint{taint("spot", corev1.TaintEffectNoExecute)}, created.Taints)
		require.Equal(t, messages.OwnerName("machineset/default/web"), created.Owner)
		names = append(names, created.Node)
	}
	require.Len(t, names, 2)
	d.apply(machines(2)).Quiet() // what is there keeps its taints
	d.Tell(&messages.NodeGone{Name: names[0]})
	require.Len(t, d.requests(), 1)
	created := d.requests()[0].(*messages.CreateNode)
	require.Empty(t, created.Taints)

	d.apply(machines(0))
	require.Len(t, d.requests(), 2)
	for _, m := range d.requests() {
		require.Contains(t, []messages.NodeName{names[1], created.Node}, m.(*messages.DeleteNode).Node)
	}
	d.Tell(&messages.NodeGone{Name: names[1]}).Quiet()
}

// A node has the taints of its machine again where a user removed one; their values, and others, are the user's.
func TestANodeGetsTheTaintsOfItsMachine(t *testing.T) {
	spot, dedicated := taint("spot", corev1.TaintEffectNoExecute), taint("dedicated", corev1.TaintEffectNoSchedule)
	d := drive(t, "MachineSet", machines(1, spot, dedicated))
	name := d.requests()[0].(*messages.CreateNode).Node
	viewed := func(taints ...corev1.Taint) *messages.NodeViewed {
		return &messages.NodeViewed{View: &messages.NodeView{Name: name, Taints: taints}}
	}
	d.Tell(viewed(spot, dedicated)).Quiet()
	other := spot
	other.Value = "by-hand"
	d.Tell(viewed(other, taint("more", corev1.TaintEffectNoSchedule)))
	require.Equal(t, []messages.Message{&messages.ChangeTaints{Node: name, Add: []corev1.Taint{dedicated}, Because: []string{"its Machine has it"}}}, d.requests())
	d.apply(machines(1)).Quiet()
	d.Tell(viewed(dedicated))
	require.Len(t, d.requests(), 1, "the machine is of the template of before")
	d.apply(machines(0))
	d.Tell(viewed()).Quiet()
	d.Tell(&messages.NodeViewed{View: &messages.NodeView{Name: "another"}}, &messages.NodeGone{Name: name}).Quiet()
}

func TestAMachineSetCountsTheMachinesThatItFinds(t *testing.T) {
	spot := taint("spot", corev1.TaintEffectNoExecute)
	d := drive(t, "MachineSet", machines(2), &messages.MachineFound{Node: "n1"}, &messages.MachineFound{Node: "n2"}, &messages.MachineFound{Node: "n3"})
	require.Len(t, d.requests(), 1, "there is one too many")
	gone := d.requests()[0].(*messages.DeleteNode).Node
	require.Contains(t, []messages.NodeName{"n1", "n2", "n3"}, gone)
	d.Tell(&messages.NodeGone{Name: gone}).Quiet()

	d = drive(t, "MachineSet", machines(1), &messages.MachineFound{Node: "n1", Taints: []corev1.Taint{spot}})
	d.Quiet()
	d.Tell(&messages.NodeViewed{View: &messages.NodeView{Name: "n1"}})
	require.Equal(t, []messages.Message{&messages.ChangeTaints{Node: "n1", Add: []corev1.Taint{spot}, Because: []string{"its Machine has it"}}}, d.requests())
	d.Tell(&messages.NodeGone{Name: "n1"})
	require.IsType(t, &messages.CreateNode{}, d.requests()[0])
}

func TestADeletedMachineSetDeletesItsMachines(t *testing.T) {
	d := drive(t, "MachineSet", machines(3))
	d.Tell(&messages.OwnerDeleted{})
	require.Len(t, d.requests(), 3)
	require.IsType(t, &messages.DeleteNode{}, d.requests()[0])
	d.Tell(&messages.OwnerDeleted{}).Quiet()
}
