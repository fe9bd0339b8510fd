package engine

import (
	"fmt"
	"iter"
	"strings"

	"github.com/google/btree"
)

// Snapshot is a table at one version. It stays as it is, whatever becomes of the table.
type Snapshot struct {
	table   *Table
	objects *btree.BTreeG[item]
	// Version is the version of the store, and so at least that of every object in the table.
	Version int64
}

// Len returns how many objects there are.
func (s Snapshot) Len() int { return s.objects.Len() }

// Get returns an object, or nil.
func (s Snapshot) Get(key string) Object {
	i, _ := s.objects.Get(item{key: key})
	return s.table.open(&i)
}

// Count returns how many keys begin with prefix and come after another one.
func (s Snapshot) Count(prefix, after string) int64 {
	n := int64(0)
	for i := range s.items(prefix, after) {
		if i.key != after {
			n++
		}
	}
	return n
}

func (s Snapshot) items(prefix, from string) iter.Seq[item] {
	return func(yield func(item) bool) {
		s.objects.AscendGreaterOrEqual(item{key: max(prefix, from)}, func(i item) bool {
			return strings.HasPrefix(i.key, prefix) && yield(i)
		})
	}
}

// Under returns the keys that begin with prefix and are not before from, in order, each with its object. An empty from is
// the beginning.
func (s Snapshot) Under(prefix, from string) iter.Seq2[string, Object] {
	return s.opened(s.items(prefix, from))
}

// Mentioning returns the keys that begin with prefix, in order, each with its object, of all objects that have one of
// some fields, and of some that have none: of packed ones it tells without decoding them.
func (s Snapshot) Mentioning(prefix string, fields ...string) iter.Seq2[string, Object] {
	return s.opened(func(yield func(item) bool) {
		for i := range s.items(prefix, "") {
			if i.mentions(fields) && !yield(i) {
				return
			}
		}
	})
}

func (s Snapshot) opened(items iter.Seq[item]) iter.Seq2[string, Object] {
	return func(yield func(string, Object) bool) {
		if err := s.each(items, yield); err != nil {
			panic(fmt.Sprintf("engine: %v", err))
		}
	}
}

// Read visits all objects with their keys, in order, or says which of them cannot be read: what is packed is not read
// when a store is opened.
func (s Snapshot) Read(visit func(key string, o Object)) error {
	return s.each(s.items("", ""), func(key string, o Object) bool { visit(key, o); return true })
}

const (
	openedFirst = 2 * partFrom
	// openedAtOnce is how many objects are decoded ahead of who reads them; the first are fewer, for those who want no
	// more.
	openedAtOnce = 1024
)

// each visits items as objects. Those that are packed are decoded some at a time, on every processor.
func (s Snapshot) each(items iter.Seq[item], visit func(string, Object) bool) error {
	atOnce := 1
	if s.table.resource.Packed {
		atOnce = openedFirst
	}
	var ahead []item
	for i := range items {
		if ahead = append(ahead, i); len(ahead) < atOnce {
			continue
		}
		if more, err := s.table.hand(ahead, visit); err != nil || !more {
			return err
		}
		if ahead = ahead[:0]; atOnce > 1 {
			atOnce = openedAtOnce
		}
	}
	_, err := s.table.hand(ahead, visit)
	return err
}

// hand hands items over as objects, and reports whether more are wanted.
func (t *Table) hand(items []item, visit func(string, Object) bool) (more bool, err error) {
	if err := t.openAll(items); err != nil {
		return false, err
	}
	for i := range items {
		if !visit(items[i].key, items[i].object) {
			return false, nil
		}
	}
	return true, nil
}
