package storm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/actors"
	"leeward/actors/member"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// agents are those of all clusters: simulated members (package actors/member) that are told what Works ask for, and whose
// reports are written into the store. Of copies that do not serve yet nothing is written.
type agents struct {
	engine  *engine.Engine
	clock   clock.Clock
	feed    *engine.Feed
	startup time.Duration
	members map[string]*agent // by the namespaces of their Works
	out     actors.Outbox
	writes  []engine.Write
	// heard is up to which version they have heard, and starting counts the clusters on which copies start.
	heard    atomic.Int64
	starting atomic.Int64
}

// agent is that of one cluster; wakes is when its machine must be woken.
type agent struct {
	*member.Member
	wakes time.Time
}

// writtenTogether is how many Works are answered together.
const writtenTogether = 1024

// run answers Works until the context is done.
func (a *agents) run(ctx context.Context) error {
	timer := a.clock.Timer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-a.feed.News():
			if !open {
				return nil
			}
		case <-timer.C:
		}
		next, err := a.answer()
		if err != nil {
			return err
		}
		if !next.IsZero() {
			timer.Reset(a.clock.Until(next))
		}
	}
}

// answer answers what Works ask for now, and returns when the next copy will have started.
func (a *agents) answer() (next time.Time, err error) {
	for namespace, m := range a.members { // order-free: each writes of its own Works
		if !m.wakes.IsZero() && !m.wakes.After(a.clock.Now()) {
			a.tell(namespace, &messages.Woken{})
		}
	}
	if err := a.flush(); err != nil {
		return next, err
	}
	changes := a.feed.Take()
	for _, c := range latest(changes) {
		w := c.Object.(*api.Work)
		switch name := messages.BindingName(w.Name); {
		case w.DeletionTimestamp != nil:
			a.tell(w.Namespace, &messages.RemoveCopy{Binding: name})
		case !answered(w):
			a.tell(w.Namespace, &messages.RunCopy{Binding: name, Replicas: replicas, Placement: w.Generation})
		}
		if len(a.writes) >= writtenTogether {
			err = errors.Join(err, a.flush())
		}
	}
	err = errors.Join(err, a.flush())
	n := int64(0)
	for _, m := range a.members { // order-free: a sum and a minimum
		if !m.wakes.IsZero() {
			n, next = n+1, actors.Earlier(next, m.wakes)
		}
	}
	a.starting.Store(n)
	if len(changes) > 0 {
		a.heard.Store(changes[len(changes)-1].Version)
	}
	return next, err
}

// tell gives a machine a message, and notes what must be written of its answer.
func (a *agents) tell(namespace string, msg messages.ToMember) {
	m := a.members[namespace]
	if m == nil {
		m = &agent{Member: member.New(messages.ClusterName(namespace), messages.Settings{}, 0)}
		m.Receive(a.clock.Now(), &messages.MemberConfigured{Behaviour: messages.MemberBehaviour{StartupMin: a.startup, StartupMax: a.startup}}, &a.out)
		a.members[namespace] = m
	}
	m.Receive(a.clock.Now(), msg, &a.out)
	m.wakes, _ = a.out.Alarm()
	for _, mail := range a.out.Mail() {
		key := engine.Key(catalog.Works.Name(), namespace, mail.To.Name)
		o, version := a.engine.Table(catalog.Works.Name()).Get(key)
		w, there := o.(*api.Work)
		if !there {
			continue
		}
		switch report := mail.Message.(type) {
		case *messages.CopyRemoved:
			a.writes = append(a.writes, engine.Delete(key, version))
		case *messages.CopyReported: // of another generation it is told when that is heard of
			if report.Health == api.Healthy && report.ForPlacement == w.Generation && w.DeletionTimestamp == nil && !answered(w) {
				a.writes = append(a.writes, engine.Update(key, serving(w, report.Ready), version))
			}
		}
	}
	a.out.Reset()
}

// flush writes what it can: what another writer has changed meanwhile is answered when it is heard of.
func (a *agents) flush() error {
	for part := range slices.Chunk(a.writes, min(writtenTogether, a.engine.Batch())) {
		if err := a.commit(part); err != nil {
			return err
		}
	}
	clear(a.writes)
	a.writes = a.writes[:0]
	return nil
}

func (a *agents) commit(writes []engine.Write) error {
	err := a.engine.Commit(writes...)
	var conflict *engine.Conflict
	if !errors.As(err, &conflict) {
		return err
	}
	for _, w := range writes {
		if err := a.engine.Commit(w); err != nil && !errors.As(err, &conflict) {
			return fmt.Errorf("answer as an agent: %w", err)
		}
	}
	return nil
}

// latest are the newest changes of Works, each of another.
func latest(changes []engine.Change) []engine.Change {
	last := map[string]int{}
	for i := range changes {
		if _, ok := changes[i].Object.(*api.Work); ok {
			last[changes[i].Key] = i
		}
	}
	var kept []engine.Change
	for i := range changes {
		if at, ok := last[changes[i].Key]; ok && at == i {
			kept = append(kept, changes[i])
		}
	}
	return kept
}

func answered(w *api.Work) bool {
	return len(w.Status.Conditions) > 0 && w.Status.Conditions[0].ObservedGeneration == w.Generation
}

// serving is a Work of whose copy so many replicas serve.
func serving(w *api.Work, ready int32) *api.Work {
	next := *w
	next.Status = api.WorkStatus{
		Conditions: []metav1.Condition{{
			Type: api.ConditionApplied, Status: metav1.ConditionTrue, Reason: "Storm", ObservedGeneration: w.Generation,
		}},
		ManifestStatuses: []api.ManifestStatus{{Health: api.Healthy, Status: &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"readyReplicas":%d}`, ready)}}},
	}
	return &next
}
