package podscheduler_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/podscheduler"
	"leeward/actors/rules/podplacement"
	"leeward/messages"
)

type driver = actorstest.Driver[messages.ToPodScheduler]

func drive(t *testing.T, before ...messages.ToPodScheduler) *driver {
	t.Helper()
	d := actorstest.Drive(t, podscheduler.New(podplacement.Rules{}, 1))
	d.Tell(before...).Quiet()
	return d
}

func amounts(cpu string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("10")}
}

func node(name messages.NodeName, cpu string, taints ...string) *messages.NodeViewed {
	v := &messages.NodeView{Name: name, Allocatable: amounts(cpu), Labels: map[string]string{"zone": string(name)}}
	for _, key := range taints {
		v.Taints = append(v.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
	return &messages.NodeViewed{View: v}
}

// asking is the spec of a pod that requests so many cpus.
func asking(cpu string) *corev1.PodSpec {
	return &corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}}}
}

type edit = func(*messages.PodViewed)

func pod(name messages.PodName, edits ...edit) *messages.PodViewed {
	m := &messages.PodViewed{Pod: "default/" + name, Request: 1, Since: actorstest.Start, Spec: asking("1")}
	for _, edit := range edits {
		edit(m)
	}
	return m
}

func on(n messages.NodeName) edit       { return func(m *messages.PodViewed) { m.Node = n } }
func request(n uint64) edit             { return func(m *messages.PodViewed) { m.Request = n } }
func priority(p int32) edit             { return func(m *messages.PodViewed) { m.Priority = p } }
func since(d time.Duration) edit        { return func(m *messages.PodViewed) { m.Since = m.Since.Add(d) } }
func with(spec *corev1.PodSpec) edit    { return func(m *messages.PodViewed) { m.Spec = spec } }
func terminating(m *messages.PodViewed) { m.Terminating = true }
func finished(m *messages.PodViewed)    { m.Finished = true }
func gone(m *messages.PodViewed)        { m.Gone = true }

var apiServer = messages.Address{Kind: messages.KindAPIServer}

func bind(pod messages.PodName, n messages.NodeName, request ...uint64) *messages.BindPod {
	return &messages.BindPod{Pod: "default/" + pod, Request: append(request, 1)[0], Node: n}
}
func refuse(pod messages.PodName, why string) *messages.MarkUnschedulable {
	return &messages.MarkUnschedulable{Pod: "default/" + pod, Request: 1, Message: why}
}

const (
	full    = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
	tainted = "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
)

func TestAPendingPodIsBound(t *testing.T) {
	d := drive(t, node("n1", "4"))
	d.Tell(pod("a")).Told(apiServer, bind("a", "n1"))
	d.Tell(pod("a", on("n1"))).Quiet()
}

func TestWhatADecisionTakesIsReserved(t *testing.T) {
	d := drive(t, node("n1", "1"))
	d.Tell(pod("b"), pod("a")).Told(apiServer, bind("a", "n1"), refuse("b", full))
	d.Tell(pod("c")).Told(apiServer, refuse("c", full))
	d.Tell(pod("a")).Quiet() // says so before it hears the answer
	d.Tell(pod("d")).Told(apiServer, refuse("d", full))
}

func TestTheMoreUrgentComesFirst(t *testing.T) {
	d := drive(t, node("n1", "1"))
	d.Tell(pod("a", since(time.Second)), pod("b", since(time.Second), priority(10)), pod("c")).
		Told(apiServer, bind("b", "n1"), refuse("c", full), refuse("a", full))
	d.Tell(pod("b", gone)).Told(apiServer, bind("c", "n1"))
	d.Tell(pod("c", gone)).Told(apiServer, bind("a", "n1"))
}

func TestAWaitingPodIsTriedAgainWhenAChangeCouldHelp(t *testing.T) {
	d := drive(t, node("n1", "1", "dedicated"))
	d.Tell(pod("a")).Told(apiServer, refuse("a", tainted))
	d.Tell(node("n1", "2", "dedicated")).Quiet()
	d.Tell(node("n1", "2", "other")).Quiet()
	d.Tell(node("n1", "2")).Told(apiServer, bind("a", "n1"))

	d.Tell(pod("b", with(asking("2")))).Told(apiServer, refuse("b", full))
	d.Tell(pod("a", on("n1"))).Quiet()
	d.Tell(pod("a", on("n1"), terminating)).Quiet() // it uses its node until it is gone
	d.Tell(pod("a", gone)).Told(apiServer, bind("b", "n1"))

	d.Tell(pod("c")).Told(apiServer, refuse("c", full))
	d.Tell(node("n2", "1")).Told(apiServer, bind("c", "n2"))
}

