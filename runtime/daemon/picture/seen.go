package picture

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

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
