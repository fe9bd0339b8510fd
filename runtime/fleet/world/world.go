// Package world wires machines, kernel, store and journal into something that runs: a fleet on a
// virtual clock. Objects go in as people would apply them; facts come out.
package world

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"leeward/actors"
	"leeward/actors/agent"
	"leeward/actors/binding"
	"leeward/actors/cluster"
	"leeward/actors/governor"
	"leeward/actors/member"
	"leeward/actors/policy"
	"leeward/actors/propagation"
	"leeward/actors/scheduler"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/interpreter"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/nodetier"
	"leeward/runtime/fleet/store"
	"leeward/runtime/kernel"
)

// Start is when virtual time begins. It is a whole minute, because leases and monitors tick on whole
// seconds.
var Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// mostPerInstant is how many messages an instant may take of nodes and pods: the first one may create 150,000 pods, which the kernel, that
// goes by the actors there are when it begins, cannot know.
const mostPerInstant = 50_000_000

// DaemonSeed breaks the ties that Karmada leaves to chance, in a daemon and in replays of its recordings alike.
const DaemonSeed = 1

// Config is how a world runs.
type Config struct {
	Settings messages.Settings
	// Seed picks the order of mailboxes, start-up times within their bounds, UIDs that manifests do not
	// give, and what Karmada leaves to chance.
	Seed uint64
	// Order is the order of mailboxes.
	Order kernel.Order
	// Interleaving picks the order of mailboxes where it is to differ and all else to stay. Zero: Seed.
	Interleaving uint64
	// Lanes is how many lanes of actors run in parallel. Zero: one.
	Lanes int
	// MaxPerInstant is how many messages an instant may take. Zero: as the kernel has it.
	MaxPerInstant int
	// Members says how simulated members behave; those it does not name are healthy and quick.
	Members map[messages.ClusterName]messages.MemberBehaviour
	// Tamper may change what every machine is sent. Zero: they get what they are sent.
	Tamper Tamper
	// Reported hears every report of a copy as its binding gets it, before a Tamper does. Zero: there is no listener.
	Reported func(b messages.BindingName, r *messages.CopyReported)
	// Observe hears every fact in place of journal and store, as kernel.Config.Observe: objects stay as they were
	// applied. Zero: the world keeps both.
	Observe func(from kernel.Seat, at time.Time, f messages.Fact)
	// Clock times the machines, as kernel.Config.Clock.
	Clock func() time.Duration
	// Start is the first instant. Zero: package Start.
	Start time.Time
	// Nodes has the world run the nodes and pods of one cluster, too: its Deployments are then run by pods, and not propagated. It needs one lane.
	Nodes bool
	// Kubelets says how kubelets behave; those that it does not name have the zero value.
	Kubelets map[messages.NodeName]messages.KubeletBehaviour
	// MemberNodes are the nodes of simulated members that have some. HearNodes hears each fact of theirs under the names that it has within
	// its cluster; zero: there is no listener.
	MemberNodes map[messages.ClusterName]*messages.MemberNodes
	HearNodes   func(c messages.ClusterName, at time.Time, f messages.Fact)
	// Agents is set where clusters are real: machines stand for their agents in place of simulated members.
	Agents bool
	// Watched marks each turn, for a watchdog; Quarantined are machines that are not run, as in kernel.Config.
	Watched     bool
	Quarantined map[messages.Address]bool
	// Hear hears every fact in place of the journal, once the store has applied it. Zero: the journal keeps them.
	Hear func(at time.Time, f messages.Fact)
}

// World is one fleet and the engine that looks after it. It belongs to one goroutine.
type World struct {
	config   Config
	settings *messages.Settings // shared with bindings: replaced, never changed
	now      time.Time
	kernel   *kernel.Kernel
	store    *store.Store
	journal  *journal.Journal
	offers   offers
	// scheduler is the machine of its address, for ExplainPlacement; nil where it is not run.
	scheduler *scheduler.Scheduler
	attended  func(at time.Time, b messages.BindingName)
	// podsAttended hears of pods before they are decided on; nil: there is no listener.
	podsAttended func(at time.Time, full messages.PodName)
	// budgets are those that there are; nil: there never was one.
	budgets *messages.BudgetsSet
	// dependants are the workloads that refer to a resource, or did, by name.
	dependants map[messages.BindingName][]messages.BindingName
	// following are the dependencies that workloads select by labels, and followers the workloads, in order, by where they select some.
	following map[messages.BindingName]*following
	followers map[api.Key][]messages.BindingName
	// workloads are what was last told of each template, by its binding.
	workloads map[messages.BindingName]*messages.Workload
	needs     needs
	// interpreters are the scripts by which templates are read, and misread what they failed to read. loading is set until Recover, while
	// nothing is told.
	interpreters *interpreter.Set
	misread      map[messages.BindingName][misreadKinds]string
	loading      bool
	// lives counts the propagation policies that ever were, so that each can be told from others of its name.
	lives int
	// answers are what became so far of the fresh placements that rebalancers asked for.
	answers map[messages.BindingName]answer
	orders  orders
	// ending are the bindings whose machines were told to end and have not yet, each with what people applied in its place
	// meanwhile; nil: nothing.
	ending map[messages.BindingName]api.Object
	// nodes are the nodes and pods of one cluster; nil: there are none.
	nodes *nodetier.Tier
	// members are the nodes and pods of simulated members that have some.
	members map[messages.ClusterName]*memberTier
	// down is set while the engine is gone, and went is when it last did; unanswered is what was asked of it then.
	down       bool
	went       time.Time
	unanswered []actors.Mail
}

