package division_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/division"
	"leeward/messages"
)

func weighing(weights ...int64) []division.Candidate {
	c := make([]division.Candidate, len(weights))
	for i, w := range weights {
		c[i] = division.Candidate{Rank: int32(i), Weight: w, Seats: -1}
	}
	return c
}

func seats(c []division.Candidate) []int32 {
	s := make([]int32, len(c))
	for i := range c {
		s[i] = c[i].Seats
	}
	return s
}

// Executed vectors of Karmada's own packages.
func TestWebster(t *testing.T) {
	tests := []struct {
		seats   int32
		uid     string
		weights []int64
		want    []int32
	}{
		{1, "", []int64{1, 1, 1}, []int32{1, 0, 0}},
		{2, "", []int64{1, 1, 1}, []int32{1, 1, 0}},
		{10, "", []int64{1, 1, 1}, []int32{4, 3, 3}},
		{1, "b", []int64{1, 1, 1}, []int32{0, 0, 1}},
		{2, "b", []int64{1, 1, 1}, []int32{0, 1, 1}},
		{10, "b", []int64{1, 1, 1}, []int32{3, 3, 4}},
		{3, "", []int64{1, 3}, []int32{1, 2}},
		{3, "", []int64{1, 2}, []int32{1, 2}},
		{9, "", []int64{1, 2}, []int32{3, 6}},
		{9, "", []int64{1, 3}, []int32{2, 7}},
		{7, "", []int64{2, 1, 1}, []int32{3, 2, 2}},
		{5, "", []int64{100, 1, 1}, []int32{5, 0, 0}},
		{12, "", []int64{6, 12, 18}, []int32{2, 4, 6}},
		{4, "", []int64{0, 0}, []int32{0, 0}},
		{4, "", []int64{0, 1}, []int32{0, 4}},
		{0, "", []int64{3, 4}, []int32{0, 0}},
		{4, "", nil, []int32{}},
		// Three equal claims of 1/1, 3/3 and 5/5 go to the fewest seats first.
		{7, "", []int64{1, 3, 5}, []int32{1, 2, 4}},
		{8, "", []int64{1, 3, 5}, []int32{1, 3, 4}},
		// So does the last seat, where such claims are told apart by no rounding: 99/81 and 33/27, 27/13 and 81/39.
		{54, "", []int64{99, 33}, []int32{40, 14}},
		{26, "", []int64{27, 81}, []int32{7, 19}},
		{58, "", []int64{45, 15}, []int32{43, 15}},
		{45, "", []int64{38, 69, 23, 8}, []int32{12, 22, 8, 3}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d seats over %v with UID %q", test.seats, test.weights, test.uid), func(t *testing.T) {
			c := weighing(test.weights...)
			var v division.Divider
			v.Webster(test.seats, division.Descending(test.uid), c)
			require.Equal(t, test.want, seats(c))
		})
	}
}

func TestDescendingIsTheLowestBitOfTheHash(t *testing.T) {
	uids := []string{"a", "b", "c5e0", "64667e59-f313-426a-8760-e7ea9e4bf01f", "c749e8d6-5fde-4b9f-8634-6f5ac66dacea", "\x00\xff"}
	for _, uid := range uids {
		h := fnv.New32a()
		h.Write([]byte(uid))
		require.Equal(t, h.Sum32()&1 == 1, division.Descending(uid), "%q", uid)
	}
	require.False(t, division.Descending(""), "an empty UID is ascending though the hash of nothing is odd")
}

// oneByOne is the definition: one seat at a time to the best claim.
func oneByOne(n int32, descending bool, c []division.Candidate) {
	for i := range c {
		c[i].Seats = 0
	}
	for ; n > 0; n-- {
		best := -1
		for i := range c {
			if c[i].Weight > 0 && (best < 0 || better(&c[i], &c[best], descending)) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		c[best].Seats++
	}
}

func better(a, b *division.Candidate, descending bool) bool {
	x, y := float64(a.Weight)/float64(2*int64(a.Seats)+1), float64(b.Weight)/float64(2*int64(b.Seats)+1)
	switch {
	case x != y:
		return x > y
	case a.Seats != b.Seats:
		return a.Seats < b.Seats
	default:
		return (a.Rank < b.Rank) != descending
	}
}

func TestWebsterEqualsOneSeatAtATime(t *testing.T) {
	shapes := []struct {
		name   string
		weight func(r *rand.Rand) int64
	}{
		{"equal weights", func(*rand.Rand) int64 { return 7 }},
		{"few small weights, so that there are many ties", func(r *rand.Rand) int64 { return r.Int64N(4) }},
		{"odd multiples, so that quotients meet", func(r *rand.Rand) int64 { return 15 * (2*r.Int64N(8) + 1) }},
		{"capacities", func(r *rand.Rand) int64 { return r.Int64N(10_000) }},
		{"one giant", func(r *rand.Rand) int64 { return 1 + r.Int64N(2)*r.Int64N(1_000_000) }},
		{"weights beyond exact floats", func(r *rand.Rand) int64 { return math.MaxInt64 - r.Int64N(1000) }},
	}
	for i, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			var v division.Divider
			for range 400 {
				weights := make([]int64, 1+r.IntN(40))
				for i := range weights {
					weights[i] = shape.weight(r)
				}
				n, descending := r.Int32N(1+r.Int32N(300)), r.IntN(2) == 0
				fast, slow := weighing(weights...), weighing(weights...)
				v.Webster(n, descending, fast)
				oneByOne(n, descending, slow)
				require.Equal(t, seats(slow), seats(fast), "%d seats over %v, descending %t", n, weights, descending)
			}
		})
	}
}

func TestWebsterOrderOfCandidatesDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var v division.Divider
	for range 200 {
		c := weighing(make([]int64, 20)...)
		for i := range c {
			c[i].Weight = r.Int64N(5)
		}
		v.Webster(33, false, c)
		want := make(map[int32]int32)
		for i := range c {
			want[c[i].Rank] = c[i].Seats
		}
		r.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
		v.Webster(33, false, c)
		for i := range c {
			require.Equal(t, want[c[i].Rank], c[i].Seats)
		}
	}
}

// requireInOrder asks for what the definition says of any number of seats: all are given, and no claim to a seat that was not
// comes before one to a seat that was.
func requireInOrder(t *testing.T, n int32, descending bool, c []division.Candidate) {
	t.Helper()
	given, last, next := int64(0), -1, -1
	taken := slices.Clone(c)
	for i := range c {
		given += int64(c[i].Seats)
		require.GreaterOrEqual(t, c[i].Seats, int32(0))
		if c[i].Weight <= 0 {
			require.Zero(t, c[i].Seats)
			continue
		}
		if taken[i].Seats--; c[i].Seats > 0 && (last < 0 || better(&taken[last], &taken[i], descending)) {
			last = i
		}
		if next < 0 || better(&c[i], &c[next], descending) {
			next = i
		}
	}
	if next < 0 {
		require.Zero(t, given)
		return
	}
	require.EqualValues(t, n, given)
	require.False(t, last >= 0 && next != last && better(&c[next], &taken[last], descending), "%v", c)
}

// TestHugeNumbersTakeNoLonger divides what validation lets through: one seat at a time would take many seconds of each.
func TestHugeNumbersTakeNoLonger(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	weight := []func() int64{
		func() int64 { return math.MaxInt64 }, func() int64 { return math.MaxInt64 - r.Int64N(1000) }, func() int64 { return r.Int64() },
		func() int64 { return 1 << r.IntN(63) }, func() int64 { return r.Int64N(4) }, func() int64 { return 1 + r.Int64N(2)*(math.MaxInt64-1) },
	}
	for _, method := range []string{messages.DivideWebster, messages.DivideFloor} {
		t.Run(method, func(t *testing.T) {
			v := division.Divider{Method: method}
			for range 300 {
				c := weighing(make([]int64, 1+r.IntN(200))...)
				draw := weight[r.IntN(len(weight))]
				for i := range c {
					c[i].Weight = draw()
				}
				n := math.MaxInt32 - r.Int32N(1000)*r.Int32N(1000)
				uid := fmt.Sprint(r.IntN(2))
				v.Static(division.Demand{Replicas: n, UID: uid}, c)
				if method == messages.DivideWebster {
					requireInOrder(t, n, division.Descending(uid), c)
				}
				given := int64(0)
				for i := range c {
					require.GreaterOrEqual(t, c[i].Seats, int32(0))
					given += int64(c[i].Seats)
				}
				require.EqualValues(t, n, given)
			}
		})
	}
}

func TestFloorKeepsToHugeWeights(t *testing.T) {
	c := weighing(1<<62, 1<<60)
	var v division.Divider
	v.Floor(1000, "", c)
	require.Equal(t, []int32{800, 200}, seats(c))
}

func FuzzWebster(f *testing.F) {
	f.Add([]byte{1, 2, 3}, int32(10), false)
	f.Add([]byte{0, 0}, int32(3), true)
	f.Add([]byte{255, 1, 1, 85, 51}, int32(77), true)
	f.Add([]byte{255, 255, 255, 1, 1, 0, 85, 51, 127, 127}, int32(math.MaxInt32), true)
	f.Fuzz(func(t *testing.T, weights []byte, n int32, descending bool) {
		if len(weights) > 100 {
			return
		}
		n = max(n, 0)
		fast := make([]division.Candidate, len(weights))
		for i, w := range weights {
			fast[i] = division.Candidate{Rank: int32(i), Weight: int64(w)}
			if i%2 == 1 { // any int64 that is not negative
				fast[i].Weight = int64(w) << (weights[i-1] % 56)
			}
		}
		slow := slices.Clone(fast)
		var v division.Divider
		v.Webster(n, descending, fast)
		requireInOrder(t, n, descending, fast)
		if n <= 2000 {
			oneByOne(n, descending, slow)
			require.Equal(t, seats(slow), seats(fast))
		}
	})
}

func BenchmarkWebster(b *testing.B) {
	for _, n := range []int32{3, 100, 100_000} {
		for _, clusters := range []int{10, 100, 1000} {
			for _, equal := range []bool{false, true} {
				b.Run(fmt.Sprintf("replicas=%d/clusters=%d/equal=%t", n, clusters, equal), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 1))
					c := weighing(make([]int64, clusters)...)
					for i := range c {
						c[i].Weight = 100
						if !equal {
							c[i].Weight += r.Int64N(10_000)
						}
					}
					var v division.Divider
					b.ReportAllocs()
					for b.Loop() {
						v.Webster(n, true, c)
					}
				})
			}
		}
	}
}
