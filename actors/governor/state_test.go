package governor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/governor"
	"leeward/messages"
	"leeward/messages/api"
)

// guarded are thresholds for a fleet of five.
func guarded() messages.Settings {
	return messages.Settings{UnhealthyClusterThreshold: 0.55, SecondaryEvictionRate: 0.5, BlackoutThreshold: 1, StormCooldown: time.Minute}
}

func down(cluster messages.ClusterName, region string) *messages.ClusterObserved {
	return &messages.ClusterObserved{Cluster: cluster, Region: region, Unhealthy: true}
}

// most and all of the clusters of drive fail.
var (
	most = []messages.ToGovernor{down("e1", "eu"), down("e2", "eu"), down("u1", "us")}
	all  = append(most[:3:3], down("u2", "us"), down("alone", ""))
)

func states(n *actorstest.Network) (list []string) {
	for _, f := range actorstest.FactsOf[*messages.GovernorChanged](n.Facts()) {
		list = append(list, f.Region+f.State)
	}
	return list
}

func TestADisruptionSlowsTheFleetAndItsEndDoesNotHurry(t *testing.T) {
	d := drive(t, guarded())
	rate := 0.5
	d.Tell(most...).Recorded(&messages.GovernorChanged{
		State: "PartialDisruption", Message: "3 of 5 clusters are unhealthy: 0.5 evictions a second", EvictionsPerSecond: &rate,
	})
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a", "b", "c", "d")...)))
	require.Equal(t, []string{"b/e1"}, gone(d.Advance(2*time.Second)))
	ends := d.Now().Add(time.Minute)
	d.Tell(located("e2", "eu")).Recorded(&messages.GovernorChanged{
		State: "Cooldown", Message: "2 of 5 clusters are unhealthy: 0.5 evictions a second", EvictionsPerSecond: &rate, Until: ends,
	})
	require.Equal(t, []string{"c/e1"}, gone(d.Advance(2*time.Second)))
	d.Tell(&messages.WithdrawRequest{Binding: "d", Cluster: "e1"})
	d.Approach(58 * time.Second)
	require.Equal(t, []string{"Normal"}, states(d.Advance(0)))
	require.Len(t, gone(d.Tell(from("e1", "x", "y", "z")...)), 3)
	d.Sleeps()
}

func TestADisruptionHurriesNothingThatASettingSlowsMore(t *testing.T) {
	s := guarded()
	s.FleetEvictionRate = 0.1
	d := drive(t, s)
	d.Tell(most...)
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a", "b")...)))
	require.Empty(t, gone(d.Approach(10*time.Second)), "the disruption alone would let one go in two seconds")
	require.Equal(t, []string{"b/e1"}, gone(d.Advance(0)))
}

func TestABlackoutStopsEverythingAndTellsTheClusters(t *testing.T) {
	d := drive(t, guarded())
	n := d.Tell(append(all[:5:5], from("e1", "a")...)...)
	require.Equal(t, []string{"Blackout"}, states(n), "no lesser state shows on the way")
	require.Empty(t, gone(n))
	require.Equal(t, []messages.Message{&messages.EvictionDelayed{
		Cluster: "e1", Reason: "Blackout", Message: "the fleet: 5 of 5 clusters are unhealthy: no evictions",
	}}, waits("a", n))
	for _, cluster := range []string{"e1", "e2", "u1", "u2", "alone"} {
		n.Told(messages.Address{Kind: messages.KindCluster, Name: cluster}, &messages.BlackoutDeclared{Blind: true})
	}
	d.QuietFor(24 * time.Hour)
	n = d.Tell(located("u2", "us")).Told(messages.Address{Kind: messages.KindCluster, Name: "u2"}, &messages.BlackoutDeclared{})
	require.Equal(t, []string{"PartialDisruption"}, states(n))
	require.Equal(t, []string{"a/e1"}, gone(n))
}

func TestTheLastSoundClusterThatIsDeletedLeavesABlackout(t *testing.T) {
	d := drive(t, guarded())
	d.Tell(all[:4]...)
	require.Equal(t, []string{"Blackout"}, states(d.Tell(&messages.ClusterGone{Name: "alone"})))
	d.Tell(&messages.ClusterGone{Name: "alone"}, &messages.ClusterGone{Name: "never seen"}).Quiet()
	back := actorstest.FactsOf[*messages.GovernorChanged](d.Tell(located("alone", "")).Facts())
	require.Equal(t, "4 of 5 clusters are unhealthy: 0.5 evictions a second", back[0].Message, "it counts again")
}

func TestABindingThatWaitsIsToldAgainWhenTheStateChanges(t *testing.T) {
	s := guarded()
	s.UnhealthyRegionThreshold = 0.8
	s.LargeFleetSize = 3
	for name, c := range map[string]struct {
		news  []messages.ToGovernor
		told  string
		state string
	}{
		"of the fleet":             {append(all[3:5:5], down("e1", "eu")), "the fleet: 5 of 5 clusters are unhealthy: no evictions", "Blackout"},
		"not where nothing is new": {most[:1], "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, s)
			d.Tell(most...)
			d.Tell(from("e1", "a", "b")...)
			n := d.Tell(c.news...)
			if c.told == "" {
				n.Quiet()
				return
			}
			n.Told(bindingAt("b"), heldBack("e1", c.state, c.told))
		})
	}
}

