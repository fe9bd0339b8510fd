package engine

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Feed collects the changes of all tables, in the order of their versions, from when it was made until it is closed.
// It holds what its reader has not taken, so that a reader who must not miss anything never has to list again; a
// watcher who may, reads by a Cursor.
type Feed struct {
	engine *Engine
	news   chan struct{}
	barely []string // prefixes of keys

	mu      sync.Mutex
	batches [][]Change
}

// Follow returns a feed of all that is committed from now on. A snapshot that is taken afterwards may have the first
// of it already: versions tell.
//
// Of some resources it has keys and versions only, as of what was deleted: for a reader who has no use for their objects, of
// which many may wait.
func (e *Engine) Follow(barely ...schema.GroupResource) *Feed {
	f := &Feed{engine: e, news: make(chan struct{}, 1)}
	for _, r := range barely {
		f.barely = append(f.barely, Prefix(r))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		close(f.news)
	} else {
		e.feeds[f] = struct{}{}
	}
	return f
}

// News has an item while there may be something to take. It is closed when the store is.
func (f *Feed) News() <-chan struct{} { return f.news }

// Take returns what was committed since it was last called, to be read: others may have the same.
func (f *Feed) Take() []Change {
	f.mu.Lock()
	batches := f.batches
	f.batches = nil
	f.mu.Unlock()
	if len(batches) == 1 {
		return batches[0]
	}
	return slices.Concat(batches...)
}

// Awaits reports whether a change of an object is still to be taken.
func (f *Feed) Awaits(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.batches, func(batch []Change) bool {
		return slices.ContainsFunc(batch, func(c Change) bool { return c.Key == key })
	})
}

// Close ends the feed.
func (f *Feed) Close() {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	delete(f.engine.feeds, f)
}

func (f *Feed) put(batch []Change) {
	if len(f.barely) > 0 {
		batch = f.pared(batch)
	}
	f.mu.Lock()
	f.batches = append(f.batches, batch)
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// pared is a batch without the objects that the reader has no use for.
func (f *Feed) pared(batch []Change) []Change {
	batch = slices.Clone(batch)
	for i := range batch {
		if c := &batch[i]; slices.Contains(f.barely, PrefixOf(c.Key)) {
			*c = Change{Key: c.Key, Version: c.Version}
		}
	}
	return batch
}
