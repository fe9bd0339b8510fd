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
	return i.Object()
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

// Mentioning is Under of all objects in whose JSON one of some words occurs, in quotes, and of some others: of packed ones it
// tells without decoding them.
func (s Snapshot) Mentioning(prefix, from string, words ...string) iter.Seq2[string, Object] {
	return s.opened(func(yield func(item) bool) {
		for i := range s.items(prefix, from) {
			if i.mentions(words) && !yield(i) {
				return
			}
		}
	})
}

func (s Snapshot) opened(items iter.Seq[item]) iter.Seq2[string, Object] {
	return func(yield func(string, Object) bool) {
		if err := s.each(items, func(i *item, o Object) bool { return yield(i.key, o) }); err != nil {
			panic(fmt.Sprintf("engine: %v", err))
		}
	}
}

// Read visits all objects with their keys and rows, in order, or says which of them cannot be read: what is packed is not
// read when a store is opened.
func (s Snapshot) Read(visit func(key string, r *Row, o Object)) error {
	return s.each(s.items("", ""), func(i *item, o Object) bool { visit(i.key, i.cold(), o); return true })
}

// each visits items as objects, until no more are wanted.
func (s Snapshot) each(items iter.Seq[item], visit func(*item, Object) bool) error {
	if s.table.resource.Packed {
		return eachAs(items, decoder, func(i *item, o *Object) bool { return visit(i, *o) })
	}
	for i := range items {
		if !visit(&i, i.object) {
			break
		}
	}
	return nil
}
