package division_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/rules/division"
)

// An outline is of the division that is made: as many replicas are kept and divided, and as many are missing.
func TestAnOutlineAgreesWithTheDivision(t *testing.T) {
	for seed := range actorstest.Cases(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		c := make([]division.Candidate, 1+r.IntN(5))
		for i := range c {
			c[i] = division.Candidate{Rank: int32(i), Prev: r.Int32N(4), Turn: int32(i), Free: r.Int64N(9), Order: uint64(i)}
		}
		d := division.Demand{Replicas: r.Int32N(20), Fresh: r.IntN(3) == 0}
		fewest := r.IntN(2) == 0
		var v division.Divider
		before := slices.Clone(c)
		o := v.Outline(d, c, fewest)
		require.Equal(t, before, c, "it changes nothing")
		divide := v.Dynamic
		if fewest {
			divide = v.Aggregated
		}
		require.Equal(t, divide(d, c), o.Missing, "seed %d", seed)
		require.EqualValues(t, d.Replicas, o.Kept+o.Divided)
		for i := range c {
			switch o.By {
			case division.ByFreeCapacity:
				require.GreaterOrEqual(t, c[i].Seats+int32(o.Missing), min(c[i].Prev, c[i].Seats+int32(o.Missing)))
			case division.ByReplicas:
				require.LessOrEqual(t, c[i].Weight, int64(c[i].Prev))
			case division.ByWhole:
				require.LessOrEqual(t, c[i].Weight, c[i].Free+int64(c[i].Prev))
			}
		}
	}
}
