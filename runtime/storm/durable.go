package storm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/live"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

// durable is the ground of the daemon: its store, with every object, Work and Event made durable, and agents that
// answer through it, in real time.
type durable struct {
	*Storm
	clock  clock.Clock
	engine *engine.Engine
	fleet  *live.Fleet
	agents *agents
	cancel context.CancelFunc
	ended  chan error // of the fleet and of the agents

	heard []heard // what was decided and is not durable yet
}

type heard struct {
	at   time.Time
	fact messages.Fact
}

func newDurable(s *Storm) (*durable, error) {
	d := &durable{Storm: s, clock: clock.New(), ended: make(chan error, 2)}
	var err error
	if d.engine, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: d.clock, Dir: s.config.Dir}); err != nil {
		return nil, err
	}
	return d, nil
}

// build writes the fleet's objects before the machines run, as if the daemon had been down.
func (d *durable) build(ctx context.Context) error {
	if err := write(d.engine, &d.settings, d.clock, d.eachObject); err != nil {
		return err
	}
	d.agents = &agents{
		engine: d.engine, clock: d.clock, feed: d.engine.Follow(), startup: d.config.Fleet.Startup, members: map[string]*agent{},
	}
	var err error
	d.fleet, err = live.Open(ctx, live.Config{
		Engine: d.engine, Settings: d.settings, Seed: d.config.Seed, Lanes: d.config.Lanes, Clock: d.clock, Log: zerolog.Nop(),
		Hear:    func(at time.Time, f messages.Fact, _ journal.Phrase) { d.heard = append(d.heard, heard{at, f}) },
		Broken:  func(v *invariant.Violation) { d.broken = append(d.broken, v.String()) },
		Flushed: d.observe, Times: d.config.Clock,
	})
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	go func() { d.ended <- d.fleet.Run(running) }()
	go func() { d.ended <- d.agents.run(running) }()
	return d.rest(ctx)
}

// observe counts what is durable now.
func (d *durable) observe() {
	for _, h := range d.heard {
		d.lanes[0].observe(anyone, h.at, h.fact)
	}
	clear(d.heard)
	d.heard = d.heard[:0]
}

// Write puts the fleet's objects into an engine, as people would. The error is *Invalid where settings do not admit them.
func (f *Fleet) Write(e *engine.Engine, s *messages.Settings, c clock.Clock) error {
	return write(e, s, c, f.each)
}

func write(into *engine.Engine, s *messages.Settings, c clock.Clock, each func(visit func(api.Object))) error {
	var writes []engine.Write
	var problems []error
	each(func(o api.Object) {
		admission.Default(o, s, c.Now())
		if invalid := admission.Validate(o, nil, s); len(invalid) > 0 {
			problems = append(problems, fmt.Errorf("%s: %w", api.KeyOf(o), invalid.ToAggregate()))
			return
		}
		r := catalog.Of(api.KeyOf(o))
		if r == nil {
			problems = append(problems, fmt.Errorf("%s: the daemon does not hold this kind", api.KeyOf(o)))
			return
		}
		o.SetUID(uuid.NewUUID())
		o.SetGeneration(1)
		o.SetCreationTimestamp(metav1.Time{Time: c.Now()})
		writes = append(writes, engine.Create(engine.Key(r.Name(), o.GetNamespace(), o.GetName()), o))
	})
	if len(problems) > 0 {
		return &Invalid{errors.Join(problems...)}
	}
	for len(writes) > 0 {
		n := min(len(writes), writtenTogether, into.Batch())
		if err := into.Commit(writes[:n]...); err != nil {
			return fmt.Errorf("build the fleet: %w", err)
		}
		writes = writes[n:]
	}
	return nil
}

