package storm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/storm"
	"leeward/messages"
)

// half opens once half of the copies, and two at least, went within ten minutes.
var half = storm.Breaking{Share: 0.5, Least: 2, Window: 10 * time.Minute, Cooldown: 5 * time.Minute, Trials: 2}

func trial(name messages.BindingName) storm.Trial { return storm.Trial{Binding: name, Cluster: "m1"} }

// taken lets so many go at an instant of some copies, and returns how many went before the breaker stopped them.
func taken(b *storm.Breaker, after time.Duration, n, copies int, t storm.Breaking) (went int) {
	for ; went < n && b.Lets(t); went++ {
		b.Take(start.Add(after), trial("b"), copies, t)
	}
	return went
}

// opened is a breaker that opened at the start, on trial one that is half-open since its cool-down.
func opened() *storm.Breaker {
	b := &storm.Breaker{}
	taken(b, 0, 10, 8, half)
	return b
}

func onTrial() *storm.Breaker {
	b := opened()
	b.Judge(start.Add(half.Cooldown), half)
	return b
}

func TestABreakerOpensWhenTooMuchMoves(t *testing.T) {
	with := func(change func(*storm.Breaking)) storm.Breaking {
		c := half
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		breaking     storm.Breaking
		copies, want int
	}{
		"half of eight":                       {half, 8, 4},
		"half of an odd number is rounded up": {half, 7, 4},
		"two at least":                        {half, 2, 2},
		"what is not counted has no share":    {half, 0, 2},
		"one, without a minimum":              {with(func(b *storm.Breaking) { b.Least = 0 }), 2, 1},
		"the minimum may be out of reach":     {with(func(b *storm.Breaking) { b.Least = 100 }), 8, 10},
	} {
		t.Run(name, func(t *testing.T) {
			var b storm.Breaker
			require.Equal(t, c.want, taken(&b, 0, 10, c.copies, c.breaking))
			require.Equal(t, c.want == 10, b.Closed())
		})
	}
}

func TestWhatWentLongAgoDoesNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		window, after time.Duration
		want          int
	}{
		"all of a window":  {10 * time.Minute, 10 * time.Minute, 3},
		"to a tenth of it": {10 * time.Minute, 11*time.Minute - 1, 3},
		"no longer":        {10 * time.Minute, 11 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			breaking := half
			breaking.Window = c.window
			var b storm.Breaker
			require.Equal(t, 3, taken(&b, 0, 3, 8, breaking))
			require.Equal(t, c.want, b.Count(start.Add(c.after), breaking))
			require.Equal(t, 4-c.want, taken(&b, c.after, 10, 8, breaking), "before it opens")
		})
	}
}

func TestMovesAreCountedByTenthsOfTheWindow(t *testing.T) {
	var b storm.Breaker
	for _, after := range []time.Duration{0, 59 * time.Second, time.Minute, 11 * time.Minute} {
		taken(&b, after, 1, 100, half)
	}
	require.Equal(t, []storm.Moves{{At: start.Add(time.Minute), Count: 1, Copies: 100}, {At: start.Add(11 * time.Minute), Count: 1, Copies: 100}}, b.Moved)
}

func TestATenthOfTheWindowHasTheMostCopiesThatThereWereInIt(t *testing.T) {
	var b storm.Breaker
	for _, copies := range []int{100, 120, 90} {
		taken(&b, time.Second, 1, copies, half)
	}
	require.Equal(t, []storm.Moves{{At: start, Count: 3, Copies: 120}}, b.Moved)
}

func TestTheShareIsOfTheMostCopiesOfTheWindow(t *testing.T) {
	var b storm.Breaker
	require.Equal(t, 3, taken(&b, 0, 3, 8, half))
	require.Equal(t, 8, b.Most(start.Add(time.Minute), 5, half), "three of them are placed nowhere now")
	require.Equal(t, 9, b.Most(start.Add(time.Minute), 9, half))
	require.Equal(t, 5, b.Most(start.Add(11*time.Minute), 5, half))
	require.Equal(t, 1, taken(&b, time.Minute, 10, 5, half))
}

func TestAnOpenBreakerCoolsDownAndTries(t *testing.T) {
	b := opened()
	require.Equal(t, start.Add(half.Cooldown), b.Due(half))
	require.False(t, b.Judge(start.Add(half.Cooldown-1), half))
	require.Zero(t, taken(b, half.Cooldown-1, 1, 8, half))
	require.True(t, b.Judge(start.Add(half.Cooldown), half))
	require.Equal(t, storm.HalfOpen, b.State)
	require.Zero(t, b.Due(half), "nothing is on trial yet")
	require.Equal(t, 2, taken(b, half.Cooldown, 10, 8, half))
	require.Equal(t, start.Add(2*half.Cooldown), b.Due(half))
	single := half
	single.Trials = 0
	require.Equal(t, 1, taken(onTrial(), half.Cooldown, 10, 8, single))
}

