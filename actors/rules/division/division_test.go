package division_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/division"
	"leeward/messages"
)

// has is a candidate with replicas and capacity for more; its turn is its place in the list.
func has(prev int32, free int64) division.Candidate {
	return division.Candidate{Prev: prev, Free: free}
}

func candidates(free ...int64) []division.Candidate {
	c := make([]division.Candidate, len(free))
	for i, f := range free {
		c[i].Free = f
	}
	return ranked(c...)
}

// ranked names candidates in list order; among equals they are ordered likewise.
func ranked(c ...division.Candidate) []division.Candidate {
	for i := range c {
		c[i].Rank, c[i].Turn, c[i].Order = int32(i), int32(i), uint64(i)
	}
	return c
}

func demand(replicas int32) division.Demand { return division.Demand{Replicas: replicas} }
func fresh(replicas int32) division.Demand  { return division.Demand{Replicas: replicas, Fresh: true} }

func TestStatic(t *testing.T) {
	tests := []struct {
		name     string
		replicas int32
		weights  []int64
		want     []int32
	}{
		{"no weights are equal weights", 10, []int64{0, 0, 0}, []int32{4, 3, 3}},
		{"five over two equal clusters", 5, []int64{0, 0}, []int32{3, 2}},
		{"one to two", 3, []int64{1, 2}, []int32{1, 2}},
		{"the first is gone", 3, []int64{2}, []int32{3}},
		{"who is not listed gets nothing", 3, []int64{1, 2, 0}, []int32{1, 2, 0}},
		{"only the unlisted is left", 3, []int64{0}, []int32{3}},
		{"a small share may be none", 1, []int64{1, 9}, []int32{0, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := weighing(test.weights...)
			for i := range c {
				c[i].Prev, c[i].Free = 50, 0
			}
			var v division.Divider
			v.Static(demand(test.replicas), c)
			require.Equal(t, test.want, seats(c), "neither what they have nor what they can take matters")
		})
	}
}

func TestDynamic(t *testing.T) {
	tests := []struct {
		name       string
		demand     division.Demand
		candidates []division.Candidate
		want       []int32
		missing    int64
	}{
		{"first time, by free capacity", demand(12), candidates(6, 12, 18), []int32{2, 4, 6}, 0},
		{"more than fits", demand(100), candidates(6, 12), nil, 82},
		{"nothing fits", demand(1), candidates(0, 0), nil, 1},
		{"growing adds the difference", demand(18), ranked(has(2, 4), has(4, 8), has(6, 12)), []int32{3, 6, 9}, 0},
		{"shrinking cuts in proportion", demand(6), ranked(has(2, 9), has(4, 0), has(6, 9)), []int32{1, 2, 3}, 0},
		{"shrinking equals leaves the first with most", demand(7), ranked(has(4, 0), has(4, 0), has(4, 0)), []int32{3, 2, 2}, 0},
		{"shrinking to nothing", demand(0), ranked(has(4, 0), has(2, 0)), []int32{0, 0}, 0},
		{"a lost cluster's replicas go where there is room", demand(12), ranked(has(4, 8), has(6, 12)), []int32{5, 7}, 0},
		{"no room for what was lost", demand(12), ranked(has(4, 0), has(6, 1)), nil, 1},
		{"the right number stays, however lopsided", demand(12), ranked(has(2, 100), has(10, 0)), []int32{2, 10}, 0},
		{"nothing wanted, nothing had", demand(0), candidates(3, 3), []int32{0, 0}, 0},
		{"fresh counts own replicas as free", fresh(12), ranked(has(2, 10), has(10, 0)), []int32{7, 5}, 0},
		{"fresh may find too little, too", fresh(12), ranked(has(2, 1), has(8, 0)), nil, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var v division.Divider
			require.Equal(t, test.missing, v.Dynamic(test.demand, test.candidates))
			if test.missing == 0 {
				require.Equal(t, test.want, seats(test.candidates))
			}
		})
	}
}

func TestAggregated(t *testing.T) {
	at := func(order uint64, turn int32, c division.Candidate) division.Candidate {
		c.Order, c.Turn = order, turn
		return c
	}
	tests := []struct {
		name       string
		demand     division.Demand
		candidates []division.Candidate
		want       []int32
		missing    int64
	}{
		{"one is enough", demand(12), candidates(6, 12, 18), []int32{0, 0, 12}, 0},
		{"two are needed", demand(20), candidates(6, 12, 18), []int32{0, 8, 12}, 0},
		{"more than fits", demand(40), candidates(6, 12, 18), nil, 4},
		{"of equals the first in order", demand(3), []division.Candidate{at(2, 3, has(0, 5)), at(1, 9, has(0, 5))}, []int32{0, 3}, 0},
		{"growing fills the present cluster first", demand(20), ranked(has(12, 3), has(0, 18)), []int32{13, 7}, 0},
		{"growing stays if there is room", demand(14), ranked(has(12, 3), has(0, 18)), []int32{14, 0}, 0},
		{"growing keeps replicas of who gets no more", demand(14), ranked(has(6, 0), has(6, 5), has(0, 9)), []int32{6, 8, 0}, 0},
		{"shrinking empties the smallest", demand(10), ranked(has(12, 0), has(8, 9)), []int32{10, 0}, 0},
		{"shrinking cuts both in proportion", demand(15), ranked(has(12, 0), has(8, 9)), []int32{9, 6}, 0},
		{"shrinking equals keeps the first of the old list", demand(5), []division.Candidate{at(1, 9, has(6, 0)), at(2, 3, has(6, 0))}, []int32{0, 5}, 0},
		{"the right number stays", demand(12), ranked(has(6, 0), has(6, 99)), []int32{6, 6}, 0},
		{"fresh prefers the largest", fresh(12), ranked(has(6, 6), has(6, 6), has(0, 20)), []int32{0, 0, 12}, 0},
	}
	var v division.Divider // one for all: it keeps nothing of the division before
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for i := range test.candidates {
				test.candidates[i].Rank = int32(i)
			}
			require.Equal(t, test.missing, v.Aggregated(test.demand, test.candidates))
			if test.missing == 0 {
				require.Equal(t, test.want, seats(test.candidates))
			}
		})
	}
}

