package storm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/config"
	"leeward/runtime/kernel"
	"leeward/runtime/scenario"
	"leeward/runtime/world"
)

// Config is how a storm runs. What is left out has no default here.
type Config struct {
	// Fleet is built, unless there are Manifests.
	Fleet Fleet
	// Manifests are a fleet as a scenario has it: objects, members, profile and settings. Its timeline and
	// expectations are left aside.
	Manifests *scenario.Scenario
	Kill      Kill
	Pattern   string
	// Profile and Set are on top of what manifests say, and of Settings.
	Profile string
	Set     []config.Override
	// Paced keeps the pace of evictions that the settings ask for. Otherwise permits are unlimited and there is no brake, to measure the
	// engine and not its brakes.
	Paced bool
	Seed  uint64
	Lanes int
	// Clock reads a clock that never goes back, from any goroutine.
	Clock func() time.Duration
}

// Storm is one storm. It runs once.
type Storm struct {
	config   Config
	settings messages.Settings
	world    *world.World
	lanes    []*recorder
	victims  []messages.ClusterName
	// clusters are all of the fleet, in the order of names.
	clusters []*api.Cluster
	report   *Report

	// origin is the first failure; began are the instants since then, with what the clock said when each began.
	origin moment
	start  time.Time
	began  []began
	// struck is set from the first failure on.
	struck atomic.Bool
}

type began struct {
	at   time.Time
	wall time.Duration
}

// lead is how long the fleet is left alone before the storm, so that nothing of its beginning is still due.
const lead = time.Hour

// limit is how long a storm may take the fleet.
const limit = 24 * time.Hour

// Invalid says what is wrong with what was asked for.
type Invalid struct{ Problem error }

func (e *Invalid) Error() string { return e.Problem.Error() }

// Unwrap returns the problem.
func (e *Invalid) Unwrap() error { return e.Problem }

// New prepares a storm. Whoever makes it must Close it. The error is an *Invalid.
func New(c Config) (*Storm, error) {
	settings, err := c.settings()
	if err == nil && c.Manifests == nil {
		err = c.Fleet.Validate()
	}
	if err != nil {
		return nil, &Invalid{err}
	}
	s := &Storm{config: c, settings: settings, report: &Report{Profile: c.profile(), Seed: c.Seed, Lanes: c.Lanes}}
	for range c.Lanes {
		s.lanes = append(s.lanes, newRecorder(s))
	}
	s.world = world.New(world.Config{
		Settings: settings, Seed: c.Seed, Lanes: c.Lanes, Members: c.members(), Clock: c.Clock,
		Observe: func(lane int, now time.Time, f messages.Fact) { s.lanes[lane].observe(now, f) },
	})
	return s, nil
}

// Close ends the storm's actors.
func (s *Storm) Close() { s.world.Close() }

// settings are those of the profile that let a failed cluster be left, then those of manifests, then those asked for.
func (c *Config) settings() (messages.Settings, error) {
	own := []config.Override{
		{Field: "allowNoExecuteTaintPolicy", Value: true, Source: "storm"},
		{Field: "enableNoExecuteTaintEviction", Value: true, Source: "storm"},
	}
	if !c.Paced {
		for _, field := range brakes {
			own = append(own, config.Override{Field: field, Value: 0, Source: "storm"})
		}
	}
	if c.Manifests != nil {
		own = append(own, c.Manifests.Config...)
	}
	settings, problems := config.Resolve(c.profile(), append(own, c.Set...))
	return settings, errors.Join(problems...)
}

// brakes are the settings that limit evictions, by which zero means no limit.
var brakes = []string{
	"evictionWorkers", "fleetEvictionRate", "regionEvictionRate", "clusterEvictionRate",
	"unhealthyClusterThreshold", "unhealthyRegionThreshold", "blackoutThreshold", "stormCooldown",
	"fleetBreakerShare", "regionBreakerShare", "priorityBreakerShare",
}

func (c *Config) profile() string {
	switch {
	case c.Profile != "":
		return c.Profile
	case c.Manifests != nil && c.Manifests.Profile != "":
		return c.Manifests.Profile
	}
	return config.Default
}

func (c *Config) members() map[messages.ClusterName]messages.MemberBehaviour {
	if c.Manifests != nil {
		return c.Manifests.Members
	}
	return c.Fleet.members()
}

