package replay_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/report"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// load reads the scenarios once, for all tests: no replay changes one.
var load = sync.OnceValues(func() ([]*scenario.Scenario, manifest.Problems) {
	scenarios, _, problems := scenario.Find("../../../scenarios")
	return scenarios, problems
})

// all are the scenarios of the repository.
func all(t *testing.T) []*scenario.Scenario {
	t.Helper()
	scenarios, problems := load()
	require.Empty(t, problems)
	require.NotEmpty(t, scenarios)
	return slices.Clone(scenarios)
}

func play(t *testing.T, s *scenario.Scenario, o replay.Options) *replay.Run {
	t.Helper()
	o.Seed = s.Seed
	run, err := replay.Play(s, o)
	require.NoError(t, err)
	return run
}

func TestEveryScenarioHolds(t *testing.T) {
	for _, s := range all(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			run := play(t, s, replay.Options{})
			require.Len(t, run.Expectations, len(s.Expect))
			for _, e := range run.Expectations {
				require.True(t, e.Passed, "%s: %s", e.Text, e.Reason)
			}
		})
	}
}

// whole are the scenarios in which the engine does not die in the middle of an instant: of that, other parts are
// done in another order.
func whole(t *testing.T) []*scenario.Scenario {
	t.Helper()
	return slices.DeleteFunc(all(t), (*scenario.Scenario).Interrupted)
}

// The invariant of confluence: the same inputs in any order of mailboxes end in the same state.
func TestEveryScenarioEndsTheSameInAnyOrder(t *testing.T) {
	for _, s := range whole(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			first := end(t, play(t, s, replay.Options{}))
			for n := range actorstest.Cases(10) {
				require.Equal(t, first, end(t, play(t, s, replay.Options{Interleaving: 1000 + n})), "interleaving %d", 1000+n)
			}
		})
	}
}

// The same holds for lanes that run in parallel, as the daemon runs them: how many there are, and who is
// faster, shows in nothing.
func TestEveryScenarioEndsTheSameOnConcurrentLanes(t *testing.T) {
	for _, s := range whole(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			first := end(t, play(t, s, replay.Options{}))
			for _, lanes := range []int{2, 3, 8} {
				require.Equal(t, first, end(t, play(t, s, replay.Options{Lanes: lanes})), "%d lanes", lanes)
			}
		})
	}
}

// A replay leaves a scenario as it was: tests share them.
func TestAReplayChangesNoScenario(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	for _, s := range all(t) {
		before, err := json.Marshal(s)
		require.NoError(t, err, s.Name)
		play(t, s, replay.Options{})
		after, err := json.Marshal(s)
		require.NoError(t, err, s.Name)
		require.Equal(t, string(before), string(after), s.Name)
	}
}

// One seed is one history, down to the bytes of its JSON.
func TestOneSeedIsOneHistory(t *testing.T) {
	scenarios := all(t)
	for _, s := range scenarios[:actorstest.Cases(uint64(len(scenarios)))] {
		first, err := report.Encode(play(t, s, replay.Options{}))
		require.NoError(t, err, s.Name)
		second, err := report.Encode(play(t, s, replay.Options{}))
		require.NoError(t, err, s.Name)
		require.Equal(t, string(first), string(second), s.Name)
	}
}

// end is the state in which a run ended. Which of an instant's changes came first shows in nothing but
// the resourceVersion.
func end(t *testing.T, run *replay.Run) []string {
	t.Helper()
	objects := run.All()
	state := make([]string, len(objects))
	for i, o := range objects {
		c := api.Copy(o)
		c.SetResourceVersion("")
		text, err := json.Marshal(c)
		require.NoError(t, err)
		state[i] = string(text)
	}
	return state
}
