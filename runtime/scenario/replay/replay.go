// Package replay runs scenarios on a virtual clock, and judges their expectations.
package replay

import (
	"cmp"
	"context"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/nodeinvariant"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
)

// openEnd is how long a scenario without a duration may go on after its last step, if something is due
// again and again.
const openEnd = 24 * time.Hour

// InvariantPrefix begins the expectations that are invariants of packages invariant and nodeinvariant which did not hold; those
// that held are not told.
const InvariantPrefix = "invariant: "

// Options change how a scenario is run; the zero value runs it as written, but with seed 0.
type Options struct {
	Seed uint64
	// Interleaving is another order of mailboxes for the same seed. Zero: the seed's own.
	Interleaving uint64
	// Lanes is how many lanes of actors run in parallel, in no order that could be repeated. Zero: one, in the
	// order that the seed picks.
	Lanes int
	// MaxPerInstant is how many messages an instant may take. Zero: as the kernel has it.
	MaxPerInstant int
	// Tamper may change what every machine is sent. Zero: they get what they are sent.
	Tamper world.Tamper
	// Profile replaces the scenario's; empty: as written.
	Profile string
	// Set are settings on top of the scenario's own.
	Set []config.Override
	// Start is the instant from which everything counts; zero: StartOf.
	Start time.Time
	// Until ends the run early; zero: as written.
	Until time.Duration
	// Unwatched runs without the invariants, for what is no test of the machines.
	Unwatched bool
	// Enough is asked after each instant whether the run may end there: it sees the verdicts so far. Nil: it goes on to its end.
	Enough func(*expect.Checker) bool
	// Rested hears of the store before the first step of the timeline where nothing else is due then, so that without the timeline
	// it would stay as it is; nil: there is no listener.
	Rested func(*store.Store)
	// Begun and Ended are shown the world before its first instant and after its last, and when that was. They must not change
	// it. Nil: not asked for.
	Begun func(w *world.World)
	Ended func(w *world.World, end time.Time)
}

// Play runs a scenario on a virtual clock and judges its expectations. The error is a *world.Invalid where
// the scenario is at fault, and of the engine's own otherwise.
func Play(s *scenario.Scenario, o Options) (*Run, error) {
	return PlayContext(context.Background(), s, o)
}

// PlayContext is Play until the context is done.
func PlayContext(ctx context.Context, s *scenario.Scenario, o Options) (*Run, error) {
	profile := cmp.Or(o.Profile, s.Profile, config.Default)
	settings, problems := config.Resolve(profile, slices.Concat(s.Config, o.Set))
	if len(problems) > 0 {
		return nil, &world.Invalid{Problems: problems}
	}
	start, err := StartOf(s)
	if err != nil {
		return nil, &world.Invalid{Problems: []error{err}}
	}
	if !o.Start.IsZero() {
		start = o.Start
	}
	monitor := invariant.New(settings, s.Members)
	c := o.world(settings, s.Members, start)
	if s.OfNodes { // which need one lane
		c.Nodes, c.Kubelets, c.Lanes, c.Order = true, s.Kubelets, 1, kernel.Seeded
	}
	r := &replay{}
	if len(s.MemberNodes) > 0 {
		c.MemberNodes, c.HearNodes, c.Lanes, c.Order = s.MemberNodes, r.hearNodes, 1, kernel.Seeded
	}
	if c.Lanes <= 1 && s.Began == nil && !o.Unwatched {
		c.Reported = monitor.Reported
	}
	*r = replay{
		scenario: s,
		start:    start,
		world:    world.New(c),
		checker:  expect.NewChecker(s.Expect, start),
		monitor:  monitor,
		options:  &o,

		outages:   map[outageOf]int{},
		disturbed: map[messages.ClusterName]bool{},
		stopped:   map[messages.NodeName]int{},
		members:   map[messages.ClusterName]*memberWatch{},
		settings:  &settings,
	}
	defer r.world.Close()
	defer context.AfterFunc(ctx, r.world.Interrupt)()
	if s.OfNodes {
		r.checker.OfNodes(r.world.Nodes())
		r.nodes = nodeinvariant.New(&settings, r.world.Nodes())
	}
	if len(s.MemberNodes) > 0 {
		r.checker.OfNodes(memberObjects{r.world})
	}
	if o.Begun != nil {
		o.Begun(r.world)
	}
	if err := r.run(o.Until); err != nil {
		return nil, err
	}
	if o.Ended != nil {
		o.Ended(r.world, r.end)
	}
	return r.report(profile, o.Seed), nil
}

