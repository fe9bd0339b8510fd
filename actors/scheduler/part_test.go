package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func inPart(s *messages.Settings) { s.PartialPlacement = true }

func TestWhatFitsIsPlacedAndTheRestFollows(t *testing.T) {
	d := drive(t, settings(inPart), cluster("m1", "3"))
	told := decided(t, d.Tell(ask("web", 5, aggregated())), "web")
	require.Equal(t, messages.PlacementChosen, told.Outcome)
	require.Equal(t, targets("m1:3"), told.Targets)
	require.Equal(t, int32(2), told.Missing)
	require.Equal(t, api.ReasonUnschedulable, told.Reason)
	require.Equal(t, "2 of 5 replicas exceed the capacity of the 1 chosen cluster(s)", told.Message)

	d.Tell(status("m1", "3")).Quiet()
	told = decided(t, d.Tell(cluster("m2", "1")), "web")
	require.Equal(t, targets("m1:3", "m2:1"), told.Targets)
	require.Equal(t, int32(1), told.Missing)
	told = decided(t, d.Tell(status("m2", "9")), "web")
	require.Equal(t, targets("m1:3", "m2:2"), told.Targets)
	require.Equal(t, api.ReasonSuccess, told.Reason)
	require.Zero(t, told.Missing)
	d.Tell(status("m2", "99")).Quiet()
}

func TestAShortageIsToldOfAgainWhenTheBindingAsks(t *testing.T) {
	d := drive(t, settings(inPart), cluster("m1", "3"))
	word := again(ask("web", 5, aggregated()), "m1:3")
	told := decided(t, d.Tell(word), "web")
	require.Equal(t, messages.PlacementFailed, told.Outcome, "it has what there is")
	require.Equal(t, int32(2), told.Missing)
	require.False(t, told.Cleared)
}

func TestABindingLeavesInPartWhereNothingIsLost(t *testing.T) {
	word := func() *messages.PlaceBinding {
		return leaving(again(ask("web", 5, aggregated()), "m1:3", "m2:2"), "m1")
	}
	views := []messages.ToScheduler{cluster("m1", "9", "down"), cluster("m2", "4")}
	d := drive(t, settings(inPart), views...)
	told := decided(t, d.Tell(word()), "web")
	require.Equal(t, []messages.ClusterName{"m1"}, told.Leaving)
	require.Equal(t, targets("m2:4"), told.Targets)
	require.Equal(t, int32(1), told.Missing)

	purging := word()
	purging.Purges = true
	tests := map[string]struct {
		word     *messages.PlaceBinding
		settings messages.Settings
		views    []messages.ToScheduler
	}{
		"all or nothing":                         {word(), settings(), views},
		"the old copy goes when its time is up":  {word(), settings(inPart, clearing), views},
		"the old copy goes immediately":          {purging, settings(inPart), views},
		"no more runs than without the eviction": {word(), settings(inPart), []messages.ToScheduler{views[0], cluster("m2", "2")}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			told := decided(t, drive(t, test.settings, test.views...).Tell(test.word), "web")
			require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
			require.Empty(t, told.Leaving)
			require.Equal(t, api.ReasonUnschedulable, told.Obstacle.Reason)
		})
	}
}

func TestWhatMustLeaveButCannotStillGrowsElsewhere(t *testing.T) {
	word := leaving(again(ask("web", 9, aggregated()), "m1:3", "m2:2"), "m1")
	word.Purges = true
	told := decided(t, drive(t, settings(inPart), cluster("m1", "3"), cluster("m2", "4")).Tell(word), "web")
	require.Equal(t, targets("m1:3", "m2:4"), told.Targets)
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.Equal(t, int32(2), told.Missing)
}