// TestWhatHelpsAPodThatTaintsOrCordonsKeepOff has where the pod is bound after a change; empty: it waits on. It tolerates the taint dedicated.
func TestWhatHelpsAPodThatTaintsOrCordonsKeepOff(t *testing.T) {
	cordoned := func(m *messages.NodeViewed) *messages.NodeViewed {
		m.View.Unschedulable = true
		return m
	}
	tolerant := func(more ...string) *corev1.PodSpec {
		spec := asking("1")
		for _, key := range append(more, "dedicated") {
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
		}
		return spec
	}
	for name, c := range map[string]struct {
		before *messages.NodeViewed
		change messages.ToPodScheduler
		bound  messages.NodeName
	}{
		"another node, with a taint that it does not tolerate": {node("n1", "1", "spot"), node("n2", "1", "gpu"), ""},
		"another node, with the taint that it tolerates":       {node("n1", "1", "spot"), node("n2", "1", "dedicated"), "n2"},
		"another node, cordoned":                               {cordoned(node("n1", "1")), cordoned(node("n2", "1")), ""},
		"another node, not cordoned":                           {cordoned(node("n1", "1")), node("n2", "1"), "n2"},
		"one taint more":                                       {node("n1", "1", "spot"), node("n1", "1", "spot", "dedicated"), ""},
		"a taint that it tolerates in place of the other":      {node("n1", "1", "spot"), node("n1", "1", "dedicated"), "n1"},
		"a taint on the cordoned node":                         {cordoned(node("n1", "1")), cordoned(node("n1", "1", "dedicated")), ""},
		"the node is uncordoned":                               {cordoned(node("n1", "1")), node("n1", "1"), "n1"},
		"a toleration of the taint":                            {node("n1", "1", "spot"), pod("a", with(tolerant("spot")), request(2)), "n1"},
		"a toleration of another taint":                        {node("n1", "1", "spot"), pod("a", with(tolerant("gpu")), request(2)), ""},
		"a toleration of cordons":                              {cordoned(node("n1", "1")), pod("a", with(tolerant(corev1.TaintNodeUnschedulable)), request(2)), "n1"},
		"a toleration of something else on a cordoned node":    {cordoned(node("n1", "1")), pod("a", with(tolerant("gpu")), request(2)), ""},
		"another pod gets a toleration of the taint":           {node("n1", "1", "spot"), pod("b", with(tolerant("spot")), on("n9")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, c.before)
			require.IsType(t, &messages.MarkUnschedulable{}, d.Tell(pod("a", with(tolerant()))).Mail()[0].Message)
			var bound messages.NodeName
			for _, m := range d.Tell(c.change).Mail() {
				if b, is := m.Message.(*messages.BindPod); is {
					bound = b.Node
				}
			}
			require.Equal(t, c.bound, bound)
		})
	}
}

// TestAnExplanationCountsTheNodesThatThereAre has nodes join and go that do not take the pods.
func TestAnExplanationCountsTheNodesThatThereAre(t *testing.T) {
	const both = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). " +
		"preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
	d := drive(t, node("n1", "1", "dedicated"), pod("c", on("n2")))
	d.Tell(pod("a"), pod("b")).Told(apiServer, refuse("a", tainted), refuse("b", tainted))
	d.Tell(node("n2", "1")).Told(apiServer, refuse("a", both), refuse("b", both))
	d.Tell(node("n2", "1")).Quiet()
	d.Tell(&messages.NodeGone{Name: "n1"}).Told(apiServer, refuse("a", full), refuse("b", full))
	d.Tell(&messages.NodeGone{Name: "n1"}).Quiet()
	d.Tell(&messages.NodeGone{Name: "n2"}).Told(apiServer, refuse("a", "no nodes available to schedule pods"), refuse("b", "no nodes available to schedule pods"))
}

func TestAnEditedPodIsTriedAgain(t *testing.T) {
	d := drive(t, node("n1", "1", "dedicated"))
	d.Tell(pod("a")).Told(apiServer, refuse("a", tainted))
	tolerant := asking("1")
	tolerant.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	d.Tell(pod("a", with(tolerant), request(2))).Told(apiServer, bind("a", "n1", 2))
}

func TestAPodThatWasNotBoundAsksAgain(t *testing.T) {
	d := drive(t, node("n1", "1"))
	d.Tell(pod("a")).Told(apiServer, bind("a", "n1"))
	d.Tell(pod("a", request(2))).Told(apiServer, bind("a", "n1", 2))
}