// world is how the scenario's world runs.
func (o *Options) world(settings messages.Settings, members map[messages.ClusterName]messages.MemberBehaviour, start time.Time) world.Config {
	c := world.Config{Settings: settings, Start: start, Seed: o.Seed, Interleaving: o.Interleaving, Lanes: o.Lanes, Order: kernel.Seeded, Members: members, MaxPerInstant: o.MaxPerInstant, Tamper: o.Tamper}
	if o.Lanes > 1 {
		c.Order = kernel.FIFO
	}
	return c
}

// replay is one run of one scenario.
type replay struct {
	scenario *scenario.Scenario
	// start is when virtual time begins.
	start   time.Time
	world   *world.World
	checker *expect.Checker
	monitor *invariant.Monitor
	options *Options
	// nodes watches over nodes and pods; nil: there are none.
	nodes *nodeinvariant.Monitor
	// members watch over the nodes and pods of member clusters that have some; settings are those at the start.
	members  map[messages.ClusterName]*memberWatch
	settings *messages.Settings
	// step is the next step of the timeline; seen counts the facts that were judged, watched those of which the
	// invariants were asked; end is how far the run got.
	step    int
	seen    int
	watched int
	end     time.Time
	// now is the instant of the timeline, which the engine's clock is ahead of by offset, or behind it.
	now     time.Time
	offset  time.Duration
	absence absence
	// outages counts those that there are: one may begin before another of its kind is over.
	outages map[outageOf]int
	// disturbed are the clusters whose reports are, or were, disturbed.
	disturbed map[messages.ClusterName]bool
	// stopped counts the outages that a node has.
	stopped map[messages.NodeName]int
}

func (r *replay) run(until time.Duration) error {
	r.begin()
	if err := r.world.ApplyAll(r.scenario.Objects); err != nil {
		return err
	}
	if err := r.world.Settle(r.start); err != nil {
		return err
	}
	last, fixed := r.lastInstant(until)
	for now := r.start; ; {
		if err := r.instant(now); err != nil {
			return err
		}
		if r.options.Enough != nil && r.options.Enough(r.checker) {
			r.end = r.machine(now)
			return nil
		}
		next, more := r.next()
		if !more || next.After(last) {
			break
		}
		now = next
	}
	if r.end = r.machine(last); !fixed {
		r.end = r.machine(r.start.Add(r.scenario.Until()))
	}
	return nil
}

// begin has the engine recover what existed when a recording began, of which clusters tell first.
func (r *replay) begin() {
	began := r.scenario.Began
	if began == nil {
		return
	}
	objects := lists.Of(began.Objects, api.Copy)
	r.world.Load(store.WithoutRows(objects))
	for _, said := range began.Inputs {
		r.said(said)
	}
	r.world.Recover()
}

// lastInstant is when the run ends at the latest, and whether it lasts until then whatever happens.
func (r *replay) lastInstant(until time.Duration) (last time.Time, fixed bool) {
	least := r.scenario.Until()
	switch {
	case until > 0:
		return r.start.Add(until), true
	case r.scenario.Duration > 0:
		return r.start.Add(least), true
	default:
		return r.start.Add(least + openEnd), false
	}
}

// next is the next instant of the timeline at which something happens or must be judged.
func (r *replay) next() (time.Time, bool) {
	next, more := r.nextEvent()
	if at, must := r.checker.Next(); must && (!more || at.Before(next)) {
		return at, true
	}
	return next, more
}

// nextEvent is the next instant at which something happens.
func (r *replay) nextEvent() (time.Time, bool) {
	next, more := r.world.Next()
	if r.world.Down() {
		next, more = actors.Earlier(next, r.absence.until), true
	}
	next = next.Add(-r.offset)
	if r.step < len(r.scenario.Timeline) {
		at := r.start.Add(r.scenario.Timeline[r.step].At)
		if !more || at.Before(next) {
			return at, true
		}
	}
	return next, more
}

