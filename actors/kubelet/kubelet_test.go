package kubelet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors/actorstest"
	"leeward/actors/kubelet"
	"leeward/messages"
)

const self messages.NodeName = "n1"

var (
	nodeAt    = messages.Address{Kind: messages.KindNode, Name: string(self)}
	apiServer = messages.Address{Kind: messages.KindAPIServer}

	down = &messages.KubeletSwitched{Down: true}
	up   = &messages.KubeletSwitched{}
)

type driver struct {
	*actorstest.Driver[messages.ToKubelet]
}

// drive returns a kubelet that has begun to renew its Lease.
func drive(t *testing.T, b messages.KubeletBehaviour) driver {
	d := driver{actorstest.Drive[messages.ToKubelet](t, kubelet.New(self, 1))}
	d.Tell(&messages.KubeletConfigured{Behaviour: b})
	return d
}

func pending(name messages.PodName) *messages.KubeletPod {
	return &messages.KubeletPod{Pod: name, UID: types.UID("u-" + name), Phase: corev1.PodPending}
}

func running(name messages.PodName) *messages.KubeletPod {
	p := pending(name)
	p.Phase = corev1.PodRunning
	return p
}

func once(p *messages.KubeletPod) *messages.KubeletPod {
	p.Once = true
	return p
}

// deleted is a pod that is to end so many seconds after the start.
func deleted(p *messages.KubeletPod, seconds int) *messages.KubeletPod {
	p.Terminating, p.Until = true, actorstest.Start.Add(time.Duration(seconds)*time.Second)
	return p
}

func runs(name messages.PodName) *messages.PodReported {
	return &messages.PodReported{Pod: name, UID: types.UID("u-" + name), Phase: corev1.PodRunning, Ready: true}
}

func succeeded(name messages.PodName) *messages.PodReported {
	return &messages.PodReported{Pod: name, UID: types.UID("u-" + name), Phase: corev1.PodSucceeded}
}

func ended(name messages.PodName) *messages.PodEnded {
	return &messages.PodEnded{Pod: name, UID: types.UID("u-" + name)}
}

func condition(of corev1.NodeConditionType, status corev1.ConditionStatus) corev1.NodeCondition {
	return corev1.NodeCondition{Type: of, Status: status}
}

func observed(conditions ...corev1.NodeCondition) *messages.ConditionsObserved {
	return &messages.ConditionsObserved{Conditions: conditions}
}

func report(conditions ...corev1.NodeCondition) *messages.ReportNode {
	return &messages.ReportNode{Node: self, Conditions: conditions, By: "kubelet"}
}

// healthy is what a kubelet reports that has returned, and was told nothing else.
func healthy() []corev1.NodeCondition {
	return []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"},
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
	}
}

func TestAPodRunsAfterItsStartup(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{})
	d.Tell(pending("a")).Quiet().WakesIn(200 * time.Millisecond)
	d.Advance(100 * time.Millisecond)
	d.Tell(pending("a"), pending("b")).Quiet()
	d.Advance(100*time.Millisecond).Told(apiServer, runs("a"))
	d.Tell(pending("a"), running("a")).Quiet()
	d.Advance(100*time.Millisecond).Told(apiServer, runs("b")).Sleeps()
	d.Tell(&messages.KubeletPodGone{Pod: "a", UID: "u-a"}, pending("a"))
	d.Advance(200*time.Millisecond).Told(apiServer, runs("a")).Sleeps()
}

