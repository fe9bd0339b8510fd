package kubeapi

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
)

// turns lets, of all that give the same key, so many proceed at the same time, and so many more wait for them, in the
// order in which they came.
type turns struct {
	together, waiting int

	mu    sync.Mutex
	lines map[string]*line
}

// line is one key's.
type line struct {
	*semaphore.Weighted
	// length counts what proceeds and what waits.
	length int
}

func newTurns(together, waiting int) *turns {
	return &turns{together: together, waiting: waiting, lines: map[string]*line{}}
}

// errTooMany says that as many wait as may.
var errTooMany = errors.New("too many are waiting")

// take waits for a turn, which lasts until end is called. The error is errTooMany or the context's.
func (t *turns) take(ctx context.Context, key string) (end func(), err error) {
	l := t.join(key)
	if l == nil {
		return nil, errTooMany
	}
	if err := l.Acquire(ctx, 1); err != nil {
		t.leave(key, l)
		return nil, err
	}
	return func() {
		l.Release(1)
		t.leave(key, l)
	}, nil
}

func (t *turns) join(key string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[key]
	if l == nil {
		l = &line{Weighted: semaphore.NewWeighted(int64(t.together))}
		t.lines[key] = l
	}
	if l.length == t.together+t.waiting {
		return nil
	}
	l.length++
	return l
}

func (t *turns) leave(key string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.length--; l.length == 0 {
		delete(t.lines, key)
	}
}
