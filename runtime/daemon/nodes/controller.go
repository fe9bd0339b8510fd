// Package nodes runs the nodes and pods of one cluster for real. What is committed to an engine is its input: nodes, pods,
// PodDisruptionBudgets, and the Leases by which kubelets say that they are alive. What the machines decide is committed there: taints,
// conditions of nodes that are silent, evictions, bindings and the status of budgets, and an Event with the reason of each.
//
// The engine holds the only truth. The machines are made of it at the start, and where a decision meets a change that they had not
// heard of, the change is heard first and the decision made again.
//
// It shares nothing but the engine with the fleet of clusters (package live): neither can keep the other from its work.
package nodes

import (
	"context"
	"fmt"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/actors"
	"leeward/actors/apiserver"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/nodetier"
	"leeward/runtime/kernel"
)

// Config is what a controller runs on.
type Config struct {
	// Engine must have the tables of catalog.OfNodes.
	Engine   *engine.Engine
	Settings messages.Settings
	// Term is the one that this controller leads an engine in that is shared. Zero: the engine is not.
	Term int64
	// Seed breaks ties that Kubernetes leaves to chance.
	Seed  uint64
	Clock clock.Clock
	Log   zerolog.Logger
	// Hear hears every fact, on the goroutine of Run. Zero: there is no listener.
	Hear func(at time.Time, f messages.Fact)
	// Shadow decides, tells what it decided, and writes nothing.
	Shadow bool
}

// Controller looks after the nodes and pods of an engine.
type Controller struct {
	config Config
	kernel *kernel.Kernel
	tier   *nodetier.Tier
	feed   *engine.Feed
	now    time.Time
	// loaded is the version as of which the objects of each resource were found at the start.
	loaded map[schema.GroupResource]int64
	// unwritten are the objects whose edits wait for news of a change that they met.
	unwritten *apiserver.Edits
	// events are what must be told of objects, once they are committed.
	events   []event
	eventSeq uint64
	starting bool // until what was found at the start is committed
	conflict uint64
}

// Open makes machines of what the engine holds and brings what is overdue about. Close ends it, unless Run does.
func Open(c Config) (*Controller, error) {
	n := &Controller{
		config: c, loaded: map[schema.GroupResource]int64{}, unwritten: apiserver.NewEdits(),
		eventSeq: uint64(c.Clock.Now().UnixNano()), now: c.Clock.Now().UTC().Truncate(time.Second),
	}
	n.kernel = kernel.New(kernel.Config{Seed: c.Seed, MaxPerInstant: mostPerInstant, Record: n.record})
	n.tier = nodetier.New(n.kernel, nodetier.Config{Settings: &n.config.Settings, Seed: c.Seed, Start: n.now, Follows: true})
	n.feed = c.Engine.Follow(unread()...)
	if err := n.takeOver(); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// mostPerInstant is how many messages an instant may take: the first one tells of every pod.
const mostPerInstant = 50_000_000

// unread are the resources whose objects no machine of nodes looks at.
func unread() (resources []schema.GroupResource) {
	for _, r := range catalog.Kept() {
		if r != catalog.Leases && r != catalog.PodBudgets && !scales(r) {
			resources = append(resources, r.Name())
		}
	}
	return resources
}

// scales reports whether the objects of a resource say how many pods there must be.
func scales(r *catalog.Resource) bool {
	switch r.Kind.Kind {
	case messages.KindNameDeployment, messages.KindNameReplicaSet, messages.KindNameStatefulSet:
		return true
	}
	return false
}

// takeOver takes over what the engine holds. In profile kubernetes controllers that start take failure taints off first, and put them back
// at the rate of each zone.
func (n *Controller) takeOver() error {
	n.starting = true
	if err := n.load(); err != nil {
		return err
	}
	if err := n.settleAt(n.now); err != nil {
		return err
	}
	if err := n.loadLeases(); err != nil {
		return err
	}
	if !n.config.Settings.NodeTaintsSurviveRestart {
		n.tier.Restart(n.now)
	}
	if _, err := n.round(); err != nil {
		return err
	}
	n.starting = false
	return nil
}

// Close ends the machines.
func (n *Controller) Close() {
	n.feed.Close()
	n.kernel.Close()
}

// Run takes in changes and lets time pass until the context is done, or something fails that a restart may cure.
func (n *Controller) Run(ctx context.Context) error {
	defer n.Close()
	timer := n.config.Clock.Timer(time.Hour)
	defer timer.Stop()
	for {
		for again := true; again && ctx.Err() == nil; {
			var err error
			if again, err = n.round(); err != nil {
				return err
			}
		}
		timer.Reset(n.untilNext())
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case _, open := <-n.feed.News():
			if !open {
				return engine.ErrClosed
			}
		}
	}
}

// untilNext is how long nothing is due.
func (n *Controller) untilNext() time.Duration {
	next, due := n.kernel.Next()
	if !due {
		return time.Hour
	}
	return max(0, next.Sub(n.config.Clock.Now()))
}

// round takes in what there is, brings about what is due and commits what came of it. It reports whether there is more to do immediately.
func (n *Controller) round() (again bool, err error) {
	n.take()
	again, err = n.settle()
	if err != nil {
		return false, err
	}
	return again, n.flush()
}

const (
	// roundLasts is how long the machines act before what they decided is committed.
	roundLasts = 50 * time.Millisecond
	// catchesUp is how far the machines' time may be behind: they live through instants that were due less long ago one by one, and pass
	// over all others together, so that a stall yields no permits for the time that it took.
	catchesUp = 250 * time.Millisecond
)

// settle lets the machines act at the instants that were due up to now, and at now, for as long as a round lasts. It reports whether more
// is due.
func (n *Controller) settle() (more bool, err error) {
	began := n.config.Clock.Now().UTC()
	wall := began
	for next, due := n.kernel.Next(); due && !next.After(wall); next, due = n.kernel.Next() {
		if wall.Sub(next) > catchesUp {
			next = actors.Later(next, wall.Truncate(time.Second))
		}
		if err := n.settleAt(next); err != nil {
			return false, err
		}
		if wall = n.config.Clock.Now().UTC(); wall.Sub(began) >= roundLasts {
			return true, nil
		}
	}
	return false, n.settleAt(wall.Truncate(time.Second))
}

// settleAt lets the machines act at an instant, or now if a clock was set back behind it.
func (n *Controller) settleAt(instant time.Time) error {
	n.now = actors.Later(instant, n.now)
	if err := n.kernel.RunInstant(n.now); err != nil {
		return fmt.Errorf("settle nodes: %w", err)
	}
	n.tier.Settled()
	return n.kernel.Check()
}

// record takes a fact from a machine.
func (n *Controller) record(at time.Time, _ messages.Address, f messages.Fact) {
	n.tier.Record(f)
	told := journal.Tell(time.Time{}, f)
	told.Log(&n.config.Log, &journal.Entry{At: at, Fact: f})
	if n.config.Hear != nil {
		n.config.Hear(at, f)
	}
	n.noteEvent(at, f, told)
}

// keyOf is the key of an object in the engine.
func keyOf(r *catalog.Resource, o api.Object) string {
	return engine.Key(r.Name(), o.GetNamespace(), o.GetName())
}