func TestAStartupIsBetweenItsBoundsAndFollowsFromSeedAndName(t *testing.T) {
	bounds := messages.KubeletBehaviour{StartupMin: time.Second, StartupMax: 3 * time.Second}
	startup := func(seed uint64, name messages.PodName, b messages.KubeletBehaviour) time.Duration {
		d := actorstest.Drive[messages.ToKubelet](t, kubelet.New(self, seed))
		d.Tell(&messages.KubeletConfigured{Behaviour: b}, pending(name))
		for range 4000 {
			if len(actorstest.MailTo(d.Advance(time.Millisecond).Mail(), apiServer)) > 0 {
				return d.Now().Sub(actorstest.Start)
			}
		}
		return 0
	}
	differ := map[time.Duration]bool{}
	for i := range 20 {
		name := messages.PodName(fmt.Sprintf("d/web-%d", i))
		s := startup(7, name, bounds)
		require.GreaterOrEqual(t, s, time.Second)
		require.LessOrEqual(t, s, 3*time.Second)
		require.Equal(t, s, startup(7, name, bounds))
		differ[s] = true
	}
	require.Greater(t, len(differ), 10)
	require.NotEqual(t, startup(7, "d/web", bounds), startup(8, "d/web", bounds))
	for name, c := range map[string]struct {
		b    messages.KubeletBehaviour
		want time.Duration
	}{
		"no bounds":                   {messages.KubeletBehaviour{}, 200 * time.Millisecond},
		"bounds that are negative":    {messages.KubeletBehaviour{StartupMin: -5, StartupMax: -9}, 200 * time.Millisecond},
		"bounds in the wrong order":   {messages.KubeletBehaviour{StartupMin: 2 * time.Second, StartupMax: time.Second}, 2 * time.Second},
		"bounds that are one instant": {messages.KubeletBehaviour{StartupMin: time.Second, StartupMax: time.Second}, time.Second},
	} {
		require.Equal(t, c.want, startup(7, "d/web", c.b), name)
	}
}

func TestAPodThatRunsOnceSucceeds(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{RunsFor: 5 * time.Second})
	d.Tell(once(pending("a")), pending("b"), once(running("c")))
	d.Advance(200*time.Millisecond).Told(apiServer, runs("a"), runs("b"))
	d.Advance(4800*time.Millisecond).Told(apiServer, succeeded("c"))
	d.Tell(once(running("a"))).Quiet()
	d.Advance(200*time.Millisecond).Told(apiServer, succeeded("a")).Sleeps()
	d.Tell(once(running("a"))).Quiet().Sleeps()
}

func TestADeletedPodEndsWithItsGracePeriod(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{RunsFor: 5 * time.Second})
	d.Tell(deleted(running("a"), 30), deleted(pending("b"), 30), deleted(running("c"), -1), once(running("d"))).
		Told(apiServer, ended("c"))
	d.Tell(deleted(running("c"), -1), deleted(running("b"), 10), deleted(once(running("d")), 40)).Quiet()
	d.Advance(10*time.Second).Told(apiServer, ended("b"))
	d.Advance(20*time.Second).Told(apiServer, ended("a"))
	d.Tell(&messages.KubeletPodGone{Pod: "d", UID: "another"})
	d.WakesIn(10 * time.Second)
	d.Tell(&messages.KubeletPodGone{Pod: "d", UID: "u-d"}, &messages.KubeletPodGone{Pod: "unheard of"})
	d.QuietFor(time.Hour).Sleeps()
}

// TestAPodOfTheSameNameIsAnother: what was planned for the first is forgotten.
func TestAPodOfTheSameNameIsAnother(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{})
	d.Tell(deleted(running("a"), 30))
	second := pending("a")
	second.UID = "u2"
	d.Tell(second)
	d.Advance(200*time.Millisecond).Told(apiServer, &messages.PodReported{Pod: "a", UID: "u2", Phase: corev1.PodRunning, Ready: true})
	d.QuietFor(time.Hour).Sleeps()
	d.Tell(pending("b"), &messages.KubeletPodGone{Pod: "b", UID: "u-b"}).Sleeps()
}

