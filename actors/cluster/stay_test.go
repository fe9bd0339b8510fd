package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
)

const noPolicy = "no ClusterTaintPolicy adds NoExecute for it"

// running returns a cluster on which NoExecute taints evict, with one workload.
func running(t testing.TB, choose actorstest.Choose) *fleet {
	t.Helper()
	f := newFleet(t, choose, func(s *messages.Settings) { s.EnableTaintManager, s.EnableNoExecuteTaintEviction = true, true })
	f.tell(&messages.BindingPlaced{Binding: "web"})
	return f
}

// stays are the reasons that a step gave why workloads stay; an empty one ends that.
func stays(n *actorstest.Network) []string {
	reasons := []string{}
	for _, f := range actorstest.FactsOf[*messages.WorkloadsStay](n.Facts()) {
		reasons = append(reasons, f.Reason)
	}
	return reasons
}

func TestAClusterThatIsNotReadySaysOnceThatNothingEvicts(t *testing.T) {
	f := running(t, nil)
	f.create("keeps-out", rule("x:NoSchedule", when("Ready", "NotIn", "True"), nil))
	require.Equal(t, []string{noPolicy}, stays(f.tell(report("Ready", "False"))))
	require.Empty(t, stays(f.tell(report("Ready", "Unknown"))), "it is the same outage")
	require.Equal(t, []string{""}, stays(f.tell(report("Ready", "True"))))
	require.Equal(t, []string{noPolicy}, stays(f.tell(report("Ready", "False"))), "it is another outage")
}

func TestAClusterThatNothingEvictsFromIsSilentWhere(t *testing.T) {
	for name, prepare := range map[string]func(*fleet){
		"it runs no workload":      func(f *fleet) { f.tell(&messages.BindingLeft{Binding: "web"}) },
		"a user added NoExecute":   func(f *fleet) { f.tell(edit("x:NoExecute")) },
		"a user drains it":         func(f *fleet) { f.tell(&messages.DrainRequested{}) },
		"it is deleted":            func(f *fleet) { f.tell(&messages.ClusterDeleted{}) },
		"a policy adds NoExecute":  func(f *fleet) { f.create("p", rule("x:NoExecute", when("Ready", "NotIn", "True"), nil)) },
		"the system adds it later": func(f *fleet) { f.tell(changedSettings(legacy)) },
		"a policy adds it later": func(f *fleet) {
			spec := rule("x:NoExecute", when("Ready", "NotIn", "True"), nil)
			spec.AddOnConditions[0].For = &metav1.Duration{Duration: time.Hour}
			f.create("p", spec)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t, nil)
			prepare(f)
			require.Empty(t, stays(f.tell(report("Ready", "False"))))
		})
	}
}

// changedSettings are those of running, with a change.
func changedSettings(change func(*messages.Settings)) *messages.SettingsChanged {
	s := settings(change)
	s.EnableTaintManager, s.EnableNoExecuteTaintEviction = true, true
	return &messages.SettingsChanged{Settings: s}
}

func TestWhatEvictsDuringAnOutageEndsTheWarning(t *testing.T) {
	f := running(t, nil)
	f.tell(report("Ready", "False"))
	f.create("p", rule("x:NoExecute", when("Ready", "NotIn", "True"), nil))
	require.Equal(t, []string{""}, stays(f.Network))
	require.Equal(t, []string{noPolicy}, stays(f.tell(&messages.PolicyDropped{Name: "p"}, edit("x:NoExecute-"))))
}

func TestASwitchThatIsOffIsNamed(t *testing.T) {
	f := newFleet(t, nil, func(s *messages.Settings) { s.EnableTaintManager = true })
	f.tell(&messages.BindingPlaced{Binding: "web"})
	f.create("p", rule("x:NoExecute", when("Ready", "NotIn", "True"), nil))
	require.Equal(t, []string{"enableNoExecuteTaintEviction is false"}, stays(f.tell(report("Ready", "False"))))
}

// A condition that policies do not see yet may still make one of them evict.
func TestAConditionThatIsHeldIsWaitedFor(t *testing.T) {
	f := running(t, nil)
	f.tell(changedSettings(func(s *messages.Settings) { s.ConditionHold = time.Minute }))
	require.Empty(t, stays(f.tell(report("Ready", "False"))))
	require.Equal(t, []string{noPolicy}, stays(f.Advance(time.Minute)))
}

func TestARestartDoesNotRepeatThatNothingEvicts(t *testing.T) {
	o := ready("False")
	o.Status.WorkloadsStay = noPolicy
	d := actorstest.Drive(t, cluster.New(name, changedSettings(nil).Settings, 0))
	m := joined(o)
	m.Recovered = true
	require.Empty(t, stays(d.Tell(m, &messages.BindingPlaced{Binding: "web"})))
	require.Equal(t, []string{""}, stays(d.Tell(report("Ready", "True"))))
}

func TestTheOrderOfAnOutageDoesNotMatterToItsWarning(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		f := running(t, nil)
		f.create("p", rule("x:NoSchedule", when("Ready", "NotIn", "True"), nil))
		arrivals := actorstest.Interleave(choose,
			[]messages.Message{report("Ready", "False"), report("Disk", "False")},
			[]messages.Message{&messages.BindingLeft{Binding: "web"}},
			[]messages.Message{&messages.BindingPlaced{Binding: "shop"}},
			[]messages.Message{edit("x:NoExecute"), edit("x:NoExecute-")},
		)
		require.Equal(t, []string{noPolicy}, stays(f.tell(arrivals...)))
	})
}
