package replay_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/storm/simulation"
)

// A daemon asks the invariants once for several instants: what was so in each of them may have changed when they are asked. That
// breaks no invariant.
func TestInvariantsAreAskedOfSeveralInstantsTogether(t *testing.T) {
	for _, instants := range []int{1, 3, 20} {
		t.Run(fmt.Sprint(instants), func(t *testing.T) {
			for seed := range actorstest.Cases(100) {
				s, err := simulation.Draw(seed).Scenario()
				require.NoError(t, err)
				w := watch{every: instants}
				require.NoError(t, replay.EachInstant(s, w.see))
				require.Empty(t, w.monitor.Violations(), "seed %d", seed)
			}
		})
	}
}

// watch asks the invariants after every so many instants, as of real members.
type watch struct {
	every   int
	monitor *invariant.Monitor
	seen    int
	heard   int
}

func (w *watch) see(of *world.World, s messages.Settings) {
	if w.monitor == nil {
		w.monitor, w.heard = invariant.Watch(s, of.Now(), of.Store()), of.Journal().Len()
		w.monitor.Meet(of.Now(), of.Store())
	}
	if w.seen++; w.seen%w.every != 0 {
		return
	}
	news := of.Journal().Since(w.heard)
	w.heard += len(news)
	w.monitor.Settled(of.Now(), of.Store(), news)
}