func TestWhoWaitsInARegionIsToldWhenItsStateChanges(t *testing.T) {
	s := guarded()
	s.UnhealthyClusterThreshold, s.BlackoutThreshold, s.UnhealthyRegionThreshold, s.LargeFleetSize = 0, 0, 0.45, 2
	s.RegionEvictionRate, s.SecondaryEvictionRate = 0.1, 0.05
	d := drive(t, s)
	d.Tell(located("e3", "eu"), located("e4", "eu"))
	d.Tell(from("e1", "a", "b")...).Told(bindingAt("b"), slowed("e1", "region eu is limited to 0.1 evictions a second"))
	n := d.Tell(down("e2", "eu"), down("e3", "eu"), down("e4", "eu"))
	require.Equal(t, []string{"euPartialDisruption"}, states(n))
	n.Told(bindingAt("b"), slowed("e1", "region eu is limited to 0.05 evictions a second"))
	d.Tell(&messages.WithdrawRequest{Binding: "b", Cluster: "e1"})
	require.Equal(t, []string{"euCooldown"}, states(d.Tell(located("e2", "eu"))))
	d.WakesIn(time.Minute)
	require.Equal(t, []string{"euNormal"}, states(d.Advance(time.Minute)), "its cooldown ends by itself")
}

// A disruption that asks for the pace of the setting leaves the setting as it is, with its bursts.
func TestADisruptionOfTheSamePaceKeepsBursts(t *testing.T) {
	s := guarded()
	s.FleetEvictionRate, s.EvictionBurst = 0.5, 3
	d := drive(t, s)
	d.Tell(most...)
	require.Len(t, gone(d.Tell(from("e1", "a", "b", "c", "d")...)), 3)
}

func TestTheOrderOfReportsDoesNotMatter(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		d := drive(t, guarded())
		arrivals := actorstest.Interleave(choose, actorstest.Alone(most...)...)
		require.Equal(t, []string{"PartialDisruption"}, states(d.Tell(arrivals...)))
	})
}

func TestARegionIsJudgedByItself(t *testing.T) {
	s := guarded()
	s.UnhealthyClusterThreshold, s.BlackoutThreshold, s.UnhealthyRegionThreshold, s.LargeFleetSize = 0, 0, 0.55, 10
	d := drive(t, s)
	d.Tell(located("e3", "eu"), located("e4", "eu"))
	require.Equal(t, []string{"euPartialDisruption"}, states(d.Tell(down("e1", "eu"), down("e2", "eu"), down("e3", "eu"))))
	require.Equal(t, []string{"a/u1"}, gone(d.Tell(append(from("e1", "a"), from("u1", "a")...)...)))
	n := d.Tell(down("e4", "eu"))
	require.Equal(t, []string{"euFullDisruption"}, states(n))
	require.Equal(t, []string{"a/e1"}, gone(n))
	require.Equal(t, []string{"euNormal"}, states(d.Tell(located("e1", "us"), located("e2", "eu"), located("e3", "eu"))))
}

// A rate of exactly one a second must not stay at zero, as it does in Kubernetes' node lifecycle controller.
func TestARateOfOneComesBackAfterAStop(t *testing.T) {
	s := guarded()
	s.FleetEvictionRate, s.LargeFleetSize, s.StormCooldown = 1, 10, 0
	d := drive(t, s)
	require.Empty(t, gone(d.Tell(append(most, from("e1", "a", "b")...)...)))
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(located("e1", "eu"))))
	require.Equal(t, []string{"b/e1"}, gone(d.Advance(time.Second)))
}

func TestSettingsAreJudgedImmediately(t *testing.T) {
	d := drive(t, messages.Settings{})
	d.Tell(most...).Quiet()
	require.Equal(t, []string{"PartialDisruption"}, states(d.Tell(&messages.SettingsChanged{Settings: guarded()})))
	require.Equal(t, []string{"Normal"}, states(d.Tell(&messages.SettingsChanged{})))
}

// Its status says so, too: what waits is told the same before a restart and after it, however many clusters there are by then.
func TestWhatWaitsForTheFleetIsToldWhatItsStateSays(t *testing.T) {
	d := drive(t, guarded())
	n := d.Tell(all[:5]...)
	said := actorstest.FactsOf[*messages.GovernorChanged](n.Facts())[0]
	d.Tell(&messages.ClusterGone{Name: "alone"}).Quiet()
	told := waits("a", d.Tell(from("e1", "a")...))
	require.Equal(t, []messages.Message{&messages.EvictionDelayed{Cluster: "e1", Reason: "Blackout", Message: "the fleet: " + said.Message}}, told)

	d = actorstest.Drive(t, governor.New(guarded()))
	status := &api.GovernorStatus{Governance: api.Governance{State: said.State, Message: said.Message, EvictionsPerSecond: said.EvictionsPerSecond}}
	d.Tell(append(all[:4:4], &messages.GovernorRestored{Status: status})...)
	require.Equal(t, told, waits("a", d.Tell(from("e1", "a")...)))
}

func TestARestartGoesOnWhereItWas(t *testing.T) {
	rate, ends := 0.5, actorstest.Start.Add(time.Minute)
	status := &api.GovernorStatus{
		Governance: api.Governance{State: "Cooldown", EvictionsPerSecond: &rate, Until: &metav1.MicroTime{Time: ends}},
		Regions:    []api.RegionGovernance{{Name: "eu", Governance: api.Governance{State: "FullDisruption"}}},
	}
	s := guarded()
	s.UnhealthyRegionThreshold = 0.55
	d := actorstest.Drive(t, governor.New(s))
	d.Tell(&messages.GovernorRestored{Status: status}, down("e1", "eu"), located("u1", "us")).Quiet().WakesIn(time.Minute)
	require.Equal(t, []string{"Normal"}, states(d.Advance(time.Minute)))
}
