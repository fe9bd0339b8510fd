package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
)

// Row is one version of one object: as it is, or packed, or both. Its table, the snapshots and the ring of that, who watches
// it, and a transaction that rests on it have the same row; it is never changed. A nil row is no object.
type Row struct {
	table   *Table
	object  Object
	packed  packed
	version int64
	// expires is when the object goes by itself, in nanoseconds since 1970; 0 is never.
	expires int64
}

// Version returns the version that the object took; 0 of no object.
func (r *Row) Version() int64 {
	if r == nil {
		return 0
	}
	return r.version
}

// Object returns the object, or nil. It may have to be decoded. A start has read what is packed: that it cannot be is a defect.
func (r *Row) Object() Object {
	switch {
	case r.none():
		return nil
	case r.object != nil:
		return r.object
	}
	o, err := r.unpack(readOne)
	if err != nil {
		panic(fmt.Sprintf("engine: read version %d of %s: %v", r.version, r.table.resource.Name, err))
	}
	return o
}

// none reports whether there is no object: the row of a deletion has a version only.
func (r *Row) none() bool { return r == nil || r.object == nil && r.packed.text == "" }

// cold is the row without the object where there is its text.
func (r *Row) cold() *Row {
	if r == nil || r.object == nil || r.packed.text == "" {
		return r
	}
	cold := *r
	cold.object = nil
	return &cold
}

// packed is what the table keeps of a text; nothing where it keeps objects, or is so small that it would keep most of them,
// too, as the latest that changed.
func (t *Table) packed(text []byte) packed {
	if !t.resource.Packed || t.size.Load() < int64(t.resource.History) {
		return packed{}
	}
	return t.packer.pack(text)
}

// read returns the text of the object, which is gone afterwards.
func (r *Row) read(visit func(text []byte) error) error {
	if r.packed.text != "" {
		return r.packed.read(visit)
	}
	text, err := json.Marshal(r.object)
	if err != nil {
		return err
	}
	return visit(text)
}

// mentions reports whether one of some words may stand in the JSON of an object, in quotes.
func (r *Row) mentions(words []string) bool {
	if r.object != nil {
		return true
	}
	found := false
	_ = r.packed.read(func(text []byte) error { // what cannot be read is for Object to tell
		found = slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(`"`+word+`"`)) })
		return nil
	})
	return found
}

func (r *Row) unpack(read func(text []byte, into Object) error) (Object, error) {
	o := r.table.resource.New()
	if err := r.packed.read(func(text []byte) error { return read(text, o) }); err != nil {
		return nil, err
	}
	o.SetResourceVersion(strconv.FormatInt(r.version, 10))
	return o, nil
}

// Object is what tables hold. Once committed it is not changed by anyone.
type Object = api.Object

// Prefix begins every key of a resource: "/work.karmada.io/resourcebindings/", "/core/events/".
func Prefix(resource schema.GroupResource) string {
	group := resource.Group
	if group == "" {
		group = "core"
	}
	return "/" + group + "/" + resource.Resource + "/"
}

// Key returns "/group/resource/namespace/name", or "/group/resource/name" without a namespace.
func Key(resource schema.GroupResource, namespace, name string) string {
	if namespace == "" {
		return Prefix(resource) + name
	}
	return Prefix(resource) + namespace + "/" + name
}

// PrefixOf returns the prefix of a key, with its slash at the end, or "" if it has none.
func PrefixOf(key string) string {
	end := 0
	for range 3 {
		i := strings.IndexByte(key[end:], '/')
		if i < 0 {
			return ""
		}
		end += i + 1
	}
	return key[:end]
}

// VersionOf returns the version that an object carries, or 0 if it was never committed.
func VersionOf(o metav1.Object) int64 {
	version, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}