func TestTheLeaseIsRenewedAtWholePeriods(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{})
	d.Told(nodeAt, &messages.KubeletBeats{From: actorstest.Start, Every: 10 * time.Second})
	d.QuietFor(12345 * time.Millisecond)
	d.Tell(&messages.KubeletConfigured{Behaviour: messages.KubeletBehaviour{LeasePeriod: 2 * time.Second}}).
		Told(nodeAt, &messages.KubeletBeats{From: actorstest.Start.Add(12 * time.Second), Every: 2 * time.Second})
	d.Tell(&messages.KubeletConfigured{Behaviour: messages.KubeletBehaviour{LeasePeriod: 2 * time.Second, RunsFor: time.Second}}).Quiet()
	d.Advance(3 * time.Second)
	d.Tell(down).Recorded(&messages.KubeletStopped{Node: self}).
		Told(nodeAt, &messages.KubeletSilent{Last: actorstest.Start.Add(14 * time.Second)})
	d.Tell(down).Quiet()
	d.Advance(3 * time.Second)
	d.Tell(up).Recorded(&messages.KubeletReturned{Node: self, After: 3 * time.Second}).
		Told(nodeAt, &messages.KubeletBeats{From: d.Now(), Every: 2 * time.Second}).
		Told(apiServer, report(healthy()...))
	d.Tell(up).Quiet()
	d.Tell(down, up).Quiet().Sleeps()
	d.Tell(down).Told(nodeAt, &messages.KubeletSilent{Last: d.Now()})
}

func TestAPhaseIsTheKubeletsOwn(t *testing.T) {
	phases := map[time.Duration]bool{}
	for seed := range uint64(20) {
		d := actorstest.Drive[messages.ToKubelet](t, kubelet.New(self, seed))
		d.QuietFor(time.Minute)
		d.Tell(&messages.KubeletConfigured{Behaviour: messages.KubeletBehaviour{LeasePhase: true}})
		beats := actorstest.MailTo(d.Mail(), nodeAt)[0].(*messages.KubeletBeats)
		phase := d.Now().Sub(beats.From)
		require.GreaterOrEqual(t, phase, time.Duration(0))
		require.Less(t, phase, 10*time.Second)
		phases[phase] = true
	}
	require.Greater(t, len(phases), 10)
	d := drive(t, messages.KubeletBehaviour{})
	require.Len(t, d.Tell(&messages.KubeletConfigured{Behaviour: messages.KubeletBehaviour{LeasePhase: true}}).Mail(), 1, "renewals move")
}

func TestAKubeletThatStopsWhenItIsCreatedNeverRenews(t *testing.T) {
	d := actorstest.Drive[messages.ToKubelet](t, kubelet.New(self, 1))
	d.Tell(&messages.KubeletConfigured{}, down).Told(nodeAt, &messages.KubeletSilent{})
	d.Advance(time.Minute)
	d.Tell(up).Told(nodeAt, &messages.KubeletBeats{From: d.Now(), Every: 10 * time.Second})
}

func TestConditionsAreReportedInAnOrderOfTheirOwn(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{})
	network, disk := condition(corev1.NodeNetworkUnavailable, corev1.ConditionTrue), condition(corev1.NodeDiskPressure, corev1.ConditionTrue)
	unready, ready := condition(corev1.NodeReady, corev1.ConditionFalse), condition(corev1.NodeReady, corev1.ConditionTrue)
	d.Tell(observed(network, disk), observed(ready), observed(unready)).Told(apiServer, report(unready, disk, network))
	d.Tell(down, observed(ready)).Told(apiServer)
	d.Tell(observed(condition("Custom", corev1.ConditionTrue))).Quiet()
	d.Tell(up).Told(apiServer, report(
		ready, healthy()[1], disk, healthy()[3], condition("Custom", corev1.ConditionTrue), network,
	))
}

// TestPodsAreReadyAgainWithTheirNode, as was seen of Kubernetes: the controllers mark the pods of a node that is not Ready.
func TestPodsAreReadyAgainWithTheirNode(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{})
	unready, ready := condition(corev1.NodeReady, corev1.ConditionFalse), condition(corev1.NodeReady, corev1.ConditionTrue)
	d.Tell(running("b"), running("a"), deleted(running("c"), 50))
	d.Tell(observed(unready)).Told(apiServer, report(unready))
	d.Tell(observed(ready)).Told(apiServer, report(ready), runs("a"), runs("b"))
	d.Tell(observed(ready)).Told(apiServer, report(ready))
	d.Tell(down)
	d.Advance(time.Second)
	d.Tell(up)
	require.Equal(t, []messages.Message{runs("a"), runs("b")}, actorstest.MailTo(d.Mail(), apiServer)[1:])
	d.Tell(down, observed(unready))
	d.Advance(time.Second)
	require.Len(t, actorstest.MailTo(d.Tell(up).Mail(), apiServer), 1, "a node that is not Ready has no ready pods")
}

