package storm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(wall time.Duration) moment { return moment{wall: wall} }

func TestLatenciesAreToldByStage(t *testing.T) {
	a, b := newTiming(), newTiming()
	for i := range 100 {
		a.record(evicted, at(time.Duration(i+1)*time.Millisecond), moment{})
		b.record(released, at(time.Duration(i+1)*2*time.Millisecond), moment{})
	}
	a.merge(&b)
	list := latencies(&a.wall)
	require.Equal(t, StageEvicted, list[evicted].Stage)
	require.Equal(t, 100, list[evicted].Count)
	require.InEpsilon(t, float64(time.Millisecond), float64(list[evicted].Min), 0.001)
	require.InEpsilon(t, float64(50*time.Millisecond), float64(list[evicted].P50), 0.001)
	require.InEpsilon(t, float64(99*time.Millisecond), float64(list[evicted].P99), 0.001)
	require.InEpsilon(t, float64(200*time.Millisecond), float64(list[released].Max), 0.001)
	require.InDelta(t, 0.5, list[evicted].Share, 0.001, "half of the time went by until the eviction")
	require.Zero(t, list[placed].Count)
}

func TestBucketsCoverEveryLatencyOnce(t *testing.T) {
	all := newTiming()
	for _, d := range []time.Duration{0, 10, time.Microsecond, time.Millisecond, time.Millisecond, time.Second, 48 * time.Hour} {
		all.record(evicted, at(d), moment{})
	}
	list := buckets(all.wall[evicted])
	sum := 0
	for i, b := range list {
		sum += b.Count
		require.Less(t, b.From, b.To)
		require.True(t, i == 0 || list[i-1].To <= b.From, "%+v", list)
	}
	require.Equal(t, 7, sum)
	require.Equal(t, LatencyBucket{From: 0, To: Seconds(time.Microsecond), Count: 3}, list[0])
	require.Equal(t, 2, list[1].Count)
}

func TestTheSeriesCountsByInterval(t *testing.T) {
	all, other := newTiming(), newTiming()
	all.record(evicted, at(10*time.Millisecond), moment{})
	all.record(evicted, at(20*time.Millisecond), moment{})
	other.record(released, at(250*time.Millisecond), moment{})
	all.merge(&other)
	s := all.series(350*time.Millisecond, released)
	require.Equal(t, []Point{{Evicted: 2, Backlog: 2}, {Backlog: 2}, {Released: 1, Backlog: 1}, {Backlog: 1}}, s.Points)
	require.Equal(t, Rate{Count: 2, PerSecond: 100, Peak: 100}, all.rate(evicted), "until the last of them")
	require.Equal(t, Rate{Count: 1, PerSecond: 4, Peak: 10}, all.rate(released))
	require.Equal(t, Rate{}, all.rate(placed))
}

func TestADeadlineIsDueWithTheFirstInstantThatIsNotBeforeIt(t *testing.T) {
	start := time.Unix(0, 0)
	s := &clocks{start: start, origin: at(time.Second), began: []began{
		{start, time.Second}, {start.Add(time.Minute), 2 * time.Second}, {start.Add(time.Hour), 3 * time.Second},
	}}
	now := start.Add(time.Hour)
	for deadline, want := range map[time.Duration]moment{
		0:               {0, 0},
		time.Second:     {time.Second, time.Second},
		time.Minute:     {time.Second, time.Minute},
		2 * time.Minute: {2 * time.Second, 2 * time.Minute},
		time.Hour:       {2 * time.Second, time.Hour},
		2 * time.Hour:   {2 * time.Second, time.Hour}, // one to come cannot have been late
	} {
		require.Equal(t, want, s.due(now, start.Add(deadline)), "%s", deadline)
	}
	require.Equal(t, moment{2 * time.Second, time.Hour}, s.due(now, time.Time{}), "without a deadline it is now")
}
