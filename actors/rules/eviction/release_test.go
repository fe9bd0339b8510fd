package eviction_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/eviction"
	"leeward/messages/api"
)

func TestRelease(t *testing.T) {
	long, short := now.Add(-time.Hour), now.Add(-time.Minute)
	for _, c := range []struct {
		name    string
		old     []eviction.Holding
		missing int64
		less    []eviction.Holding
	}{
		{"nothing serves elsewhere yet", []eviction.Holding{{"m1", long, 4}}, 4, nil},
		{"more is missing than the old copy has", []eviction.Holding{{"m1", long, 4}}, 9, nil},
		{"one more serves", []eviction.Holding{{"m1", long, 4}}, 3, []eviction.Holding{{"m1", long, 3}}},
		{"the last replica goes with its task", []eviction.Holding{{"m1", long, 4}}, 0, []eviction.Holding{{"m1", long, 1}}},
		{"it has given up all but one already", []eviction.Holding{{"m1", long, 1}}, 0, nil},
		{"who was left first gives up first", []eviction.Holding{{"m1", short, 3}, {"m2", long, 2}}, 4, []eviction.Holding{{"m2", long, 1}}},
		{"and all that it has", []eviction.Holding{{"m1", short, 3}, {"m2", long, 2}}, 2, []eviction.Holding{{"m2", long, 0}, {"m1", short, 2}}},
		{"of one instant, by name", []eviction.Holding{{"m2", long, 2}, {"m1", long, 2}}, 3, []eviction.Holding{{"m1", long, 1}}},
		{"nobody leaves", nil, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := slices.Clone(c.old)
			require.Equal(t, c.less, eviction.Release(given, c.missing))
			require.Equal(t, c.old, given, "what was given stays as it is")
		})
	}
}

// TestReleaseKeepsWhatIsMissing checks on random copies: no copy grows, enough is kept for what is missing
// as far as there was enough, no order of the copies matters, and to ask again releases nothing more.
func TestReleaseKeepsWhatIsMissing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		var old []eviction.Holding
		had := int32(0)
		for _, c := range []string{"m1", "m2", "m3"}[:r.IntN(4)] {
			h := eviction.Holding{Cluster: c, Since: now.Add(time.Duration(r.IntN(2))), Replicas: 1 + r.Int32N(4)}
			old, had = append(old, h), had+h.Replicas
		}
		missing := r.Int64N(8)
		less := eviction.Release(old, missing)
		kept, after := had, append([]eviction.Holding(nil), old...)
		for _, h := range less {
			for i := range after {
				if after[i].Cluster == h.Cluster {
					require.Less(t, h.Replicas, after[i].Replicas)
					require.GreaterOrEqual(t, h.Replicas, int32(0))
					kept -= after[i].Replicas - h.Replicas
					after[i] = h
				}
			}
		}
		require.Equal(t, min(had, int32(max(missing, 1))), kept)
		require.Empty(t, eviction.Release(after, missing))
		r.Shuffle(len(old), func(i, j int) { old[i], old[j] = old[j], old[i] })
		require.Equal(t, less, eviction.Release(old, missing))
	}
}

func TestGradual(t *testing.T) {
	gradual := func(k *api.GracefulEvictionTask) { k.Handover, k.Replicas = api.HandoverGradual, new(int32(2)) }
	for _, c := range []struct {
		name string
		task *api.GracefulEvictionTask
		want bool
	}{
		{"as its policy asks", task(0, gradual), true},
		{"as a whole", task(0), false},
		{"what has no replicas", task(0, func(k *api.GracefulEvictionTask) { k.Handover = api.HandoverGradual }), false},
		{"what has none left", task(0, gradual, func(k *api.GracefulEvictionTask) { k.Replicas = new(int32) }), false},
		{"what a person keeps", task(0, gradual, kept), false},
		{"what is purged at once", task(0, gradual, directly), false},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, eviction.Gradual(c.task)) })
	}
}
