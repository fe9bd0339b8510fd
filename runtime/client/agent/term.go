package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"leeward/messages/api"
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

// The Lease in the member by which one of several replicas applies Works, and its timing. Source: Kubernetes' --leader-elect flags.
const (
	electionLease = "leeward-agent"
	takeoverAfter = 15 * time.Second
	renewDeadline = 10 * time.Second
	electionRetry = 2 * time.Second
)

// leadUntil applies Works until the context ends: always, or while this replica holds the Lease in the member.
func (a *Agent) leadUntil(ctx context.Context) {
	if a.Identity == "" {
		a.lead(ctx)
		return
	}
	h := &renewal{
		leases: a.member.leases, namespace: a.ElectionNamespace, name: electionLease, identity: a.Identity, seconds: int32(takeoverAfter / time.Second), takeover: takeoverAfter,
	}
	var problems news
	for ctx.Err() == nil {
		held, err := a.hold(ctx, h, renewDeadline)
		if problems.has(err) {
			a.Log.Warn().Err(err).Msg("cannot share the work")
		}
		if held {
			a.leadWhile(ctx, h)
		}
		a.pause(ctx, jittered(electionRetry))
	}
}

// news is the text of the last error of what is tried again and again.
type news string

// has reports whether an error is another one than the last. Nil is none.
func (n *news) has(err error) bool {
	text := ""
	if err != nil {
		text = err.Error()
	}
	before := *n
	*n = news(text)
	return text != "" && text != string(before)
}

// hold renews a Lease, if the member answers in time.
func (a *Agent) hold(ctx context.Context, h *renewal, within time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return h.renew(ctx, a.Clock.Now())
}

func (a *Agent) pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-a.Clock.After(d):
	}
}

// leadWhile applies Works until the context ends or the Lease is lost: another replica may hold it after takeoverAfter, and this one has ended by then.
func (a *Agent) leadWhile(ctx context.Context, h *renewal) {
	leading, stop := context.WithCancel(ctx)
	defer stop()
	var led sync.WaitGroup
	led.Go(func() {
		defer stop()
		a.within(func() { a.lead(leading) })
	})
	renewed := a.Clock.Now()
	for a.pause(leading, electionRetry); leading.Err() == nil; a.pause(leading, electionRetry) {
		left := renewDeadline - a.Clock.Now().Sub(renewed)
		switch held, err := a.hold(leading, h, left); {
		case err == nil && held:
			renewed = a.Clock.Now()
		case err == nil || left <= electionRetry:
			stop()
		}
	}
	led.Wait()
	a.Log.Info().Msg("this replica applies no Works")
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.Timeout)
	defer cancel()
	h.release(releasing)
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
