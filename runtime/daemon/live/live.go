// Package live runs a world for real. What is committed to an engine is its input, and what the machines decide is
// committed there: taints, placements, eviction tasks and status, the Works that agents act on, and an Event with
// the reason of each decision.
//
// The engine holds the only truth. A world is made of it at the start, and where a decision meets a change that
// the world had not seen, the change is heard first and the decision made again.
//
// Clocks of an API tick in seconds, and so does the time that machines see, but for deadlines within a second:
// what they stamp on an object is the same after it was written and read.
package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// Config is what a fleet runs on.
type Config struct {
	Engine   *engine.Engine
	Settings messages.Settings
	// Term is the one that this fleet leads an engine in that is shared. Zero: the engine is not.
	Term int64
	// Seed breaks ties that Karmada leaves to chance.
	Seed uint64
	// Lanes is how many lanes of actors run in parallel. Zero: one.
	Lanes int
	Clock clock.Clock
	Log   zerolog.Logger
	// Hear hears every fact and its words, on the goroutine of Run. Zero: there is no listener.
	Hear func(at time.Time, f messages.Fact, told journal.Phrase)
	// Unmonitored has nothing ask the invariants.
	Unmonitored bool
	// Broken hears of each invariant that does not hold, on the goroutine of Run. Zero: it is only logged.
	Broken func(*invariant.Violation)
	// Flushed is called when all that was decided so far is committed, and the Events that tell of it are not yet, on the
	// goroutine of Run. Zero: it is not called.
	Flushed func()
	// Decided hears of decisions once they are committed, in the order in which they were made, on the goroutine of Run, before
	// the Events that tell of them are. Zero: they are not kept.
	Decided func([]Decision)
	// Recorded reports whether Decided has heard of a decision, as far as that is known from before a restart; what it has
	// not is found in the store, and told again. Zero: it has heard of all.
	Recorded func(kind string, b messages.BindingName, c messages.ClusterName, at time.Time) bool
	// Started is called once, when all that a start found to do is done, on the goroutine of Run. Zero: it is not called.
	Started func()
	// Times reads a clock that times the machines, as kernel.Config.Clock. Zero: nothing is timed.
	Times func() time.Duration
	// StepLimit is how long one step of a machine may last before the fleet is given up with Stuck. Zero: for ever.
	StepLimit time.Duration
	// Quarantine are the machines that are not run.
	Quarantine []Quarantined
	// Tamper may change what every machine is sent, as world.Config.Tamper. Zero: nothing does.
	Tamper world.Tamper
	// Shadow decides, tells what it decided, and writes nothing.
	Shadow bool
}

// Fleet is a world that looks after the objects of an engine.
type Fleet struct {
	config Config
	world  *world.World
	feed   *engine.Feed
	// loaded is the version as of which the objects of each resource were found at the start.
	loaded map[*catalog.Resource]int64
	// ended are the bindings that machines have ended and the engine still has.
	ended map[messages.BindingName]bool
	// leases are the renewals last heard of, by cluster.
	leases map[messages.ClusterName]time.Time

	unwritten []api.Key // what was decided and waits to be committed
	joining   []messages.ClusterName
	orphaned  []messages.ClusterName          // clusters whose objects others took out of the store while their Works had yet to go
	leaving   map[messages.ClusterName]bool   // clusters whose last Works are awaited
	wishes    []wish                          // for Works, in the order in which they were made
	unwanted  map[messages.BindingName][]wish // those of this flush for Works that are to go; nil: not asked for yet
	going     map[string]bool                 // Works that go in this flush with a cluster, which precedes its bindings
	events    map[api.Key][]event             // by what they are about, until that is committed
	postponed map[api.Key]bool                // what this flush could not commit
	decided   []event                         // what it has committed
	manifests manifests
	sums      sums
	overrides overrides
	// stuck are the copies, by the keys of their Works, to which no overrides could be applied.
	stuck      map[string]*messages.CopyWanted
	eventSeq   uint64
	starting   bool       // until what was found at the start is committed
	following  *following // nil: it leads
	asked      chan func()
	invariants invariants
	rooms      rooms
	// quarantine are the machines that are not run.
	quarantine quarantine
	stats      Stats
}

// Stats count what a fleet has done. They are read on the goroutine of Run.
type Stats struct {
	// Taken counts changes that the world took in, Written those that it made, Conflicts those that it had to make
	// again.
	Taken, Written, Conflicts uint64
	// Refused counts objects that were stored and that the world does not admit.
	Refused uint64
	// Version is up to which the fleet has heard of the engine's changes.
	Version int64
}

