package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

// only runs a workload on some clusters, each with all replicas.
func only(clusters ...string) *api.Placement {
	return &api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: clusters}}
}

// weighted divides replicas by the static weights of m1 and m2.
func weighted(m1, m2 int64) *api.Placement {
	weigh := func(name string, w int64) api.StaticClusterWeight {
		return api.StaticClusterWeight{TargetCluster: api.ClusterAffinity{ClusterNames: []string{name}}, Weight: w}
	}
	return &api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
		WeightPreference: &api.WeightPreference{StaticWeightList: []api.StaticClusterWeight{weigh("m1", m1), weigh("m2", m2)}},
	}}
}

// edited is the word of a binding that runs on some clusters as one placement said, and now has another.
func edited(was, is *api.Placement, replicas int32, clusters ...string) *messages.PlaceBinding {
	m := again(ask("web", replicas, was), clusters...)
	m.Placement = is
	return m
}

func TestWhateverAPlacementDropsHasAHandover(t *testing.T) {
	for _, c := range []struct {
		name    string
		word    *messages.PlaceBinding
		want    []api.TargetCluster
		move    string
		leaving []messages.ClusterName
	}{
		{"an edit names another cluster", edited(only("m1"), only("m2"), 2, "m1:2"), targets("m2:2"), "Reschedule", []messages.ClusterName{"m1"}},
		{"an edit names one cluster less", edited(only("m1", "m2"), only("m2"), 2, "m1:2", "m2:2"), targets("m2:2"), "Reschedule", []messages.ClusterName{"m1"}},
		{"an edit names one cluster more", edited(only("m1"), only("m1", "m2"), 2, "m1:2"), targets("m1:2", "m2:2"), "", nil},
		{"a share moves, and no cluster is left", edited(weighted(1, 2), weighted(2, 1), 3, "m1:1", "m2:2"), targets("m1:2", "m2:1"), "Reschedule", nil},
		{"a share shrinks, and the other stays", edited(weighted(1, 1), weighted(1, 1), 4, "m1:3", "m2:2"), targets("m1:2", "m2:2"), "", nil},
		{"a share moves to a cluster that had none", edited(weighted(1, 0), weighted(2, 1), 3, "m1:3"), targets("m1:2", "m2:1"), "Reschedule", nil},
		{"all shares shrink", edited(weighted(1, 1), weighted(1, 1), 2, "m1:3", "m2:3"), targets("m1:1", "m2:1"), "", nil},
		{"a share shrinks to nothing", edited(aggregated(), aggregated(), 2, "m1:1", "m2:3"), targets("m2:2"), "Reschedule", []messages.ClusterName{"m1"}},
		{"nothing is asked for any more", edited(aggregated(), aggregated(), 0, "m1:1", "m2:3"), nil, "", nil},
		{"a cluster is gone", edited(only("m1", "gone"), only("m1"), 2, "m1:2", "gone:2"), targets("m1:2"), "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, gracefully := range []bool{true, false} {
				d := drive(t, settings(func(s *messages.Settings) { s.GracefulMoves = gracefully }), cluster("m1", "9"), cluster("m2", "9"))
				n := decided(t, d.Tell(c.word), "web")
				require.Equal(t, c.want, n.Targets)
				if !gracefully {
					c.move, c.leaving = "", nil
				}
				require.Equal(t, c.move, n.Move)
				require.Equal(t, c.leaving, n.Leaving)
			}
		})
	}
}

func TestAnEvictionAloneIsNoMove(t *testing.T) {
	d := drive(t, settings(graceful), cluster("m1", "9", "down"), cluster("m2", "9"))
	require.Empty(t, decided(t, d.Tell(leaving(again(ask("web", 2, anyOne()), "m1:2"), "m1")), "web").Move)
}

func TestWhatAnEvictionMovesBesideItHasAHandoverToo(t *testing.T) {
	d := drive(t, settings(graceful), cluster("m1", "9"), cluster("m2", "9", "down"))
	m := edited(only("m2", "m3"), only("m1"), 2, "m2:2")
	d.Tell(cluster("m3", "9")).Quiet()
	m.Targets = targets("m2:2", "m3:2")
	n := decided(t, d.Tell(leaving(m, "m2")), "web")
	require.Equal(t, targets("m1:2"), n.Targets)
	require.Equal(t, []messages.ClusterName{"m2", "m3"}, n.Leaving)
	require.Equal(t, api.EvictionReasonReschedule, n.Move)
	require.Empty(t, n.Held)
}
