package engine

import (
	"fmt"
	"sync"

	"github.com/benbjohnson/clock"
	"github.com/google/btree"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config says what a store holds.
type Config struct {
	Resources []Resource
	// Clock says when objects expire.
	Clock clock.Clock
}

// Engine is a store of objects. Its methods may be called by anyone at any time.
type Engine struct {
	clock  clock.Clock
	tables map[string]*Table // by prefix

	queue  queue
	gone   chan struct{} // closed when the commit goroutine has ended
	closed bool          // nothing will change any more

	// mu guards what readers see: objects, rings and version. Only the commit goroutine changes them, so
	// it reads them without.
	mu      sync.RWMutex
	version int64
	changed chan struct{} // of Changed; nil while nobody waits
	// expiring are the objects that go by themselves, the next one first.
	expiring *btree.BTreeG[item]
}

// Open returns a store and starts its commit goroutine; Close ends it.
func Open(c Config) (*Engine, error) {
	e := &Engine{
		clock:    c.Clock,
		tables:   make(map[string]*Table, len(c.Resources)),
		queue:    queue{wake: make(chan struct{}, 1)},
		gone:     make(chan struct{}),
		expiring: btree.NewG(degree, byExpiry),
	}
	for _, r := range c.Resources {
		prefix := Prefix(r.Name)
		if e.tables[prefix] != nil {
			return nil, fmt.Errorf("open the store: two tables for %s", r.Name)
		}
		e.tables[prefix] = newTable(e, r)
	}
	go e.run()
	return e, nil
}

// Table returns the table of a resource, or nil if the store has none.
func (e *Engine) Table(resource schema.GroupResource) *Table { return e.tables[Prefix(resource)] }

// Version returns the latest resource version.
func (e *Engine) Version() int64 {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.version
}

// Close commits what is waiting, refuses what comes after and wakes every watcher.
func (e *Engine) Close() error {
	e.queue.close()
	<-e.gone
	return nil
}
