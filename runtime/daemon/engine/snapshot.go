package engine

import (
	"fmt"
	"iter"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/btree"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
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

// reader decodes what the log kept, as encoding/json would. Parts that read alike in many objects, such as times,
// labels, the placement of a policy or what a container asks for, are decoded once and shared by all of them: none of them changes what
// is committed. It belongs to one goroutine, and remembers every such part until it is dropped.
type reader struct {
	options json.Options
}

// asWritten are options for what was written here: names are as they are in the type, and each is there once.
var asWritten = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func newReader() *reader {
	return &reader{json.JoinOptions(catalog.AsJSON, json.WithUnmarshalers(json.JoinUnmarshalers(
		share[metav1.Time](),
		share[map[string]string](),
		share[[]string](),
		share[corev1.ResourceList](),
		share[*api.ReplicaRequirements](),
		share[*api.Placement](),
		share[*runtime.RawExtension](),
	)))}
}

func (r *reader) read(text []byte, into Object) error { return json.Unmarshal(text, into, r.options) }

func readOne(text []byte, into Object) error { return json.Unmarshal(text, into, catalog.AsJSON) }

// share decodes values of a type that have the same text once.
func share[T any]() *json.Unmarshalers {
	known := map[string]T{}
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, into *T) error {
		text, err := d.ReadValue()
		if err != nil {
			return err
		}
		value, found := known[string(text)]
		if !found {
			if err := json.Unmarshal(text, &value, catalog.AsJSON); err != nil {
				return err
			}
			known[string(text)] = value
		}
		*into = value
		return nil
	})
}
