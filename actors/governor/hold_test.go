package governor_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

var (
	fleet = messages.HoldScope{}
	onE1  = messages.HoldScope{Cluster: "e1"}
	ofA   = messages.HoldScope{Binding: "a"}
)

func hold(of messages.HoldScope, reason string) *messages.HoldChanged {
	return &messages.HoldChanged{HoldScope: of, Reason: reason}
}

func holdFor(of messages.HoldScope, reason string, d time.Duration) *messages.HoldChanged {
	return &messages.HoldChanged{HoldScope: of, Reason: reason, Until: actorstest.Start.Add(d)}
}

func heldBack(cluster messages.ClusterName, reason, message string) *messages.EvictionDelayed {
	return &messages.EvictionDelayed{Cluster: cluster, Reason: reason, Message: message}
}

func TestUsersHoldAllOneClusterOrOneWorkload(t *testing.T) {
	for name, c := range map[string]struct {
		hold    *messages.HoldChanged
		told    *messages.EvictionDelayed
		goes    []string // together
		goesNot []string // before it is lifted
	}{
		"all": {
			hold(fleet, "network"), heldBack("e1", "Paused", "evictions are paused: network"), []string{}, []string{"a/e1", "a/e2", "b/e1"},
		},
		"one cluster": {
			hold(onE1, "rack"), heldBack("e1", "Held", "evictions from cluster e1 are held: rack"), []string{"a/e2"}, []string{"a/e1", "b/e1"},
		},
		"one workload": {
			hold(ofA, "migration"), heldBack("e1", "Held", "evictions of this workload are held: migration"), []string{"b/e1"}, []string{"a/e1", "a/e2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, messages.Settings{})
			d.Tell(c.hold).Recorded(&messages.HoldPlaced{HoldScope: c.hold.HoldScope, Reason: c.hold.Reason})
			n := d.Tell(append(from("e1", "a", "b"), from("e2", "a")...)...)
			require.Equal(t, c.goes, gone(n))
			require.Contains(t, waits("a", n), messages.Message(c.told))
			d.Tell(c.hold).Quiet()
			d.QuietFor(24 * time.Hour)
			n = d.Tell(hold(c.hold.HoldScope, ""))
			n.Recorded(&messages.HoldEnded{HoldScope: c.hold.HoldScope, Reason: messages.HoldLifted})
			require.Equal(t, c.goesNot, gone(n))
			d.Tell(hold(c.hold.HoldScope, "")).Quiet()
		})
	}
}

// In Karmada no binding is told of the wait for a worker.
func TestWhoIsHeldHearsItBeforeItsTurn(t *testing.T) {
	d := drive(t, workers(1, 0.1))
	d.Tell(hold(messages.HoldScope{Binding: "b"}, "migration"))
	n := d.Tell(from("e1", "a", "b")...)
	require.Equal(t, []string{"a/e1"}, gone(n))
	n.Told(bindingAt("b"), heldBack("e1", "Held", "evictions of this workload are held: migration"))
}

func TestTheSchedulerHearsWhatMayNotReturn(t *testing.T) {
	d := drive(t, messages.Settings{})
	d.Tell(hold(ofA, "migration")).Told(schedulerAt, &messages.ReturnsHeld{HoldScope: ofA, Held: true})
	d.Tell(hold(ofA, "")).Told(schedulerAt, &messages.ReturnsHeld{HoldScope: ofA})
	d.Tell(holdFor(onE1, "rack", time.Hour)).Told(schedulerAt, &messages.ReturnsHeld{HoldScope: onE1, Held: true})
	d.Advance(time.Hour).Told(schedulerAt, &messages.ReturnsHeld{HoldScope: onE1})
}

func TestWhoWaitsHearsOfAHold(t *testing.T) {
	d := drive(t, messages.Settings{ClusterEvictionRate: 0.1})
	d.Tell(from("e1", "a", "b")...).Told(bindingAt("b"), slowed("e1", "cluster e1 is limited to 0.1 evictions a second"))
	d.Tell(hold(fleet, "network")).Told(bindingAt("b"), heldBack("e1", "Paused", "evictions are paused: network"))
	d.Tell(hold(fleet, "")).Told(bindingAt("b"), slowed("e1", "cluster e1 is limited to 0.1 evictions a second"))
}

func TestHoldsThatEndTogetherEndInOrder(t *testing.T) {
	d := drive(t, messages.Settings{})
	scopes := []messages.HoldScope{{}, {Binding: "a"}, {Binding: "b"}, {Cluster: "e1"}, {Cluster: "e2"}}
	for _, i := range []int{4, 2, 0, 3, 1} {
		d.Tell(holdFor(scopes[i], "network", time.Hour))
	}
	var want []messages.Fact
	for _, of := range scopes {
		want = append(want, &messages.HoldEnded{HoldScope: of, Reason: messages.HoldExpired})
	}
	d.Advance(time.Hour).Recorded(want...)
}

func TestAHoldEndsByItself(t *testing.T) {
	d := drive(t, messages.Settings{})
	d.Tell(holdFor(fleet, "network", time.Hour))
	said := heldBack("e1", "Paused", "evictions are paused: network")
	said.Until = actorstest.Start.Add(time.Hour)
	d.Tell(from("e1", "a")...).Told(bindingAt("a"), said)
	d.QuietFor(time.Hour - 1)
	n := d.Advance(1).Recorded(&messages.HoldEnded{Reason: messages.HoldExpired})
	require.Equal(t, []string{"a/e1"}, gone(n))
	d.Sleeps()
}

