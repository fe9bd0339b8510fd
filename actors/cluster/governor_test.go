package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
	"leeward/messages/api"
)

var governor = messages.Address{Kind: messages.KindGovernor}

// in is a cluster's manifest with a region.
func in(region string) *api.Cluster {
	o := ready("True")
	o.Spec.Region = region
	return o
}

func TestTheGovernorHearsOfAClusterOnlyWhereItMatters(t *testing.T) {
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	d.Tell(joined(in("eu"))).Told(governor)
	watched := settings(func(s *messages.Settings) { s.RegionEvictionRate = 1 })
	d.Tell(&messages.SettingsChanged{Settings: watched}).Told(governor, &messages.ClusterObserved{Cluster: name, Region: "eu"})
	d.Tell(report("Synced", "True")).Told(governor)
	d.Tell(&messages.ClusterEdited{Object: in("us")}).Told(governor, &messages.ClusterObserved{Cluster: name, Region: "us"})
	d.Tell(&messages.SettingsChanged{Settings: watched}).Told(governor)
}

// empties is a verdict of policy "down".
func empties(generation uint64) *messages.VerdictGiven {
	v := adds("down", generation, "down")
	v.Taints[0].Effect = "NoExecute"
	return v
}

// TestABlackoutTakesBackWhatConditionsAskedFor shows a cluster that the system, a policy and people have
// tainted. Only what people asked for lasts through a blackout; the rest comes back afterwards, as new.
func TestABlackoutTakesBackWhatConditionsAskedFor(t *testing.T) {
	d := drive(t, func(s *messages.Settings) { s.FailoverEvictionTimeout = time.Minute }, listed("down")...)
	d.Tell(report("Ready", "False"), edit("broken:NoExecute"))
	d.Tell(empties(2))
	d.Advance(time.Minute)
	n := d.Tell(&messages.BlackoutDeclared{Blind: true})
	require.Equal(t, []string{"down by governor", "cluster.karmada.io/not-ready by governor"}, removals(n))
	require.Empty(t, removals(d.Tell(empties(3))), "what a policy asks for now is not even put there")
	d.Tell(&messages.BlackoutDeclared{Blind: true}).Quiet()
	d.Advance(time.Hour)
	back := d.Now()
	d.Tell(&messages.BlackoutDeclared{}).Recorded(tainted(notReadyNoExecute, back, bySystem("Ready=False")))
	d.Tell(empties(4)).Recorded(tainted("down:NoExecute", back, byPolicy("down", "X=True")))
}

// TestABlackoutLeavesWhatTheSystemDoesForUsers: a deletion and a drain empty the cluster all the same.
func TestABlackoutLeavesWhatTheSystemDoesForUsers(t *testing.T) {
	d := drive(t, func(s *messages.Settings) {
		s.FailoverEvictionTimeout, s.TaintTerminatingClusters = time.Minute, true
	})
	d.Tell(placedOn("web")...)
	d.Tell(report("Ready", "Unknown"), &messages.DrainRequested{}, &messages.ClusterDeleted{})
	d.Advance(time.Minute)
	n := d.Tell(&messages.BlackoutDeclared{Blind: true})
	require.Equal(t, []string{"cluster.karmada.io/unreachable by governor"}, removals(n))
	require.ElementsMatch(t, []string{unreachableNoSchedule, "cluster.karmada.io/terminating:NoExecute", cordon, draining}, taintsOf(t, n))
}

func TestTheGovernorHearsThatAClusterThatItKnowsIsGone(t *testing.T) {
	watched := func(s *messages.Settings) { s.RegionEvictionRate = 1 }
	d := actorstest.Drive(t, cluster.New(name, settings(watched), 0))
	d.Tell(joined(in("eu"))).Told(governor, &messages.ClusterObserved{Cluster: name, Region: "eu"})
	d.Tell(&messages.ClusterDeleted{}).Told(governor, &messages.ClusterGone{Name: name})

	drive(t, nil).Tell(&messages.ClusterDeleted{}).Told(governor)
}

func TestAClusterThatJoinsInABlackoutIsNotEmptied(t *testing.T) {
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	m := joined(ready("False"), listed("down")...)
	m.Blind = true
	d.Tell(m)
	d.Tell(empties(1)).Recorded()
}

func removals(n *actorstest.Network) (list []string) {
	for _, f := range actorstest.FactsOf[*messages.TaintRemoved](n.Facts()) {
		list = append(list, f.Taint.Key+" by "+f.Cause.By)
	}
	return list
}

func TestAClusterThatHasOnlyJoinedIsNoFailure(t *testing.T) {
	d := actorstest.Drive(t, cluster.New(name, settings(func(s *messages.Settings) { s.BlackoutThreshold = 0.9 }), 0))
	o := in("eu")
	o.Status.Conditions = nil
	d.Tell(joined(o)).Told(governor)
	failed := &messages.ClusterObserved{Cluster: name, Region: "eu", Unhealthy: true}
	d.Tell(report("Ready", "False")).Told(governor, failed)
	d.Tell(report("Ready", "True")).Told(governor, &messages.ClusterObserved{Cluster: name, Region: "eu"})
	d.Tell(report("Ready", "")).Told(governor, failed)
}
