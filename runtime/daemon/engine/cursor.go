package engine

import "context"

// readTogether bounds what one call of Next returns, and with it how long the lock is held.
const readTogether = 256

// Cursor reads the changes of a table in the order of their versions, each once. It belongs to one
// goroutine, holds nothing and needs no closing.
type Cursor struct {
	table *Table
	next  int64
	// version is up to which all has been read.
	version int64
}

// Watch returns a cursor on all that changes after a version. The error is Expired or Ahead.
func (t *Table) Watch(after int64) (*Cursor, error) {
	t.engine.mu.RLock()
	defer t.engine.mu.RUnlock()
	next, err := t.place(after)
	if err != nil {
		return nil, err
	}
	return &Cursor{table: t, next: next, version: after}, nil
}

// SnapshotAndWatch returns the table as it is and a cursor on all that changes afterwards.
func (t *Table) SnapshotAndWatch() (Snapshot, *Cursor) {
	t.engine.mu.Lock()
	defer t.engine.mu.Unlock()
	s := Snapshot{table: t, objects: t.objects.Clone(), Version: t.engine.version}
	return s, &Cursor{table: t, next: t.ring.end, version: s.Version}
}

// Version returns up to which version the cursor has read: of this table, nothing up to it is missing.
// It moves with the store also when other tables change; that is what a bookmark says.
func (c *Cursor) Version() int64 { return c.version }

// Next waits for changes and returns them, one at least. The error is the context's, Expired when the
// cursor has fallen behind the ring, or ErrClosed. A context that is done still returns what is there.
func (c *Cursor) Next(ctx context.Context) ([]Change, error) {
	for {
		steps, changed, err := c.read()
		if err != nil || len(steps) > 0 {
			return told(steps), err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func told(steps []step) []Change {
	changes := make([]Change, len(steps))
	for i := range steps {
		changes[i] = steps[i].told()
	}
	return changes
}

// read returns what there is, or else the channel that is closed when there is more.
func (c *Cursor) read() ([]step, <-chan struct{}, error) {
	t := c.table
	t.engine.mu.RLock()
	defer t.engine.mu.RUnlock()
	if c.next < t.ring.begin {
		return nil, nil, &Expired{Version: c.version, Oldest: t.ring.floor}
	}
	changes := t.ring.from(c.next, min(t.ring.end, c.next+readTogether))
	c.next += int64(len(changes))
	switch {
	case c.next < t.ring.end:
		c.version = changes[len(changes)-1].now.version
	case len(changes) == 0 && t.engine.closed:
		return nil, nil, ErrClosed
	default:
		c.version = t.engine.version
	}
	return changes, t.changed, nil
}
