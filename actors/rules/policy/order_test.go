package policy_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/policy"
	"leeward/messages"
)

func TestOldestFirstThenByName(t *testing.T) {
	o := policy.Order{Tie: messages.TieByName}
	a, b := policy.Birth{Name: "a", Created: now}, policy.Birth{Name: "b", Created: now}
	for _, c := range []struct {
		name string
		a, b policy.Birth
		want int
	}{
		{"the older one is first", policy.Birth{Name: "z", Created: now.Add(-time.Second)}, a, -1},
		{"the younger one is last", policy.Birth{Name: "a", Created: now.Add(time.Second)}, b, 1},
		{"within a second the name decides", policy.Birth{Name: "a", Created: now.Add(900 * time.Millisecond)}, b, -1},
		{"the same policy", a, a, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, o.Compare(c.a, c.b))
		})
	}
}

func TestUndefinedTiesDependOnTheSeed(t *testing.T) {
	orders := map[string]int{}
	for seed := range uint64(200) {
		births := []policy.Birth{{Name: "a", Created: now}, {Name: "b", Created: now}, {Name: "old", Created: t0}}
		slices.SortFunc(births, policy.Order{Tie: messages.TieUndefined, Seed: seed}.Compare)
		require.Equal(t, messages.PolicyName("old"), births[0].Name, "only ties are undefined")
		orders[string(births[1].Name)]++
	}
	require.Greater(t, orders["a"], 60, orders)
	require.Greater(t, orders["b"], 60, orders)
}

// TestOrderIsTotal checks antisymmetry, transitivity and that only twins are equal.
func TestOrderIsTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	birth := func() policy.Birth {
		return policy.Birth{Name: messages.PolicyName(strconv.Itoa(r.IntN(4))), Created: now.Add(time.Duration(r.IntN(6)) * 500 * time.Millisecond)}
	}
	for range 10_000 {
		o := policy.Order{Tie: []string{messages.TieByName, messages.TieUndefined}[r.IntN(2)], Seed: r.Uint64N(3)}
		a, b, c := birth(), birth(), birth()
		require.Equal(t, -o.Compare(b, a), o.Compare(a, b))
		require.Equal(t, a.Name == b.Name && a.Created.Unix() == b.Created.Unix(), o.Compare(a, b) == 0)
		if o.Compare(a, b) <= 0 && o.Compare(b, c) <= 0 {
			require.LessOrEqual(t, o.Compare(a, c), 0, "%v %v %v", a, b, c)
		}
	}
}
