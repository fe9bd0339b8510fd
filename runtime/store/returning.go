package store

import "time"

// returnAt notes when the resource returns to an earlier affinity group; zero: it does not.
func (b *Binding) returnAt(at time.Time) (changed bool) {
	changed = !instant(b.Status.ReturnAt).Equal(at)
	b.Status.ReturnAt = microTime(at)
	return changed
}