func TestFloor(t *testing.T) {
	tests := []struct {
		name     string
		replicas int32
		weights  []int64
		prev     []int32
		want     []int32
	}{
		{"whole shares", 12, []int64{6, 12, 18}, nil, []int32{2, 4, 6}},
		{"the remainder goes to the heaviest, not to the largest fraction", 5, []int64{11, 9, 80}, nil, []int32{0, 0, 5}},
		{"two left go to the two heaviest", 9, []int64{1, 3, 2}, nil, []int32{1, 5, 3}},
		{"among equals to who had more", 10, []int64{1, 1, 1}, []int32{0, 2, 1}, []int32{3, 4, 3}},
		{"the shares of great weights are exact", 4, []int64{1<<60 + 1, 3<<60 + 3}, nil, []int32{1, 3}},
		{"no weight, no seat", 4, []int64{0, 0}, nil, []int32{0, 0}},
		{"weights beyond all bounds", 2, []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64, 1}, []int32{1, 2, 3, 9}, []int32{0, 1, 1, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := weighing(test.weights...)
			for i := range test.prev {
				c[i].Prev = test.prev[i]
			}
			v := division.Divider{Method: messages.DivideFloor}
			v.Floor(test.replicas, "uid", c)
			require.Equal(t, test.want, seats(c))
		})
	}
}

func TestFloorTossesBySeedAndUID(t *testing.T) {
	winners := func(seed uint64, uid string) [3]int {
		var won [3]int
		v := division.Divider{Method: messages.DivideFloor, Seed: seed}
		for range 3 {
			c := weighing(1, 1, 1)
			v.Static(division.Demand{Replicas: 1, UID: uid}, c)
			for i := range c {
				won[i] += int(c[i].Seats)
			}
		}
		return won
	}
	bySeed, byUID := make(map[[3]int]bool), make(map[[3]int]bool)
	for seed := range uint64(16) {
		won := winners(seed, "nginx")
		require.Contains(t, [][3]int{{3, 0, 0}, {0, 3, 0}, {0, 0, 3}}, won, "a seed always tosses alike")
		bySeed[won] = true
		byUID[winners(0, string(rune('a'+seed)))] = true
	}
	require.Len(t, bySeed, 3, "every cluster wins for some seed")
	require.Len(t, byUID, 3, "every cluster wins for some UID")
}

// Whatever the method, all replicas are placed or some are reported missing; no candidate that is asked to
// grow loses any, and none takes more than fits.
func TestEveryReplicaIsPlacedOrMissing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 3000 {
		v := division.Divider{Method: messages.DivideWebster, Seed: r.Uint64()}
		if r.IntN(2) == 0 {
			v.Method = messages.DivideFloor
		}
		c := make([]division.Candidate, 1+r.IntN(12))
		var prev, capacity int64
		for i := range c {
			c[i] = has(r.Int32N(8), r.Int64N(20))
			prev, capacity = prev+int64(c[i].Prev), capacity+int64(c[i].Prev)+c[i].Free
		}
		c = ranked(c...)
		d := division.Demand{Replicas: r.Int32N(100), UID: string(rune('a' + r.IntN(9))), Fresh: r.IntN(3) == 0}
		divide := v.Dynamic
		if r.IntN(2) == 0 {
			divide = v.Aggregated
		}
		missing := divide(d, c)
		require.Equal(t, max(0, int64(d.Replicas)-capacity), missing)
		if missing > 0 {
			continue
		}
		var sum int32
		for i := range c {
			sum += c[i].Seats
			if !d.Fresh && prev <= int64(d.Replicas) {
				require.GreaterOrEqual(t, c[i].Seats, c[i].Prev)
			}
		}
		require.Equal(t, d.Replicas, sum)
	}
}

func TestDividingDoesNotAllocate(t *testing.T) {
	c := candidates(make([]int64, 100)...)
	for i := range c {
		c[i].Free = int64(i)
	}
	var v division.Divider
	v.Aggregated(demand(500), c)
	require.Zero(t, testing.AllocsPerRun(20, func() {
		v.Dynamic(demand(500), c)
		v.Aggregated(demand(500), c)
		v.Static(demand(500), c)
	}))
}