// New returns a world without objects at Start. The caller must Close it.
func New(c Config) *World {
	if c.Start.IsZero() {
		c.Start = Start
	}
	w := &World{
		config: c, settings: &c.Settings, now: c.Start,
		store: store.New(c.Seed), journal: journal.New(c.Start), offers: newOffers(),
		answers: map[messages.BindingName]answer{}, dependants: map[messages.BindingName][]messages.BindingName{},
		following: map[messages.BindingName]*following{}, followers: map[api.Key][]messages.BindingName{},
		orders: newOrders(), needs: needs{}, workloads: map[messages.BindingName]*messages.Workload{}, ending: map[messages.BindingName]api.Object{}, misread: map[messages.BindingName][misreadKinds]string{}, members: map[messages.ClusterName]*memberTier{},
	}
	if c.Nodes && c.MaxPerInstant == 0 {
		c.MaxPerInstant = mostPerInstant
	}
	k := kernel.Config{
		Lanes: c.Lanes, Order: c.Order, Seed: cmp.Or(c.Interleaving, c.Seed), MaxPerInstant: c.MaxPerInstant,
		Observe: c.Observe, Clock: c.Clock, Watched: c.Watched, Quarantined: c.Quarantined,
	}
	if c.Observe == nil {
		k.Record = w.record
	}
	w.kernel = kernel.New(k)
	w.spawnSingletons()
	if c.Nodes {
		w.nodes = nodetier.New(w.kernel, nodetier.Config{Settings: w.settings, Seed: c.Seed, Start: c.Start, Kubelets: c.Kubelets})
	}
	return w
}

// Close ends all actors.
func (w *World) Close() {
	w.kernel.Close()
	for _, m := range w.members { // order-free: each for itself
		m.kernel.Close()
	}
}

// Store returns the objects as they stand.
func (w *World) Store() *store.Store { return w.store }

// Nodes are the nodes and pods of one cluster, nil where there are none.
func (w *World) Nodes() *nodetier.Tier { return w.nodes }

// Journal returns what has happened.
func (w *World) Journal() *journal.Journal { return w.journal }

// Counters tell what became of the messages.
func (w *World) Counters() kernel.Counters { return w.kernel.Counters() }

// Deadlines is how many machines wait for one.
func (w *World) Deadlines() int { return w.kernel.Deadlines() }

// Spent tells what the machines of each kind took; how long, if there is a Clock.
func (w *World) Spent() [messages.Kinds]kernel.Spent { return w.kernel.Spent() }

// Backlog is how many messages wait in mailboxes. It is for any goroutine.
func (w *World) Backlog() uint64 { return w.kernel.Backlog() }

// Interrupt has Settle end early with kernel.ErrInterrupted. It is for any goroutine.
func (w *World) Interrupt() { w.kernel.Interrupt() }

// Interrupted reports whether Interrupt was called. It is for any goroutine.
func (w *World) Interrupted() bool { return w.kernel.Interrupted() }

// Watch returns a watchdog of the machines, as kernel.Kernel.Watch.
func (w *World) Watch(looks int) *kernel.Watchdog { return w.kernel.Watch(looks) }

// Now is the present instant.
func (w *World) Now() time.Time { return w.now }

// Next is the next instant at which something is due by itself; false if nothing is.
func (w *World) Next() (time.Time, bool) {
	next, _ := w.kernel.Next()
	if !w.down {
		next = actors.Earlier(next, w.nextExpiry())
	}
	next = actors.Earlier(next, w.nextOfMembers())
	return next, !next.IsZero()
}

// EachDue settles every instant at which something is due by itself, up to an end.
func (w *World) EachDue(ctx context.Context, end time.Time, settle func(time.Time) error) error {
	for next, more := w.Next(); more && !next.After(end); next, more = w.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := settle(next); err != nil {
			return err
		}
	}
	return nil
}

// Settle moves time to an instant, which must not lie in the past, and runs until nothing remains to
// do at it.
func (w *World) Settle(now time.Time) error {
	w.Enter(now)
	for again := true; again; {
		err := w.kernel.RunInstant(now)
		if err == nil {
			again, err = w.settleMembers(now)
		}
		if err != nil {
			return fmt.Errorf("run the instant %s: %w", now.Sub(w.config.Start), err)
		}
	}
	if w.nodes != nil {
		w.nodes.Settled()
	}
	if !w.down {
		w.reportAnswers()
		w.expire()
	}
	return w.kernel.Check()
}

