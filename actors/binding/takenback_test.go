package binding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

// TestAnEvictionThatWasNotCommittedIsTakenBack shows an admin who holds a cluster between a decision and its commit.
func TestAnEvictionThatWasNotCommittedIsTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*messages.Settings)
		// asked and told are what the member hears of the eviction, and of its end.
		asked, told []messages.Message
	}{
		"its copy runs still":     {func(*messages.Settings) {}, nil, nil},
		"its copy was told to go": {purgeDirectly, []messages.Message{removal}, []messages.Message{run(2, 3)}},
	} {
		t.Run(name, func(t *testing.T) {
			b := placed(t, settings(c.change), duplicated(), "m1:2", "m2:2")
			b.tell(tainted("m1", b.Now(), "down"))
			b.tell(permit("m1")).Told(memberAt("m1"), c.asked...)
			n := b.tell(&messages.TakeEvictionBack{Cluster: "m1"}).Told(memberAt("m1"), c.told...)
			require.Contains(t, kinds(n), "EvictionWithdrawn")
			require.ElementsMatch(t, targets("m1:2", "m2:2"), b.asked.Targets)
			b.tell(&messages.TakeEvictionBack{Cluster: "m2"}).Quiet()
		})
	}
}

// TestAMemberIsToldAgainWhatAWorkThatWasEditedAsksFor shows a user who edits the Work of a copy.
func TestAMemberIsToldAgainWhatAWorkThatWasEditedAsksFor(t *testing.T) {
	b := placed(t, settings(purgeDirectly), duplicated(), "m1:2", "m2:2")
	b.tell(&messages.CopyEdited{Cluster: "m2"}).Told(memberAt("m2"), run(2, 3))
	b.tell(&messages.CopyEdited{Cluster: "m9"}).Quiet()
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1")).Told(memberAt("m1"), removal)
	b.tell(&messages.CopyEdited{Cluster: "m1"}).Told(memberAt("m1"))
}

// TestTheHealthierOfTwoHalvesStays shows a cluster that comes back while its share serves elsewhere: copies are compared by what each was
// to run.
func TestTheHealthierOfTwoHalvesStays(t *testing.T) {
	for name, c := range map[string]struct {
		ready int32
		back  bool
	}{"the old one is as ready": {2, true}, "the new one is readier": {1, false}} {
		t.Run(name, func(t *testing.T) {
			b := placed(t, settings(), reconnecting(api.ReconnectKeepHealthiest), "m1:2", "m2:2")
			b.tell(tainted("m1", b.Now(), "down"))
			b.tell(permit("m1"))
			b.tell(b.place("m2:2", "m3:2"))
			b.tell(report("m2", api.Unhealthy, 0, 2), report("m3", api.Healthy, 2, 3), report("m1", api.Healthy, c.ready, 1))
			n := b.tell(healed("m1"))
			if c.back {
				require.Contains(t, kinds(n), "EvictionWithdrawn")
			} else {
				require.NotContains(t, kinds(n), "EvictionWithdrawn")
			}
		})
	}
}