func TestTrialsDecide(t *testing.T) {
	for name, c := range map[string]struct {
		// ends says of those on trial whether they serve.
		ends  map[messages.BindingName]bool
		after time.Duration
		want  storm.BreakerState
	}{
		"none is known":                     {nil, time.Minute, storm.HalfOpen},
		"one serves":                        {map[messages.BindingName]bool{"a": true}, time.Minute, storm.HalfOpen},
		"all serve":                         {map[messages.BindingName]bool{"a": true, "b": true}, time.Minute, storm.Closed},
		"one does not":                      {map[messages.BindingName]bool{"a": true, "b": false}, time.Minute, storm.Open},
		"one takes too long":                {map[messages.BindingName]bool{"a": true}, half.Cooldown, storm.Open},
		"all serve in the last instant":     {map[messages.BindingName]bool{"a": true, "b": true}, half.Cooldown, storm.Closed},
		"what is not on trial tells little": {map[messages.BindingName]bool{"c": false}, time.Minute, storm.HalfOpen},
	} {
		t.Run(name, func(t *testing.T) {
			b := onTrial()
			for _, name := range []messages.BindingName{"a", "b"} {
				opens, tried := b.Take(start.Add(half.Cooldown), trial(name), 8, half)
				require.False(t, opens)
				require.True(t, tried)
			}
			for name, serves := range c.ends {
				b.End(name, "m1", serves)
			}
			changed := b.Judge(start.Add(half.Cooldown+c.after), half)
			require.Equal(t, c.want, b.State)
			require.Equal(t, c.want != storm.HalfOpen, changed)
		})
	}
}

func TestATrialThatDidNotBeginIsGivenToAnother(t *testing.T) {
	b := onTrial()
	require.Equal(t, 2, taken(b, half.Cooldown, 2, 8, half))
	require.False(t, b.Lets(half))
	b.Forget("b", "m2")
	require.False(t, b.Lets(half))
	b.Forget("b", "m1")
	require.True(t, b.Lets(half))
}

func TestATrialThatIsOverIsNotGivenAgain(t *testing.T) {
	b := onTrial()
	require.Equal(t, 2, taken(b, half.Cooldown, 2, 8, half))
	b.End("b", "m1", true)
	b.Forget("b", "m1")
	require.True(t, b.Lets(half), "one had not begun")
	b.Forget("b", "m1")
	require.Len(t, b.Trials, 1, "the other counts")
	require.Equal(t, 1, taken(b, half.Cooldown, 2, 8, half))
	b.End("b", "m1", true)
	require.Equal(t, 2, b.Serving(), "the cluster is left once more")
}

func TestABreakerThatClosesCountsAgain(t *testing.T) {
	b := onTrial()
	taken(b, half.Cooldown, 1, 8, half)
	b.End("b", "m1", true)
	require.True(t, b.Judge(start.Add(half.Cooldown), half))
	require.Equal(t, storm.Breaker{State: storm.Closed}, *b)
	require.Equal(t, 4, taken(b, half.Cooldown, 10, 8, half))
}

func TestWhoSwitchesABreakerOffClosesIt(t *testing.T) {
	b := opened()
	require.True(t, b.Judge(start, storm.Breaking{}))
	require.True(t, b.Closed())
	require.False(t, b.Judge(start, storm.Breaking{}))
}

func TestWhatDidNotGoDoesNotCount(t *testing.T) {
	b := &storm.Breaker{}
	require.Equal(t, 2, taken(b, 0, 2, 8, half))
	b.Return(start.Add(half.Window), half)
	require.Equal(t, 2, b.Count(start, half), "that is another instant")
	for _, left := range []int{1, 0, 0} {
		b.Return(start, half)
		require.Equal(t, left, b.Count(start, half))
	}
	tried := onTrial()
	before := len(tried.Moved)
	tried.Return(start.Add(half.Cooldown), half)
	require.Len(t, tried.Moved, before, "a trial counts for itself")
}

// A workload that is scaled to zero gives its permit back and leaves no copy: nothing of nothing is not too much.
func TestABreakerClosesWhereNoCopyRemains(t *testing.T) {
	none := half
	none.Least = 0
	b := &storm.Breaker{}
	opens, _ := b.Take(start, storm.Trial{Binding: "d/web", Cluster: "m1"}, 1, none)
	require.True(t, opens)
	b.Return(start, none)
	require.True(t, b.Reconsider(start, 0, none))
	require.True(t, b.Closed())
}

func TestABreakerThatOpenedForNothingCloses(t *testing.T) {
	b := opened()
	require.False(t, b.Reconsider(start, 8, half), "nothing came back")
	b.Return(start, half)
	require.False(t, b.Reconsider(start.Add(1), 8, half), "a moment later it stays open")
	require.True(t, b.Reconsider(start, 8, half))
	require.True(t, b.Closed())
	require.Equal(t, 1, taken(b, 0, 2, 8, half), "one more opens it again")
}
