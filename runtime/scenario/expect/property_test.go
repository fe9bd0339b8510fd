package expect_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/scenario/expect"
)

// history says at which whole seconds a cluster is tainted, and when evictions start.
type history struct {
	tainted [horizon]bool
	events  [horizon]int
}

const horizon = 20

func randomHistory(r *rand.Rand) history {
	var h history
	for i := range h.tainted {
		h.tainted[i] = i > 0 && h.tainted[i-1] != (r.IntN(4) == 0)
		if i > 0 && r.IntN(4) == 0 {
			h.events[i] = 1 + r.IntN(2)
		}
	}
	return h
}

// judge is the plain meaning of an expectation: a look at every second of the run. At is when it was
// decided.
func (h *history) judge(e *expect.Expectation, end int) (passed bool, at int) {
	from, until := int(e.From/s), min(int(e.Until/s), end)
	if from > end {
		return false, end
	}
	count := 0
	for i := from; i <= until; i++ {
		n := h.events[i]
		if _, isEvent := e.Subject.(*expect.Event); !isEvent {
			n = 0
			if h.tainted[i] {
				n = 1
			}
		}
		count += n
		switch {
		case e.Mode <= expect.Within && n > 0:
			return true, i
		case e.Mode == expect.Always && n == 0, e.Mode == expect.Never && n > 0, e.Mode == expect.Total && count > e.Count.Max:
			return false, i
		}
	}
	switch e.Mode {
	case expect.At, expect.Within:
		return false, until
	case expect.Total:
		return e.Count.Holds(count), end
	default:
		return true, end
	}
}

func randomExpectation(r *rand.Rand) expect.Expectation {
	e := expect.Expectation{Mode: expect.Mode(r.IntN(5))}
	e.From = time.Duration(r.IntN(horizon+3)) * s
	e.Until = e.From + time.Duration(r.IntN(horizon))*s
	e.Subject = &expect.Taint{Cluster: "m1", Key: "down"}
	if e.Mode == expect.At {
		e.Until = e.From
	}
	if e.Mode == expect.Total || e.Mode != expect.Always && r.IntN(2) == 0 {
		e.Subject = &expect.Event{Kind: "EvictionStarted"}
	}
	e.Count = expect.Bounds{Min: r.IntN(3), Max: 2 + r.IntN(4)}
	return e
}

// The checker, which sees only instants at which something happens, judges as a look at every instant
// would.
func TestTheCheckerJudgesAsALookAtEveryInstantWould(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 0))
		h := randomHistory(r)
		expectations := make([]expect.Expectation, 5)
		for i := range expectations {
			expectations[i] = randomExpectation(r)
		}
		end := r.IntN(horizon)
		run := play(t, expectations...)
		run.put(cluster("m1"))
		for i := 1; i <= end; i++ {
			h.happen(run, i)
		}
		for i, result := range run.end(time.Duration(end) * s) {
			passed, at := h.judge(&expectations[i], end)
			require.Equal(t, passed, result.Passed, "seed %d: %s: %s", seed, result.Text, result.Reason)
			require.Equal(t, float64(at), result.At, "seed %d: %s", seed, result.Text)
			require.Equal(t, passed, result.Reason == "")
		}
	}
}

// happen makes a second of the history true; one at which nothing happens does not come at all.
func (h *history) happen(run *run, i int) {
	var facts []messages.Fact
	switch {
	case h.tainted[i] && !h.tainted[i-1]:
		facts = append(facts, added("m1", "down"))
	case !h.tainted[i] && h.tainted[i-1]:
		facts = append(facts, removed("m1", "down"))
	}
	for range h.events[i] {
		facts = append(facts, started("default/web", "m1"))
	}
	if len(facts) > 0 {
		run.at(time.Duration(i)*s, facts...)
	}
}
