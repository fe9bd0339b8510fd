package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// inPart is a decision that has no capacity for so many replicas.
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
	held := actorstest.FactsOf[*messages.HandoverBlocked](b.advance(10 * time.Minute).Facts())
	require.Len(t, held, 1)
	require.Equal(t, "1 of 4 replicas are unschedulable elsewhere", held[0].Message)

	b.tell(b.place("m2:4"))
	b.tell(report("m2", api.Healthy, 4, 4)).Told(memberAt("m1"), removal)
}

func TestWhoPurgesDirectlySaysSo(t *testing.T) {
	b := placed(t, settings(destinationFirst, keepLastCopy, purgeDirectly), divided(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	require.True(t, b.asked.Purges)
}

func TestReplicasThatAreLostWithAClusterKeepTheirQuotaUntilTheyAreReplaced(t *testing.T) {
	keepsQuota := func(s *messages.Settings) { s.FailoverKeepsQuota = true }
	for name, c := range map[string]struct {
		settings messages.Settings
		policy   *api.PropagationSpec
		then     []string
		want     int32
	}{
		"all of them at first":                  {settings(keepsQuota), divided(), nil, 2},
		"then those that found no place":        {settings(keepsQuota), divided(), []string{"m2:3"}, 1},
		"none once all have one":                {settings(keepsQuota), divided(), []string{"m2:4"}, 0},
		"a copy that has a substitute":          {settings(keepsQuota), duplicated(), []string{"m2:2", "m3:2"}, 0},
		"a copy that has none":                  {settings(keepsQuota), duplicated(), nil, 2},
		"none where evictions give it up":       {settings(), divided(), nil, 0},
		"never more than the policy still asks": {settings(keepsQuota), divided(), []string{"m2:2", "m3:2"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := placed(t, c.settings, c.policy, "m1:2", "m2:2")
			b.tell(workload(4))
			b.tell(b.keep())
			b.tell(tainted("m1", b.Now(), "down"))
			b.tell(permit("m1"))
			if c.then != nil {
				b.tell(b.place(c.then...))
			}
			b.tell(&messages.RescheduleTriggered{At: b.Now()})
			require.Equal(t, c.want, b.asked.Unreplaced)
		})
	}
}
