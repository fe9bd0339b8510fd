// Package difference plays one outage under two sides, such as two profiles or two sets of policies, and tells what differs: in
// the outcome first, and then the first decision that differs. Nothing is written: what it tells is a prediction.
package difference

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

// Side is one of the two that are compared.
type Side struct {
	// Name says what it is: its files, and what it has that the other has not.
	Name string
	// Fleets are what is played: one fleet, or the scenarios of files, of which those of the same name are compared.
	Fleets []*scenario.Scenario
	// Recorded is what was decided in a recording; nil: the side is none.
	Recorded *Recording
	// Profile and Set are on top of what the fleet says.
	Profile string
	Set     []config.Override
}

// played is one fleet of a side. Without a side, the fleet has its own settings.
type played struct {
	*Side
	fleet *scenario.Scenario
}

// Config is what is compared, and how.
type Config struct {
	A, B Side
	Seed uint64
	// Lose fails together, in place of the timelines; none: the timelines say what fails, or each contingency is compared.
	Lose []forecast.Loss
	// Outage is how that fails, and For how long; zero: without an end.
	Outage messages.OutageKind
	For    time.Duration
	// Startup is how long a copy takes to start on clusters of which a fleet without a timeline does not say it.
	Startup time.Duration
	// Jobs is how many contingencies run at the same time.
	Jobs int
	// Progress hears how many contingencies are done; nil: there is no listener.
	Progress func(done, of int)
}

// Difference is what differs between two sides. B is judged against A.
type Difference struct {
	// Prediction is true: nothing of this has happened, but what Recorded tells.
	Prediction bool   `json:"prediction"`
	A          string `json:"a"`
	B          string `json:"b"`
	Seed       uint64 `json:"seed"`
	// Outage says what fails, and how long it is followed.
	Outage string   `json:"outage"`
	Notes  []string `json:"notes,omitempty"`
	// Scenario is the name of the one that is compared, where the sides have several.
	Scenario string `json:"scenario,omitempty"`
	// Differ is set where an outcome or a decision does.
	Differ  bool    `json:"differ"`
	Verdict Verdict `json:"verdict"`
	// By are the figures by which B is better or worse.
	By []string `json:"by"`
	// Fleet has the figures of all workloads together; those of each contingency are in Contingencies.
	Fleet []Figure `json:"fleet,omitempty"`
	// Workloads are those of which something differs, in order; Unnamed is how many more there are.
	Workloads []Workload `json:"workloads,omitempty"`
	Unnamed   int        `json:"unnamed,omitempty"`
	// Contingencies are those that differ, as the assessment of A ranks them; Compared is how many were compared.
	Contingencies []Contingency `json:"contingencies,omitempty"`
	Compared      int           `json:"contingenciesCompared,omitempty"`
	// Recorded are the evictions of two recordings that differ.
	Recorded []RecordedEviction `json:"recordedEvictions,omitempty"`
	// Scenarios are those that both sides have by the same name, each compared by itself.
	Scenarios []*Difference `json:"scenarios,omitempty"`
	// Decision is the first that differs; nil: none does.
	Decision *Decision `json:"firstDifferingDecision"`
}

// Run compares two sides. The error is an *assess.Invalid or a *world.Invalid where a side is at fault.
func Run(ctx context.Context, c Config) (*Difference, error) {
	if len(c.A.Fleets) == 1 && len(c.B.Fleets) == 1 {
		return c.pair(ctx, c.A.Fleets[0], c.B.Fleets[0])
	}
	return c.byName(ctx)
}

func (c *Config) empty() *Difference {
	return &Difference{Prediction: true, A: c.A.Name, B: c.B.Name, Seed: c.Seed, Verdict: Same, By: []string{}}
}

