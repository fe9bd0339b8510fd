package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

// oneRegion keeps a workload within a region.
func oneRegion() *api.Placement {
	p := aggregated()
	p.SpreadConstraints = []api.SpreadConstraint{{SpreadByField: api.SpreadByRegion, MinGroups: 1, MaxGroups: 1}, {SpreadByField: api.SpreadByCluster, MinGroups: 1, MaxGroups: 9}}
	return p
}

func in(region string, v *messages.ClusterViewed) *messages.ClusterViewed {
	v.View.Region = region
	return v
}

func TestWhatMayTakeNothingAlongIsHeldUntilThereIsAnotherWay(t *testing.T) {
	for what, lapses := range map[string]bool{"with leave to go": false, "with leave for the instant": true} {
		t.Run(what, func(t *testing.T) {
			d := drive(t, settings(func(s *messages.Settings) { s.GracefulMoves = true }),
				in("eu", cluster("m1", "2", "down")), in("eu", cluster("m2", "2")), in("us", cluster("m3", "9")))
			word := leaving(again(ask("web", 4, oneRegion()), "m1:2", "m2:2"), "m1")
			word.Alone, word.Lapses = true, lapses
			held := decided(t, d.Tell(word), "web")
			require.Equal(t, []messages.ClusterName{"m1"}, held.Held)
			require.Equal(t, &messages.Obstacle{
				Reason: "BudgetSpent", Message: "only the whole workload can be moved; the copies on m2 would be removed at the same time",
			}, held.Obstacle)
			growth := d.Tell(in("eu", cluster("m4", "2")))
			if lapses {
				growth.Told(bindingAt("web"), &messages.DestinationFound{Request: word.Request, Clusters: []messages.ClusterName{"m1"}})
				return
			}
			require.Equal(t, targets("m2:2", "m4:2"), decided(t, growth, "web").Targets)
		})
	}
}

func TestWhatMayTakeOthersAlongDoes(t *testing.T) {
	d := drive(t, settings(func(s *messages.Settings) { s.GracefulMoves = true }),
		in("eu", cluster("m1", "2", "down")), in("eu", cluster("m2", "2")), in("us", cluster("m3", "9")))
	told := decided(t, d.Tell(leaving(again(ask("web", 4, oneRegion()), "m1:2", "m2:2"), "m1")), "web")
	require.Equal(t, []messages.ClusterName{"m1", "m2"}, told.Leaving)
}

// TestAnEditEndsAHold: what must leave one cluster alone is held, until an edit moves all of it.
func TestAnEditEndsAHold(t *testing.T) {
	d := drive(t, settings(graceful), cluster("m1", "9", "down"), cluster("m2", "9"), cluster("m3", "9"))
	word := leaving(edited(only("m1", "m2"), only("m3"), 2, "m1:2", "m2:2"), "m1")
	word.Alone = true
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, targets("m3:2"), told.Targets)
	require.Equal(t, []messages.ClusterName{"m1", "m2"}, told.Leaving)
	require.Empty(t, told.Held)
	require.Nil(t, told.Obstacle)
}
