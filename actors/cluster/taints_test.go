package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
	"leeward/messages/api"
)

const (
	notReadyNoSchedule    = "cluster.karmada.io/not-ready:NoSchedule"
	notReadyNoExecute     = "cluster.karmada.io/not-ready:NoExecute"
	unreachableNoSchedule = "cluster.karmada.io/unreachable:NoSchedule"
	unreachableNoExecute  = "cluster.karmada.io/unreachable:NoExecute"
)

func TestReadyDecidesTheSystemsTaints(t *testing.T) {
	d := drive(t, nil)
	require.Equal(t, []string{notReadyNoSchedule}, taintsOf(t, d.Tell(report("Ready", "False"))))
	require.Equal(t, []string{unreachableNoSchedule}, taintsOf(t, d.Tell(report("Ready", "Unknown"))))
	require.Equal(t, []string{}, taintsOf(t, d.Tell(report("Ready", "True"))))
	require.Equal(t, []string{notReadyNoSchedule}, taintsOf(t, d.Tell(report("Ready", ""))))
}

func TestASwapIsOneChange(t *testing.T) {
	d := drive(t, nil)
	d.Tell(report("Ready", "False"))
	n := d.Tell(report("Ready", "Unknown"))
	views := actorstest.MailTo(n.Mail(), scheduler)
	require.Len(t, views, 2, "the condition, then the taints")
	require.True(t, views[1].(*messages.ClusterViewed).SpecChanged)
}

func legacy(s *messages.Settings) { s.FailoverEvictionTimeout = 5 * time.Minute }

func TestTheNoExecuteTwinComesWithTheFailoverEvictionTimeout(t *testing.T) {
	d := drive(t, legacy)
	d.Tell(report("Ready", "False")).WakesIn(5 * time.Minute)
	d.QuietFor(5*time.Minute - 1)
	d.Advance(1).Recorded(tainted(notReadyNoExecute, d.Now(), bySystem("Ready=False"))).Sleeps()
	require.Equal(t, []string{}, taintsOf(t, d.Tell(report("Ready", "True"))), "both go at once")
}

func TestTheOppositeTwinStaysUntilItIsSwappedInOneChange(t *testing.T) {
	d := drive(t, legacy)
	d.Tell(report("Ready", "False"))
	d.Advance(5 * time.Minute)
	since := d.Now()
	d.Advance(time.Minute)
	require.Equal(t, []string{notReadyNoExecute, unreachableNoSchedule}, taintsOf(t, d.Tell(report("Ready", "Unknown"))))
	d.QuietFor(5*time.Minute - 1)
	n := d.Advance(1).Recorded(
		untainted(notReadyNoExecute, since, bySystem("Ready=Unknown")),
		tainted(unreachableNoExecute, d.Now(), bySystem("Ready=Unknown")))
	require.Len(t, actorstest.MailTo(n.Mail(), scheduler), 1)
}

func TestARecoveryInTimeKeepsTheTwinAway(t *testing.T) {
	d := drive(t, legacy)
	d.Tell(report("Ready", "False"))
	d.Approach(5 * time.Minute)
	d.Tell(report("Ready", "True")).Sleeps()
	d.QuietFor(time.Hour)
}

func TestWithoutTimeoutOrGateThereIsNoTwin(t *testing.T) {
	for name, change := range map[string]func(*messages.Settings){
		"no timeout": nil,
		"gate off":   func(s *messages.Settings) { legacy(s); s.Failover = false },
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, change)
			d.Tell(report("Ready", "False")).Sleeps()
			d.QuietFor(time.Hour)
		})
	}
}

func TestARestartDoesNotMoveTheTwin(t *testing.T) {
	o := ready("False")
	o.Status.Conditions[0].LastTransitionTime.Time = actorstest.Start.Add(-4 * time.Minute)
	d := actorstest.Drive(t, cluster.New(name, settings(legacy), 0))
	d.Tell(joined(o)).WakesIn(time.Minute)
}