// Open makes a world of what the engine holds and brings what is overdue about. Works that a crash left out, or behind,
// are up to Run: a large fleet has many to look at. Close ends it, unless Run does. Where the context is done meanwhile, Open
// returns its cause: what it did not come to is found again at the next start.
func Open(ctx context.Context, c Config) (*Fleet, error) {
	f := empty(c)
	if err := f.start(ctx, f.firstRound); err != nil {
		return nil, err
	}
	return f, nil
}

// empty is a fleet that follows its engine, and has taken nothing over.
func empty(c Config) *Fleet {
	f := &Fleet{
		config: c, loaded: map[*catalog.Resource]int64{}, ended: map[messages.BindingName]bool{}, leases: map[messages.ClusterName]time.Time{},
		leaving: map[messages.ClusterName]bool{}, manifests: manifests{}, events: map[api.Key][]event{}, postponed: map[api.Key]bool{}, asked: make(chan func()),
		overrides: overrides{}, sums: sums{known: map[messages.BindingName]bool{}}, stuck: map[string]*messages.CopyWanted{}, rooms: rooms{stale: map[messages.ClusterName]bool{}},
		quarantine: newQuarantine(&c),
	}
	now := c.Clock.Now().UTC().Truncate(time.Second)
	f.world = world.New(world.Config{
		Settings: c.Settings, Seed: c.Seed, Lanes: c.Lanes, Start: now, Agents: true, Hear: f.hear, Clock: c.Times,
		Tamper: c.Tamper, Watched: c.StepLimit > 0, Quarantined: f.quarantine.addresses(),
	})
	f.feed = c.Engine.Follow(catalog.Events.Name(), catalog.Nodes.Name(), catalog.Pods.Name())
	f.eventSeq = uint64(c.Clock.Now().UnixNano())
	return f
}

// untilDone does a part of a start, or returns early when the context is done. Where it fails it ends the machines.
func (f *Fleet) untilDone(ctx context.Context, part func() error) error {
	return f.guarded(func() error { return f.interrupted(ctx, part) })
}

func (f *Fleet) interrupted(ctx context.Context, part func() error) error {
	goesOn := context.AfterFunc(ctx, f.world.Interrupt)
	err := part()
	if !goesOn() {
		err = context.Cause(ctx)
	}
	if err != nil {
		f.Close()
	}
	return err
}

// start makes machines of what the engine holds, and goes on with what is next.
func (f *Fleet) start(ctx context.Context, next func() error) error {
	return f.untilDone(ctx, func() error {
		if err := f.load(ctx); err != nil {
			return err
		}
		f.showQuarantine()
		f.starting = true
		if f.following == nil {
			f.restoreRecord(nil)
		}
		return next()
	})
}

// firstRound brings what is overdue about.
func (f *Fleet) firstRound() error {
	if _, err := f.round(); err != nil {
		return err
	}
	f.starting = false
	return nil
}

// Close ends the machines.
func (f *Fleet) Close() {
	f.feed.Close()
	f.world.Close()
}

// Run takes in changes and lets time pass until the context is done, or something fails that a restart may cure.
func (f *Fleet) Run(ctx context.Context) error {
	return f.guarded(func() error { return f.run(ctx) })
}

func (f *Fleet) run(ctx context.Context) error {
	defer f.Close()
	return f.loop(ctx)
}

func (f *Fleet) loop(ctx context.Context) error {
	timer := f.config.Clock.Timer(time.Hour)
	defer timer.Stop()
	started := f.config.Started
	for {
		if err := f.step(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if started != nil {
			started()
			started = nil
		}
		timer.Reset(f.untilNext())
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case _, open := <-f.feed.News():
			if !open {
				return engine.ErrClosed
			}
		case ask := <-f.asked:
			f.serve(ask)
		}
	}
}

// serve calls what a client asked for, at the present instant.
func (f *Fleet) serve(ask func()) {
	f.arrive()
	ask()
}

// untilNext is how long nothing is due.
func (f *Fleet) untilNext() time.Duration {
	next, _ := f.world.Next()
	if next = actors.Earlier(next, f.dueAgain()); next.IsZero() {
		return time.Hour
	}
	return max(0, next.Sub(f.config.Clock.Now()))
}

// Ask calls something on the goroutine of Run, between two instants: to look at the world, or to change its
// settings. It returns when that is done; false where the context is done first.
func (f *Fleet) Ask(ctx context.Context, what func(*world.World)) bool {
	done := make(chan struct{})
	select {
	case f.asked <- func() { what(f.world); close(done) }:
	case <-ctx.Done():
		return false
	}
	<-done
	return true
}

// Backlog is how many messages wait in mailboxes. It is for any goroutine.
func (f *Fleet) Backlog() uint64 { return f.world.Backlog() }

// Stats counts what was done so far; to be called by Ask.
func (f *Fleet) Stats() Stats { return f.stats }

