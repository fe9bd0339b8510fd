package assess

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// stride is how many of the repository's scenarios are passed over for each that is tried: all take 10 s.
const stride = 6

// TestACopyEndsAsAReplayFromTheManifestsDoes holds what is shared between contingencies to what a replay of the whole scenario says,
// with the outage as a step of its timeline: how many workloads are evicted, how many replicas are missing in the end, and how
// long until none are.
func TestACopyEndsAsAReplayFromTheManifestsDoes(t *testing.T) {
	files, err := filepath.Glob("../../../scenarios/*/*.yaml")
	require.NoError(t, err)
	tried, stride := 0, stride
	if testing.Short() {
		stride *= 4
	}
	for i, file := range append(files, "../../../docs/examples/fleet.yaml") {
		if i%stride != 0 && i < len(files) {
			continue
		}
		all, _, _ := scenario.Find(file)
		if len(all) == 0 || all[0].OfNodes {
			continue
		}
		fleet := all[0]
		a, err := Run(context.Background(), Config{Fleet: fleet, Seed: 1, Outage: messages.OutagePower})
		if err != nil || a.Fleet.Moving > 0 { // it has no clusters, applies them later, or is not at rest
			continue
		}
		for _, o := range a.Contingencies {
			if o.SameAs == "" {
				tried++
				compare(t, file, fleet, o)
			}
		}
	}
	require.Greater(t, tried, 10)
}

// compare holds a contingency to a replay.
func compare(t *testing.T, file string, fleet *scenario.Scenario, o *Outcome) {
	t.Helper()
	s := *fleet
	var failed []messages.ClusterName
	for _, c := range o.Clusters {
		failed = append(failed, messages.ClusterName(c))
	}
	s.Expect, s.Duration = nil, 0
	s.Timeline = []scenario.Step{{At: lead, Action: &scenario.Outage{Target: scenario.Target{Clusters: failed}, Kind: messages.OutagePower}}}
	run, err := replay.Play(&s, replay.Options{Seed: 1, Until: lead + Horizon})
	require.NoError(t, err, file)
	wants := map[messages.BindingName]int32{}
	for _, object := range run.Objects {
		if b := store.AsBinding(object); b != nil {
			wants[b.Name()] = b.Spec.Replicas
		}
	}
	r := followed(run, wants)
	require.Len(t, r.evicted, o.Evicted.Workloads, "%s: losing %s: evicted", file, o.Name)
	require.Equal(t, r.lacking(), o.Unavailable.Replicas, "%s: losing %s: unavailable", file, o.Name)
	if o.AvailableAfter != nil {
		require.Equal(t, r.whole, time.Duration(*o.AvailableAfter), "%s: losing %s: available again", file, o.Name)
	}
}

// following is what a replay says after the outage.
type following struct {
	available, target map[messages.BindingName]int32
	evicted           map[messages.BindingName]bool
	// whole is how long after the outage nothing was lacking for good.
	whole time.Duration
}

func (f *following) lacking() (n int) {
	for b, target := range f.target { // order-free: a sum
		n += int(max(0, target-f.available[b]))
	}
	return n
}

// followed reads the facts of a replay, instant by instant.
func followed(run *replay.Run, wants map[messages.BindingName]int32) *following {
	f := &following{available: map[messages.BindingName]int32{}, evicted: map[messages.BindingName]bool{}}
	begun, lacked := run.Start.Add(lead), 0
	for i, e := range run.Events {
		if f.target == nil && !e.At.Before(begun) {
			f.target = map[messages.BindingName]int32{}
			for b, n := range f.available { // order-free: each by itself
				f.target[b] = min(n, wants[b])
			}
		}
		switch fact := e.Fact.(type) {
		case *messages.EvictionStarted:
			if f.target != nil {
				f.evicted[fact.Binding] = true
			}
		case *messages.AvailabilityChanged:
			f.available[fact.Binding] += fact.Available - fact.Before
		}
		if last := i+1 == len(run.Events) || run.Events[i+1].At.After(e.At); f.target != nil && last {
			if now := f.lacking(); now == 0 && lacked > 0 {
				f.whole = e.At.Sub(begun)
			}
			lacked = f.lacking()
		}
	}
	return f
}
