package engine

import "sort"

// Change is one change of one object. Its objects are shared: copy them before you change them.
type Change struct {
	Key string
	// Version is the resource version that the change took.
	Version int64
	// Object is what is stored now; nil if it was deleted.
	Object Object
	// Text is the object as the log has it, JSON without its resourceVersion; nil where it is not at hand any more: it
	// saves those who send the latest changes on from writing each out again.
	Text []byte

	row, before *Row
	own         bool // the reader of the feed has made it
}

// Row returns the row of what is stored now, as the table keeps it; nil if it was deleted.
func (c *Change) Row() *Row {
	if c.row.none() {
		return nil
	}
	return c.row.cold()
}

// New reports whether there was no object before.
func (c *Change) New() bool { return c.before.none() }

// Previous is what was stored before; nil if the object is new. It may have to be decoded.
func (c *Change) Previous() Object { return c.before.Object() }

// step is a change as it is kept.
type step struct {
	now    item
	before *Row
	text   []byte
}

// told is a change as those who watch have it.
func (s *step) told() Change {
	return Change{Key: s.now.key, Version: s.now.version, Object: s.now.Object(), Text: s.text, row: s.now.Row, before: s.before}
}

// latestTexts is of how many changes a ring keeps the text, and what was stored before as it was.
const latestTexts = 1024

// ring keeps the latest changes of a table, with their objects as they are though they may be packed, too: many are
// changed again soon. Changes are counted from 0; those from begin to end are at
// hand, where their number modulo the limit says.
type ring struct {
	changes    []step
	limit      int
	begin, end int64
	// floor is the version after which all changes are at hand.
	floor int64
}

// add keeps a change, and returns the one that it drops for that; nil for none.
func (r *ring) add(s step) (dropped *item) {
	if last := r.end - latestTexts; last >= r.begin {
		past := r.at(last)
		past.text, past.before = nil, past.before.cold()
	}
	if len(r.changes) < r.limit {
		r.changes = append(r.changes, s)
		r.end++
		return nil
	}
	place := r.at(r.end)
	if r.end-r.begin == int64(r.limit) {
		r.floor = place.now.version
		r.begin++
		dropped = new(place.now)
	}
	*place = s
	r.end++
	return dropped
}

// forget drops the changes up to a version.
func (r *ring) forget(version int64) {
	for begin := r.after(version); r.begin < begin; r.begin++ {
		*r.at(r.begin) = step{}
	}
	r.floor = max(r.floor, version)
}

func (r *ring) at(n int64) *step { return &r.changes[n%int64(r.limit)] }

// after returns the number of the first change after a version.
func (r *ring) after(version int64) int64 {
	return r.begin + int64(sort.Search(int(r.end-r.begin), func(i int) bool {
		return r.at(r.begin+int64(i)).now.version > version
	}))
}

// from returns a copy of the changes from one number to another.
func (r *ring) from(begin, end int64) []step {
	if begin == end {
		return nil
	}
	changes := make([]step, 0, end-begin)
	for n := begin; n < end; n++ {
		changes = append(changes, *r.at(n))
	}
	return changes
}
