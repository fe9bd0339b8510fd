// Package shrink reduces a scenario that fails to the smallest one that still fails in the same way. Its delta debugging reduces the cases
// of package simulation, too.
package shrink

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// Config is what is shrunk, and how.
type Config struct {
	Source   scenario.Source
	Scenario *scenario.Scenario
	// Seed, Profile and Set change the scenario as flags do, and are written into the result.
	Seed    uint64
	Profile string
	Set     []config.Override
	// Until ends the run early; zero: as the scenario has it. With are manifests on top of a recording.
	Until time.Duration
	With  []manifest.Document
	// Most is how many smaller scenarios are tried at the most.
	Most int
	// Progress hears how many were tried, and how many parts remain; nil: there is no listener.
	Progress func(tries, parts int)
}

// Result is the smallest scenario, or recording, that was found.
type Result struct {
	Text []byte
	// Before and After count its parts. Patterns of names are written out.
	Before, After Size
	// Fails are the expectations and invariants that fail, or the eviction that differs, as users read them.
	Fails []string
	Tries int
	// Late counts the expectations that are omitted because the run ends early, before anything can decide them.
	Late int
	// Bounded is set where the search ended at its bound, or was interrupted, and not because nothing more could be omitted.
	Bounded bool
}

// mostParallel is how many smaller scenarios are tried at the same time at the most: each has a world of its own.
const mostParallel = 8

// ErrHolds says that there is nothing to shrink.
var ErrHolds = errors.New("every expectation holds: there is nothing to shrink")

// Shrink returns the smallest scenario that fails in the same way, until the run ends. When the context ends, it is the smallest so far. The error is ErrHolds
// where nothing fails.
func Shrink(ctx context.Context, c Config) (*Result, error) {
	p, err := takeApart(c.Source, c.Scenario)
	if err != nil {
		return nil, err
	}
	p.override(&c)
	late := 0
	played := replay.Options{Seed: c.Seed, Profile: c.Profile, Set: c.Set}
	if c.Until > 0 {
		s, err := p.cutOff(&c)
		if err != nil {
			return nil, err
		}
		late = len(c.Scenario.Expect) - len(s.Expect)
		c.Scenario, played = s, replay.Options{Seed: c.Seed}
	}
	run, err := replay.Play(c.Scenario, played)
	if err != nil {
		return nil, err
	}
	want := failures(c.Scenario, run)
	if len(want) == 0 {
		return nil, ErrHolds
	}
	trying := newTrying(ctx, &c, want, run)
	if text, err := p.yaml(); err != nil || !trying.whole(text) {
		return nil, fmt.Errorf("%s, written as %s in one file, does not fail in the same way", c.Scenario.Name, p.size())
	}
	r := &Result{Before: p.size(), Fails: failed(c.Scenario, run), Late: late}
	search := &reducing{most: c.Most, parallel: min(runtime.GOMAXPROCS(0), mostParallel), begin: func() func() bool {
		text, err := p.yaml()
		return func() bool { return err == nil && trying.fails(text) }
	}}
	if c.Progress != nil {
		search.tried = func(tries int) {
			s := p.size()
			c.Progress(tries, s.Manifests+s.Clusters+s.Nodes+s.Steps+s.Expectations+s.Settings)
		}
	}
	search.omit(p.expect, func(shorter []any) { p.expect = shorter })
	p.coarse(search, c.Scenario, run)
	search.reduce(p.lists())
	r.Tries = search.tries
	r.Bounded = r.Tries >= c.Most || ctx.Err() != nil
	r.After = p.size()
	p.fixed["description"] = r.description()
	r.Text, err = p.yaml()
	return r, err
}

// description says what fails, in the result.
func (r *Result) description() string {
	text := "Fails: " + r.Fails[0]
	if more := len(r.Fails) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text + "."
}

// override writes what flags change into the scenario.
func (p *parts) override(c *Config) {
	p.fixed["seed"] = c.Seed
	if c.Profile != "" {
		p.fixed["profile"] = c.Profile
	}
	for _, o := range c.Set {
		p.config = slices.DeleteFunc(p.config, func(v any) bool { _, same := v.(mapping)[o.Field]; return same })
		p.config = append(p.config, mapping{o.Field: o.Value})
	}
}

// failed are the expectations and invariants that fail, as users read them.
func failed(s *scenario.Scenario, run *replay.Run) (all []string) {
	for i, e := range run.Expectations {
		switch {
		case e.Passed:
		case i < len(s.Expect):
			all = append(all, said(&s.Expect[i], e.Text))
		default:
			all = append(all, e.Text)
		}
	}
	return slices.Compact(all)
}