func TestUsersAddAndRemoveTaints(t *testing.T) {
	d := drive(t, nil)
	d.Advance(1500 * time.Millisecond)
	at := d.Now()
	d.Tell(edit("spot=yes:NoSchedule", "failed:NoExecute")).Recorded(
		tainted("spot=yes:NoSchedule", time.Time{}, byHand),
		tainted("failed:NoExecute", at, byHand))
	d.Advance(time.Second)
	d.Tell(edit("failed:NoExecute")).Quiet()
	d.Tell(edit("spot=no:NoSchedule")).Recorded(tainted("spot=no:NoSchedule", time.Time{}, byHand))
	d.Tell(edit("spot-", "failed:NoExecute-")).Recorded(
		untainted("spot=no:NoSchedule", time.Time{}, byHand),
		untainted("failed:NoExecute", at, byHand))
	d.Tell(edit("spot-")).Quiet()
}

func TestTaintTimesAreCutToWholeSecondsAsInKarmada(t *testing.T) {
	d := drive(t, func(s *messages.Settings) { s.WholeSecondTaintTimes = true })
	d.Advance(1900 * time.Millisecond)
	whole := actorstest.Start.Add(time.Second)
	d.Tell(edit("failed:NoExecute")).Recorded(tainted("failed:NoExecute", whole, byHand))
	d.Tell(report("Ready", "False")).Recorded(
		changed("Ready", "False"), tainted(notReadyNoSchedule, whole, bySystem("Ready=False")))
}

func TestATimeThatUsersGiveIsKept(t *testing.T) {
	d := drive(t, nil)
	old := parsed("failed:NoExecute", actorstest.Start.Add(-time.Hour))
	d.Tell(&messages.TaintsEdited{Edits: []messages.TaintEdit{{Taint: old}}}).
		Recorded(tainted("failed:NoExecute", actorstest.Start.Add(-time.Hour), byHand))
}

// Another writer may have removed a taint and added it again between two looks: its tolerations count from then.
func TestATaintThatIsThereGetsTheTimeThatUsersGive(t *testing.T) {
	d := drive(t, nil)
	d.Tell(edit("failed:NoExecute"))
	d.Advance(time.Minute)
	later := parsed("failed:NoExecute", actorstest.Start.Add(30*time.Second))
	d.Tell(&messages.TaintsEdited{Edits: []messages.TaintEdit{{Taint: later}}}).
		Recorded(tainted("failed:NoExecute", actorstest.Start.Add(30*time.Second), byHand))
	d.Tell(&messages.TaintsEdited{Edits: []messages.TaintEdit{{Taint: later}}}).Quiet()
	d.Tell(edit("failed:NoExecute")).Quiet()
}

func TestTheSystemPutsItsTaintsBackWithoutANoise(t *testing.T) {
	d := drive(t, nil)
	d.Tell(report("Ready", "False"))
	d.Advance(time.Second)
	d.Tell(edit("cluster.karmada.io/not-ready-")).Quiet()
}

func TestATaintOfASystemsKeyThatUsersAddIsTheirs(t *testing.T) {
	d := drive(t, nil)
	d.Tell(edit(notReadyNoExecute)).Recorded(tainted(notReadyNoExecute, d.Now(), byHand))
}

func TestBindingsHearOfNoExecuteTaintsOnly(t *testing.T) {
	d := drive(t, nil)
	d.Tell(&messages.BindingPlaced{Binding: "web"}).Quiet()
	d.Tell(edit("spot:NoSchedule")).Told(bindingAt("web"))
	added := d.Now()
	failed := parsed("failed:NoExecute", added)
	cause := api.TaintCause{Key: failed.Key, Effect: failed.Effect, By: "user"}
	told := messages.TaintsChanged{
		Cluster: name, Taints: []corev1.Taint{failed}, Causes: []api.TaintCause{cause}, Since: added, News: true,
	}
	d.Tell(edit("failed:NoExecute")).Told(bindingAt("web"), &told)

	d.Advance(time.Minute)
	late := told
	late.News = false
	d.Tell(&messages.BindingPlaced{Binding: "late"}).Told(bindingAt("late"), &late)
	d.Tell(edit("failed-")).
		Told(bindingAt("web"), &messages.TaintsChanged{Cluster: name, News: true}).
		Told(bindingAt("late"), &messages.TaintsChanged{Cluster: name, News: true})
}

