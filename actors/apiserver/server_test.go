package apiserver_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors/actorstest"
	"leeward/actors/apiserver"
	"leeward/messages"
)

// driver drives a server and tells in words what came of a step.
type driver struct {
	*actorstest.Driver[messages.ToAPIServer]
	server *apiserver.Server
}

func drive(t *testing.T, r apiserver.Rules) *driver {
	t.Helper()
	s := apiserver.New(r)
	return &driver{Driver: actorstest.Drive(t, s), server: s}
}

// facts are the facts of the last step, by kind and name.
func (d *driver) facts() (told []string) {
	for _, f := range d.Facts() {
		name := ""
		switch f := f.(type) {
		case messages.AboutPod:
			name = string(f.AboutPod())
		case messages.AboutNode:
			name = string(f.AboutNode())
		}
		told = append(told, f.Kind()+" "+name)
	}
	return told
}

// mail is who was told what in the last step.
func (d *driver) mail() (told []string) {
	for _, m := range d.Mail() {
		told = append(told, fmt.Sprintf("%s: %s", m.To, strings.TrimPrefix(fmt.Sprintf("%T", m.Message), "*messages.")))
	}
	slices.Sort(told)
	return slices.Compact(told)
}

var (
	template    = &corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}, TerminationGracePeriodSeconds: new(int64(30))}
	maintenance = corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}
)

const owner messages.OwnerName = "deployment/d/web"

func node(name string, taints ...corev1.Taint) *messages.PutNode {
	return &messages.PutNode{Settled: true, Object: &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: taints},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}}
}

func create(name messages.PodName, uid types.UID) *messages.CreatePod {
	return &messages.CreatePod{Pod: name, UID: uid, Owner: owner, Spec: template}
}

// running is a server with a node n1, on which pod d/p runs.
func running(t *testing.T, r apiserver.Rules, taints ...corev1.Taint) *driver {
	t.Helper()
	d := drive(t, r)
	d.Tell(node("n1", taints...), create("d/p", "1"))
	d.Tell(&messages.BindPod{Pod: "d/p", Node: "n1"})
	d.Tell(&messages.PodReported{Pod: "d/p", UID: "1", Phase: corev1.PodRunning, Ready: true})
	require.Equal(t, corev1.PodRunning, d.server.Pod("d/p").Status.Phase)
	return d
}

func TestAPodIsCreatedBoundAndRuns(t *testing.T) {
	d := drive(t, apiserver.Rules{})
	d.Tell(node("n1"))
	require.Equal(t, []string{"NodeRegistered n1"}, d.facts())
	require.Equal(t, []string{"node/n1: NodeStored", "pod scheduler: NodeViewed"}, d.mail())
	d.Tell(create("d/p", "1"))
	require.Equal(t, []string{"PodCreated d/p"}, d.facts())
	require.Equal(t, []string{"owner/" + string(owner) + ": OwnedPodViewed", "pod eviction/d/p: PodStored", "pod scheduler: PodViewed"}, d.mail())
	d.Tell(&messages.MarkUnschedulable{Pod: "d/p", Message: "0/1 nodes are available"})
	require.Equal(t, []string{"PodUnschedulable d/p"}, d.facts())
	d.Tell(&messages.BindPod{Pod: "d/p", Node: "n1"})
	require.Equal(t, []string{"PodBound d/p"}, d.facts())
	require.Contains(t, d.mail(), "kubelet/n1: KubeletPod")
	d.Tell(&messages.PodReported{Pod: "d/p", UID: "1", Phase: corev1.PodRunning, Ready: true})
	require.Equal(t, []string{"PodPhaseChanged d/p"}, d.facts())
	require.Equal(t, []messages.PodName{"d/p"}, d.server.PodsOn("n1"))
	d.Tell(&messages.PodReported{Pod: "d/p", UID: "1", Phase: corev1.PodRunning, Ready: true}).Quiet()
}

