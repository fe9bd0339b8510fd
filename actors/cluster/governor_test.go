package cluster_test

import (
	"testing"

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
