package engine

import (
	"fmt"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/google/btree"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/runtime/daemon/engine/wal"
)

// Config says what a store holds.
type Config struct {
	Resources []Resource
	// Clock says when objects expire.
	Clock clock.Clock
	// Dir is the folder of the log. Empty: nothing outlives the process.
	Dir string
	// Shared is a store that is kept in place of a folder, and that other processes write to, too; Close closes it.
	// Zero: the store is this engine's own.
	Shared Shared
	// WAL says how the log is kept.
	WAL wal.Options
	// Committed hears how many objects a batch changed and how long it took until they were durable, on the commit
	// goroutine, or, where the store is shared, on that of the caller that commits. Zero: there is no listener.
	Committed func(objects int, took time.Duration)
}

// Engine is a store of objects. Its methods may be called by anyone at any time.
type Engine struct {
	clock     clock.Clock
	committed func(objects int, took time.Duration)
	tables    map[string]*Table // by prefix

	queue queue
	gone  chan struct{} // closed when the commit goroutine has ended
	log   *wal.Log      // nil: nothing outlives the process
	// shared is nil where the store is this engine's own.
	shared *follower

	// mu guards what readers see: objects, rings and version. Only the commit goroutine changes them, so
	// it reads them without.
	mu      sync.RWMutex
	version int64
	feeds   map[*Feed]struct{}
	// closed is set when nothing will change any more, failed when the log takes nothing more.
	closed bool
	failed *ReadOnly
	// expiring are the objects that go by themselves, the next one first.
	expiring *btree.BTreeG[expiry]
}

// Open returns a store, with all that was committed to its folder, or to the one that is shared, and starts what commits
// to it; Close ends that.
func Open(c Config) (*Engine, error) {
	e := &Engine{
		clock:     c.Clock,
		committed: c.Committed,
		tables:    make(map[string]*Table, len(c.Resources)),
		queue:     queue{wake: make(chan struct{}, 1)},
		gone:      make(chan struct{}),
		expiring:  btree.NewG(degree, byExpiry),
		feeds:     map[*Feed]struct{}{},
	}
	for _, r := range c.Resources {
		prefix := Prefix(r.Name)
		if e.tables[prefix] != nil {
			return nil, fmt.Errorf("open the store: two tables for %s", r.Name)
		}
		e.tables[prefix] = newTable(e, r)
	}
	if c.Shared != nil {
		if err := e.share(c.Shared); err != nil {
			return nil, fmt.Errorf("open the shared store: %w", err)
		}
		return e, nil
	}
	if c.Dir != "" {
		if err := e.recover(c.Dir, c.WAL); err != nil {
			return nil, fmt.Errorf("open the store in %s: %w", c.Dir, err)
		}
	}
	go e.run()
	return e, nil
}

// Table returns the table of a resource, or nil if the store has none.
func (e *Engine) Table(resource schema.GroupResource) *Table {
	return e.tables[PrefixOf(Prefix(resource))]
}

// Version returns the latest resource version.
func (e *Engine) Version() int64 {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.version
}

// Health returns why the store is read-only, or will be at the next write, or nil.
func (e *Engine) Health() error {
	if failed := e.failure(); failed != nil {
		return failed
	}
	if e.log != nil {
		return e.log.InPlace()
	}
	return nil
}

func (e *Engine) failure() *ReadOnly {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.failed
}

// Close commits what is waiting, refuses what comes after, wakes every watcher and lets the folder go.
// Only the first call does so.
func (e *Engine) Close() error {
	first := e.queue.close()
	if first && e.shared != nil {
		return e.leave()
	}
	<-e.gone
	if !first || e.log == nil {
		return nil
	}
	return e.log.Close()
}
