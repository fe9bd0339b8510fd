package governor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/governor"
	"leeward/messages"
)

type driver = actorstest.Driver[messages.ToGovernor]

// drive returns a governor of four clusters in two regions, and one cluster without a region, "alone".
func drive(t *testing.T, s messages.Settings) *driver {
	t.Helper()
	d := actorstest.Drive(t, governor.New(s))
	d.Tell(located("e1", "eu"), located("e2", "eu"), located("u1", "us"), located("u2", "us"), located("alone", "")).Quiet().Sleeps()
	return d
}

func located(cluster messages.ClusterName, region string) *messages.ClusterObserved {
	return &messages.ClusterObserved{Cluster: cluster, Region: region}
}

// from is a request to leave a cluster, one of so many of equal urgency, in the order of their names.
func from(cluster messages.ClusterName, names ...messages.BindingName) []messages.ToGovernor {
	var list []messages.ToGovernor
	for _, name := range names {
		r := request(name)
		r.Cluster = cluster
		list = append(list, r)
	}
	return list
}

// each asks to leave every cluster, three times.
func each() (all []messages.ToGovernor) {
	for _, c := range []messages.ClusterName{"e1", "e2", "u1", "u2", "alone"} {
		all = append(all, from(c, "a", "b", "c")...)
	}
	return all
}

// gone are who may go, after the words of who was told to wait.
func gone(n *actorstest.Network) []string {
	list := []string{}
	for _, m := range n.Mail() {
		if p, ok := m.Message.(*messages.EvictionPermitted); ok {
			list = append(list, m.To.Name+"/"+string(p.Cluster))
		}
	}
	return list
}

func waits(binding string, n *actorstest.Network) []messages.Message {
	return actorstest.MailTo(n.Mail(), messages.Address{Kind: messages.KindBinding, Name: binding})
}

func slowed(cluster messages.ClusterName, message string) *messages.EvictionDelayed {
	return &messages.EvictionDelayed{Cluster: cluster, Reason: "EvictionRate", Message: message}
}

func TestEveryScopeHasItsRate(t *testing.T) {
	for name, c := range map[string]struct {
		settings messages.Settings
		now      []string
		second   []string
	}{
		"the fleet": {
			messages.Settings{FleetEvictionRate: 1},
			[]string{"a/alone"}, []string{"a/e1"},
		},
		"a region; who has none is free": {
			messages.Settings{RegionEvictionRate: 1},
			[]string{"a/alone", "a/e1", "a/u1", "b/alone", "c/alone"}, []string{"a/e2", "a/u2"},
		},
		"a cluster": {
			messages.Settings{ClusterEvictionRate: 1},
			[]string{"a/alone", "a/e1", "a/e2", "a/u1", "a/u2"}, []string{"b/alone", "b/e1", "b/e2", "b/u1", "b/u2"},
		},
		"all of them, the slowest counts": {
			messages.Settings{ClusterEvictionRate: 0.1, RegionEvictionRate: 1, FleetEvictionRate: 2, EvictionBurst: 1},
			[]string{"a/alone"}, []string{"a/u1"},
		},
		"a burst": {
			messages.Settings{ClusterEvictionRate: 1, RegionEvictionRate: 1, EvictionBurst: 2},
			[]string{"a/alone", "a/e1", "a/e2", "a/u1", "a/u2", "b/alone"}, []string{"b/e1", "b/u1", "c/alone"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, c.settings)
			require.Equal(t, c.now, gone(d.Tell(each()...)))
			require.NotContains(t, gone(d.Approach(time.Second)), c.second[0])
			require.Equal(t, c.second, gone(d.Advance(0)))
		})
	}
}

func TestAnUrgentRequestOvertakesInItsScopeAndDoesNotWaitForOthers(t *testing.T) {
	d := drive(t, messages.Settings{ClusterEvictionRate: 1})
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a", "b", "c")...)))
	hurry := urgent("z", 9, 0)
	hurry.Cluster = "e1"
	d.Tell(hurry).Told(bindingAt("z"), slowed("e1", "cluster e1 is limited to 1 evictions a second"))
	require.Equal(t, []string{"a/e2"}, gone(d.Tell(from("e2", "a")...)), "another cluster is not slowed")
	require.Equal(t, []string{"z/e1"}, gone(d.Advance(time.Second)))
	require.Equal(t, []string{"b/e1", "c/e1"}, gone(d.Advance(time.Hour)))
	d.Sleeps()
}

func TestWhoWaitsIsToldOnceForTheWidestScope(t *testing.T) {
	d := drive(t, messages.Settings{ClusterEvictionRate: 0.1, RegionEvictionRate: 0.5})
	n := d.Tell(from("e1", "a", "b")...)
	require.Equal(t, []messages.Message{slowed("e1", "region eu is limited to 0.5 evictions a second")}, waits("b", n))
	require.Empty(t, waits("b", d.Advance(2*time.Second)), "the cluster is slower still; that is no news")
	require.Equal(t, []string{"b/e1"}, gone(d.Advance(8*time.Second)))
}

func TestAClusterThatMovesTakesItsRequestsAlong(t *testing.T) {
	d := drive(t, messages.Settings{RegionEvictionRate: 1, ClusterEvictionRate: 1})
	d.Tell(append(from("e1", "a", "b"), from("e2", "c")...)...)
	require.Equal(t, []string{"c/e2"}, gone(d.Tell(located("e2", "us"))), "its region has room")
	require.Empty(t, gone(d.Tell(located("e1", "us"))), "its own rate goes with it")
	require.Equal(t, []string{"b/e1"}, gone(d.Advance(time.Second)))
}

// TestEachClusterIsTriedWhenItsOwnTimeComes has clusters wait for different times, and one for people.
func TestEachClusterIsTriedWhenItsOwnTimeComes(t *testing.T) {
	d := drive(t, messages.Settings{ClusterEvictionRate: 0.1})
	d.Tell(hold(messages.HoldScope{Cluster: "alone"}, "rack"))
	d.Tell(from("alone", "x")...)
	for _, c := range []messages.ClusterName{"u2", "e1", "u1", "e2"} {
		d.Tell(from(c, "a", "b")...)
		d.Advance(time.Second)
	}
	d.Approach(6 * time.Second)
	for _, want := range []string{"b/u2", "b/e1", "b/u1", "b/e2"} {
		require.Equal(t, []string{want}, gone(d.Advance(0)))
		d.Approach(time.Second)
	}
	d.Sleeps()
}

func TestAnotherRateOfAScopeHoldsImmediately(t *testing.T) {
	d := drive(t, messages.Settings{ClusterEvictionRate: 0.01})
	d.Tell(from("e1", "a", "b", "c")...).WakesIn(100 * time.Second)
	require.Equal(t, []string{"b/e1", "c/e1"}, gone(d.Tell(&messages.SettingsChanged{})), "no rate, no wait")
}

func bindingAt(name string) messages.Address {
	return messages.Address{Kind: messages.KindBinding, Name: name}
}