// pair compares one fleet of each side.
func (c *Config) pair(ctx context.Context, fleetA, fleetB *scenario.Scenario) (*Difference, error) {
	d := c.empty()
	sideA, sideB := played{&c.A, fleetA}, played{&c.B, fleetB}
	for _, s := range []played{sideA, sideB} {
		if s.fleet.OfNodes {
			return nil, &assess.Invalid{Problem: fmt.Errorf("%s: want a fleet of clusters; this is a scenario of nodes", s.Name)}
		}
	}
	a, b := len(fleetA.Timeline) > 0, len(fleetB.Timeline) > 0
	switch {
	case len(c.Lose) > 0:
		return d, d.losing(ctx, c, sideA, sideB)
	case a != b:
		return nil, &assess.Invalid{Problem: errors.New("one side has a timeline and the other has none: name what fails with --lose")}
	case !a:
		return d, d.contingencies(ctx, c, sideA, sideB)
	}
	d.Outage = "the timeline of the scenario"
	if !sameTimeline(fleetA, fleetB) {
		d.Notes = append(d.Notes, "the timelines of A and B differ: what differs may follow from that")
	}
	if err := d.play(ctx, c.Seed, sideA, sideB, 0); err != nil {
		return nil, err
	}
	d.recorded(c.A.Recorded, c.B.Recorded)
	return d, nil
}

// sameTimeline reports whether the same happens at the same times.
func sameTimeline(a, b *scenario.Scenario) bool {
	if a.Began != nil && b.Began != nil && a.File == b.File {
		return true // one recording, of which the settings say what is told of it
	}
	return slices.EqualFunc(a.Timeline, b.Timeline, func(x, y scenario.Step) bool {
		return x.At == y.At && reflect.DeepEqual(x.Action, y.Action)
	})
}

// losing fails the same in both.
func (d *Difference) losing(ctx context.Context, c *Config, sideA, sideB played) error {
	d.Outage = fmt.Sprintf("outage (%s) of %s, ", c.Outage, strings.Join(lists.Of(c.Lose, forecast.Loss.String), " and "))
	if c.For > 0 {
		d.Outage += "for " + span.String(c.For)
	} else {
		d.Outage += "without an end"
	}
	d.Outage += ", followed for " + span.String(assess.Horizon)
	a, err := c.lost(sideA, nil)
	if err != nil {
		return err
	}
	b, err := c.lost(sideB, nil)
	if err != nil {
		return err
	}
	return d.play(ctx, c.Seed, played{fleet: a}, played{fleet: b}, forecast.Lead)
}

// lost is the scenario of a side in which what Lose names fails, or else the clusters that are given.
func (c *Config) lost(s played, clusters []messages.ClusterName) (*scenario.Scenario, error) {
	for _, l := range c.Lose {
		of, err := l.Clusters(forecast.Clusters(s.fleet.Objects))
		if err != nil {
			return nil, &assess.Invalid{Problem: fmt.Errorf("--lose %s=%s: %s: %w", l.Kind, l.Name, s.Name, err)}
		}
		clusters = append(clusters, of...)
	}
	slices.Sort(clusters)
	of := c.assessment(s)
	return of.Losing(slices.Compact(clusters), c.For)
}

// assessment is how a side is assessed.
func (c *Config) assessment(s played) *assess.Config {
	return &assess.Config{
		Fleet: s.fleet, Profile: s.Profile, Set: s.Set, Seed: c.Seed, Outage: c.Outage, Startup: c.Startup, Jobs: c.Jobs, Progress: c.Progress,
	}
}

// play replays both sides and compares what came of them. Figures count from an offset on.
func (d *Difference) play(ctx context.Context, seed uint64, a, b played, from time.Duration) error {
	least, until := max(a.fleet.Until(), b.fleet.Until()), time.Duration(0)
	if a.fleet.Duration > 0 || b.fleet.Duration > 0 { // or one would be followed for longer
		until = least
	}
	runA, err := a.replayed(ctx, replay.Options{Seed: seed, Until: until})
	if err != nil {
		return fmt.Errorf("side A: %w", err)
	}
	runB, err := b.replayed(ctx, replay.Options{Seed: seed, Until: until})
	if err != nil {
		return fmt.Errorf("side B: %w", err)
	}
	end := max(least, lasts(runA), lasts(runB))
	d.compare(follow(runA, a.fleet, from, end), follow(runB, b.fleet, from, end))
	d.Decision = firstDiffering(runA, runB, from)
	d.Differ = d.Differ || d.Decision != nil
	return nil
}