func TestABindingThatNoLongerFitsIsVoid(t *testing.T) {
	d := drive(t, apiserver.Rules{})
	d.Tell(node("n1"), create("d/p", "1"))
	d.Tell(&messages.BindPod{Pod: "d/p", Node: "n1", Request: 7}).Quiet()
	d.Tell(&messages.BindPod{Pod: "d/other", Node: "n1"}).Quiet()
	d.Tell(&messages.BindPod{Pod: "d/p", Node: "gone"})
	require.Empty(t, d.Facts())
	views := actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindPodScheduler})
	require.Len(t, views, 1, "it asks again")
	require.EqualValues(t, 1, views[0].(*messages.PodViewed).Request)
	d.Tell(&messages.BindPod{Pod: "d/p", Node: "n1"}).Quiet()
	d.Tell(&messages.BindPod{Pod: "d/p", Node: "n1", Request: 1})
	require.Equal(t, []string{"PodBound d/p"}, d.facts())
	d.Tell(&messages.MarkUnschedulable{Pod: "d/p", Request: 1, Message: "late"}).Quiet()
}

func TestADeletedPodEndsWhenItsKubeletSaysSo(t *testing.T) {
	d := running(t, apiserver.Rules{})
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "other", Cause: "scaled down"}).Quiet()
	d.Tell(&messages.PodEnded{Pod: "d/p", UID: "1"}).Quiet()
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", Cause: "scaled down"})
	require.Equal(t, []messages.Fact{&messages.PodDeletionRequested{Pod: "d/p", Node: "n1", GracePeriodSeconds: 30, Cause: "scaled down"}}, d.Facts())
	require.Equal(t, actorstest.Start.Add(30*time.Second), d.server.Pod("d/p").DeletionTimestamp.Time)
	told := actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindKubelet, Name: "n1"})
	require.True(t, told[0].(*messages.KubeletPod).Terminating)
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", Cause: "scaled down"}).Quiet()
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", GracePeriodSeconds: new(int64(5)), Cause: "by a user"})
	require.Equal(t, actorstest.Start.Add(5*time.Second), d.server.Pod("d/p").DeletionTimestamp.Time, "it may be shortened")
	d.Tell(&messages.PodEnded{Pod: "d/p", UID: "1"})
	require.Equal(t, []string{"PodDeleted d/p"}, d.facts())
	require.Equal(t, []string{
		"kubelet/n1: KubeletPodGone", "owner/" + string(owner) + ": OwnedPodGone", "pod eviction/d/p: PodForgotten", "pod scheduler: PodViewed",
	}, d.mail())
	require.Empty(t, d.server.PodsOn("n1"))
}

func TestWhatRunsNowhereIsDeletedImmediately(t *testing.T) {
	d := drive(t, apiserver.Rules{})
	d.Tell(create("d/pending", "1"))
	d.Tell(&messages.DeletePod{Pod: "d/pending", UID: "1", Cause: "scaled down"})
	require.Equal(t, []string{"PodDeletionRequested d/pending", "PodDeleted d/pending"}, d.facts())

	d = running(t, apiserver.Rules{})
	d.Tell(&messages.PodReported{Pod: "d/p", UID: "1", Phase: corev1.PodSucceeded})
	d.Tell(&messages.PodReported{Pod: "d/p", UID: "1", Phase: corev1.PodRunning, Ready: true}).Quiet()
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1"})
	require.Equal(t, []string{"PodDeleted d/p"}, d.facts(), "a taint eviction tells of its deletion itself")
}

func TestFinalizersKeepAPodThatHasEnded(t *testing.T) {
	d := drive(t, apiserver.Rules{})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "p", UID: "1", Finalizers: []string{"example.com/keep"}}, Spec: corev1.PodSpec{NodeName: "n1"}}
	d.Tell(node("n1"), &messages.PutPod{Object: pod})
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", Cause: "by a user"})
	d.Tell(&messages.PodEnded{Pod: "d/p", UID: "1"}).Quiet()
	require.NotNil(t, d.server.Pod("d/p"))
	released := pod.DeepCopy()
	released.Finalizers = nil
	d.Tell(&messages.PutPod{Object: released})
	require.Equal(t, []string{"PodDeleted d/p"}, d.facts())
}

