package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"leeward/runtime/engine/wal"
)

// encodeAll prepares what the log will keep of objects. Callers do so side by side, before they queue: the
// versions are not in it, as nobody knows them yet.
func (e *Engine) encodeAll(writes []Write) error {
	if e.log == nil && e.shared == nil {
		return nil
	}
	return inParts(len(writes), func(from, to int) error {
		for i := from; i < to; i++ {
			if err := e.encode(&writes[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *Engine) encode(w *Write) (err error) {
	if w.object == nil {
		return nil
	}
	if w.json, err = json.Marshal(w.object); err != nil {
		return fmt.Errorf("commit %q: %w", w.key, err)
	}
	w.packed = e.tables[PrefixOf(w.key)].packed(w.json)
	return nil
}

// partFrom is how many objects are worth another goroutine: some 0.2 ms of work.
const partFrom = 32

// inParts does something with the numbers below n, a part of them on every processor where there are many, and returns
// what went wrong.
func inParts(n int, do func(from, to int) error) error {
	parts := max(1, min(runtime.GOMAXPROCS(0), n/partFrom))
	wrong := make([]error, parts)
	run := func(part int) { wrong[part] = do(part*n/parts, (part+1)*n/parts) }
	var others sync.WaitGroup
	for part := 1; part < parts; part++ {
		others.Go(func() { run(part) })
	}
	run(0)
	others.Wait()
	return errors.Join(wrong...)
}

// recover opens the log and fills the tables with what it holds.
func (e *Engine) recover(dir string, o wal.Options) error {
	log, state, err := wal.Open(dir, o)
	if err != nil {
		return err
	}
	if err := e.restore(&state); err != nil {
		return errors.Join(err, log.Close())
	}
	e.log = log
	return nil
}

// restore fills the tables. Watchers of anything before have to list again: what changed is not known.
func (e *Engine) restore(state *wal.State) error {
	items, err := e.heldAll(state.Records)
	if err != nil {
		return err
	}
	for first := range 2 { // every other one first: they leave the nodes of a tree half full, for those between them
		for n := first; n < len(items); n += 2 {
			e.tables[PrefixOf(items[n].key)].set(items[n])
		}
	}
	for _, i := range items {
		e.reschedule(item{}, i)
	}
	e.version = state.Version
	for _, t := range e.tables { // order-free: each has its own floor
		t.ring.floor = state.Version
	}
	return nil
}

// heldAll packs or decodes on every processor: that is most of the time that it takes to open a store.
func (e *Engine) heldAll(records []wal.Record) ([]item, error) {
	items := make([]item, len(records))
	err := inParts(len(records), func(from, to int) (err error) {
		r := newReader()
		for i := from; i < to && err == nil; i++ {
			items[i], err = e.held(r, &records[i])
			records[i].Object = nil // there may be as much of it as of all else
		}
		return err
	})
	return items, err
}

// held is a record in its place, as a table has it that has been as it is for long.
func (e *Engine) held(r *reader, record *wal.Record) (item, error) {
	if t := e.tables[PrefixOf(record.Key)]; t != nil && t.resource.Packed {
		return item{key: record.Key, held: held{packed: t.packer.pack(record.Object)}, version: record.Version, expires: record.Expires}, nil
	}
	return e.decode(r, record)
}

func (e *Engine) decode(r *reader, record *wal.Record) (item, error) {
	table := e.tables[PrefixOf(record.Key)]
	if table == nil {
		return item{}, unknown(record.Key)
	}
	o := table.resource.New()
	if err := r.read(record.Object, o); err != nil {
		return item{}, fmt.Errorf("read %s: %w", record.Key, err)
	}
	o.SetResourceVersion(strconv.FormatInt(record.Version, 10))
	return item{
		key: record.Key, held: held{object: o, packed: table.packed(record.Object)}, version: record.Version, expires: record.Expires,
	}, nil
}

func unknown(key string) error { return fmt.Errorf("read %s: the store has no such resource", key) }

// fail makes the store read-only.
func (e *Engine) fail(cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed = &ReadOnly{Cause: cause}
}
