package attach

import (
	"cmp"
	"container/heap"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"leeward/messages"
	"leeward/runtime/daemon/attach/writing"
)

// queue makes the requests of the machines: as many at the same time as the server takes, one for each pod, and the most important first.
// It does no I/O: due says which to make, done takes what became of one.
type queue struct {
	decider *decider
	window  writing.Window
	waiting waiting
	// underWay are the requests that were made and not answered, by their pods.
	underWay map[messages.PodName]*sending
	// changed are pods of which there is news while a request for them is under way: it is heard after the answer, so that a deletion of
	// ours is not taken for one by others. nil: it is gone.
	changed map[messages.PodName]*corev1.Pod
	count   func(verb messages.APIVerb, outcome string, took time.Duration)
}

// sending is a request that was made at an instant. void: its machine does not want the answer any more.
type sending struct {
	request
	made time.Time
	void bool
}

func newQueue(d *decider, count func(messages.APIVerb, string, time.Duration)) *queue {
	return &queue{
		decider: d, window: writing.NewWindow(), underWay: map[messages.PodName]*sending{}, changed: map[messages.PodName]*corev1.Pod{}, count: count,
	}
}

// hear takes news of a pod; nil: it is gone.
func (k *queue) hear(name messages.PodName, p *corev1.Pod) {
	switch {
	case k.underWay[name] != nil:
		k.changed[name] = p
	case p == nil:
		k.decider.forgetPod(name)
	default:
		k.decider.setPod(p)
	}
}

// step has the machines act, and takes in what they ask for and take back.
func (k *queue) step(now time.Time) error {
	if err := k.decider.step(now); err != nil {
		return err
	}
	d := k.decider
	for name, attempt := range d.withdrawn { // order-free: each pod by itself
		if s := k.underWay[name]; s != nil && s.Attempt <= attempt {
			s.void = true
		}
	}
	if len(d.withdrawn) > 0 {
		k.waiting = k.waiting.without(d.withdrawn)
	}
	for i := range d.asked {
		if r := &d.asked[i]; r.Attempt > d.withdrawn[r.Pod] {
			heap.Push(&k.waiting, r)
		}
	}
	d.asked = nil
	clear(d.withdrawn)
	return nil
}

// due takes the requests that must be made now.
func (k *queue) due(now time.Time) (picked []*sending) {
	var busy []*request
	for len(k.waiting) > 0 && k.window.Open(len(k.underWay), now) {
		r := heap.Pop(&k.waiting).(*request)
		if k.underWay[r.Pod] != nil { // of an attempt before, which is void
			busy = append(busy, r)
			continue
		}
		s := &sending{request: *r, made: now}
		k.underWay[r.Pod] = s
		picked = append(picked, s)
	}
	for _, r := range busy {
		heap.Push(&k.waiting, r)
	}
	return picked
}

// next is when the queue must look again by itself.
func (k *queue) next() (next time.Time, found bool) {
	next, found = k.decider.next()
	if at := k.window.Closed(); len(k.waiting) > 0 && at.After(k.decider.now) && (!found || at.Before(next)) {
		return at, true
	}
	return next, found
}

// The outcomes of requests.
const (
	outcomeServed    = "served"
	outcomeGone      = "gone"
	outcomeThrottled = "throttled"
	outcomeBlocked   = "blocked"
	outcomeFailed    = "failed"
)

// done takes what became of a request. What the server was too busy for is asked for again; all else the machine hears.
func (k *queue) done(s *sending, err error, now time.Time) {
	delete(k.underWay, s.Pod)
	outcome := outcomeOf(err)
	k.count(s.Verb, outcome, now.Sub(s.made))
	switch outcome {
	case outcomeThrottled:
		k.window.Overloaded(s.made, now, writing.PauseOf(err))
		if !s.void {
			heap.Push(&k.waiting, &s.request)
		}
	case outcomeFailed:
		if writing.IsOverload(err) {
			k.window.Overloaded(s.made, now, 0)
		}
		k.tell(s, outcome, err)
	default:
		k.window.Served()
		k.tell(s, outcome, err)
	}
	if p, is := k.changed[s.Pod]; is && k.underWay[s.Pod] == nil {
		delete(k.changed, s.Pod)
		k.hear(s.Pod, p)
	}
}

// tell tells the machine of a pod. That the pod is gone it hears by the watch.
func (k *queue) tell(s *sending, outcome string, err error) {
	switch {
	case s.void:
	case s.Verb != messages.VerbEvict:
		if outcome != outcomeGone {
			k.decider.answer(&s.request, err)
		}
	case outcome == outcomeServed:
		k.decider.answerEviction(&s.request, &messages.PodEvictionAnswered{})
	case outcome == outcomeGone:
		k.decider.answerEviction(&s.request, &messages.PodEvictionAnswered{Gone: true})
	default:
		k.decider.answerEviction(&s.request, &messages.PodEvictionAnswered{Error: err.Error(), Detail: budgetOf(err), Later: outcome == outcomeBlocked})
	}
}

// budgetOf is which PodDisruptionBudget refuses an eviction and what it lacks, in the server's words; empty: none does.
func budgetOf(err error) string {
	cause, _ := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
	return cause.Message
}

// outcomeOf says what an answer means for the request.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return outcomeServed
	case apierrors.IsNotFound(err), errors.Is(err, errReplaced):
		return outcomeGone
	case apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause):
		return outcomeBlocked
	case apierrors.IsTooManyRequests(err):
		return outcomeThrottled
	}
	return outcomeFailed
}

// waiting is a heap of requests: what ends an eviction that has begun goes first, what a budget has refused before last; then the higher
// priority, then what was asked for earlier.
type waiting []*request

func (w waiting) Len() int { return len(w) }
func (w waiting) Less(i, j int) bool {
	a, b := w[i], w[j]
	return cmp.Or(cmp.Compare(a.stage(), b.stage()), cmp.Compare(b.priority, a.priority), cmp.Compare(a.seq, b.seq)) < 0
}
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push and Pop are for package heap.
func (w *waiting) Push(r any) { *w = append(*w, r.(*request)) }
func (w *waiting) Pop() any {
	last := len(*w) - 1
	r := (*w)[last]
	(*w)[last], *w = nil, (*w)[:last]
	return r
}

// without is what waits but the requests that were withdrawn.
func (w waiting) without(withdrawn map[messages.PodName]int) waiting {
	var kept waiting
	for _, r := range w {
		if r.Attempt > withdrawn[r.Pod] {
			kept = append(kept, r)
		}
	}
	heap.Init(&kept)
	return kept
}

// stage orders the requests of an eviction: what is nearer to its end goes first.
func (r *request) stage() int {
	switch {
	case r.again:
		return 2
	case r.Verb == messages.VerbPatch:
		return 1
	}
	return 0
}