func (s played) replayed(ctx context.Context, o replay.Options) (*replay.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Side != nil { // or the scenario has its settings
		o.Profile, o.Set = s.Profile, s.Set
	}
	return replay.Play(s.fleet, o)
}

// lasts is when the last thing happened.
func lasts(r *replay.Run) time.Duration {
	if len(r.Events) == 0 {
		return 0
	}
	return r.Events[len(r.Events)-1].At.Sub(r.Start)
}

// byName compares the scenarios that both sides have by the same name, of several files by that of the file, too, in the order of A.
func (c *Config) byName(ctx context.Context) (*Difference, error) {
	d := c.empty()
	d.Outage = "the timeline of each scenario"
	files := severalFiles(c.A.Fleets) && severalFiles(c.B.Fleets)
	a, err := c.A.named(files)
	if err != nil {
		return nil, err
	}
	b, err := c.B.named(files)
	if err != nil {
		return nil, err
	}
	if n := max(a.ofNodes, b.ofNodes); n > 0 {
		d.Notes = append(d.Notes, spelling.Count(n, "scenario of nodes is", "scenarios of nodes are")+" not compared")
	}
	for _, name := range a.names {
		a, b := a.of[name], b.of[name]
		if b == nil {
			d.only("A", name)
			continue
		}
		one, err := c.pair(ctx, a, b)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", name, err)
		}
		one.Scenario = name
		d.Scenarios, d.Differ, d.Verdict = append(d.Scenarios, one), d.Differ || one.Differ, d.Verdict.and(one.Verdict)
		for _, name := range one.By {
			if !slices.Contains(d.By, name) {
				d.By = append(d.By, name)
			}
		}
	}
	for _, name := range b.names {
		if a.of[name] == nil {
			d.only("B", name)
		}
	}
	if len(d.Scenarios) == 0 {
		return nil, &assess.Invalid{Problem: fmt.Errorf("no scenario has the same name on both sides: A has %s, as %s, B has %s, as %s", spelling.Count(len(c.A.Fleets), "scenario"), c.A.Fleets[0].Name, spelling.Count(len(c.B.Fleets), "scenario"), c.B.Fleets[0].Name)}
	}
	return d, nil
}

// only tells of a scenario that the other side has not.
func (d *Difference) only(side, name string) {
	d.Notes, d.Differ = append(d.Notes, fmt.Sprintf("scenario %s is in %s only", name, side)), true
}

// scenarios are those of a side by what they are called, in their order.
type scenarios struct {
	names []string
	of    map[string]*scenario.Scenario
	// ofNodes counts those that have no fleet, and are not compared.
	ofNodes int
}

// named are the scenarios of a side by their names, or with files by the names of their files, too.
func (s *Side) named(files bool) (*scenarios, error) {
	all := &scenarios{of: map[string]*scenario.Scenario{}}
	for _, one := range s.Fleets {
		if one.OfNodes {
			all.ofNodes++
			continue
		}
		name := one.Name
		if files {
			name = path.Base(filepath.ToSlash(one.File)) + " " + name
		}
		if other := all.of[name]; other != nil {
			return nil, &assess.Invalid{Problem: fmt.Errorf("%s: scenario %s is in %s and in %s: name one of these files", s.Name, name, other.File, one.File)}
		}
		all.names, all.of[name] = append(all.names, name), one
	}
	return all, nil
}

// severalFiles reports whether scenarios are of several files.
func severalFiles(all []*scenario.Scenario) bool {
	return slices.ContainsFunc(all, func(s *scenario.Scenario) bool { return s.File != all[0].File })
}
