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

// encode prepares what the log will keep of an object. Callers do so side by side, before they queue: the
// version is not in it, as nobody knows it yet.
func (e *Engine) encode(w *Write) error {
	if e.log == nil {
		return nil
	}
	var err error
	w.json, err = json.Marshal(w.object)
	return err
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
	items, err := e.decodeAll(state.Records)
	if err != nil {
		return err
	}
	for _, i := range items {
		e.tables[prefixOf(i.key)].set(i)
		e.reschedule(item{}, i)
	}
	e.version = state.Version
	for _, t := range e.tables { // order-free: each has its own floor
		t.ring.floor = state.Version
	}
	return nil
}

// decodeAll decodes on every processor: that is nearly all the time that a start takes.
func (e *Engine) decodeAll(records []wal.Record) ([]item, error) {
	items := make([]item, len(records))
	parts := runtime.GOMAXPROCS(0)
	wrong := make([]error, parts)
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() {
			for n := part * len(records) / parts; n < (part+1)*len(records)/parts && wrong[part] == nil; n++ {
				items[n], wrong[part] = e.decode(&records[n])
			}
		})
	}
	all.Wait()
	return items, errors.Join(wrong...)
}

func (e *Engine) decode(r *wal.Record) (item, error) {
	table := e.tables[prefixOf(r.Key)]
	if table == nil {
		return item{}, fmt.Errorf("read %s: the store has no such resource", r.Key)
	}
	o := table.resource.New()
	if err := json.Unmarshal(r.Object, o); err != nil {
		return item{}, fmt.Errorf("read %s: %w", r.Key, err)
	}
	o.SetResourceVersion(strconv.FormatInt(r.Version, 10))
	return item{key: r.Key, object: o, version: r.Version, expires: r.Expires}, nil
}

// fail makes the store read-only.
func (e *Engine) fail(cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed = &ReadOnly{Cause: cause}
}
