// Package whatif predicts what changes would do to a fleet: it plays them on a copy that was brought to rest, on a virtual clock,
// and compares with the same fleet without them. Nothing is written.
package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/rehearsal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

// Bounds of the input.
const (
	// MostSamples is how many seeds are drawn.
	MostSamples = 1000
	mostObjects = 500_000
	mostApplied = 10_000
	mostSampled = 20_000_000
)

// Config is what is predicted, of what and how.
type Config struct {
	Fleet   *scenario.Scenario
	Profile string
	// Set are settings of the fleet before the changes.
	Set     []config.Override
	Seed    uint64
	Startup time.Duration
	Changes []*Change
	Outage  Outage
	By      string
	// Samples is how many seeds are drawn, Seed the first; below 2: it alone.
	Samples int
	// Read returns the manifests of a file to apply.
	Read func(file string) ([]manifest.Document, error)
	// Progress hears how many runs are done; nil: there is no listener.
	Progress func(done, of int)
}

// Run predicts. The error is a *forecast.Invalid where the input is at fault.
func Run(ctx context.Context, c Config) (*Prediction, error) {
	if err := errors.Join(c.Misused(), c.bounded()); err != nil {
		return nil, &forecast.Invalid{Problem: err}
	}
	ready, err := forecast.Prepare(c.Fleet, c.Profile, c.Set, c.Startup)
	if err != nil {
		return nil, err
	}
	steps, err := c.resolve(ready)
	if err != nil {
		return nil, &forecast.Invalid{Problem: err}
	}
	p := &player{config: &c, ready: ready, steps: steps, labels: c.labels()}
	result, err := p.predict(ctx)
	var invalid *world.Invalid
	switch {
	case errors.Is(err, kernel.ErrInterrupted):
		return nil, context.Cause(ctx)
	case errors.As(err, &invalid):
		return nil, &forecast.Invalid{Problem: err}
	}
	return result, err
}

// Misused reports what is wrong with the question, whatever the fleet.
func (c *Config) Misused() error {
	var problems []error
	if len(c.Changes) == 0 {
		problems = append(problems, errors.New("name a change: --lose, --taint, --condition, --drain, --apply, --delete, --set or --scale"))
	}
	if n := len(c.Changes); n > MostChanges {
		problems = append(problems, fmt.Errorf("%d changes are more than %d", n, MostChanges))
	}
	if c.Samples > MostSamples {
		problems = append(problems, fmt.Errorf("--samples %d: must not be more than %d", c.Samples, MostSamples))
	}
	if c.Outage.For > MostLater {
		problems = append(problems, fmt.Errorf("--for %s: must not be longer than %s", span.String(c.Outage.For), span.String(MostLater)))
	}
	return errors.Join(problems...)
}

// bounded reports a fleet that is too large.
func (c *Config) bounded() error {
	var problems []error
	n := len(c.Fleet.Objects)
	if n > mostObjects {
		problems = append(problems, fmt.Errorf("the fleet has %d objects, more than %d", n, mostObjects))
	}
	if c.Samples <= MostSamples && n*c.Samples > mostSampled {
		problems = append(problems, fmt.Errorf("--samples %d: of %d objects is more than %d together", c.Samples, n, mostSampled))
	}
	return errors.Join(problems...)
}

// labels are those of the workloads' manifests, or of their bindings in a fleet that has no manifests of them.
func (c *Config) labels() map[api.Key]map[string]string {
	all := map[api.Key]map[string]string{}
	for _, d := range c.Fleet.Objects {
		key := api.KeyOf(d.Object)
		if b := store.AsBinding(d.Object); b != nil {
			if key = b.Spec.Resource.Key(); all[key] != nil {
				continue
			}
		}
		all[key] = d.Object.GetLabels()
	}
	return all
}

// player plays a fleet with and without its changes.
type player struct {
	config *Config
	ready  *forecast.Fleet
	steps  []scenario.Step
	labels map[api.Key]map[string]string
}

