package live

import (
	"context"
	"errors"

	"leeward/runtime/catalog"
	"leeward/runtime/engine"
)

// change is one change of a table, with the resource that the table holds.
type change struct {
	resource *catalog.Resource
	engine.Change
}

// inbox reads all tables of an engine.
type inbox struct{ readers []reader }

type reader struct {
	resource *catalog.Resource
	cursor   *engine.Cursor
}

// now is a context that is done: what is there is read, and nothing waited for.
var now = func() context.Context {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	return done
}()

// take returns what has changed since it was last called, table by table. The error is that of a table that cannot
// be read on.
func (i *inbox) take() ([]change, error) {
	var all []change
	for _, r := range i.readers {
		for {
			changes, err := r.cursor.Next(now)
			if errors.Is(err, context.Canceled) {
				break
			}
			if err != nil {
				return nil, err
			}
			for _, c := range changes {
				all = append(all, change{r.resource, c})
			}
		}
	}
	return all, nil
}