// step goes round until there is nothing more to do, or the context is done: the next start finds again what remains. Requests
// do not wait for all of it: a start has many Works to look at.
func (f *Fleet) step(ctx context.Context) error {
	for again := true; again && ctx.Err() == nil; {
		var err error
		if again, err = f.round(); err != nil {
			return err
		}
		select {
		case ask := <-f.asked:
			f.serve(ask)
			again = true // what it changed must be committed
		default:
		}
	}
	return nil
}

// round takes in what there is, brings about what is due and commits what came of it. It reports whether there is more
// to do immediately.
func (f *Fleet) round() (again bool, err error) {
	f.take()
	if err := f.tryAgain(); err != nil {
		return false, err
	}
	f.tellRooms()
	if err := f.settle(); err != nil {
		return false, err
	}
	if f.following != nil {
		return f.compare()
	}
	return f.flush()
}

// take takes in what others have changed.
func (f *Fleet) take() {
	changes := f.feed.Take()
	f.arrive()
	f.stats.Version = f.feed.Taken()
	for _, c := range changes {
		if r := byPrefix[engine.PrefixOf(c.Key)]; r != nil {
			f.takeIn(r, &c)
		}
	}
}

// arrive moves the world to the present, or to what is due before that: what people did is done now, and not when machines
// last had something to do.
func (f *Fleet) arrive() {
	now := f.config.Clock.Now().UTC().Truncate(time.Second)
	if next, due := f.world.Next(); due {
		now = actors.Earlier(now, next)
	}
	f.world.Enter(actors.Later(now, f.world.Now()))
}

const (
	// roundLasts is how long the machines act before what they decided is committed, and what people and agents said meanwhile
	// is heard: a storm makes more than is done in time, and no request waits for all of it.
	roundLasts = 50 * time.Millisecond
	// catchesUp is how far the machines' time may be behind: they live through instants that were due less long ago one by one,
	// and pass over all others together. So a stall yields no permits for the time that it took.
	catchesUp = 250 * time.Millisecond
)

// settle lets the machines act at the instants that were due up to now, and at now, for as long as a round lasts. What else is due
// remains for the next.
func (f *Fleet) settle() error {
	began := f.config.Clock.Now().UTC()
	wall := began
	for next, due := f.world.Next(); due && !next.After(wall); next, due = f.world.Next() {
		if err := f.settleAt(f.caughtUp(next, wall)); err != nil {
			return err
		}
		if wall = f.config.Clock.Now().UTC(); wall.Sub(began) >= roundLasts {
			return nil
		}
	}
	return f.settleAt(wall.Truncate(time.Second))
}

// caughtUp is the instant at which the machines do what is due: its own, or the present where that is too long ago. That is a tick
// of an API's clock, too, if one came since.
func (f *Fleet) caughtUp(due, wall time.Time) time.Time {
	if wall.Sub(due) <= catchesUp {
		return due
	}
	present := wall.Truncate(time.Second)
	if !present.After(due) {
		present = wall.Truncate(time.Millisecond)
	}
	if f.invariants.monitor != nil {
		f.invariants.monitor.Idled(present)
	}
	return present
}

// settleAt lets the machines act at an instant, or now if a clock was set back behind it.
func (f *Fleet) settleAt(instant time.Time) error {
	if err := f.world.Settle(actors.Later(instant, f.world.Now())); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return nil
}

// hear takes a fact from the world.
func (f *Fleet) hear(at time.Time, fact messages.Fact) {
	told := journal.Tell(time.Time{}, fact)
	if f.following != nil {
		f.following.hear(at, fact, told)
	} else {
		f.say(at, fact, told)
	}
	f.invariants.hear(at, fact)
	switch fact := fact.(type) {
	case *messages.CopyWanted, *messages.CopyUnwanted:
		w := wishOf(fact)
		w.found = f.starting
		f.wishes = append(f.wishes, w)
		return
	case *messages.EvictionWithdrawn: // its Work kept the template that it had
		if b := f.world.Store().Binding(fact.Binding); b != nil {
			f.renewWork(b, fact.Cluster)
		}
	case *messages.BindingUpdated:
		if slices.Contains(fact.Changed, "policy") || slices.Contains(fact.Changed, "suspension") {
			f.renewWorks(f.world.Store().Binding(fact.Binding))
		}
	case *messages.BindingDeleted:
		if o, _ := f.stored(store.BindingKey(fact.Binding)); o != nil {
			f.ended[fact.Binding] = true
		}
	}
	f.noteEvent(Decision{At: at, Fact: fact, Told: told})
}

// say logs a fact, and tells who listens.
func (f *Fleet) say(at time.Time, fact messages.Fact, told journal.Phrase) {
	told.Log(&f.config.Log, &journal.Entry{At: at, Fact: fact})
	if f.config.Hear != nil {
		f.config.Hear(at, fact, told)
	}
}