// eachObject visits what the fleet consists of.
func (d *durable) eachObject(visit func(api.Object)) {
	m := d.config.Manifests
	if m == nil {
		d.config.Fleet.each(visit)
		return
	}
	policies := 0
	for _, document := range m.Objects {
		if _, ok := document.Object.(*api.ClusterTaintPolicy); ok {
			policies++
		}
		visit(api.Copy(document.Object))
	}
	if policies == 0 {
		visit(taintPolicy())
	}
}

// rest waits until nothing remains to do: the fleet has heard of all that was written, nothing is due, and
// the agents have answered all.
func (d *durable) rest(ctx context.Context) error {
	feed := d.engine.Follow()
	defer feed.Close()
	for {
		version := d.engine.Version()
		var due time.Time
		quiet := d.fleet.Ask(ctx, func(w *world.World) {
			if next, any := w.Next(); any {
				due = next
			}
			if d.fleet.Stats().Version < version || d.agents.heard.Load() < version || d.agents.starting.Load() > 0 {
				due = d.clock.Now()
			}
		})
		if quiet && due.IsZero() && d.engine.Version() == version {
			return nil
		}
		if err := d.wait(ctx, feed, due); err != nil {
			return err
		}
	}
}

// wait waits until something is written, or due.
func (d *durable) wait(ctx context.Context, feed *engine.Feed, due time.Time) error {
	timer := d.clock.Timer(max(time.Millisecond, d.clock.Until(due)))
	defer timer.Stop()
	select {
	case <-feed.News():
		feed.Take()
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	case err := <-d.ended:
		d.ended <- nil
		return errors.Join(errors.New("the daemon's part of the storm ended early"), err)
	}
	return nil
}

func (d *durable) calm(context.Context) (time.Time, error) { return d.clock.Now().UTC(), nil }

// play writes the condition Ready of clusters, each change when its time has come.
func (d *durable) play(ctx context.Context, changes []readiness) error {
	feed := d.engine.Follow()
	defer feed.Close()
	for _, c := range changes {
		for at := d.start.Add(c.after); d.clock.Now().Before(at); {
			if err := d.wait(ctx, feed, at); err != nil {
				return err
			}
		}
		d.began = append(d.began, began{d.clock.Now().UTC(), d.config.Clock()})
		for _, name := range c.of {
			if err := d.report(name, statusOf(c.ready)); err != nil {
				return err
			}
		}
	}
	return d.rest(ctx)
}

// report writes one condition, again where the fleet wrote to the cluster meanwhile.
func (d *durable) report(name string, ready metav1.ConditionStatus) error {
	key := engine.Key(catalog.Clusters.Name(), "", name)
	for {
		o, version := d.engine.Table(catalog.Clusters.Name()).Get(key)
		next := *o.(*api.Cluster)
		next.Status.Conditions = append([]metav1.Condition{}, next.Status.Conditions...)
		meta.SetStatusCondition(&next.Status.Conditions, metav1.Condition{
			Type: api.ConditionReady, Status: ready, Reason: "Storm", Message: "a storm says so",
		})
		err := d.engine.Commit(engine.Update(key, &next, version))
		var conflict *engine.Conflict
		if !errors.As(err, &conflict) {
			return err
		}
	}
}

func (d *durable) clusters() (all []api.Object) {
	for _, o := range d.engine.Table(catalog.Clusters.Name()).Snapshot().Under("", "") {
		all = append(all, o)
	}
	return all
}

func (d *durable) use() (counters kernel.Counters, spent [messages.Kinds]kernel.Spent) {
	d.fleet.Ask(context.Background(), func(w *world.World) { counters, spent = w.Counters(), w.Spent() })
	return counters, spent
}

func (d *durable) now() time.Time  { return d.clock.Now().UTC() }
func (d *durable) backlog() uint64 { return d.fleet.Backlog() }
func (d *durable) interrupt()      {} // the caller that waits looks at the context

func (d *durable) close() {
	if d.cancel != nil {
		d.cancel()
		_, _ = <-d.ended, <-d.ended // what failed is in the report's checks
	}
	_ = d.engine.Close() // the folder is the caller's, who asked for no more than a storm
}
