package store

import (
	"maps"
	"slices"

	"leeward/messages/api"
)

// Track has Changed tell what changes from now on. Without it a change costs nothing more than itself.
func (s *Store) Track() {
	if s.changed == nil {
		s.changed = map[api.Key]struct{}{}
	}
}

// Changed returns the keys of what was put, changed or deleted since it was last called, each once, in the order
// of Objects.
func (s *Store) Changed() []api.Key {
	keys := slices.SortedFunc(maps.Keys(s.changed), CompareKeys)
	clear(s.changed)
	return keys
}

// Note has Changed tell an object, once more.
func (s *Store) Note(key api.Key) {
	if s.changed != nil {
		s.changed[key] = struct{}{}
	}
}