func TestAHoldMayBeMadeLongerShorterOrVoid(t *testing.T) {
	d := drive(t, messages.Settings{})
	d.Tell(holdFor(onE1, "rack", time.Hour))
	d.Tell(hold(onE1, "rack")).Recorded(&messages.HoldPlaced{HoldScope: onE1, Reason: "rack"})
	d.Sleeps()
	d.Tell(holdFor(onE1, "rack", 2*time.Hour))
	d.WakesIn(2 * time.Hour)
	d.Advance(time.Minute)
	d.Tell(holdFor(onE1, "rack", time.Minute)).Recorded(&messages.HoldEnded{HoldScope: onE1, Reason: messages.HoldLifted})
	d.Tell(holdFor(onE1, "rack", time.Minute)).Quiet()
}

func TestWhoWasHeldHearsThatItWaitsForAWorker(t *testing.T) {
	ofB := messages.HoldScope{Binding: "b"}
	told := request("b")
	told.Cluster, told.Told = "e1", true
	for name, c := range map[string]struct {
		before []messages.ToGovernor
		ends   []messages.ToGovernor
	}{
		"since the hold ended":            {[]messages.ToGovernor{hold(fleet, "network"), from("e1", "b")[0]}, []messages.ToGovernor{hold(fleet, "")}},
		"since its own hold ended":        {[]messages.ToGovernor{hold(ofB, "migration"), from("e1", "b")[0]}, []messages.ToGovernor{hold(ofB, "")}},
		"also where a restart is between": {nil, []messages.ToGovernor{told}},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, workers(1, 0.5))
			d.Tell(c.before...)
			d.Tell(from("e1", "a")...)
			d.Tell(c.ends...).Told(bindingAt("b"), heldBack("e1", "EvictionWorkers", "waiting for one of 1 eviction workers, which take 2s for each eviction"))
			d.Advance(time.Hour)
		})
	}
}

func TestWhoIsLetGoByAHoldMeetsTheLimitsByPriority(t *testing.T) {
	d := drive(t, messages.Settings{ClusterEvictionRate: 0.1})
	d.Tell(hold(fleet, "network"))
	d.Tell(from("e1", "a", "b")...)
	urgent := request("z")
	urgent.Cluster, urgent.Priority = "e1", 9
	d.Tell(urgent)
	n := d.Tell(hold(fleet, ""))
	require.Equal(t, []string{"z/e1"}, gone(n))
	n.Told(bindingAt("a"), slowed("e1", "cluster e1 is limited to 0.1 evictions a second"))
}

func TestUnhealthyApplicationsWaitForHoldsAndNothingElse(t *testing.T) {
	unhealthy := request("a")
	unhealthy.Cluster, unhealthy.Unlimited = "e1", true
	d := drive(t, messages.Settings{ClusterEvictionRate: 0.1})
	d.Tell(from("e1", "b", "c")...)
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(unhealthy)))
	d.Tell(hold(onE1, "rack"))
	d.Tell(unhealthy).Told(bindingAt("a"), heldBack("e1", "Held", "evictions from cluster e1 are held: rack"))
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(hold(onE1, ""))))

	d = drive(t, messages.Settings{ClusterEvictionRate: 0.1})
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(unhealthy)))
	require.Equal(t, []string{"b/e1"}, gone(d.Tell(from("e1", "b")...)), "it took nothing from the limits")
}

func TestUsersReleaseAWorkloadFromEverything(t *testing.T) {
	d := drive(t, messages.Settings{ClusterEvictionRate: 0.1})
	d.Tell(hold(fleet, "network"), hold(ofA, "migration"))
	d.Tell(append(from("e1", "a", "b"), from("e2", "a")...)...)
	release := &messages.ReleaseChanged{Binding: "a", Reason: "a customer waits"}
	n := d.Tell(release).Recorded(&messages.ReleaseGranted{HoldScope: ofA, Reason: "a customer waits"})
	require.Equal(t, []string{"a/e1", "a/e2"}, gone(n))
	d.Tell(release).Quiet()
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a")...)))
	d.Tell(&messages.ReleaseChanged{Binding: "a"}).Recorded(&messages.ReleaseEnded{HoldScope: ofA})
	d.Tell(from("e1", "a")...).Told(bindingAt("a"), heldBack("e1", "Paused", "evictions are paused: network"))
}

func TestAWorkloadThatIsReleasedWaitsForNoHoldOfItsOwn(t *testing.T) {
	d := drive(t, messages.Settings{})
	d.Tell(hold(ofA, "migration"))
	d.Tell(from("e1", "a")...).Told(bindingAt("a"), heldBack("e1", "Held", "evictions of this workload are held: migration"))
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(&messages.ReleaseChanged{Binding: "a", Reason: "a customer waits"})))
}

func TestARestartForgetsNoHold(t *testing.T) {
	until := metav1.NewMicroTime(actorstest.Start.Add(time.Hour))
	d := drive(t, messages.Settings{})
	n := d.Tell(&messages.GovernorRestored{Status: &api.GovernorStatus{
		Holds:    []api.HoldStatus{{Reason: "network", Until: &until}, {Binding: "a", Reason: "migration"}},
		Releases: []api.ReleaseStatus{{Binding: "b", Reason: "a customer waits"}},
	}})
	n.Recorded().Told(messages.Address{Kind: messages.KindScheduler},
		&messages.ReturnsHeld{Held: true}, &messages.ReturnsHeld{HoldScope: ofA, Held: true})
	require.Equal(t, []string{"b/e1"}, gone(d.Tell(from("e1", "a", "b", "c")...)))
	d.Tell(holdFor(fleet, "network", time.Hour)).Quiet()
	require.Equal(t, []string{"c/e1"}, gone(d.Advance(time.Hour)))
}
