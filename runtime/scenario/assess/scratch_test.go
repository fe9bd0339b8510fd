package assess

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// TestACopyEndsAsAReplayFromTheManifestsDoes holds what is shared between contingencies to what a replay of the whole scenario says,
// with the outage as a step of its timeline: who is evicted, how long replicas are missing, and how many are available in the end.
func TestACopyEndsAsAReplayFromTheManifestsDoes(t *testing.T) {
	text, err := os.ReadFile("../../../docs/examples/fleet.yaml")
	require.NoError(t, err)
	a, _ := assessed(t, string(text))
	for _, o := range a.Contingencies {
		s := read(t, string(text))
		var failed []messages.ClusterName
		for _, c := range o.Clusters {
			failed = append(failed, messages.ClusterName(c))
		}
		s.Timeline = []scenario.Step{{At: lead, Action: &scenario.Outage{Target: scenario.Target{Clusters: failed}, Kind: messages.OutagePower}}}
		run, err := replay.Play(s, replay.Options{Seed: 1, Until: lead + Horizon})
		require.NoError(t, err)
		require.True(t, run.Passed, o.Name)

		evicted := map[messages.BindingName]bool{}
		available, all := 0, 0
		var again time.Time
		for _, e := range run.Events {
			switch f := e.Fact.(type) {
			case *messages.EvictionStarted:
				evicted[f.Binding] = true
			case *messages.AvailabilityChanged:
				available += int(f.Available - f.Before)
				if e.At.Before(run.Start.Add(lead)) {
					all = available
				} else if available == all && f.Available > f.Before {
					again = e.At
				}
			}
		}
		require.Len(t, evicted, o.Evicted.Workloads, o.Name)
		require.Equal(t, o.Unavailable.Replicas, all-available, o.Name)
		if o.AvailableAfter == nil {
			require.True(t, again.IsZero(), o.Name)
		} else {
			require.Equal(t, time.Duration(*o.AvailableAfter), again.Sub(run.Start.Add(lead)), o.Name)
		}
	}
}
