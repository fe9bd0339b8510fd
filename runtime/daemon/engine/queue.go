package engine

import (
	"slices"
	"sync"
)

// syncedTogether bounds how many commits share a sync, and so how long the last of them waits for the first.
const syncedTogether = 1024

// commit is what one caller wants to happen as one, or not at all.
type commit struct {
	writes []Write
	by     *Feed // whose reader wants it; nil: another
	// version is that of the last write, once it is accepted.
	version int64
	// done carries the answer.
	done chan error
}

// answer waits until a commit is durable and visible, or refused, and returns its version. The commit is another's then.
func (c *commit) answer() (int64, error) {
	err := <-c.done
	version := c.version
	clear(c.writes)
	commits.Put(c)
	return version, err
}

var commits = sync.Pool{New: func() any { return &commit{done: make(chan error, 1)} }}

// queue holds the commits that wait for the commit goroutine, first come first served.
type queue struct {
	mu      sync.Mutex
	waiting []*commit
	closed  bool
	wake    chan struct{}
}

// put reports false when the queue is closed.
func (q *queue) put(c *commit) bool {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return false
	}
	q.waiting = append(q.waiting, c)
	q.mu.Unlock()
	q.signal()
	return true
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default: // it is about to look
	}
}

// close reports whether the queue was open.
func (q *queue) close() bool {
	q.mu.Lock()
	open := !q.closed
	q.closed = true
	q.mu.Unlock()
	q.signal()
	return open
}

// take moves what waits to a batch, as far as it may go, and reports whether the queue is closed.
func (q *queue) take(batch []*commit) ([]*commit, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), syncedTogether)
	batch = append(batch, q.waiting[:n]...)
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch, q.closed
}
