package live

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

// looksPerStep is how often the watchdog sees a step before it has lasted for too long.
const looksPerStep = 10

// Stuck is the error of a fleet of which one machine's step does not return. The fleet is given up: what it decided and had not
// committed is lost, and it commits nothing any more, whatever its goroutines still do.
type Stuck struct {
	*kernel.MachineStuck
	Limit time.Duration
	// Heard is the version up to which the fleet had heard of the engine's changes.
	Heard int64
	// ended has an item once the step has returned after all, and nothing of the fleet runs any more.
	ended <-chan error
}

func (s *Stuck) Error() string { return fmt.Sprintf("%v within %s", s.MachineStuck, s.Limit) }

// Quarantined is a machine that is not run, for its step did not return. It would not again: a machine does the same with the
// same objects.
type Quarantined struct {
	Machine messages.Address
	// Since is when it was given up, Step the message that its step did not return from.
	Since time.Time
	Step  messages.Message
	// Heard is the version up to which it had heard of changes. A later one of its objects ends the quarantine, ...
	Heard int64
	// NotBefore is ... but not before that: a client that can make a machine hang can do so again with each change.
	NotBefore time.Time
}

// TryAgain is the error that ends a fleet because an object changed whose machine is in quarantine: the next may run it.
type TryAgain struct{ Machine messages.Address }

func (t *TryAgain) Error() string {
	return fmt.Sprintf("the object of %s has changed: the machine is tried again", t.Machine)
}

// guarded does some work, and returns before it is done where a machine is stuck. That work then never ends, or ends with an
// error and without an effect, on its own goroutine.
func (f *Fleet) guarded(work func() error) error {
	if f.config.StepLimit == 0 {
		return work()
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	look := f.config.Clock.Ticker(f.config.StepLimit / looksPerStep)
	defer look.Stop()
	for dog := f.world.Watch(looksPerStep); ; {
		select {
		case err := <-done:
			return err
		case <-look.C:
			if stuck := dog.Look(); stuck != nil {
				f.feed.Close() // else changes are kept for a reader that never comes
				return &Stuck{MachineStuck: stuck, Limit: f.config.StepLimit, Heard: f.stats.Version, ended: done}
			}
		}
	}
}

// quarantine are the machines that are not run, in the order of their names, with those whose objects have changed since.
type quarantine struct {
	machines []Quarantined
	changed  []bool
}

// newQuarantine looks for changes that no fleet has heard of: after a machine was last told of its object, and before now.
func newQuarantine(c *Config) quarantine {
	q := quarantine{machines: c.Quarantine, changed: make([]bool, len(c.Quarantine))}
	for i := range q.machines {
		q.changed[i] = c.changedSince(&q.machines[i])
	}
	return q
}

func (q *quarantine) addresses() map[messages.Address]bool {
	all := make(map[messages.Address]bool, len(q.machines))
	for i := range q.machines {
		all[q.machines[i].Machine] = true
	}
	return all
}

// follow notes the change of an object.
func (q *quarantine) follow(c *engine.Change) {
	if len(q.machines) == 0 {
		return
	}
	for _, o := range []engine.Object{c.Object, c.Previous()} {
		if o == nil {
			continue
		}
		for i := range q.machines {
			q.changed[i] = q.changed[i] || decidesOn(q.machines[i].Machine, o)
		}
	}
}

// next is the machine that is tried again first, and when; zero: none is.
func (q *quarantine) next() (first messages.Address, at time.Time) {
	for i := range q.machines {
		if m := &q.machines[i]; q.changed[i] && (at.IsZero() || m.NotBefore.Before(at)) {
			first, at = m.Machine, m.NotBefore
		}
	}
	return first, at
}

// tryAgain returns a TryAgain once there is a machine to try again.
func (f *Fleet) tryAgain() error {
	if machine, at := f.quarantine.next(); !at.IsZero() && !at.After(f.config.Clock.Now()) {
		return &TryAgain{machine}
	}
	return nil
}

// showQuarantine shows each machine that is not run in the status of the Governor, and by an Event of its object.
func (f *Fleet) showQuarantine() {
	all := lists.Of(f.quarantine.machines, func(m Quarantined) api.QuarantinedMachine { return m.shown() })
	f.world.Store().SetQuarantined(f.world.Now(), all)
	for i := range f.quarantine.machines {
		if m := f.quarantine.machines[i].Machine; f.world.Store().Has(ObjectOf(m)) {
			f.warn(ObjectOf(m), "MachineQuarantined", fmt.Sprintf("a step of %s did not return: nothing is decided for it until its object changes", m))
		}
	}
}

func (q *Quarantined) shown() api.QuarantinedMachine {
	o := ObjectOf(q.Machine)
	return api.QuarantinedMachine{
		Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Step: reflect.TypeOf(q.Step).Elem().Name(),
		Since: metav1.MicroTime{Time: q.Since.UTC().Truncate(time.Microsecond)}, NotBefore: metav1.MicroTime{Time: q.NotBefore.UTC().Truncate(time.Microsecond)},
	}
}

// ObjectOf is the object that a machine decides on; none of the governor's and the scheduler's.
func ObjectOf(m messages.Address) api.Key {
	switch m.Kind {
	case messages.KindCluster, messages.KindMember:
		return store.ClusterKey(messages.ClusterName(m.Name))
	case messages.KindPolicy:
		return api.Key{APIVersion: api.PolicyGroupVersion, Kind: "ClusterTaintPolicy", Name: m.Name}
	case messages.KindBinding:
		return store.BindingKey(messages.BindingName(m.Name))
	case messages.KindPropagation:
		if namespace, name, is := strings.Cut(m.Name, "/"); is {
			return api.Key{APIVersion: api.PolicyGroupVersion, Kind: "PropagationPolicy", Namespace: namespace, Name: name}
		}
		return api.Key{APIVersion: api.PolicyGroupVersion, Kind: "ClusterPropagationPolicy", Name: m.Name}
	}
	return api.Key{}
}

// decidesOn reports whether a machine decides on an object: a binding on its workload, too.
func decidesOn(m messages.Address, o api.Object) bool {
	key := api.KeyOf(o)
	if r := catalog.Of(key); r != nil && r.Template() && m.Kind == messages.KindBinding {
		return string(world.BindingOf(o)) == m.Name
	}
	return key == ObjectOf(m)
}

// changedSince reports whether an object that a machine decides on is newer than what it heard of.
func (c *Config) changedSince(q *Quarantined) bool {
	keys := []api.Key{ObjectOf(q.Machine)}
	if o, _ := c.stored(keys[0]); o != nil {
		if b := store.AsBinding(o); b != nil {
			keys = append(keys, b.Spec.Resource.Key())
		}
	}
	return slices.ContainsFunc(keys, func(k api.Key) bool {
		_, version := c.stored(k)
		return version > q.Heard
	})
}

// stored is an object as the engine has it; nil: it has none.
func (c *Config) stored(k api.Key) (engine.Object, int64) {
	r := catalog.Of(k)
	if r == nil {
		return nil, 0
	}
	return c.Engine.Table(r.Name()).Get(engine.Key(r.Name(), k.Namespace, k.Name))
}

// dueAgain is when the fleet has something to do that its machines do not know of; zero: it has not.
func (f *Fleet) dueAgain() time.Time {
	_, at := f.quarantine.next()
	return actors.Earlier(actors.Earlier(at, f.rooms.due()), f.following.next())
}