func TestAFinishedPodGivesUpItsNode(t *testing.T) {
	d := drive(t, node("n1", "1"), pod("a", on("n1")))
	d.Tell(pod("b")).Told(apiServer, refuse("b", full))
	d.Tell(pod("a", on("n1"), finished)).Told(apiServer, bind("b", "n1"))
}

func TestPodsThatNeedNoNode(t *testing.T) {
	d := drive(t, node("n1", "1"))
	gated := asking("1")
	gated.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	d.Tell(pod("a", terminating), pod("b", finished), pod("c", with(gated))).Quiet()
	d.Tell(pod("d"), pod("d", gone), pod("x", gone)).Quiet()
}

func TestADeletedNodeIsNotChosen(t *testing.T) {
	d := drive(t, node("n1", "1"), pod("a", on("n1")))
	d.Tell(&messages.NodeGone{Name: "n1"}).Quiet()
	d.Tell(pod("b")).Told(apiServer, refuse("b", "no nodes available to schedule pods"))
	d.Tell(node("n1", "1")).Told(apiServer, refuse("b", full)) // its pod is still there
	d.Tell(pod("a", gone)).Told(apiServer, bind("b", "n1"))
}

func TestASpreadPodIsTriedAgainWhenOthersGo(t *testing.T) {
	spread := asking("100m")
	spread.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{},
	}}
	d := drive(t, node("n1", "4"), node("n2", "4", "dedicated"), pod("a", on("n1"), with(spread)))
	d.Tell(pod("b", with(spread))).Told(apiServer, refuse("b", "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) had untolerated taint(s). "+
		"preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."))
	d.Tell(pod("a", on("n1"), with(spread), terminating)).Told(apiServer, bind("b", "n1"))
}

func TestABrokenSelectorIsTold(t *testing.T) {
	broken := asking("1")
	broken.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Bogus"}}},
	}}
	d := drive(t, node("n1", "4"))
	d.Tell(pod("a", with(broken))).Told(apiServer, refuse("a", `spec.topologySpreadConstraints[0].labelSelector: "Bogus" is not a valid label selector operator`))
	d.Tell(node("n2", "4"), pod("b", with(broken), on("n1"))).Quiet()
	d.Tell(pod("b", gone)).Quiet()
}

// In whatever order an instant's messages come, the same is decided.
func TestTheOrderOfMessagesDoesNotMatter(t *testing.T) {
	var inputs []messages.ToPodScheduler
	for i := range 20 {
		inputs = append(inputs, node(messages.NodeName(fmt.Sprint("n", i)), "2", []string{"dedicated", "spot", "x"}[:i%4*2%3]...))
		inputs = append(inputs, pod(messages.PodName(fmt.Sprint("old", i)), on(messages.NodeName(fmt.Sprint("n", i%7)))))
	}
	for i := range 40 {
		inputs = append(inputs, pod(messages.PodName(fmt.Sprint("p", i)), priority(int32(i%3)), with(asking(fmt.Sprint(1+i%2)))))
	}
	answers := func(seed uint64) any {
		rng := rand.New(rand.NewPCG(seed, 0))
		rng.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		d := actorstest.Drive(t, podscheduler.New(podplacement.Rules{}, 7))
		d.Tell(inputs...)
		mail := d.Mail()
		require.Len(t, mail, 40)
		return append(mail[:0:0], mail...)
	}
	want := answers(0)
	for seed := range uint64(50) {
		require.Equal(t, want, answers(seed+1))
	}
}

func TestAPodIsExplainedBeforeItIsDecidedOn(t *testing.T) {
	s := podscheduler.New(podplacement.Rules{}, 1)
	d := actorstest.Drive(t, s)
	d.Tell(node("n1", "4"), node("n2", "4", "dedicated")).Quiet()
	var heard []string
	s.Attend(func(now time.Time, name messages.PodName) {
		x := s.Explain(now, name)
		heard = append(heard, string(name)+" on "+x.Node)
		require.Equal(t, []string{"node(s) had untolerated taint(s)"}, x.Nodes[1].Refused)
	})
	d.Tell(pod("a")).Told(apiServer, bind("a", "n1"))
	require.Equal(t, []string{"default/a on n1"}, heard)
	require.Nil(t, s.Explain(time.Time{}, "default/a"), "it is bound")
	require.Nil(t, s.Explain(time.Time{}, "b"), "there is none")
}
