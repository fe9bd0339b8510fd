package engine

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"leeward/runtime/daemon/engine/wal"
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
	rows   map[*Table][][]item
}

// shelfRow is how many items there are in a row. There is no telling how many of them there will be.
const shelfRow = 128

func (e *Engine) newShelf() *shelf { return &shelf{e, newReader(), map[*Table][][]item{}} }

// take keeps nothing of the record's text.
func (s *shelf) take(r *wal.Record) error {
	t := s.engine.tables[PrefixOf(r.Key)]
	if t == nil {
		return unknown(r.Key)
	}
	i, err := t.rowOf(s.reader, r)
	if err != nil {
		return err
	}
	rows := s.rows[t]
	if last := len(rows) - 1; last >= 0 && len(rows[last]) < shelfRow {
		rows[last] = append(rows[last], i)
	} else {
		s.rows[t] = append(rows, append(make([]item, 0, shelfRow), i))
	}
	return nil
}

// rowOf is a record as a row in its place.
func (t *Table) rowOf(r *reader, record *wal.Record) (item, error) {
	if t.resource.Packed {
		return item{record.Key, &Row{table: t, packed: t.packer.pack(record.Object), version: record.Version, expires: record.Expires}}, nil
	}
	return t.decode(r, record)
}

func (t *Table) decode(r *reader, record *wal.Record) (item, error) {
	o := t.resource.New()
	if err := r.read(record.Object, o); err != nil {
		return item{}, fmt.Errorf("read %s: %w", record.Key, err)
	}
	o.SetResourceVersion(strconv.FormatInt(record.Version, 10))
	return item{record.Key, &Row{table: t, object: o, version: record.Version, expires: record.Expires}}, nil
}

// restore fills the tables. Watchers of anything before have to list again: what changed is not known.
func (e *Engine) restore(version int64, shelves []*shelf) {
	e.version = version
	var filled sync.WaitGroup
	for _, t := range e.tables { // order-free: each is filled, and has its floor, by itself
		t.ring.floor = version
		var rows [][]item
		for _, s := range shelves {
			rows = append(rows, s.rows[t]...)
		}
		filled.Go(func() { t.fill(rows) })
	}
	for _, s := range shelves {
		for _, rows := range s.rows { // order-free: what expires is sorted by when
			e.rescheduleAll(rows)
		}
	}
	filled.Wait()
}

func (e *Engine) rescheduleAll(rows [][]item) {
	for _, row := range rows {
		for i := range row {
			e.reschedule(item{}, row[i])
		}
	}
}

// fill puts items into an empty table: every other one first, for they leave the nodes of a tree half full, for those
// between them.
func (t *Table) fill(rows [][]item) {
	items := inOrder(rows)
	for first := range 2 {
		for n := first; n < len(items); n += 2 {
			t.set(*items[n].item)
		}
	}
}

// inOrder returns items by their keys.
func inOrder(rows [][]item) []ordered {
	items := make([]ordered, 0, len(rows)*shelfRow)
	for _, row := range rows {
		for i := range row {
			items = append(items, ordered{item: &row[i]})
		}
	}
	common := inCommon(items)
	for i := range items {
		var text [8]byte
		copy(text[:], items[i].key[len(common):])
		items[i].begins = binary.BigEndian.Uint64(text[:])
	}
	slices.SortFunc(items, ordered.compare)
	return items
}

// ordered is an item, and what its key begins with behind that which all have in common. As a number that is compared
// faster, and it tells most of them apart.
type ordered struct {
	begins uint64
	*item
}

func (o ordered) compare(other ordered) int {
	if o.begins != other.begins {
		return cmp.Compare(o.begins, other.begins)
	}
	return strings.Compare(o.key, other.key)
}

// inCommon is what the keys of all items begin with.
func inCommon(items []ordered) (common string) {
	for i := range items {
		if i == 0 {
			common = items[i].key
		}
		for !strings.HasPrefix(items[i].key, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}