func TestPodsHearOfTheTaintsOfTheirNodeOnly(t *testing.T) {
	d := running(t, apiserver.Rules{})
	d.Tell(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}})
	require.Equal(t, []string{"node/n1: NodeStored", "pod scheduler: NodeViewed"}, d.mail(), "NoSchedule evicts nothing")
	d.Tell(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{maintenance}, By: "by ann"})
	require.Equal(t, []messages.Fact{&messages.NodeTaintAdded{Node: "n1", Taint: maintenance, Because: "by ann"}}, d.Facts())
	require.Contains(t, d.mail(), "pod eviction/d/p: NodeTaintsSeen")
	d.Tell(&messages.EditNode{Node: "n1", Untaint: []corev1.Taint{{Key: "maintenance"}}})
	require.Equal(t, []messages.Fact{&messages.NodeTaintRemoved{Node: "n1", Taint: maintenance, Because: "by a user"}}, d.Facts())
	d.Tell(create("d/late", "2"), &messages.EditNode{Node: "n1", Taint: []corev1.Taint{maintenance}})
	d.Tell(&messages.BindPod{Pod: "d/late", Node: "n1"})
	require.Contains(t, d.mail(), "pod eviction/d/late: NodeTaintsSeen", "a pod that comes later hears of them, too")
	d.Tell(&messages.DeleteNode{Node: "n1", Cause: "by a user"})
	require.Equal(t, []string{"NodeDeleted n1"}, d.facts())
	require.Equal(t, []string{
		"node/n1: NodeForgotten", "pod GC: PodStranded", "pod eviction/d/late: NodeTaintsSeen", "pod eviction/d/p: NodeTaintsSeen", "pod scheduler: NodeGone",
	}, d.mail())
	require.Equal(t, "n1", d.server.Pod("d/p").Spec.NodeName, "its pods stay bound to it")
}

// The taint eviction of a name outlives its pods, and may have seen taints that are gone.
func TestAPodThatComesToANodeHearsThatItHasNoTaints(t *testing.T) {
	d := running(t, apiserver.Rules{}, maintenance)
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", GracePeriodSeconds: new(int64(0))})
	d.Tell(&messages.EditNode{Node: "n1", Untaint: []corev1.Taint{maintenance}})
	d.Tell(create("d/p", "2"))
	d.Tell(&messages.BindPod{Pod: "d/p", Node: "n1"})
	seen := actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindPodEviction, Name: "d/p"})
	require.Contains(t, seen, &messages.NodeTaintsSeen{Node: "n1"})
}

func TestTaintsOfUsersGetATimeWhereThatIsTheRule(t *testing.T) {
	d := running(t, apiserver.Rules{StampTaints: true})
	d.Advance(time.Second)
	d.Tell(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{maintenance}})
	stamped := d.server.Node("n1").Spec.Taints[0]
	require.Equal(t, actorstest.Start.Add(time.Second), stamped.TimeAdded.Time)
	d.Advance(time.Second)
	d.Tell(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{{Key: "other", Effect: corev1.TaintEffectNoSchedule}}})
	require.Equal(t, stamped, d.server.Node("n1").Spec.Taints[1], "it keeps its time, and comes after the new one, as kubectl writes them")
	d.Tell(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{{Key: "maintenance", Value: "disk", Effect: corev1.TaintEffectNoExecute}}})
	require.Equal(t, actorstest.Start.Add(2*time.Second), d.server.Node("n1").Spec.Taints[0].TimeAdded.Time, "another value has its own")

	d = running(t, apiserver.Rules{})
	d.Tell(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{maintenance}})
	require.Nil(t, d.server.Node("n1").Spec.Taints[0].TimeAdded)
}

