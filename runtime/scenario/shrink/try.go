package shrink

import (
	"context"
	"fmt"
	"slices"

	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
	"leeward/runtime/scenario/replay"
)

// trying says of smaller scenarios whether they fail in the same way.
type trying struct {
	ctx    context.Context
	config *Config
	// want is what fails, and expected the expectations of it.
	want     []string
	expected set
	// most is how many facts a try may have; short is set where a try may end early.
	most  int
	short bool
}

// A scenario that is smaller and has many more facts is none that a user would rather read.
const (
	moreFacts = 4
	someFacts = 10_000
)

func newTrying(ctx context.Context, c *Config, want []string, run *replay.Run) *trying {
	t := &trying{ctx: ctx, config: c, want: want, expected: set{}, most: moreFacts*len(run.Events) + someFacts, short: true}
	for i, e := range run.Expectations {
		switch {
		case e.Passed:
		case i < len(c.Scenario.Expect):
			t.expected[said(&c.Scenario.Expect[i], e.Text)] = true
		default:
			t.short = false // an invariant: nothing but the whole run says which are broken
		}
	}
	return t
}

// fails reports whether a scenario fails in the same way. A short run rejects most of those that do not: it has no invariants, and ends
// when what fails is decided, or another expectation fails, or one passes that must fail.
func (t *trying) fails(text []byte) bool {
	if t.ctx.Err() != nil || t.short && !t.decided(text) {
		return false
	}
	return t.whole(text)
}

// alone is the source of a scenario that needs no other file.
func alone() scenario.Source {
	return scenario.Source{
		Read: func(name string) ([]byte, error) { return nil, fmt.Errorf("%s is not part of the file", name) },
		Glob: func(string) ([]string, error) { return nil, nil },
	}
}

// read reads a scenario that needs no other file; nil: it is none.
func (t *trying) read(text []byte) *scenario.Scenario {
	scenarios, problems := alone().Decode(t.config.Scenario.File, text)
	if len(problems) > 0 || len(scenarios) != 1 {
		return nil
	}
	return scenarios[0]
}

// whole runs a scenario to its end. One that cannot be run, or in which a machine panics, fails in another way.
func (t *trying) whole(text []byte) bool {
	return t.same(text, func(*scenario.Scenario, *replay.Options) {})
}

// decided runs a scenario until its verdicts are known.
func (t *trying) decided(text []byte) bool {
	return t.same(text, func(s *scenario.Scenario, o *replay.Options) {
		var facts func() int
		must := make([]bool, len(s.Expect))
		for i := range s.Expect {
			must[i] = t.expected[said(&s.Expect[i], s.Expect[i].String())]
		}
		o.Unwatched = true
		o.Begun = func(w *world.World) { facts = w.Journal().Len }
		o.Enough = func(c *expect.Checker) bool {
			open := false
			for i := range must {
				decided, passed := c.Verdict(i)
				if decided && passed == must[i] {
					return true
				}
				open = open || !decided
			}
			return !open || facts() > t.most
		}
	})
}

// same runs a scenario and compares what fails. A run that ended early fails in another way by the expectations that it left.
func (t *trying) same(text []byte, options func(*scenario.Scenario, *replay.Options)) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	s := t.read(text)
	if s == nil {
		return false
	}
	o := replay.Options{Seed: t.config.Seed}
	options(s, &o)
	run, err := replay.PlayContext(t.ctx, s, o)
	return err == nil && slices.Equal(failures(s, run), t.want)
}