// predict plays all seeds, and compares the first with the fleet without the changes.
func (p *player) predict(ctx context.Context) (*Prediction, error) {
	seeds := max(1, p.config.Samples)
	var samples []*Prediction
	for i := range seeds {
		run, base, err := p.play(ctx, p.config.Seed+uint64(i))
		if err != nil {
			return nil, err
		}
		samples = append(samples, p.compare(run, base))
		if p.config.Progress != nil && seeds > 1 {
			p.config.Progress(i+1, seeds)
		}
	}
	if seeds > 1 {
		samples[0].Samples = summarized(samples)
	}
	return samples[0], nil
}

// play plays the fleet with its changes, and, where anything is due before them, without.
func (p *player) play(ctx context.Context, seed uint64) (run *replay.Run, base *state, err error) {
	options := replay.Options{Seed: seed, Profile: p.ready.Profile, Unwatched: true, Until: p.until()}
	options.Rested = func(s *store.Store) {
		base = newState(s.List("Cluster"), s.Bindings())
	}
	if run, err = replay.PlayContext(ctx, p.scenario(p.steps), options); err != nil || base != nil {
		return run, base, err
	}
	without, err := replay.PlayContext(ctx, p.scenario(nil), options)
	if err != nil {
		return nil, nil, err
	}
	base = stateOf(without)
	base.follow(without, p.first())
	return run, base, nil
}

// scenario is the fleet with a timeline.
func (p *player) scenario(steps []scenario.Step) *scenario.Scenario {
	s := *p.config.Fleet
	s.Objects, s.Members, s.Config, s.Timeline, s.Expect, s.Duration = p.ready.Objects, p.ready.Members, p.ready.Config, steps, nil, 0
	return &s
}

// begins is the instant from which times count.
func (p *player) begins() time.Time { return p.ready.Start.Add(forecast.Lead) }

// first is the instant of the first change: what is due before it is no consequence.
func (p *player) first() time.Time { return p.ready.Start.Add(p.steps[0].At) }

// until is how far a run goes: so far beyond its last change.
func (p *player) until() time.Duration {
	last := forecast.Lead
	for i := range p.steps {
		last = max(last, p.steps[i].At)
	}
	return last + forecast.Horizon
}

// state is what a fleet comes to.
type state struct {
	clusters []*api.Cluster
	named    map[string]*api.Cluster
	names    []messages.BindingName
	bindings map[messages.BindingName]*api.BindingSpec
	used     forecast.Usage
	// outcome and available are what a run without changes comes to, where it was played.
	outcome   *rehearsal.Outcome
	available map[messages.BindingName]int32
}

// stateOf is what a run ended with.
func stateOf(run *replay.Run) *state {
	var bindings []*store.Binding
	for _, o := range run.Objects {
		if b := store.AsBinding(o); b != nil {
			bindings = append(bindings, b)
		}
	}
	return newState(run.Objects, bindings)
}

// newState keeps the clusters among objects, and bindings, as they are now.
func newState(objects []api.Object, bindings []*store.Binding) *state {
	s := &state{
		named: map[string]*api.Cluster{}, names: make([]messages.BindingName, 0, len(bindings)),
		bindings: make(map[messages.BindingName]*api.BindingSpec, len(bindings)), used: forecast.Usage{},
	}
	for _, o := range objects {
		if c, is := o.(*api.Cluster); is {
			copied := *c
			s.clusters = append(s.clusters, &copied)
			s.named[c.Name] = &copied
		}
	}
	for _, b := range bindings {
		spec := *b.Spec
		spec.Clusters = slices.Clone(spec.Clusters)
		s.names = append(s.names, b.Name())
		s.bindings[b.Name()] = &spec
		for _, t := range spec.Clusters {
			s.used.Add(t.Name, &spec, int64(t.Replicas))
		}
	}
	return s
}

// follow takes in what happens to the fleet without its changes.
func (s *state) follow(run *replay.Run, first time.Time) {
	f := newFollower(first)
	f.all(run)
	s.outcome, s.available = f.outcome, f.available
}
