package karmada

import (
	"cmp"
	"container/heap"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/attach/writing"
	"leeward/runtime/fleet/store"
)

// writes are what the machines decided and the server does not have yet: one request for each binding at a time, decisions before what is
// said of them, then the higher priority. What a request says is made when it is made, of the newest that is known. It does no I/O.
type writes struct {
	window   writing.Window
	waiting  waiting
	of       map[messages.BindingName]*pending
	later    agenda
	underWay int
	seq      uint64
	// barred is set while this process may not write, until its Lease was renewed.
	barred bool
	count  func(verb messages.APIVerb, outcome string, took time.Duration)
}

// pending is a binding that must be written.
type pending struct {
	name messages.BindingName
	// queued is set while it waits for its turn, of that number; decides while that is of a decision.
	queued, decides, underWay bool
	turn                      uint64
	// notBefore is when it is tried again, failures how often in a row that did not help.
	notBefore time.Time
	failures  int
	appointed time.Time
	// conflicts is set until there is news of a binding that others have changed.
	conflicts bool
	// held is what was heard of it while a request was under way: whose that is, its answer says.
	held *news
}

// sending is a request that was made at an instant.
type sending struct {
	name   messages.BindingName
	key    api.Key
	body   []byte
	how    types.PatchType
	status bool
	made   time.Time
}

func newWrites(count func(messages.APIVerb, string, time.Duration)) *writes {
	return &writes{window: writing.NewWindow(), of: map[messages.BindingName]*pending{}, count: count}
}

// want asks for a binding to be written. It is called as often as there is news, and looks at what must be written when it can be.
func (w *writes) want(b *store.Binding, e *edit, now time.Time) {
	if e.none() {
		w.drop(b.Name())
		return
	}
	p := w.of[b.Name()]
	if p == nil {
		p = &pending{name: b.Name()}
		w.of[p.name] = p
	}
	w.queue(p, b, e, now)
}

// drop forgets a binding that need not be written, unless a request is under way.
func (w *writes) drop(name messages.BindingName) {
	if p := w.of[name]; p != nil && !p.underWay {
		delete(w.of, name)
	}
}

// decides reports whether a decision on a binding is yet to be written, as far as that is known.
func (w *writes) decides(name messages.BindingName) bool {
	p := w.of[name]
	return p != nil && (p.decides || p.underWay || !p.queued)
}

// heard notes that there is news of a binding: what others changed is known now.
func (w *writes) heard(name messages.BindingName) {
	if p := w.of[name]; p != nil && p.conflicts {
		p.conflicts, p.notBefore = false, time.Time{}
	}
}

func (w *writes) queue(p *pending, b *store.Binding, e *edit, now time.Time) {
	switch {
	case p.underWay, p.queued && (p.decides || !e.decides):
	case p.notBefore.After(now):
		if !p.appointed.Equal(p.notBefore) {
			p.appointed = p.notBefore
			heap.Push(&w.later, appointment{p.notBefore, p.name})
		}
	default:
		w.seq++
		p.queued, p.decides, p.turn = true, e.decides, w.seq
		heap.Push(&w.waiting, turn{name: p.name, told: !e.decides, priority: priorityOf(b), seq: w.seq})
		if len(w.waiting) > 1000+4*len(w.of) { // most are void
			w.waiting = slices.DeleteFunc(w.waiting, w.void)
			heap.Init(&w.waiting)
		}
	}
}

// void reports whether a turn is that of a binding which need not be written, or has another.
func (w *writes) void(t turn) bool {
	p := w.of[t.name]
	return p == nil || !p.queued || p.turn != t.seq
}

func priorityOf(b *store.Binding) int32 {
	if b.Spec.SchedulePriority == nil {
		return 0
	}
	return b.Spec.SchedulePriority.Priority
}

