package engine

import (
	"fmt"
	"time"
)

// Write is one change that a writer wants: Create, Update or Delete makes it.
type Write struct {
	key string
	// object is what is to stand there; nil deletes.
	object Object
	// expected is the version that the object has; 0 if there must be none.
	expected int64
	ttl      time.Duration
	// json is what the log or the shared store keeps of the object, and packed what the table does; nil without either.
	json   []byte
	packed packed
}

// Create puts an object where there is none. The object is the engine's from now on.
func Create(key string, o Object) Write { return Write{key: key, object: o} }

// Update replaces the object that has a version; at version 0 it creates it. The object is the
// engine's from now on.
func Update(key string, o Object, expected int64) Write {
	return Write{key: key, object: o, expected: expected}
}

// Delete removes the object that has a version. The deletion takes a version of its own.
func Delete(key string, expected int64) Write { return Write{key: key, expected: expected} }

// For makes the object go by itself after a while, unless it is updated before. Zero: it stays.
func (w Write) For(ttl time.Duration) Write {
	w.ttl = ttl
	return w
}

// Commit makes the writes happen as one, or none of them, and returns when they are durable and
// visible. Each takes a version of its own, in their order, and puts it on its object.
//
// The error is Conflict if an object is not what its write expected, ReadOnly if the log has failed,
// ErrClosed after Close, TooLarge or Unreachable of a shared store, or says what is wrong with a write.
func (e *Engine) Commit(writes ...Write) error {
	_, err := e.CommitVersion(writes...)
	return err
}

// CommitVersion is Commit, and returns the version of the last write: a deletion has no object that tells.
func (e *Engine) CommitVersion(writes ...Write) (int64, error) {
	return e.submit(&Proposal{}, writes)
}

// submit has writes committed here, or, as a proposal, where the store is shared.
func (e *Engine) submit(p *Proposal, writes []Write) (int64, error) {
	if e.shared == nil {
		return e.enqueue(nil, writes).answer()
	}
	if err := e.admit(writes); err != nil {
		return 0, err
	}
	return e.propose(p, writes)
}

// enqueue has writes wait for the commit goroutine, behind all that was enqueued before, unless they are refused immediately.
func (e *Engine) enqueue(by *Feed, writes []Write) *commit {
	c := commits.Get().(*commit)
	c.by, c.version = by, 0
	if err := e.admit(writes); err != nil {
		c.done <- err
		return c
	}
	c.writes = append(c.writes[:0], writes...)
	if !e.queue.put(c) {
		c.done <- ErrClosed
	}
	return c
}

// admit refuses writes that no state of the store could accept, and prepares the objects of the others.
func (e *Engine) admit(writes []Write) error {
	if len(writes) == 0 {
		return fmt.Errorf("commit: nothing to write")
	}
	seen := make(map[string]bool, 8)
	for i := range writes {
		w := &writes[i]
		if err := e.admitOne(w); err != nil {
			return fmt.Errorf("commit %q: %w", w.key, err)
		}
		if seen[w.key] {
			return fmt.Errorf("commit %q: written twice at once", w.key)
		}
		seen[w.key] = true
	}
	return e.encodeAll(writes)
}

func (e *Engine) admitOne(w *Write) error {
	table := e.tables[PrefixOf(w.key)]
	switch {
	case table == nil:
		return fmt.Errorf("the store has no such resource")
	case len(w.key) == len(table.prefix):
		return fmt.Errorf("the key names no object")
	case w.ttl < 0:
		return fmt.Errorf("time to live %s: must not be negative", w.ttl)
	case w.object == nil && w.expected == 0:
		return fmt.Errorf("a deletion must say which version it deletes")
	case w.object == nil:
		return nil
	}
	table.prepare(w.object)
	return nil
}
