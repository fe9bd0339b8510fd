package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func graceful(s *messages.Settings) { s.GracefulMoves = true }

// afresh is the word of a binding on m2 that would be better off on m1.
func afresh() *messages.PlaceBinding {
	m := again(ask("web", 2, homeFirst()), "m2:2")
	m.Affinity, m.RescheduleAt = "abroad", actorstest.Start.Add(time.Second)
	return m
}

func TestAFreshPlacementLeavesClusters(t *testing.T) {
	for how, c := range map[string]struct {
		settings messages.Settings
		move     string
		leaving  []messages.ClusterName
	}{
		"immediately, as in Karmada": {settings(), "", nil},
		"when the others serve":      {settings(graceful), api.EvictionReasonRebalance, []messages.ClusterName{"m2"}},
	} {
		t.Run(how, func(t *testing.T) {
			d := drive(t, c.settings, cluster("m1", "9"), cluster("m2", "9"))
			n := decided(t, d.Tell(afresh()), "web")
			require.Equal(t, targets("m1:2"), n.Targets)
			require.Equal(t, c.move, n.Move)
			require.Equal(t, c.leaving, n.Leaving)
			require.Equal(t, "reschedule requested", n.Trigger)
		})
	}
}

func TestAFreshPlacementOfWhatMustLeaveLeavesTheRestAsGracefully(t *testing.T) {
	d := drive(t, settings(graceful), cluster("m1", "9"), cluster("m2", "9"), cluster("m3", "9", "down"))
	m := leaving(afresh(), "m3")
	m.Replicas, m.Targets = 4, targets("m2:2", "m3:2")
	n := decided(t, d.Tell(m), "web")
	require.Equal(t, targets("m1:4"), n.Targets)
	require.Equal(t, []messages.ClusterName{"m3", "m2"}, n.Leaving)
	require.Empty(t, n.Held)
}