// due takes the bindings whose turn it is now, as long as the server takes requests. Of makes a request; nil: there is nothing to write.
func (w *writes) due(now time.Time, again func(messages.BindingName), of func(messages.BindingName) *sending) (all []*sending) {
	for len(w.later) > 0 && !w.later[0].at.After(now) {
		again(heap.Pop(&w.later).(appointment).name)
	}
	for len(w.waiting) > 0 && !w.barred && w.window.Open(w.underWay, now) {
		t := heap.Pop(&w.waiting).(turn)
		if w.void(t) {
			continue
		}
		p := w.of[t.name]
		p.queued = false
		s := of(p.name)
		if s == nil {
			delete(w.of, p.name)
			continue
		}
		s.made = now
		p.underWay = true
		w.underWay++
		all = append(all, s)
	}
	return all
}

// holds keeps news of a binding while a request for it is under way, and reports whether it does.
func (w *writes) holds(n news) bool {
	p := w.of[bindingNamed(n.key)]
	if p == nil || !p.underWay {
		return false
	}
	p.held = &n
	return true
}

func bindingNamed(key api.Key) messages.BindingName {
	if key.Kind != "ResourceBinding" && key.Kind != "ClusterResourceBinding" {
		return ""
	}
	return messages.NameBinding(key.Namespace, key.Name)
}

// The outcomes of requests.
const (
	outcomeServed    = "served"
	outcomeConflict  = "conflict"
	outcomeGone      = "gone"
	outcomeThrottled = "throttled"
	outcomeFailed    = "failed"
)

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return outcomeServed
	case apierrors.IsConflict(err):
		return outcomeConflict
	case apierrors.IsNotFound(err):
		return outcomeGone
	case apierrors.IsTooManyRequests(err):
		return outcomeThrottled
	}
	return outcomeFailed
}

const (
	// newsComes is how long the news of a conflict is waited for before a binding is tried again without.
	newsComes = 5 * time.Second
	// firstPause and longestPause are how long a binding is not tried that the server refused, at first and at most.
	firstPause, longestPause = time.Second, time.Minute
)

// done takes what became of a request, and returns the news of the binding that was held meanwhile; nil: there was none.
func (w *writes) done(s *sending, err error, now time.Time) (held *news, outcome string) {
	p := w.of[s.name]
	held, p.held, p.underWay = p.held, nil, false
	w.underWay--
	outcome = outcomeOf(err)
	if !errors.Is(err, writing.ErrNotLeader) {
		w.count(messages.VerbPatch, outcome, now.Sub(s.made))
	}
	switch {
	case outcome == outcomeServed:
		w.window.Served()
		p.failures, p.notBefore = 0, time.Time{}
	case outcome == outcomeConflict:
		w.window.Served()
		if p.conflicts = held == nil; p.conflicts {
			p.notBefore = now.Add(newsComes)
		}
	case outcome == outcomeGone:
		w.window.Served() // that it is gone is heard by the watch
		p.notBefore = now.Add(newsComes)
	case outcome == outcomeThrottled:
		w.window.Overloaded(s.made, now, writing.PauseOf(err))
	case errors.Is(err, writing.ErrNotLeader):
		w.barred = true
	default:
		if writing.IsOverload(err) {
			w.window.Overloaded(s.made, now, 0)
		}
		p.notBefore = now.Add(min(longestPause, firstPause<<min(p.failures, 6)))
		p.failures++
	}
	return held, outcome
}

// next is when something must be done by itself; zero: when there is news.
func (w *writes) next(now time.Time) (next time.Time) {
	if len(w.waiting) > 0 && w.window.Closed().After(now) {
		next = w.window.Closed()
	}
	if len(w.later) > 0 && (next.IsZero() || w.later[0].at.Before(next)) {
		next = w.later[0].at
	}
	return next
}

// waiting is a heap of turns.
type waiting []turn

// turn is that of a binding: of two, the one with a decision is first, then that of the higher priority, then that which came first.
type turn struct {
	name     messages.BindingName
	told     bool
	priority int32
	seq      uint64
}

func (w waiting) Len() int { return len(w) }
func (w waiting) Less(i, j int) bool {
	a, b := &w[i], &w[j]
	if a.told != b.told {
		return b.told
	}
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.seq, b.seq)) < 0
}
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push and Pop are for package heap.
func (w *waiting) Push(t any) { *w = append(*w, t.(turn)) }
func (w *waiting) Pop() any {
	last := len(*w) - 1
	t := (*w)[last]
	*w = (*w)[:last]
	return t
}
