package engine

import (
	"strconv"
	"time"

	"leeward/runtime/daemon/engine/wal"
)

// batch is what is committed with one sync.
type batch struct {
	commits []*commit
	// answers are the commits' errors, by their index; nil where the commit is accepted.
	answers []error
	// staged is what the batch makes of each key that it touches, the changes in their order.
	staged  map[string]int
	changes []item
	by      []*Feed      // who made each change; nil: no reader of a feed
	records []wal.Record // one for each change, if there is a log
	version int64
}

// empty lets go of what the batch held, but for the memory.
func (b *batch) empty() {
	clear(b.commits)
	clear(b.staged)
	clear(b.changes)
	clear(b.by)
	clear(b.records)
	b.commits, b.answers, b.changes, b.by, b.records = b.commits[:0], b.answers[:0], b.changes[:0], b.by[:0], b.records[:0]
}

// run commits until the queue is closed.
func (e *Engine) run() {
	defer close(e.gone)
	b := batch{staged: make(map[string]int)}
	next := alarm{clock: e.clock}
	for closed := false; !closed; {
		if first, ok := e.expiring.Min(); ok && e.failed == nil {
			next.set(first.at)
		}
		select {
		case <-e.queue.wake:
			closed = e.drain(&b)
		case <-next.rings:
			next.rings, next.at = nil, 0
			e.expire(&b)
		}
	}
	e.end()
}

// drain commits what waits, batch by batch, and reports whether the queue is closed.
func (e *Engine) drain(b *batch) bool {
	for {
		var closed bool
		b.commits, closed = e.queue.take(b.commits)
		if len(b.commits) == 0 {
			return closed
		}
		e.commit(b)
	}
}

// commit makes a batch happen and answers its callers.
func (e *Engine) commit(b *batch) {
	defer b.empty()
	b.version = e.version
	now := e.clock.Now()
	for _, c := range b.commits {
		b.answers = append(b.answers, e.stage(b, c, now))
	}
	if len(b.changes) > 0 && e.persist(b) {
		e.apply(b)
		e.measure(b, now)
	}
	for i, c := range b.commits {
		c.done <- b.answers[i]
	}
}

// measure tells how long a batch took that began at an instant.
func (e *Engine) measure(b *batch, began time.Time) {
	if e.committed != nil {
		e.committed(len(b.changes), e.clock.Now().Sub(began))
	}
}

// persist makes a batch durable, or refuses all of it.
func (e *Engine) persist(b *batch) bool {
	if e.log == nil {
		return true
	}
	if e.failed == nil {
		if err := e.log.Append(b.records); err == nil {
			return true
		} else {
			e.fail(err)
		}
	}
	for i := range b.answers {
		b.answers[i] = e.failed
	}
	return false
}

// stage accepts the writes of a commit into the batch, or says which of them cannot be.
func (e *Engine) stage(b *batch, c *commit, now time.Time) error {
	for i := range c.writes {
		w := &c.writes[i]
		if actual := e.standing(b, w.key); actual != w.expected {
			return &Conflict{Key: w.key, Expected: w.expected, Actual: actual}
		}
	}
	for i := range c.writes {
		w := &c.writes[i]
		b.version++
		change := item{w.key, &Row{table: e.tables[PrefixOf(w.key)], object: w.object, packed: w.packed, version: b.version}}
		if w.object != nil {
			w.object.SetResourceVersion(strconv.FormatInt(b.version, 10))
		}
		if w.ttl > 0 {
			change.expires = now.Add(w.ttl).UnixNano()
		}
		b.staged[w.key] = len(b.changes)
		b.changes, b.by = append(b.changes, change), append(b.by, c.by)
		if e.log != nil {
			b.records = append(b.records, wal.Record{Version: change.version, Key: change.key, Expires: change.expires, Object: w.json})
		}
	}
	c.version = b.version
	return nil
}

// standing returns the version of an object, after what the batch has accepted; 0 if there is none.
func (e *Engine) standing(b *batch, key string) int64 {
	if i, ok := b.staged[key]; ok {
		if b.changes[i].none() {
			return 0
		}
		return b.changes[i].version
	}
	i, _ := e.tables[PrefixOf(key)].objects.Get(item{key: key})
	return i.Version()
}

// apply shows the batch to readers and wakes the watchers.
func (e *Engine) apply(b *batch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.version = b.version
	told := make([]Change, len(b.changes)) // for all feeds, which hold it until they are read
	for i, c := range b.changes {
		t := e.tables[PrefixOf(c.key)]
		old := t.set(c)
		e.reschedule(old, c)
		s := step{now: c, before: old.Row}
		if e.log != nil {
			s.text = b.records[i].Object
		}
		t.record(s)
		told[i] = s.told()
		told[i].Text = nil // who acts on changes does not send them on, and may be behind
	}
	for _, c := range b.changes {
		e.tables[PrefixOf(c.key)].wake()
	}
	for f := range e.feeds { // order-free: each has its own
		f.put(told, b.by)
	}
}

// end tells watchers that there is nothing more to come.
func (e *Engine) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for f := range e.feeds { // order-free: each only closes its own channel
		close(f.news)
	}
	clear(e.feeds)
	for _, t := range e.tables { // order-free: each only closes its own channel
		close(t.changed)
	}
}
