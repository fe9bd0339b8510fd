package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

// A binding is fully applied on member1. In each case other things are heard, with the seconds at which they are.
func TestWhatEndsAnInstantAsItBeganHasNotChanged(t *testing.T) {
	type heard struct {
		after time.Duration
		fact  messages.Fact
	}
	place := func(clusters ...string) messages.Fact { return (&fleet{}).placed(clusters...) }
	for name, c := range map[string]struct {
		heard []heard
		want  string
		since time.Duration
	}{
		"what changes once has":                       {[]heard{{2, place("member1", "member2")}}, "False", 2},
		"what changes back in the instant has not":    {[]heard{{2, place("member1", "member2")}, {2, place("member1")}}, "True", 1},
		"nor what does so twice":                      {[]heard{{2, place("member2")}, {2, place("member1")}, {2, place("member2")}, {2, place("member1")}}, "True", 1},
		"what changes thrice has":                     {[]heard{{2, place("member2")}, {2, place("member1")}, {2, place("member2")}}, "False", 2},
		"what changes back later has":                 {[]heard{{2, place("member2")}, {3, place("member1")}}, "True", 3},
		"what changed before is as it was since then": {[]heard{{2, place("member2")}, {3, place("member1")}, {3, place("member2")}}, "False", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			f.Apply(start, place("member1"))
			f.Apply(start.Add(time.Second), healthy("member1", 2))
			for _, h := range c.heard {
				f.Apply(start.Add(h.after*time.Second), h.fact)
			}
			said, since := f.condition("FullyApplied")
			require.Contains(t, said, c.want)
			require.Equal(t, start.Add(c.since*time.Second), since)
		})
	}
}