// Run builds the fleet, fails what is to fail, and reports. Where the context ends, the report is of what was done
// until then. The error is an *Invalid where the manifests or the outage are at fault.
func (s *Storm) Run(ctx context.Context) (*Report, error) {
	defer context.AfterFunc(ctx, s.world.Interrupt)()
	defer collectRarely()()
	err := s.build()
	if err == nil {
		err = s.strike(ctx)
	}
	switch {
	case errors.Is(err, kernel.ErrInterrupted), errors.Is(err, context.Canceled):
		s.report.Interrupted = true
	case err != nil:
		return nil, err
	}
	s.conclude()
	return s.report, nil
}

// build makes the fleet and places its workloads.
func (s *Storm) build() error {
	started, before := s.config.Clock(), liveBytes()
	if err := s.populate(); err != nil {
		return err
	}
	if err := s.settle(world.Start); err != nil {
		return err
	}
	s.report.Setup = Seconds(s.config.Clock() - started)
	s.report.Fleet = s.shape()
	s.report.Load = s.load()
	victims, err := s.config.Kill.victims(s.clusters, s.config.Seed)
	if err != nil {
		return &Invalid{err}
	}
	s.victims = victims
	s.report.Outage = Outage{Pattern: s.config.Pattern, Kill: s.config.Kill.String(), Clusters: len(victims)}
	if after := liveBytes(); after > before && s.report.Fleet.Bindings > 0 {
		s.report.Costs.BytesPerBinding = float64(after-before) / float64(s.report.Fleet.Bindings)
	}
	return nil
}

// populate applies what the fleet consists of. A fleet of manifests without a ClusterTaintPolicy gets the storm's own, or
// else nothing would ever leave a failed cluster.
func (s *Storm) populate() error {
	m := s.config.Manifests
	if m == nil {
		return s.config.Fleet.build(s.world)
	}
	if err := s.world.ApplyAll(m.Objects); err != nil {
		return &Invalid{err}
	}
	if len(s.world.Store().List("ClusterTaintPolicy")) == 0 {
		return s.world.Apply(taintPolicy())
	}
	return nil
}

// strike runs the storm until nothing is due any more.
func (s *Storm) strike(ctx context.Context) error {
	s.start = world.Start.Add(lead)
	if err := s.settleUntil(ctx, s.start.Add(-1)); err != nil {
		return err
	}
	for _, l := range s.lanes {
		l.timing, l.withdrawn, l.held = newTiming(), 0, 0
		for g := range l.counters {
			l.counters[g].Store(0)
		}
	}
	meter := s.measure()
	s.struck.Store(true)
	s.origin = moment{wall: s.config.Clock(), fleet: lead}
	err := s.play(ctx)
	s.report.Elapsed = Seconds(s.config.Clock() - s.origin.wall)
	s.charge(meter)
	return err
}

func (s *Storm) play(ctx context.Context) error {
	for _, c := range script(s.config.Pattern, s.victims) {
		at := s.start.Add(c.after)
		if err := s.settleUntil(ctx, at.Add(-1)); err != nil {
			return err
		}
		for _, name := range c.clusters {
			s.world.TellCluster(name, &messages.ConditionReported{
				Type: api.ConditionReady, Status: c.ready, Reason: "Storm", Message: "a storm says so",
			})
		}
		if err := s.settle(at); err != nil {
			return err
		}
	}
	return s.settleUntil(ctx, s.start.Add(limit))
}

// settleUntil settles every instant at which something is due, up to an end.
func (s *Storm) settleUntil(ctx context.Context, end time.Time) error {
	for next, more := s.world.Next(); more && !next.After(end); next, more = s.world.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.settle(next); err != nil {
			return err
		}
	}
	return nil
}

func (s *Storm) settle(at time.Time) error {
	s.began = append(s.began, began{at, s.config.Clock()})
	if err := s.world.Settle(at); err != nil {
		return fmt.Errorf("run the storm: %w", err)
	}
	return nil
}

// moment is now on both clocks, as a distance from the first failure.
func (s *Storm) moment(now time.Time) moment {
	return moment{wall: s.config.Clock() - s.origin.wall, fleet: now.Sub(s.start)}
}

// due is the moment at which a deadline came: on the wall, when the engine began with the first instant that was
// not before it. Without a deadline it is the running instant.
func (s *Storm) due(now, deadline time.Time) moment {
	if deadline.IsZero() || deadline.After(now) {
		deadline = now
	}
	last := len(s.began) - 1
	i := last
	if last > 0 && !s.began[last-1].at.Before(deadline) {
		i, _ = slices.BinarySearchFunc(s.began, deadline, func(b began, at time.Time) int { return b.at.Compare(at) })
	}
	return moment{wall: s.began[i].wall - s.origin.wall, fleet: deadline.Sub(s.start)}
}

// liveBytes is the memory that is in use.
func liveBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
