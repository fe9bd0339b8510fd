package invariant

import "reflect"

// Bytes estimates the memory that the monitor has for bindings: what it has for clusters and for the instant at hand is little
// beside that. Names and objects are the store's. It reads no more than the sizes of maps.
func (m *Monitor) Bytes() (sum int64) {
	sum += mapBytes(m.census.of) + mapBytes(m.changed) + mapBytes(m.open) + mapBytes(m.applied) + mapBytes(m.replacements) + mapBytes(m.copies.of)
	for _, l := range m.census.on { // order-free: a sum
		sum += mapBytes(l.bindings)
	}
	sum += mapBytes(m.due.ids) + int64(cap(m.due.names))*nameBytes + int64(len(m.due.ids))*deadlineBytes
	sum += mapBytes(m.budgeted.moved) + mapBytes(m.budgeted.took) + mapBytes(m.permits.given) + mapBytes(m.permits.released)
	return sum + int64(cap(m.violations))*int64(reflect.TypeFor[Violation]().Size())
}

// What a name in a list, and a deadline in the heap with its index, take.
const (
	nameBytes     = 16
	deadlineBytes = 20
)

// mapBytes is what the entries of a map take. Go's maps are three quarters full, and have a byte of control for each entry.
func mapBytes[K comparable, V any](m map[K]V) int64 {
	return int64(len(m)) * int64(reflect.TypeFor[K]().Size()+reflect.TypeFor[V]().Size()+1) * 4 / 3
}