// Enter moves time to an instant, which must not lie in the past, without running anything: what people do from now on
// is done then.
func (w *World) Enter(now time.Time) {
	if now.Before(w.now) {
		panic(fmt.Sprintf("world: time goes back from %s to %s", w.now, now))
	}
	w.now = now
}

// record takes a fact from a machine: the store applies it, the journal keeps it, or another listener. What ended
// is let go.
func (w *World) record(at time.Time, from messages.Address, f messages.Fact) {
	ended := w.endedResource(f)
	w.store.Apply(at, f)
	if w.config.Hear != nil {
		w.config.Hear(at, f)
	} else {
		w.journal.Append(at, from, f)
	}
	w.noteAnswer(f)
	if len(w.members) > 0 {
		w.noteCopy(f)
	}
	if w.nodes != nil {
		w.nodes.Record(f)
	}
	switch f := f.(type) {
	case *messages.ClusterRemoved:
		w.dropOrders(store.ClusterKey(f.Cluster))
		w.kernel.Stop(clusterAt(f.Cluster))
		w.kernel.Post(memberAt(f.Cluster), &messages.ClusterDismissed{})
		w.kernel.Stop(memberAt(f.Cluster))
	case *messages.BindingDeleted:
		w.dropOrders(store.BindingKey(f.Binding))
		w.bindingEnded(f.Binding, ended)
	}
}

// endedResource is the resource whose binding a fact ends.
func (w *World) endedResource(f messages.Fact) api.Key {
	if f, ok := f.(*messages.BindingDeleted); ok {
		if b := w.store.Binding(f.Binding); b != nil {
			return b.Spec.Resource.Key()
		}
	}
	return api.Key{}
}

// Note records what people did, or what happened to a cluster.
func (w *World) Note(f messages.Fact) { w.record(w.now, messages.Address{}, f) }

func clusterAt(c messages.ClusterName) messages.Address {
	return messages.Address{Kind: messages.KindCluster, Name: string(c)}
}

func memberAt(c messages.ClusterName) messages.Address {
	return messages.Address{Kind: messages.KindMember, Name: string(c)}
}

func bindingAt(b messages.BindingName) messages.Address {
	return messages.Address{Kind: messages.KindBinding, Name: string(b)}
}

func policyAt(p messages.PolicyName) messages.Address {
	return messages.Address{Kind: messages.KindPolicy, Name: string(p)}
}

func propagationAt(p messages.PropagationName) messages.Address {
	return messages.Address{Kind: messages.KindPropagation, Name: string(p)}
}

var (
	schedulerAt = messages.Address{Kind: messages.KindScheduler}
	governorAt  = messages.Address{Kind: messages.KindGovernor}
)

// must panics on an error of the kernel: the world never uses an address twice.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("world: %v", err))
	}
}

func spawn[M messages.Message](w *World, at messages.Address, machine kernel.Machine[M]) {
	if w.config.Quarantined[at] {
		return
	}
	must(kernel.Spawn(w.kernel, at, tamperedWith(w.config.Tamper, at, machine)))
}

func (w *World) spawnSingletons() {
	w.scheduler = scheduler.New(*w.settings, w.config.Seed)
	w.scheduler.Attend(w.attended)
	spawn[messages.ToScheduler](w, schedulerAt, w.scheduler)
	spawn[messages.ToGovernor](w, governorAt, governor.New(*w.settings))
}

func (w *World) spawnCluster(name messages.ClusterName) {
	spawn[messages.ToCluster](w, clusterAt(name), cluster.New(name, *w.settings, w.config.Seed))
}

// spawnMember starts what represents a cluster's agent.
func (w *World) spawnMember(name messages.ClusterName) {
	if w.config.Agents {
		spawn[messages.ToAgent](w, memberAt(name), agent.New(name, *w.settings))
		return
	}
	spawn[messages.ToMember](w, memberAt(name), member.New(name, *w.settings, w.config.Seed))
	w.buildNodes(name)
	if b, known := w.config.Members[name]; known {
		w.kernel.Post(memberAt(name), &messages.MemberConfigured{Behaviour: b})
	}
}

func (w *World) spawnPolicy(name messages.PolicyName) {
	spawn[messages.ToPolicy](w, policyAt(name), policy.New(name, *w.settings))
}

func (w *World) spawnPropagation(name messages.PropagationName) {
	w.lives++
	spawn[messages.ToPropagation](w, propagationAt(name), propagation.New(name, w.lives))
}

func (w *World) hostBinding(name messages.BindingName) {
	if w.config.Quarantined[bindingAt(name)] {
		return
	}
	machine := tamperedWith[messages.ToBinding](w.config.Tamper, bindingAt(name), binding.New(name, w.settings))
	if w.config.Reported != nil {
		machine = attended{machine, name, w.config.Reported}
	}
	must(kernel.Host(w.kernel, bindingAt(name), machine))
	if len(w.orders.holds) > 0 {
		w.kernel.Post(bindingAt(name), &messages.HoldsAnnounced{Held: true})
	}
	if w.budgets != nil {
		w.kernel.Post(bindingAt(name), w.budgets)
	}
}
