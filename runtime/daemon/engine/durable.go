package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// encodeAll prepares what the log will keep of objects. Callers do so side by side, before they queue: the
// versions are not in it, as they are not known yet.
func (e *Engine) encodeAll(writes []Write) error {
	if e.log == nil && e.shared == nil {
		return nil
	}
	return inParts(len(writes), func(from, to int) error {
		for i := from; i < to; i++ {
			GiveWay(i)
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

// stepsInARow of some microseconds each are done before others may run.
const stepsInARow = 16

// GiveWay lets others run at every few of many steps. Go's scheduler takes a processor from who does not let go of it
// after 10 ms, and by then everybody could have seen what was just decided.
func GiveWay(step int) {
	if step%stepsInARow == 0 {
		runtime.Gosched()
	}
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

func unknown(key string) error { return fmt.Errorf("read %s: the store has no such resource", key) }

// fail makes the store read-only.
func (e *Engine) fail(cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed = &ReadOnly{Cause: cause}
}
