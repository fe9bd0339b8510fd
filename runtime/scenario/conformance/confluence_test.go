package conformance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/runtime/scenario/replay"
)

// Whatever the order of the mailboxes, a recording ends alike: with the same bindings, taints, copies
// and refusals, to the last field that is compared.
func TestRecordingsEndAlikeInEveryOrder(t *testing.T) {
	orders := actorstest.Cases(200)
	if testing.Short() {
		orders = 10
	}
	own := slices.DeleteFunc(folders(), func(f string) bool { return f == beside }) // what lies beside is in testdata, too
	eachRecording(t, own, func(t *testing.T, r *Recording) {
		s, err := r.Scenario(r.Script.ID)
		require.NoError(t, err)
		var first *account
		for seed := range orders {
			run, err := replay.Play(s, replay.Options{Seed: seed})
			require.NoError(t, err)
			now := (&replayed{run: run, initial: &replay.Run{}}).account()
			if seed == 0 {
				first = now
			}
			require.Equal(t, first, now, "seed %d goes otherwise than seed 0:\n%s", seed, timeline(t, run))
		}
	})
}