func TestTheTaintOfAFailedNodeFollowsItsPresentCondition(t *testing.T) {
	d := running(t, apiserver.Rules{})
	d.Tell(&messages.TaintNode{Node: "n1"}).Quiet()
	d.Tell(&messages.ReportNode{Node: "n1", By: "node lifecycle", Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}})
	require.Equal(t, []string{"NodeConditionChanged n1", "PodPhaseChanged d/p"}, d.facts(), "pods of a node that is not Ready are not ready")
	d.Tell(&messages.TaintNode{Node: "n1"}, &messages.TaintNode{Node: "n1"})
	require.Equal(t, []string{"NodeTaintAdded n1"}, d.facts())
	require.Equal(t, corev1.TaintNodeUnreachable, d.server.Node("n1").Spec.Taints[0].Key)
	d.Tell(&messages.ChangeTaints{
		Node: "n1", Add: []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}},
		Remove: []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}, maintenance}, Because: []string{"Ready=False", "Ready=False", ""},
	})
	require.Equal(t, []string{"NodeTaintAdded n1", "NodeTaintRemoved n1"}, d.facts())
}

func TestPodsOfATemplateAreAdmittedOnce(t *testing.T) {
	admitted := 0
	d := drive(t, apiserver.Rules{AdmitPod: func(p *corev1.Pod) error {
		admitted++
		p.Spec.Priority = new(int32(7))
		return nil
	}})
	d.Tell(create("d/a", "1"), create("d/b", "2"))
	require.Equal(t, 1, admitted)
	views := actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindPodScheduler})
	require.Same(t, views[0].(*messages.PodViewed).Spec, views[1].(*messages.PodViewed).Spec)
	require.EqualValues(t, 7, views[1].(*messages.PodViewed).Priority)
	require.Nil(t, template.Priority, "the template is not changed")

	d = drive(t, apiserver.Rules{AdmitPod: func(*corev1.Pod) error { return errors.New("no") }})
	d.Tell(create("d/a", "1")).Quiet()
	require.Nil(t, d.server.Pod("d/a"))
}

func TestControllersThatStartAreToldOfAll(t *testing.T) {
	d := running(t, apiserver.Rules{}, maintenance)
	d.Tell(&messages.OwnerWatches{Owner: "daemonset/d/log"})
	require.Equal(t, []string{"owner/daemonset/d/log: NodeViewed"}, d.mail())
	d.Tell(&messages.ControllersRestarted{})
	require.Empty(t, d.Facts())
	require.Subset(t, d.mail(), []string{
		"node/n1: NodeStored", "owner/daemonset/d/log: NodeViewed", "pod eviction/d/p: NodeTaintsSeen", "pod eviction/d/p: PodStored",
	})
	d.Tell(&messages.OwnerWatches{Owner: "daemonset/d/log", Over: true})
	d.Tell(&messages.EditNode{Node: "n1", Label: map[string]string{"a": "b"}})
	require.NotContains(t, d.mail(), "owner/daemonset/d/log: NodeViewed")
}

// The pods of a silent node are not ready; of one that its kubelet reports as not Ready they stay as they are. Recordings c11, c17, r09, z23, z29.
func TestPodsAreNotReadyWhereTheirNodeIsSilent(t *testing.T) {
	for by, want := range map[string]int{"kubelet": 0, "node lifecycle": 1} {
		d := running(t, apiserver.Rules{})
		report := func(by string, status corev1.ConditionStatus) {
			d.Tell(&messages.ReportNode{Node: "n1", By: by, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}})
		}
		d.Tell(&messages.PodReported{Pod: "d/p", UID: "1", Phase: corev1.PodRunning, Ready: true})
		report("kubelet", corev1.ConditionTrue)
		report(by, corev1.ConditionUnknown)
		require.Len(t, actorstest.FactsOf[*messages.PodPhaseChanged](d.Facts()), want, by)
	}
}

