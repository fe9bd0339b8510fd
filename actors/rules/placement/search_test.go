package placement

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

// exhaustive is Karmada's search: it walks through all combinations of regions and then chooses.
func exhaustive(regions []region, limits bounds, target int64) []string {
	slices.SortFunc(regions, func(a, b region) int {
		return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name))
	})
	var ways [][]region
	var walk func(path []region, from int, count int64)
	walk = func(path []region, from int, count int64) {
		if count >= target && len(path) >= limits.min && len(path) <= limits.max {
			way := slices.Clone(path)
			slices.SortFunc(way, heavier)
			ways = append(ways, way)
			return
		}
		for i := from; i < len(regions) && len(path) < limits.max; i++ {
			walk(append(path, regions[i]), i+1, count+regions[i].count)
		}
	}
	walk(nil, 0, 0)
	if len(ways) == 0 {
		return nil
	}
	total := func(way []region, of func(*region) int64) (sum int64) {
		for i := range way {
			sum += of(&way[i])
		}
		return sum
	}
	weight, count := func(r *region) int64 { return r.weight }, func(r *region) int64 { return r.count }
	slices.SortStableFunc(ways, func(a, b []region) int {
		return cmp.Or(cmp.Compare(total(b, weight), total(a, weight)), cmp.Compare(total(b, count), total(a, count)))
	})
	best := ways[0]
	for _, way := range ways {
		if len(way) < len(best) && slices.Equal(way, best[:len(way)]) {
			best = way
		}
	}
	return namesOf(best)
}

func namesOf(regions []region) []string {
	names := make([]string, len(regions))
	for i := range regions {
		names[i] = regions[i].name
	}
	return names
}

func someRegions(r *rand.Rand, n int, mostClusters, mostWeight int64) []region {
	regions := make([]region, n)
	for i := range regions {
		regions[i] = region{name: fmt.Sprintf("r%02d", i), count: 1 + r.Int64N(mostClusters), weight: r.Int64N(mostWeight)}
	}
	r.Shuffle(n, func(i, j int) { regions[i], regions[j] = regions[j], regions[i] })
	return regions
}

func TestSearchEqualsExhaustiveWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var s search
	for range 6000 {
		regions := someRegions(r, r.IntN(10), 1+r.Int64N(6), 1+r.Int64N(5))
		limits := bounds{min: r.IntN(5)}
		limits.max = limits.min + r.IntN(5) - r.IntN(2)
		target := r.Int64N(20)
		want := exhaustive(slices.Clone(regions), limits, target)
		got := namesOf(s.run(slices.Clone(regions), limits, target))
		require.ElementsMatch(t, want, got, "%+v of %+v with %d clusters", limits, regions, target)
		if len(want) > 0 {
			require.Equal(t, want, got)
		}
	}
}

func TestSearchTakesTheShortestBeginningThatWillDo(t *testing.T) {
	regions := []region{{name: "a", count: 3, weight: 9}, {name: "b", count: 2, weight: 8}, {name: "c", count: 2, weight: 7}}
	var s search
	got := s.run(regions, bounds{1, 3}, 3)
	require.Equal(t, []string{"a"}, namesOf(got), "b and c weigh more together, but not more than a with b or c, of which a is enough")
}

func FuzzSearch(f *testing.F) {
	f.Add([]byte{0x11, 0x22, 0x33, 0x21}, 1, 3, 4)
	f.Add([]byte{0x19, 0x29, 0x39, 0x49, 0x59}, 2, 4, 7)
	f.Fuzz(func(t *testing.T, text []byte, least, most, target int) {
		if len(text) > 9 || least < 0 {
			return
		}
		var regions []region
		for i, b := range text {
			regions = append(regions, region{name: fmt.Sprint(i), count: 1 + int64(b>>4), weight: int64(b & 15)})
		}
		var s search
		want := exhaustive(slices.Clone(regions), bounds{least, most}, int64(target))
		require.ElementsMatch(t, want, namesOf(s.run(regions, bounds{least, most}, int64(target))))
	})
}

// BenchmarkSearch is hard on purpose: weights differ, and clusters enough take several regions.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{5, 20, 40} {
		for _, kind := range []struct {
			name       string
			mostWeight int64
		}{{"weights alike", 3}, {"weights apart", 100_000}} {
			b.Run(fmt.Sprintf("%d regions/%s", n, kind.name), func(b *testing.B) {
				regions := someRegions(rand.New(rand.NewPCG(5, uint64(n))), n, 8, kind.mostWeight)
				var s search
				b.ReportAllocs()
				for b.Loop() {
					s.run(regions, bounds{2, n / 2}, int64(n))
				}
			})
		}
	}
}

func TestPlacementsNoLongerUsedAreDropped(t *testing.T) {
	p := NewPlanner(NewFleet(), &messages.Settings{}, 0)
	lasting := &api.Placement{}
	for range 20 * minReady {
		p.Plan(time.Time{}, &Request{Placement: &api.Placement{}})
		p.Plan(time.Time{}, &Request{Placement: lasting})
	}
	require.Less(t, len(p.rules.ready), 4*minReady)
	require.Contains(t, p.rules.ready, lasting)
}