// TestAKubeletThatIsDownDoesNothing, and begins with what is overdue when it is back. Seen: pods that were deleted meanwhile have their grace
// period then.
func TestAKubeletThatIsDownDoesNothing(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{RunsFor: 5 * time.Second})
	d.Tell(pending("start"), once(running("job")), deleted(running("long"), 60))
	d.Tell(down).Sleeps()
	d.Advance(10 * time.Second)
	d.Tell(pending("late"), deleted(running("short"), 13), deleted(running("unheard"), 25)).Quiet().Sleeps()
	d.Advance(10 * time.Second)
	d.Tell(up)
	told := actorstest.MailTo(d.Mail(), apiServer)
	require.Equal(t, report(healthy()...), told[0])
	require.Equal(t, []messages.Message{runs("job"), succeeded("job")}, told[1:])
	d.Advance(200*time.Millisecond).Told(apiServer, runs("late"), runs("start"))
	d.Tell(deleted(running("short"), 13)).Quiet()
	d.Advance(2800*time.Millisecond).Told(apiServer, ended("short"))
	d.Advance(12*time.Second).Told(apiServer, ended("unheard")) // 15 s after the kubelet is back, not at 25 s
	d.Advance(25*time.Second).Told(apiServer, ended("long")).Sleeps()
}

// TestTenThousandPodsEndInTheOrderOfTheirTime: a message about one of them does not look at the others.
func TestTenThousandPodsEndInTheOrderOfTheirTime(t *testing.T) {
	d := drive(t, messages.KubeletBehaviour{})
	const pods = 10000
	for i := range pods {
		d.Post(messages.Address{Name: "the machine"}, deleted(running(messages.PodName(fmt.Sprintf("%05d", i))), pods-i))
	}
	d.Advance(0)
	d.WakesIn(time.Second)
	n := d.Advance(3 * time.Second)
	n.Told(apiServer, ended("09999"), ended("09998"), ended("09997"))
}

func TestTheOrderOfMessagesAtOneInstantDoesNotMatter(t *testing.T) {
	var first []messages.Message
	ways := 0
	actorstest.EveryWay(func(choose actorstest.Choose) {
		d := drive(t, messages.KubeletBehaviour{})
		d.Tell(running("a"), once(running("b")), pending("x"))
		d.Advance(time.Second)
		var all []messages.Message
		for _, instant := range [][]messages.ToKubelet{
			actorstest.Interleave(choose,
				[]messages.ToKubelet{&messages.KubeletConfigured{Behaviour: messages.KubeletBehaviour{StartupMin: 2 * time.Second, RunsFor: 3 * time.Second}}},
				[]messages.ToKubelet{observed(condition(corev1.NodeReady, corev1.ConditionFalse))},
				[]messages.ToKubelet{pending("c"), deleted(running("a"), 3)},
			),
			actorstest.Interleave(choose,
				[]messages.ToKubelet{down},
				[]messages.ToKubelet{observed(condition(corev1.NodeReady, corev1.ConditionTrue))},
				[]messages.ToKubelet{deleted(pending("c"), 4)},
			),
			{up},
		} {
			d.Tell(instant...)
			for range 10 {
				for _, m := range d.Mail() {
					all = append(all, m.Message)
				}
				d.Advance(500 * time.Millisecond)
			}
		}
		if ways++; first == nil {
			first = all
		}
		require.Equal(t, first, all)
	})
	require.Equal(t, 72, ways)
}
