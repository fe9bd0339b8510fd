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

	writes bool // Begin was called
	// taken is the version up to which Take has returned all.
	taken int64

	mu      sync.Mutex
	batches [][]Change
	version int64 // of the newest change
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
	f.taken, f.version = e.version, e.version
	if e.closed {
		close(f.news)
	} else {
		e.feeds[f] = struct{}{}
	}
	return f
}

// News has an item while there may be something to take. It is closed when the store is.
func (f *Feed) News() <-chan struct{} { return f.news }

// Begin is Commit by the reader of the feed, who does not find it there again; the error is Deposed where the store is shared and
// a later term has begun. A caller that has more to write meanwhile calls end later, once: Begin returns when the writes are encoded and
// wait, behind all that began before them. What begins at a shared store has ended.
func (f *Feed) Begin(term int64, writes ...Write) (end func() error) {
	f.writes = true
	if f.engine.shared != nil {
		_, err := f.engine.submit(&Proposal{Term: term, by: f}, writes)
		return func() error { return err }
	}
	c := f.engine.enqueue(f, writes)
	return func() error {
		_, err := c.answer()
		return err
	}
}

// Take returns what others have committed since it was last called, to be read: others may have the same. What the reader
// has written over since is not news.
func (f *Feed) Take() []Change {
	f.mu.Lock()
	batches := f.batches
	f.batches, f.taken = nil, f.version
	f.mu.Unlock()
	if len(batches) == 1 && !f.writes {
		return batches[0]
	}
	changes, own := slices.Concat(batches...), map[string]int64{}
	for i := range changes {
		if c := &changes[i]; c.own {
			own[c.Key] = c.Version
		}
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return c.Version <= own[c.Key] })
}

// Taken is the version up to which Take has returned all. It is for the goroutine that takes.
func (f *Feed) Taken() int64 { return f.taken }

// Awaits reports whether a change of an object is still to be taken.
func (f *Feed) Awaits(key string) (awaits bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, batch := range f.batches {
		for i := range batch {
			if batch[i].Key == key {
				awaits = !batch[i].own
			}
		}
	}
	return awaits
}

// Close ends the feed.
func (f *Feed) Close() {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	delete(f.engine.feeds, f)
}

// put adds changes, each by the reader of a feed, or nil.
func (f *Feed) put(batch []Change, by []*Feed) {
	version := batch[len(batch)-1].Version
	if len(f.barely) > 0 || slices.Contains(by, f) {
		batch = f.pared(batch, by)
	}
	f.mu.Lock()
	f.batches, f.version = append(f.batches, batch), version
	f.mu.Unlock()
	if !slices.ContainsFunc(batch, func(c Change) bool { return !c.own }) {
		return
	}
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// pared is a batch without the objects that the reader has no use for, or has written.
func (f *Feed) pared(batch []Change, by []*Feed) []Change {
	batch = slices.Clone(batch)
	for i := range batch {
		c := &batch[i]
		if own := by[i] == f; own || slices.Contains(f.barely, PrefixOf(c.Key)) {
			*c = Change{Key: c.Key, Version: c.Version, own: own}
		}
	}
	return batch
}
