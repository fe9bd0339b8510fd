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
	if e.log == nil {
		return nil
	}
	return eachAtOnce(len(writes), func(i int) error {
		w := &writes[i]
		if w.object == nil {
			return nil
		}
		var err error
		if w.json, err = json.Marshal(w.object); err != nil {
			return fmt.Errorf("commit %q: %w", w.key, err)
		}
		return nil
	})
}

// atOnceFrom is how many objects are worth another goroutine: some 0.2 ms of work.
const atOnceFrom = 32

// eachAtOnce does something with each number below n, on every processor where there are many, and returns what went
// wrong; none of the numbers after it in the same part is done.
func eachAtOnce(n int, do func(i int) error) error {
	parts := max(1, min(runtime.GOMAXPROCS(0), n/atOnceFrom))
	wrong := make([]error, parts)
	run := func(part int) {
		for i := part * n / parts; i < (part+1)*n/parts && wrong[part] == nil; i++ {
			wrong[part] = do(i)
		}
	}
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
	items, err := e.decodeAll(state.Records)
	if err != nil {
		return err
	}
	for _, i := range items {
		e.tables[PrefixOf(i.key)].set(i)
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
	err := eachAtOnce(len(records), func(i int) (err error) {
		items[i], err = e.decode(&records[i])
		return err
	})
	return items, err
}

func (e *Engine) decode(r *wal.Record) (item, error) {
	table := e.tables[PrefixOf(r.Key)]
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
