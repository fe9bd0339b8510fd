package engine

import "sort"

// Change is one change of one object. Its objects are shared: copy them before you change them.
type Change struct {
	Key string
	// Version is the resource version that the change took.
	Version int64
	// Object is what stands now; nil if it was deleted.
	Object Object
	// Previous is what stood before; nil if the object is new.
	Previous Object
	// Text is the object as the log has it, JSON without its resourceVersion; nil where it is not at hand any more: it
	// saves those who send the latest changes on from writing each out again.
	Text []byte
}

// latestTexts is of how many changes a ring keeps the text.
const latestTexts = 1024

// ring keeps the latest changes of a table. Changes are counted from 0; those from begin to end are at
// hand, where their number modulo the limit says.
type ring struct {
	changes    []Change
	limit      int
	begin, end int64
	// floor is the version after which all changes are at hand.
	floor int64
}

func (r *ring) add(c Change) {
	if last := r.end - latestTexts; last >= r.begin {
		r.at(last).Text = nil
	}
	if len(r.changes) < r.limit {
		r.changes = append(r.changes, c)
		r.end++
		return
	}
	place := r.at(r.end)
	if r.end-r.begin == int64(r.limit) {
		r.floor = place.Version
		r.begin++
	}
	*place = c
	r.end++
}

// forget drops the changes up to a version.
func (r *ring) forget(version int64) {
	for begin := r.after(version); r.begin < begin; r.begin++ {
		*r.at(r.begin) = Change{}
	}
	r.floor = max(r.floor, version)
}

func (r *ring) at(n int64) *Change { return &r.changes[n%int64(r.limit)] }

// after returns the number of the first change after a version.
func (r *ring) after(version int64) int64 {
	return r.begin + int64(sort.Search(int(r.end-r.begin), func(i int) bool {
		return r.at(r.begin+int64(i)).Version > version
	}))
}

// from returns a copy of the changes from one number to another.
func (r *ring) from(begin, end int64) []Change {
	if begin == end {
		return nil
	}
	changes := make([]Change, 0, end-begin)
	for n := begin; n < end; n++ {
		changes = append(changes, *r.at(n))
	}
	return changes
}
