// Package shrink reduces a scenario that fails to the smallest one that still fails in the same way. Its delta debugging reduces the cases
// of package simulation, too.
package shrink

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	// Most is how many smaller scenarios are tried at the most.
	Most int
	// Progress hears how many were tried, and how many parts remain; nil: there is no listener.
	Progress func(tries, parts int)
}

// Result is the smallest scenario that was found.
type Result struct {
	YAML []byte
	// Before and After count its parts. Patterns of names are written out.
	Before, After Size
	// Fails are the expectations and invariants that fail, as users read them.
	Fails []string
	Tries int
	// Bounded is set where the search ended at its bound, or was interrupted, and not because nothing more could be omitted.
	Bounded bool
}

// ErrHolds says that there is nothing to shrink.
var ErrHolds = errors.New("every expectation holds: there is nothing to shrink")

// Shrink returns the smallest scenario that fails in the same way. When the context ends, it is the smallest so far. The error is ErrHolds
// where nothing fails.
func Shrink(ctx context.Context, c Config) (*Result, error) {
	run, err := replay.Play(c.Scenario, replay.Options{Seed: c.Seed, Profile: c.Profile, Set: c.Set})
	if err != nil {
		return nil, err
	}
	want := failures(c.Scenario, run)
	if len(want) == 0 {
		return nil, ErrHolds
	}
	p, err := takeApart(c.Source, c.Scenario)
	if err != nil {
		return nil, err
	}
	p.override(&c)
	fails := func() bool { return slices.Equal(p.failures(&c), want) }
	if whole := p.size(); !fails() {
		return nil, fmt.Errorf("%s, written as %s in one file, does not fail in the same way", c.Scenario.Name, whole)
	}
	r := &Result{Before: p.size()}
	for i, e := range run.Expectations {
		switch {
		case e.Passed:
		case i < len(c.Scenario.Expect):
			r.Fails = append(r.Fails, said(&c.Scenario.Expect[i], e.Text))
		default:
			r.Fails = append(r.Fails, e.Text)
		}
	}
	r.Fails = slices.Compact(r.Fails)
	r.Tries = Reduce(p.lists(), c.Most, func() bool {
		if ctx.Err() != nil {
			return false
		}
		if c.Progress != nil {
			s := p.size()
			c.Progress(r.Tries, s.Manifests+s.Clusters+s.Nodes+s.Steps+s.Expectations+s.Settings)
		}
		r.Tries++
		return fails()
	})
	r.Bounded = r.Tries >= c.Most || ctx.Err() != nil
	r.After = p.size()
	p.fixed["description"] = r.description()
	r.YAML, err = p.yaml()
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

// failures runs the scenario as it is now, and returns what fails; nil: it cannot be run, too.
func (p *parts) failures(c *Config) (all []string) {
	defer func() {
		if recover() != nil { // a machine that panics is another failure
			all = nil
		}
	}()
	text, err := p.yaml()
	if err != nil {
		return nil
	}
	alone := scenario.Source{
		Read: func(name string) ([]byte, error) { return nil, fmt.Errorf("%s is not part of the file", name) },
		Glob: func(string) ([]string, error) { return nil, nil },
	}
	scenarios, problems := alone.Decode(c.Scenario.File, text)
	if len(problems) > 0 || len(scenarios) != 1 {
		return nil
	}
	run, err := replay.Play(scenarios[0], replay.Options{Seed: c.Seed})
	if err != nil {
		return nil
	}
	return failures(scenarios[0], run)
}
