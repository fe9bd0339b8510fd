package storm

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/daemon/hugepages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/kernel"
	"leeward/runtime/scenario"
)

// Config is how a storm runs. What is omitted has no default here.
type Config struct {
	// Fleet is built, unless there are Manifests. Nodes are what a storm of nodes builds.
	Fleet Fleet
	Nodes Nodes
	// Manifests are a fleet as a scenario has it: objects, members, profile and settings. Its timeline and
	// expectations are ignored.
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
	// Dir is an empty folder for the daemon's store, which everything then goes through: objects, Works and Events, in
	// real time. Empty: the machines run alone, on a virtual clock.
	Dir string
	// Memory is what there is for it. A storm that takes more is refused.
	Memory Memory
	// HugePages asks for the heap to lie on them.
	HugePages hugepages.Wanted
	// Clock reads a clock that never goes back, from any goroutine.
	Clock func() time.Duration
}

// Storm is one storm. It runs once.
type Storm struct {
	config   Config
	settings messages.Settings
	ground   ground
	lanes    []*recorder
	victims  []string
	// clusters are all of the fleet, in the order of names.
	clusters []*api.Cluster
	report   *Report
	// broken are the invariants that the daemon's own watch found broken.
	broken []string

	clocks
	// struck is set from the first failure on.
	struck atomic.Bool
}

// ground is what a storm breaks upon: machines alone, or the daemon's, with its store.
type ground interface {
	// build makes the fleet and places its workloads.
	build(context.Context) error
	// calm lets the rest of the beginning pass, and returns the instant of the first failure.
	calm(context.Context) (time.Time, error)
	// play brings failures about, and lets all come to its end that follows from them.
	play(context.Context, []readiness) error
	clusters() []api.Object
	now() time.Time
	// use is what the machines have done so far.
	use() (kernel.Counters, [messages.Kinds]kernel.Spent)
	// backlog is how many messages wait, and interrupt ends what is under way: both for any goroutine.
	backlog() uint64
	interrupt()
	close()
}

// clocks are the two of a storm, which begin with the first failure.
type clocks struct {
	wall func() time.Duration
	// origin is the first failure, at start; began are the instants since then, with what the clock said when each began.
	origin moment
	start  time.Time
	began  []began
	// real is set where both run at the same pace.
	real bool
}

type began struct {
	at   time.Time
	wall time.Duration
}

// Invalid says what is wrong with what was asked for.
type Invalid struct{ Problem error }

func (e *Invalid) Error() string { return e.Problem.Error() }

// Unwrap returns the problem.
func (e *Invalid) Unwrap() error { return e.Problem }

// New prepares a storm. The caller must Close it. The error is an *Invalid.
func New(c Config) (*Storm, error) {
	settings, err := c.settings()
	if err == nil && c.Manifests == nil {
		err = c.Fleet.Validate()
	}
	if err == nil {
		err = c.fits()
	}
	if err != nil {
		return nil, &Invalid{err}
	}
	s := &Storm{config: c, settings: settings, report: &Report{Profile: c.profile(), Seed: c.Seed, Lanes: c.Lanes}, clocks: clocks{wall: c.Clock, real: c.Dir != ""}}
	for range c.Lanes {
		s.lanes = append(s.lanes, newRecorder(s))
	}
	if c.Dir == "" {
		s.ground = newRehearsed(s)
	} else if s.ground, err = newDurable(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the storm's actors.
func (s *Storm) Close() { s.ground.close() }

// settings are those of the profile that let workloads be evicted from a failed cluster, then those of manifests, then those asked for.
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
	defer context.AfterFunc(ctx, s.ground.interrupt)()
	defer CollectRarely(s.config.Memory)()
	err := s.build(ctx)
	if err == nil {
		err = s.strike(ctx)
	}
	return s.report.ended(err, s.conclude)
}

// ended is the report of a storm that was interrupted or came to its end.
func (r *Report) ended(err error, conclude func()) (*Report, error) {
	switch {
	case errors.Is(err, kernel.ErrInterrupted), errors.Is(err, context.Canceled):
		r.Interrupted = true
	case err != nil:
		return nil, err
	}
	conclude()
	return r, nil
}

// build makes the fleet and looks at it.
func (s *Storm) build(ctx context.Context) error {
	s.config.reserve()
	started, before := s.config.Clock(), liveBytes()
	if err := s.ground.build(ctx); err != nil {
		return err
	}
	s.report.Setup = Seconds(s.config.Clock() - started)
	s.report.Fleet = s.shape()
	s.report.Load = s.load()
	places := lists.Of(s.clusters, func(c *api.Cluster) place { return place{c.Name, c.Spec.Region, c.Spec.Zone} })
	victims, err := s.config.Kill.victims(places, "cluster", s.config.Seed)
	if err != nil {
		return &Invalid{err}
	}
	s.victims = victims
	s.report.Outage = Outage{Pattern: s.config.Pattern, Kill: s.config.Kill.String(), Failed: len(victims)}
	if after := liveBytes(); after > before && s.report.Fleet.Bindings > 0 {
		s.report.Costs.BytesPerBinding = float64(after-before) / float64(s.report.Fleet.Bindings)
	}
	return nil
}

// strike runs the storm until nothing is due any more.
func (s *Storm) strike(ctx context.Context) (err error) {
	if s.start, err = s.ground.calm(ctx); err != nil {
		return err
	}
	for _, l := range s.lanes {
		l.timing, l.withdrawn, l.held = newTiming(), 0, 0
		for g := range l.counters {
			l.counters[g].Store(0)
		}
	}
	before := measure(s.ground.use())
	s.struck.Store(true)
	s.begin()
	err = s.ground.play(ctx, script(s.config.Pattern, s.victims))
	s.report.Elapsed = Seconds(s.config.Clock() - s.origin.wall)
	var done float64
	for _, l := range s.lanes {
		done += float64(l.counters[released].Load())
	}
	s.report.charge(before, measure(s.ground.use()), done)
	return err
}

// begin sets both to zero.
func (c *clocks) begin() { c.origin = moment{wall: c.wall()} }

// enter notes that an instant begins.
func (c *clocks) enter(at time.Time) { c.began = append(c.began, began{at, c.wall()}) }

// moment is now on both clocks, as a distance from the first failure.
func (c *clocks) moment(now time.Time) moment {
	return moment{wall: c.wall() - c.origin.wall, fleet: now.Sub(c.start)}
}

// due is the moment at which a deadline came: on the wall, when the engine began with the first instant that was
// not before it. Without a deadline it is the running instant.
func (c *clocks) due(now, deadline time.Time) moment {
	if deadline.IsZero() || deadline.After(now) {
		deadline = now
	}
	last := len(c.began) - 1
	if b := c.began[last]; c.real {
		return moment{wall: b.wall - c.origin.wall + max(0, deadline.Sub(b.at)), fleet: deadline.Sub(c.start)}
	}
	i := last
	if last > 0 && !c.began[last-1].at.Before(deadline) {
		i, _ = slices.BinarySearchFunc(c.began, deadline, func(b began, at time.Time) int { return b.at.Compare(at) })
	}
	return moment{wall: c.began[i].wall - c.origin.wall, fleet: deadline.Sub(c.start)}
}

// liveBytes is the memory that is in use.
func liveBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
