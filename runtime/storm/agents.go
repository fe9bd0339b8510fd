package storm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
)

// agents are those of all clusters: a new copy serves after its start-up, one that must go is gone immediately.
type agents struct {
	engine  *engine.Engine
	clock   clock.Clock
	feed    *engine.Feed
	startup time.Duration
	// heard is up to which version they have heard, and waiting counts the copies that start.
	heard   atomic.Int64
	waiting sync.WaitGroup
	pending atomic.Int64
}

// atOnce is how many Works are answered together.
const atOnce = 1024

// run answers Works until the context is done.
func (a *agents) run(ctx context.Context) error {
	defer a.waiting.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-a.feed.News():
			if !open {
				return nil
			}
		}
		changes := a.feed.Take()
		for part := range slices.Chunk(latest(changes), min(atOnce, a.engine.AtOnce())) {
			if err := a.answer(ctx, part); err != nil {
				return err
			}
		}
		if len(changes) > 0 {
			a.heard.Store(changes[len(changes)-1].Version)
		}
	}
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

// answer deletes Works that must go, and has the others served, immediately or after the start-up.
func (a *agents) answer(ctx context.Context, changes []engine.Change) error {
	var gone, serve []engine.Write
	for _, c := range changes {
		w := c.Object.(*api.Work)
		switch {
		case w.DeletionTimestamp != nil:
			gone = append(gone, engine.Delete(c.Key, c.Version))
		case !answered(w):
			serve = append(serve, engine.Update(c.Key, serving(w), c.Version))
		}
	}
	if a.startup == 0 {
		return a.commit(append(gone, serve...))
	}
	if len(serve) > 0 {
		a.pending.Add(1)
		a.waiting.Go(func() {
			defer a.pending.Add(-1)
			select {
			case <-a.clock.After(a.startup):
				_ = a.commit(serve) // what changed meanwhile is answered when it is heard of
			case <-ctx.Done():
			}
		})
	}
	return a.commit(gone)
}

// commit writes what it can: what another writer has changed meanwhile is answered when it is heard of.
func (a *agents) commit(writes []engine.Write) error {
	if len(writes) == 0 {
		return nil
	}
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

func answered(w *api.Work) bool {
	return len(w.Status.Conditions) > 0 && w.Status.Conditions[0].ObservedGeneration == w.Generation
}

// served is the status of every copy that serves: all its replicas do.
var served = fmt.Appendf(nil, `{"readyReplicas":%d}`, replicas)

func serving(w *api.Work) *api.Work {
	next := *w
	next.Status = api.WorkStatus{
		Conditions: []metav1.Condition{{
			Type: api.ConditionApplied, Status: metav1.ConditionTrue, Reason: "Storm", ObservedGeneration: w.Generation,
		}},
		ManifestStatuses: []api.ManifestStatus{{Health: api.Healthy, Status: &runtime.RawExtension{Raw: served}}},
	}
	return &next
}
