package engine

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"leeward/runtime/engine/wal"
)

// recover opens the log and fills the tables with what it holds.
func (e *Engine) recover(dir string, o wal.Options) error {
	shelves := make([]*shelf, runtime.GOMAXPROCS(0))
	log, state, err := wal.Restore(dir, o, len(shelves), func() func(int, *wal.Record) error {
		for part := range shelves {
			shelves[part] = e.newShelf()
		}
		return func(part int, r *wal.Record) error { return shelves[part].take(r) }
	})
	if err != nil {
		return err
	}
	e.log = log
	e.restore(state.Version, shelves)
	return nil
}

// recoverShared fills the tables with what a shared store holds.
func (e *Engine) recoverShared(state *wal.State) error {
	var (
		mu      sync.Mutex
		shelves []*shelf
	)
	err := inParts(len(state.Records), func(from, to int) error {
		s := e.newShelf()
		for i := from; i < to; i++ {
			if err := s.take(&state.Records[i]); err != nil {
				return err
			}
			state.Records[i].Object = nil // there may be as much of it as of all else
		}
		mu.Lock()
		defer mu.Unlock()
		shelves = append(shelves, s)
		return nil
	})
	if err == nil {
		e.restore(state.Version, shelves)
	}
	return err
}

// shelf holds a part of what a store held, as tables have what has been as it is for long. To pack and to decode that is
// most of the time that it takes to open a store, so there is one on every processor.
type shelf struct {
	engine *Engine
	reader *reader
	items  map[*Table][]item
}

func (e *Engine) newShelf() *shelf { return &shelf{e, newReader(), map[*Table][]item{}} }

// take keeps nothing of the record's text.
func (s *shelf) take(r *wal.Record) error {
	t := s.engine.tables[PrefixOf(r.Key)]
	if t == nil {
		return unknown(r.Key)
	}
	i, err := t.heldAs(s.reader, r)
	if err == nil {
		s.items[t] = append(withRoom(s.items[t]), i)
	}
	return err
}

// withRoom has a list grow to twice its size: append has large ones grow by a quarter, and copies them often.
func withRoom(items []item) []item {
	if len(items) < cap(items) {
		return items
	}
	return slices.Grow(items, max(partFrom, len(items)))
}

// heldAs is a record in its place.
func (t *Table) heldAs(r *reader, record *wal.Record) (item, error) {
	if t.resource.Packed {
		return item{key: record.Key, held: held{packed: t.packer.pack(record.Object)}, version: record.Version, expires: record.Expires}, nil
	}
	return t.decode(r, record)
}

func (t *Table) decode(r *reader, record *wal.Record) (item, error) {
	o := t.resource.New()
	if err := r.read(record.Object, o); err != nil {
		return item{}, fmt.Errorf("read %s: %w", record.Key, err)
	}
	o.SetResourceVersion(strconv.FormatInt(record.Version, 10))
	return item{key: record.Key, held: held{object: o}, version: record.Version, expires: record.Expires}, nil
}

// restore fills the tables. Watchers of anything before have to list again: what changed is not known.
func (e *Engine) restore(version int64, shelves []*shelf) {
	e.version = version
	var filled sync.WaitGroup
	for _, t := range e.tables { // order-free: each is filled, and has its floor, by itself
		t.ring.floor = version
		var parts [][]item
		for _, s := range shelves {
			parts = append(parts, s.items[t])
			e.rescheduleAll(s.items[t])
		}
		filled.Go(func() { t.fill(slices.Concat(parts...)) })
	}
	filled.Wait()
}

func (e *Engine) rescheduleAll(items []item) {
	for i := range items {
		e.reschedule(item{}, items[i])
	}
}

// fill puts items into an empty table: every other one first, for they leave the nodes of a tree half full, for those
// between them.
func (t *Table) fill(items []item) {
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.key, b.key) })
	for first := range 2 {
		for n := first; n < len(items); n += 2 {
			t.set(items[n])
		}
	}
}
