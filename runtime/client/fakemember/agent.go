package fakemember

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/benbjohnson/clock"

	"leeward/actors"
	"leeward/actors/member"
	"leeward/actors/rules/draw"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/journal"
)

// agent plays the agent of one cluster. The machine decides how its copies are; the agent carries that out.
type agent struct {
	fleet   *fleet
	cluster string

	mu      sync.Mutex
	machine *member.Member
	out     actors.Outbox
	works   map[messages.BindingName]*work
	// failed is set while the cluster fails, ended once nothing is to happen any more.
	failed, ended bool
	// timers are those that run: of the heartbeat, of the machine and of the failure.
	beat, alarm, failure *clock.Timer
}

// machine is that of a cluster without copies. Its settings are about what this machine never hears of.
func (f *fleet) machine(cluster string) *member.Member {
	// The seed lets start-up times differ between clusters and be the same in each run.
	m := member.New(messages.ClusterName(cluster), messages.Settings{}, draw.Hash(0, cluster))
	m.Receive(f.Clock.Now(), &messages.MemberConfigured{Behaviour: f.Behaviour}, &actors.Outbox{})
	return m
}

// begin starts the heart. Those of many agents beat one after the other.
func (a *agent) begin(i int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.beat = a.after(a.fleet.Heartbeat*time.Duration(i+1)/time.Duration(len(a.fleet.Clusters)), a.heartbeat)
	if a.fleet.FailAfter > 0 {
		a.failure = a.after(a.fleet.FailAfter, a.fail)
	}
	a.fleet.todo.Add(job{cluster: a.cluster})
}

// after has something happen later, with a.mu held, unless the agent has ended by then.
func (a *agent) after(d time.Duration, happen func()) *clock.Timer {
	return a.fleet.Clock.AfterFunc(d, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.ended {
			happen()
		}
	})
}

func (a *agent) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for _, t := range []*clock.Timer{a.beat, a.alarm, a.failure} {
		if t != nil {
			t.Stop()
		}
	}
}

func (a *agent) heartbeat() {
	a.beat = a.after(a.fleet.Heartbeat, a.heartbeat)
	a.fleet.todo.Add(job{cluster: a.cluster})
}

// receive gives the machine a message and carries out what it asks for. a.mu is held.
func (a *agent) receive(m messages.ToMember) {
	now := a.fleet.Clock.Now()
	a.machine.Receive(now, m, &a.out)
	if at, _ := a.out.Alarm(); !at.IsZero() {
		if a.alarm != nil {
			a.alarm.Stop()
		}
		a.alarm = a.after(at.Sub(now), func() { a.receive(&messages.Woken{}) })
	}
	for _, mail := range a.out.Mail() {
		a.heard(mail)
	}
	for _, f := range a.out.Facts() {
		a.fleet.tell(journal.Tell(time.Time{}, f).Text())
	}
	a.out.Reset()
}

// heard takes down what the machine reports of a copy; the rest of its mail is for machines that are elsewhere.
func (a *agent) heard(mail actors.Mail) {
	name := messages.BindingName(mail.To.Name)
	w := a.works[name]
	if w == nil {
		return
	}
	switch m := mail.Message.(type) {
	case *messages.CopyReported:
		w.report = m
	case *messages.CopyRemoved:
		w.removed = true
	default:
		return
	}
	a.fleet.todo.Add(job{a.cluster, name})
}

// listed hears of all Works that there are. Those that are told again report again, for what they reported before may
// be lost.
func (a *agent) listed(all []*api.Work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	there := make(map[messages.BindingName]bool, len(all))
	for _, o := range all {
		there[messages.BindingName(o.Name)] = true
		a.hear(o)
	}
	for name := range a.works { // order-free: each goes by itself
		if !there[name] {
			a.forget(name)
		}
	}
}

func (a *agent) changed(o *api.Work, deleted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := messages.BindingName(o.Name)
	if deleted {
		a.forget(name)
		return
	}
	if w := a.works[name]; w != nil && w.object.UID == o.UID && w.object.Generation == o.Generation && w.leaving() == leaving(o) {
		w.object = o // what changed is what we said of it
		return
	}
	a.hear(o)
}

// hear has the machine do what a Work asks for.
func (a *agent) hear(o *api.Work) {
	name := messages.BindingName(o.Name)
	w := a.works[name]
	if w == nil || w.object.UID != o.UID {
		a.forget(name)
		w = &work{}
		a.works[name] = w
	}
	before := w.defines
	m := w.admit(w.take(o), a.defined())
	if m != nil && !a.suffers(Disappearance) {
		a.receive(m)
	}
	if w.refused != "" {
		a.fleet.todo.Add(job{a.cluster, name})
	}
	if !maps.Equal(before, w.defines) {
		a.serveDefined()
	}
}

// forget ends what remains of a Work that is gone: who deletes one by force wants no copy.
func (a *agent) forget(name messages.BindingName) {
	w := a.works[name]
	if w == nil {
		return
	}
	delete(a.works, name)
	if !w.removed {
		a.receive(&messages.RemoveCopy{Binding: name, Preserve: w.preserved()})
	}
	if len(w.defines) > 0 {
		a.serveDefined()
	}
}

// bring brings a Work's status up to date, or, without a name, lease and Cluster.
func (a *agent) bring(ctx context.Context, name messages.BindingName) error {
	p, whole := a.due(name)
	switch {
	case p != nil:
		return a.fleet.Client.Patch(ctx, p)
	case whole:
		return a.report(ctx)
	}
	return nil
}

// due returns what must be written of a Work, or that the whole of the agent must be: nothing of a silent one, which
// tells all of it when it is back.
func (a *agent) due(name messages.BindingName) (p *client.Patch, whole bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.suffers(Silence) || name != "" && a.suffers(Disappearance) {
		return nil, false
	}
	if w := a.works[name]; w != nil {
		p = w.patch(a.fleet.Clock.Now())
	}
	return p, name == ""
}

// fail has the cluster fail.
func (a *agent) fail() {
	if a.fleet.RecoverAfter > 0 {
		a.failure = a.after(a.fleet.RecoverAfter, a.recover)
	}
	a.turn(true, api.Unhealthy)
	a.fleet.tell(fmt.Sprintf("%s fails: %s", a.cluster, a.fleet.Failure))
}

// recover ends the failure.
func (a *agent) recover() {
	a.turn(false, a.fleet.Behaviour.Health)
	a.fleet.tell(fmt.Sprintf("%s is back: %s is over", a.cluster, a.fleet.Failure))
}

// turn begins the failure, or ends it; health is that of the copies from now on, if it is they that fail.
func (a *agent) turn(failed bool, health api.ResourceHealth) {
	a.failed = failed
	switch a.fleet.Failure {
	case Silence:
		a.receive(&messages.OutagesSet{Outages: messages.Outages{Network: failed}})
	case Unhealthy:
		a.receive(&messages.HealthForced{Health: health})
	case Disappearance:
		a.disappear(failed)
	}
	a.fleet.todo.Add(job{cluster: a.cluster})
}

// disappear loses the copies, or runs again what Works ask for by now.
func (a *agent) disappear(failed bool) {
	if failed {
		a.machine = a.fleet.machine(a.cluster)
		for _, w := range a.works { // order-free: each goes by itself
			w.report, w.removed = nil, false
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(a.works)) {
		a.hear(a.works[name].object)
	}
}

// suffers reports whether the cluster fails in this way now.
func (a *agent) suffers(f Failure) bool { return a.failed && a.fleet.Failure == f }