func TestSinceIsWhenTheNoExecuteTaintsLastChanged(t *testing.T) {
	d := drive(t, nil)
	d.Tell(&messages.BindingPlaced{Binding: "web"})
	since := func(n *actorstest.Network) time.Duration {
		told := actorstest.MailTo(n.Mail(), bindingAt("web"))
		return told[0].(*messages.TaintsChanged).Since.Sub(actorstest.Start)
	}
	d.Advance(time.Second)
	require.Equal(t, time.Second, since(d.Tell(edit("a:NoExecute"))))
	d.Advance(time.Second)
	require.Equal(t, 2*time.Second, since(d.Tell(edit("b:NoExecute"))))
	d.Advance(time.Second)
	require.Equal(t, 3*time.Second, since(d.Tell(edit("a-"))))
	d.Tell(edit("b-"))
	require.Equal(t, 3*time.Second, since(d.Tell(edit("a:NoExecute"))))
}

func TestBindingsHearOfEachChangeOfNoExecuteTaintsAndOfNoOther(t *testing.T) {
	d := drive(t, nil)
	d.Tell(&messages.BindingPlaced{Binding: "web"})
	told := func(specs ...string) int {
		return len(actorstest.MailTo(d.Tell(edit(specs...)).Mail(), bindingAt("web")))
	}
	require.Equal(t, 1, told("a=1:NoExecute"))
	require.Equal(t, 0, told("b:NoSchedule"), "one that evicts nobody")
	require.Equal(t, 1, told("a=2:NoExecute"), "another value")
	require.Equal(t, 1, told("a-", "c=2:NoExecute"), "another key, at the same instant")
	require.Equal(t, 0, told("b-"))
}

// With a re-list, whatever changes of a tainted cluster has its bindings looked at, once.
func TestAnyChangeOfATaintedClusterIsALook(t *testing.T) {
	label := "gold"
	for _, c := range []struct {
		name   string
		change messages.ToCluster
	}{
		{"a taint that evicts", edit("b:NoExecute")},
		{"a taint that does not", edit("b:NoSchedule")},
		{"a condition", report("Other", "True")},
		{"a label", &messages.LabelsEdited{Labels: map[string]*string{"tier": &label}}},
		{"capacity", &messages.ResourcesReported{Summary: capacity("8")}},
		{"the end", &messages.ClusterDeleted{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, func(s *messages.Settings) { s.TaintRelistPeriod = 10 * time.Second })
			d.Tell(&messages.BindingPlaced{Binding: "web"})
			n := d.Tell(edit("a:NoExecute"))
			require.Len(t, actorstest.MailTo(n.Mail(), bindingAt("web")), 1)
			d.Advance(3 * time.Second)
			told := actorstest.MailTo(d.Tell(c.change).Mail(), bindingAt("web"))
			require.Len(t, told, 1)
			require.Equal(t, d.Now(), told[0].(*messages.TaintsChanged).Since)
			require.True(t, told[0].(*messages.TaintsChanged).News)
		})
	}
}

func TestAChangeOfAClusterWithoutTaintsIsNoLook(t *testing.T) {
	d := drive(t, func(s *messages.Settings) { s.TaintRelistPeriod = 10 * time.Second })
	d.Tell(&messages.BindingPlaced{Binding: "web"})
	d.Tell(report("Other", "True"), edit("b:NoSchedule")).Told(bindingAt("web"))
}

func TestABindingThatLeftHearsNoMore(t *testing.T) {
	d := drive(t, nil)
	d.Tell(&messages.BindingPlaced{Binding: "a"}, &messages.BindingPlaced{Binding: "b"}, &messages.BindingPlaced{Binding: "c"})
	d.Tell(&messages.BindingPlaced{Binding: "a"}, &messages.BindingLeft{Binding: "a"}, &messages.BindingLeft{Binding: "unheard of"}).Quiet()
	n := d.Tell(edit("failed:NoExecute"))
	n.Told(bindingAt("a"))
	require.Len(t, actorstest.MailTo(n.Mail(), bindingAt("b")), 1)
	require.Len(t, actorstest.MailTo(n.Mail(), bindingAt("c")), 1)
}
