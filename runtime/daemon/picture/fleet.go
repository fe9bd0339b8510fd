package picture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// fleet follows what the store has of a fleet. It belongs to one goroutine.
type fleet struct {
	engine   *engine.Engine
	followed []follower
	tally    *tally
	clusters map[string]*api.Cluster
	governor *api.Governor
	// changed is set where the picture may be another since it was last drawn.
	changed bool
}

// follower reads the changes of one table.
type follower struct {
	cursor *engine.Cursor
	// take takes what was stored, and what is in its place; nil: nothing.
	take func(before, now api.Object)
}

// follow reads the fleet as it is.
func follow(e *engine.Engine) *fleet {
	f := &fleet{engine: e}
	f.begin()
	return f
}

// begin reads all, in place of what was known.
func (f *fleet) begin() {
	f.followed, f.tally, f.clusters, f.governor, f.changed = nil, newTally(), map[string]*api.Cluster{}, nil, true
	f.table(catalog.Clusters, f.takeCluster)
	f.table(catalog.Governors, func(_, now api.Object) { f.governor, _ = now.(*api.Governor) })
	f.table(catalog.Bindings, f.takeBinding)
	f.table(catalog.ClusterBindings, f.takeBinding)
}

func (f *fleet) table(r *catalog.Resource, take func(before, now api.Object)) {
	snapshot, cursor := f.engine.Table(r.Name()).SnapshotAndWatch()
	for _, o := range snapshot.Under("", "") {
		take(nil, o)
	}
	f.followed = append(f.followed, follower{cursor, take})
}

func (f *fleet) takeCluster(before, now api.Object) {
	if now == nil {
		delete(f.clusters, before.GetName())
		return
	}
	f.clusters[now.GetName()] = now.(*api.Cluster)
}

func (f *fleet) takeBinding(before, now api.Object) {
	if before != nil {
		f.tally.count(before, -1)
	}
	if now != nil {
		f.tally.count(now, 1)
	}
}

// over is done: a cursor that is given it returns what there is, and waits for nothing.
var over = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// catchUp takes what has changed. Who has fallen too far behind reads all again. The error is engine.ErrClosed.
func (f *fleet) catchUp() error {
	for i := range f.followed {
		var expired *engine.Expired
		switch err := f.followed[i].catchUp(&f.changed); {
		case errors.As(err, &expired):
			f.begin()
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

func (f *follower) catchUp(changed *bool) error {
	for {
		changes, err := f.cursor.Next(over)
		switch {
		case errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return fmt.Errorf("follow the store: %w", err)
		}
		for i := range changes {
			f.take(changes[i].Previous(), changes[i].Object)
		}
		*changed = true
	}
}

// Seen is the fleet as one viewer has been told of it. The zero value has heard nothing.
type Seen struct {
	At       time.Time
	Totals   Totals
	Governor Governor
	// Clusters are by name, Evictions by their binding and cluster.
	Clusters  map[string]*Cluster
	Evictions map[string]*Eviction
}

// Take takes in the next message, as JSON. What it says replaces what was said before of the same; nothing of a message that cannot be
// read is taken.
func (s *Seen) Take(text []byte) error {
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	next := Seen{At: m.At, Totals: s.Totals, Governor: s.Governor}
	clusters, evictions := s.Clusters, s.Evictions
	if m.Format != "" {
		if m.Format != Format || m.Version != Version {
			return fmt.Errorf("it is %s version %d, this is for %s version %d", m.Format, m.Version, Format, Version)
		}
		next = Seen{At: m.At}
		clusters, evictions = nil, nil
	}
	for _, part := range []struct {
		text json.RawMessage
		into any
	}{{m.Totals, &next.Totals}, {m.Governor, &next.Governor}} {
		if part.text == nil {
			continue
		}
		if err := json.Unmarshal(part.text, part.into); err != nil {
			return err
		}
	}
	var err error
	if next.Clusters, err = merge(clusters, m.Clusters); err != nil {
		return err
	}
	if next.Evictions, err = merge(evictions, m.Evictions); err != nil {
		return err
	}
	*s = next
	return nil
}

// merge is what was known with what is said now, where null is what is not shown any more.
func merge[V any](known map[string]*V, said map[string]json.RawMessage) (map[string]*V, error) {
	all := make(map[string]*V, len(known)+len(said))
	maps.Copy(all, known)
	for name, text := range said { // order-free: into a map
		if string(text) == "null" {
			delete(all, name)
			continue
		}
		v := new(V)
		if err := json.Unmarshal(text, v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = v
	}
	return all, nil
}
