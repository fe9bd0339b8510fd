package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"

	"leeward/messages/api"
	"leeward/runtime/fleet/election"
)

// The waits between attempts at one Work that the member, or the hub, refuses.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 2 * time.Minute
)

// term is the time for which one replica applies Works.
type term struct {
	*Agent
	ctx   context.Context // of the term: what follows kinds lasts as long
	kinds *kinds
	// scripts say how objects of some kinds are read.
	scripts *scripts
	works   cache.SharedIndexInformer
	todo    workqueue.TypedRateLimitingInterface[string]

	mu sync.Mutex
	// applied is what is known of the objects of each Work. Of one Work, it is only read and written by the worker that has it.
	applied map[string]map[identity]*applied
}

// electionLease is the Lease in the member by which one of several replicas applies Works.
const electionLease = "leeward-agent"

// leadUntil applies Works until the context ends: always, or while this replica holds the Lease in the member.
func (a *Agent) leadUntil(ctx context.Context) {
	if a.Identity == "" {
		a.lead(ctx)
		return
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: a.ElectionNamespace, Name: electionLease}, Client: a.member.leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: a.Identity},
	}
	one := election.Candidate{Name: electionLease, Lock: lock, Timing: election.Usual, Lead: func(ctx context.Context) error {
		a.within(func() { a.lead(ctx) })
		a.Log.Info().Msg("this replica applies no Works")
		return nil
	}}
	for ctx.Err() == nil {
		if err := one.Stand(ctx); err != nil {
			panic(err) // the configuration is fixed
		}
	}
}

// lead applies Works until the context ends.
func (a *Agent) lead(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	t := &term{
		Agent: a, ctx: ctx, works: a.hub.followWorks(), applied: map[string]map[identity]*applied{},
		todo: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)),
	}
	t.kinds = &kinds{member: a.member, border: &a.border, namespace: a.workNamespace(), changed: t.todo.Add, settled: t.lookAtAll, of: map[schema.GroupVersionResource]*kind{}}
	_, err := t.works.AddEventHandler(a.handlers(func(o any) {
		a.metrics.works.Inc()
		t.todo.Add(o.(*api.Work).Name)
	}, t.workChanged, func(o any) {
		a.metrics.works.Dec()
		if w, is := o.(*api.Work); is {
			t.todo.Add(w.Name)
		}
	}))
	if err != nil {
		panic(err) // it does not run yet
	}
	var all sync.WaitGroup
	all.Go(func() { t.works.RunWithContext(ctx) })
	t.scripts = a.hub.followScripts(ctx, t.lookAtAll)
	select { // health that was judged without them could end a handover
	case <-t.scripts.answered:
	case <-ctx.Done():
	}
	if cache.WaitForCacheSync(ctx.Done(), t.works.HasSynced) {
		a.term.Store(t)
		a.metrics.leads.Set(1)
		a.Log.Info().Int("works", len(t.works.GetStore().ListKeys())).Msg("this replica applies Works")
		for range a.Workers {
			all.Go(func() { a.within(func() { t.work(ctx) }) })
		}
		<-ctx.Done()
	}
	a.term.Store(nil)
	a.metrics.leads.Set(0)
	defer a.metrics.works.Set(0)
	t.todo.ShutDown()
	all.Wait()
	t.kinds.running.Wait()
}

// workChanged looks at a Work again unless only its status changed, which the agent wrote.
func (t *term) workChanged(before, now any) {
	was, is := before.(*api.Work), now.(*api.Work)
	if was.UID != is.UID || was.Generation != is.Generation || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) || len(was.Finalizers) != len(is.Finalizers) {
		t.todo.Forget(is.Name)
		t.todo.Add(is.Name)
	}
}

// lookAtAll has every Work looked at.
func (t *term) lookAtAll() {
	t.kinds.dropUnserved()
	for _, o := range t.works.GetStore().List() {
		t.todo.Add(o.(*api.Work).Name)
	}
}

// lookAt has the Work of an object looked at, and again once its pods have waited long enough to be reported.
func (t *term) lookAt(id identity) {
	if work := t.kinds.lookUp(id); work != "" {
		t.todo.Add(work)
		t.todo.AddAfter(work, unschedulableAfter)
	}
}

// work brings one Work after the other up to date. One that fails is tried again, later each time; no other waits for it.
func (t *term) work(ctx context.Context) {
	for {
		name, closed := t.todo.Get()
		if closed {
			return
		}
		switch err := t.reconcile(ctx, name); {
		case err == nil || errors.Is(err, errPending):
			t.todo.Forget(name)
		case ctx.Err() == nil:
			t.Log.Warn().Str("work", name).Err(err).Msg("will be tried again")
			t.todo.AddRateLimited(name)
		}
		t.todo.Done(name)
	}
}