// Whatever the order in which the requests of an instant arrive, the objects are the same, and so are the facts.
func TestTheOrderOfArrivalChangesNothing(t *testing.T) {
	requests := []messages.ToAPIServer{
		create("d/new", "9"), &messages.BindPod{Pod: "d/p", Node: "n1", Request: 3}, &messages.DeletePod{Pod: "d/p", UID: "1", Cause: "scaled down"},
		&messages.DeletePod{Pod: "d/p", UID: "1"}, &messages.MarkDisrupted{Pod: "d/p", UID: "1", Reason: "r"}, &messages.PodEnded{Pod: "d/p", UID: "1"},
		&messages.TaintNode{Node: "n1"}, &messages.DeleteNode{Node: "n2", Cause: "gone"}, create("d/p", "2"),
		&messages.ReportNode{Node: "n1", By: "kubelet", Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}},
		&messages.ChangeTaints{Node: "n1", Add: []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}, Because: []string{"Ready=False"}},
		&messages.PodReported{Pod: "d/p", UID: "1", Phase: corev1.PodRunning}, &messages.CreateNode{Node: "n3"},
	}
	var want []string
	for seed := range uint64(50) {
		d := running(t, apiserver.Rules{})
		d.Tell(node("n2"))
		shuffled := slices.Clone(requests)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		d.Tell(shuffled...)
		got := append(d.facts(), d.mail()...)
		if want == nil {
			want = got
			require.Contains(t, want, "PodDeleted d/p")
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// What was returned of a pod, and the spec that the scheduler was told, others may keep.
func TestWhatOthersHoldOfAPodIsNeverChanged(t *testing.T) {
	bare := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "p", UID: "1"}, Spec: *template}
	edited := bare.DeepCopy()
	edited.Labels, edited.Spec.Tolerations = map[string]string{"a": "b"}, []corev1.Toleration{{Key: "x"}}
	failed := edited.DeepCopy()
	failed.Spec.NodeName, failed.Status.Phase = "n1", corev1.PodFailed
	type step struct {
		request messages.ToAPIServer
		fact    string // that it records; empty: any or none
	}
	bind := func(request uint64) step {
		return step{&messages.BindPod{Pod: "d/p", Request: request, Node: "n1"}, "PodBound d/p"}
	}
	put := func(o *corev1.Pod) step { return step{request: &messages.PutPod{Object: o}} }
	sync := func(o *corev1.Pod, fact string) step {
		return step{&messages.PodSynced{Pod: "d/p", Object: o}, fact}
	}
	report := step{&messages.PodReported{Pod: "d/p", UID: "1", Phase: corev1.PodRunning, Ready: true}, "PodPhaseChanged d/p"}
	disrupt := step{request: &messages.MarkDisrupted{Pod: "d/p", UID: "1", Reason: "r"}}
	remove := step{request: &messages.DeletePod{Pod: "d/p", UID: "1"}}
	pending := step{&messages.MarkUnschedulable{Pod: "d/p", Message: "0/1 nodes are available"}, "PodUnschedulable d/p"}
	for name, steps := range map[string][]step{
		"of a template": {{request: create("d/p", "1")}, pending, bind(0), report, disrupt, remove},
		"bound":         {put(bare), bind(0), put(edited), report, put(bare), remove},
		"edited":        {put(bare), put(edited), bind(1), report, disrupt},
		"synced":        {sync(bare, "PodCreated d/p"), bind(0), report},
		"synced again":  {sync(bare, "PodCreated d/p"), sync(edited, ""), bind(1), sync(failed, "PodPhaseChanged d/p"), remove},
	} {
		for _, holds := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, held %t", name, holds), func(t *testing.T) {
				d := drive(t, apiserver.Rules{})
				d.Tell(node("n1"))
				held, specs := map[*corev1.Pod]*corev1.Pod{}, map[*corev1.PodSpec]*corev1.PodSpec{}
				for i, step := range steps {
					d.Tell(step.request)
					if step.fact != "" {
						require.Contains(t, d.facts(), step.fact, "step %d", i)
					}
					for o, was := range held { // order-free: each for itself
						require.Equal(t, was, o, "step %d", i)
					}
					for s, was := range specs { // order-free: each for itself
						require.Equal(t, was, s, "step %d", i)
					}
					for _, m := range d.Mail() {
						if v, is := m.Message.(*messages.PodViewed); is {
							specs[v.Spec] = v.Spec.DeepCopy()
						}
					}
					if holds {
						o := d.server.Pod("d/p")
						held[o] = o.DeepCopy()
					}
				}
			})
		}
	}
}
