package scheduler

import (
	"cmp"
	"maps"
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// queue are all bindings: those to decide on at the end of this instant, those that its decisions are made on, and those
// that wait for the fleet to change.
type queue struct {
	entries map[messages.BindingName]*entry
	// dirty are the entries to decide on at the end of this instant, each once.
	dirty []*entry
	// batch are those that this instant's decisions are made on, decided of them so far; held is what came meanwhile.
	batch   []*entry
	decided int
	held    []messages.ToScheduler
	// waiting are the entries that no cluster can take, or that are not evicted for want of one.
	waiting map[messages.BindingName]*entry
	// changed are the clusters whose spec changed in this instant.
	changed []messages.ClusterName
	// freed is set when capacity may have become free: those that wait are tried again.
	freed bool
}

func newQueue() queue {
	return queue{entries: map[messages.BindingName]*entry{}, waiting: map[messages.BindingName]*entry{}}
}

// entry returns that of a binding.
func (q *queue) entry(of messages.BindingName) *entry {
	e := q.entries[of]
	if e == nil {
		e = &entry{}
		q.entries[of] = e
	}
	return e
}

// end forgets a binding. Its entry may be in a batch still.
func (q *queue) end(e *entry) {
	of := e.asked.Binding
	e.asked = nil
	delete(q.entries, of)
	delete(q.waiting, of)
}

// names are those of all bindings, in order.
func (q *queue) names() []messages.BindingName {
	return slices.Sorted(maps.Keys(q.entries))
}

// mark has an entry decided on at the end of the instant.
func (q *queue) mark(e *entry) {
	if !e.dirty {
		e.dirty = true
		q.dirty = append(q.dirty, e)
	}
}

// settle keeps the list of those that wait for the fleet to change.
func (q *queue) settle(e *entry, waits bool) {
	if waits {
		q.waiting[e.asked.Binding] = e
	} else {
		delete(q.waiting, e.asked.Binding)
	}
}

// markFreed marks those that wait, when capacity may be free.
func (q *queue) markFreed() {
	if !q.freed {
		return
	}
	for _, e := range q.waiting { // order-free: the batch is sorted
		if !e.dirty {
			e.trigger = e.failure.remedy()
			q.mark(e)
		}
	}
}

// markChanged marks those of some entries that a changed cluster matters to, for the first one that does.
func (q *queue) markChanged(entries map[messages.BindingName]*entry, matters func(*entry, messages.ClusterName) bool) {
	triggers := make([]string, len(q.changed)) // once for all that they concern
	for i, c := range q.changed {
		triggers[i] = "cluster " + string(c) + " changed"
	}
	for _, e := range entries { // order-free: the batch is sorted
		if e.dirty {
			continue
		}
		if i := slices.IndexFunc(q.changed, func(c messages.ClusterName) bool { return matters(e, c) }); i >= 0 {
			e.trigger = triggers[i]
			q.mark(e)
		}
	}
}

// begin makes a batch of what is marked, the most urgent first.
func (q *queue) begin() {
	q.batch, q.dirty = q.dirty, q.batch[:0]
	slices.SortFunc(q.batch, urgency)
}

// next returns the next entries of the batch, so many at most, and whether there are more after them.
func (q *queue) next(most int) (entries []*entry, more bool) {
	end := min(len(q.batch), q.decided+most)
	entries, q.decided = q.batch[q.decided:end], end
	return entries, end < len(q.batch)
}

// finish ends the batch, and returns what came while it was decided on.
func (q *queue) finish() (held []messages.ToScheduler) {
	clear(q.batch)
	q.batch, q.decided = q.batch[:0], 0
	if len(q.dirty) == 0 { // the longer list goes on serving, else both grow long
		q.dirty, q.batch = q.batch, q.dirty
	}
	held, q.held = q.held, nil
	return held
}

// entry is what the scheduler knows of one binding.
type entry struct {
	// asked is what the binding asked for last, brought up to date with what was decided since; nil: the binding ended.
	asked *messages.PlaceBinding
	// request is the memory of asked. The entry's own, so that a decision changes it without another copy on the heap.
	request messages.PlaceBinding
	// answered is false until the binding has had an answer to its last request.
	answered bool
	dirty    bool
	// rescaled is set where the binding asks for another number of replicas than before, until it is answered.
	rescaled bool
	// trigger says why the fleet made the entry dirty; empty: the binding asked.
	trigger string
	// failure is the last failure that the binding was told of.
	failure failure
}

// asks takes over a request in place of the last one.
func (e *entry) asks(m messages.PlaceBinding) {
	e.request = m
	e.asked = &e.request
}

// open reports whether there is a binding to decide on.
func (e *entry) open() bool { return e.asked != nil && !e.asked.Suspended }

type failure struct{ reason, message string }

// remedy is what must change before it is worth trying again.
func (f failure) remedy() string {
	if f.reason == api.ReasonQuotaExceeded {
		return "quota or usage changed"
	}
	return "capacity changed"
}

// urgency orders by priority, waiting time and name; entries of bindings that ended come last.
func urgency(a, b *entry) int {
	switch {
	case a.asked == nil || b.asked == nil:
		return cmp.Compare(ended(a), ended(b))
	default:
		return cmp.Or(
			-cmp.Compare(a.asked.Priority, b.asked.Priority),
			a.asked.Since.Compare(b.asked.Since),
			cmp.Compare(a.asked.Binding, b.asked.Binding),
		)
	}
}

func ended(e *entry) int {
	if e.asked == nil {
		return 1
	}
	return 0
}
