package expect_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/expect"
)

func TestAnEventThatIsMissingIsAboutWhatNearlyLedToIt(t *testing.T) {
	scheduled := func(b messages.BindingName) messages.Fact {
		return &messages.EvictionScheduled{Binding: b, Cluster: "m1"}
	}
	started := func(b messages.BindingName) messages.Fact {
		return &messages.EvictionStarted{Binding: b, Cluster: "m1"}
	}
	both := []messages.Fact{added("m1", "down"), scheduled("d/a"), scheduled("d/b")}
	few := expect.Expectation{Mode: expect.Total, Until: span.Max, Count: expect.Exactly(3), Subject: &expect.Event{Kind: "EvictionStarted"}}
	soon := expect.Expectation{Mode: expect.Within, Until: 5 * s, Subject: few.Subject}
	for name, c := range map[string]struct {
		expected      expect.Expectation
		facts         []messages.Fact
		about, reason string
	}{
		"the last that was scheduled":           {few, both, "b", "it happened 0 times"},
		"one that was scheduled and is missing": {few, append(both[:3:3], started("d/b")), "a", "it happened 1 time, the last one: EvictionStarted of d/b on m1 at 1s"},
		"the cluster, where all were evicted":   {few, append(both[:3:3], started("d/a"), started("d/b")), "m1", "it happened 2 times, the last one: EvictionStarted of d/b on m1 at 1s"},
		"the last one, where nothing else led":  {few, []messages.Fact{started("d/a"), started("d/b")}, "b", "it happened 2 times, the last one: EvictionStarted of d/b on m1 at 1s"},
		"nothing led to it": {
			soon, []messages.Fact{&messages.HeartbeatStopped{Cluster: "m1"}}, "",
			"it did not happen, and nothing that leads to it did: ConditionChanged, TaintAdded, EvictionScheduled, EvictionBlocked",
		},
		"another one of its kind": {
			expect.Expectation{Mode: expect.Within, Until: 5 * s, Subject: &expect.Event{Kind: "TaintAdded", Fields: map[string]any{"by": "x"}}},
			both[:1], "m1", "it did not happen",
		},
		"of a kind to which nothing leads": {
			expect.Expectation{Mode: expect.Total, Until: span.Max, Count: expect.Exactly(1), Subject: &expect.Event{Kind: "HeartbeatStopped"}}, both, "", "it happened 0 times",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, c.expected)
			r.put(cluster("m1"))
			r.at(s, c.facts...)
			if c.expected.Mode == expect.Within { // what is too late leads to nothing
				r.at(7*s, scheduled("d/z"))
			}
			result := r.end(10 * time.Second)[0]
			require.False(t, result.Passed)
			require.Equal(t, c.about, result.About.Name)
			require.Equal(t, c.reason, result.Reason)
		})
	}
}