// instant does the steps of an instant, lets all that follows from them happen, and has the
// expectations judged.
func (r *replay) instant(at time.Time) error {
	r.rested(at)
	r.now = at
	r.world.Enter(r.machine(at))
	if err := r.comeBack(); err != nil {
		return err
	}
	for ; r.step < len(r.scenario.Timeline); r.step++ {
		s := &r.scenario.Timeline[r.step]
		if r.start.Add(s.At).After(at) {
			break
		}
		if err := r.take(s); err != nil {
			return err
		}
	}
	if err := r.settle(); err != nil {
		return err
	}
	news := r.world.Journal().Since(r.seen)
	r.seen += len(news)
	r.checker.Settled(r.world.Now(), r.world.Store(), news)
	return nil
}

// rested tells of the store before the first step of the timeline, if nothing else is due.
func (r *replay) rested(at time.Time) {
	if r.options.Rested == nil || r.step > 0 || len(r.scenario.Timeline) == 0 || r.start.Add(r.scenario.Timeline[0].At).After(at) {
		return
	}
	if _, due := r.world.Next(); !due {
		r.options.Rested(r.world.Store())
	}
}

// settle lets all that there is to do at this instant happen, and has the invariants asked.
func (r *replay) settle() error {
	for again := true; again; again = r.silenceAgents() {
		if err := r.world.Settle(r.world.Now()); err != nil {
			return err
		}
	}
	r.watch()
	return nil
}

// watch has the invariants asked of what happened since. Of a fleet that ran already when it was recorded they do not know enough.
func (r *replay) watch() {
	if r.scenario.Began != nil || r.options.Unwatched {
		return
	}
	news := r.world.Journal().Since(r.watched)
	r.watched += len(news)
	r.monitor.Settled(r.world.Now(), r.world.Store(), news)
	if r.nodes != nil {
		r.nodes.Settled(r.world.Now(), news)
	}
	r.watchMembers()
}

func (r *replay) report(profile string, seed uint64) *Run {
	run := &Run{
		Name: r.scenario.Name, Description: r.scenario.Description, File: r.scenario.File, Line: r.scenario.Line,
		Seed: seed, Profile: profile, Start: r.start, Passed: true,
		Events: r.world.Journal().Entries(), Objects: r.world.Store().Objects(),
	}
	if tier := r.world.Nodes(); tier != nil {
		run.Tier = nodesAndPods(tier)
	}
	for _, e := range r.checker.Finish(r.end) {
		run.Expect(ExpectationResult{Text: e.Text, Passed: e.Passed, At: e.At, Reason: e.Reason, Line: e.Line, About: e.About})
	}
	if r.scenario.Began != nil || r.options.Unwatched {
		return run
	}
	r.monitor.Finish(r.end, r.world.Store())
	for _, v := range r.monitor.Violations() {
		run.Expect(ExpectationResult{Text: InvariantPrefix + string(v.Invariant), At: v.At.Sub(r.start).Seconds(), Reason: v.String(), About: v.About()})
	}
	r.reportNodes(run)
	return run
}

// reportNodes tells which invariants of nodes and pods did not hold.
func (r *replay) reportNodes(run *Run) {
	r.reportNodesOf(run, "", r.nodes)
	for _, name := range r.world.MembersWithNodes() {
		r.reportNodesOf(run, name, r.members[name].monitor)
	}
}

// reportNodesOf tells it of a member cluster; without a name, of the one cluster that there is.
func (r *replay) reportNodesOf(run *Run, cluster messages.ClusterName, m *nodeinvariant.Monitor) {
	if m == nil {
		return
	}
	m.Settled(r.end, nil)
	for _, v := range m.Violations() {
		result := ExpectationResult{Text: InvariantPrefix + string(v.Invariant), At: v.At.Sub(r.start).Seconds()}
		if cluster != "" {
			v.Place = v.In(cluster)
		}
		switch {
		case v.Pod != "":
			result.About = expect.PodKey(v.Pod)
		case v.Node != "":
			result.About = expect.NodeKey(v.Node)
		}
		result.Reason = v.String()
		run.Expect(result)
	}
}
