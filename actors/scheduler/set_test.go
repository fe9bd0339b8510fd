package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func exactSets(s *messages.Settings) { s.ExactComponentSets = true }

// set is a head and so many workers of one cpu each.
func set(workers int32) *messages.ComponentSet {
	each := &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	return messages.NewComponentSet([]api.Component{
		{Name: "head", Replicas: 1, ReplicaRequirements: each}, {Name: "workers", Replicas: workers, ReplicaRequirements: each},
	})
}

// askSet is a binding's word: a head and workers on any one cluster, or where they run already.
func askSet(name messages.BindingName, workers int32, running ...string) *messages.PlaceBinding {
	m := ask(name, 0, anyOne())
	m.HasReplicas, m.Requirements, m.Set = false, nil, set(workers)
	if len(running) > 0 {
		m.Applied = m.Placement
	}
	for _, c := range running {
		m.Targets = append(m.Targets, api.TargetCluster{Name: c, Components: set(workers).Targets})
	}
	return m
}

func TestASetReservesCapacityForAllItsPods(t *testing.T) {
	d := drive(t, settings(exactSets), cluster("m1", "6"), cluster("m2", "5"))
	told := decided(t, d.Tell(askSet("a", 3)), "a")
	require.Equal(t, []api.TargetCluster{{Name: "m1", Components: set(3).Targets}}, told.Targets)
	told = decided(t, d.Tell(askSet("b", 3)), "b")
	require.Equal(t, "m2", told.Targets[0].Name, "m1 has two cpus left")
	told = decided(t, d.Tell(askSet("c", 3)), "c")
	require.Equal(t, messages.PlacementFailed, told.Outcome)
	require.Equal(t, "0/2 clusters are available: 2 cluster(s) did not have enough cpu for all components.", told.Message)

	told = decided(t, d.Tell(&messages.BindingGone{Binding: "b"}), "c")
	require.Equal(t, "m2", told.Targets[0].Name)
}

// TestCapacityIsKeptForTheSetThatAsksForLeave: what it gains, and nothing of what it has.
func TestCapacityIsKeptForTheSetThatAsksForLeave(t *testing.T) {
	d := drive(t, settings(exactSets), cluster("m1", "9", "down"), cluster("m2", "8"))
	word := askSet("a", 3, "m1", "m2")
	word.Placement = twoOfThree()
	word.Applied, word.Priority, word.Seeking = word.Placement, 9, []messages.ClusterName{"m1"}
	require.Equal(t, []messages.ClusterName{"m1"}, decided(t, d.Tell(word), "a").Held)
	n := d.Tell(cluster("m3", "4"), askSet("b", 3), askSet("c", 3))
	n.Told(bindingAt("a"), &messages.DestinationFound{Request: word.Request, Clusters: []messages.ClusterName{"m1"}})
	first := actorstest.MailTo(n.Mail(), bindingAt("b"))[0].(*messages.PlacementDecided)
	require.Equal(t, "m2", first.Targets[0].Name, "m3 is kept for a, and four of m2 are free")
}

func TestASetThatIsEvictedOrShrinksFreesCapacity(t *testing.T) {
	podless, lighter := askSet("a", 3, "m1"), askSet("a", 3, "m1")
	podless.Set, podless.Targets = nil, targets("m1:0")
	for i := range lighter.Set.Components {
		lighter.Set.Components[i].ReplicaRequirements = &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("500m")}}
	}
	for name, next := range map[string]*messages.PlaceBinding{
		"it moves":              askSet("a", 3, "m2"),
		"it shrinks":            askSet("a", 1, "m1"),
		"it is a set no longer": again(ask("a", 1, anyOne()), "m1:1"),
		"it has no pods":        podless,
		"its pods ask for less": lighter,
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(exactSets), cluster("m1", "4"), cluster("m2", "1"))
			d.Tell(askSet("a", 3, "m1"))
			require.Equal(t, messages.PlacementFailed, decided(t, d.Tell(askSet("b", 1)), "b").Outcome)
			require.Equal(t, "m1", decided(t, d.Tell(next), "b").Targets[0].Name)
		})
	}
}

func TestASetThatIsWantedOtherwiseStaysAndChanges(t *testing.T) {
	d := drive(t, settings(exactSets), cluster("m1", "4"), cluster("m2", "9"))
	word := askSet("a", 5, "m1")
	word.Targets[0].Components = set(2).Targets
	told := decided(t, d.Tell(word), "a")
	require.Equal(t, []api.TargetCluster{{Name: "m1", Components: set(5).Targets}}, told.Targets)
	require.Equal(t, "replicas changed", told.Trigger)
	d.Tell(status("m2", "10")).Quiet()
}

func TestASetIsHeldWhereNoClusterHasCapacityForAllOfIt(t *testing.T) {
	d := drive(t, settings(exactSets), cluster("m1", "9", "down"), cluster("m2", "3"))
	told := decided(t, d.Tell(leaving(askSet("a", 3, "m1"), "m1")), "a")
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.Contains(t, told.Obstacle.Message, "did not have enough cpu for all components")
	told = decided(t, d.Tell(status("m2", "4")), "a")
	require.Equal(t, []messages.ClusterName{"m1"}, told.Leaving)
	require.Equal(t, []api.TargetCluster{{Name: "m2", Components: set(3).Targets}}, told.Targets)
}
