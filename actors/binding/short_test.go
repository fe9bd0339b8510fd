package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// inPart is a decision that has no room for so many replicas.
func inPart(d *messages.PlacementDecided, missing int32) *messages.PlacementDecided {
	d.Missing, d.Reason, d.Message = missing, api.ReasonUnschedulable, "no room"
	return d
}

func TestAShortageKeepsTheOldCopyUntilAllHaveAPlace(t *testing.T) {
	b := placed(t, settings(destinationFirst, keepLastCopy), divided(), "m1:2", "m2:2")
	b.tell(workload(4))
	b.tell(b.keep())
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	require.False(t, b.asked.Purges)

	n := b.tell(inPart(b.replace("m1", "m2:3"), 1))
	require.Equal(t, []string{"EvictionStarted", "Scheduled", "ScheduleFailed"}, kinds(n))
	failed := actorstest.FactsOf[*messages.ScheduleFailed](n.Facts())[0]
	require.Equal(t, int32(1), failed.Missing)
	require.Equal(t, "no room", failed.Message)

	b.tell(report("m2", api.Healthy, 3, 3)).Told(memberAt("m1"))
	held := actorstest.FactsOf[*messages.ReleaseHeld](b.advance(10 * time.Minute).Facts())
	require.Len(t, held, 1)
	require.Equal(t, "1 of 4 replicas have no other place", held[0].Message)

	b.tell(b.place("m2:4"))
	b.tell(report("m2", api.Healthy, 4, 4)).Told(memberAt("m1"), removal)
}

func TestWhoPurgesDirectlySaysSo(t *testing.T) {
	b := placed(t, settings(destinationFirst, keepLastCopy, purgeDirectly), divided(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	require.True(t, b.asked.Purges)
}
