package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// held is an object as a table has it: as it is, or packed, or both; neither where there is none.
type held struct {
	object Object
	packed packed
}

func (h *held) none() bool { return h.object == nil && h.packed.text == "" }

// cool lets go of the object where there is its text.
func (h *held) cool() {
	if h.packed.text != "" {
		h.object = nil
	}
}

// packed is what the table keeps of a text; nothing where it keeps objects, or is so small that it would keep most of them,
// too, as the latest that changed.
func (t *Table) packed(text []byte) packed {
	if !t.resource.Packed || t.size.Load() < int64(t.resource.History) {
		return packed{}
	}
	return t.packer.pack(text)
}

// read hands over the text of what is held, which is gone afterwards.
func (h *held) read(visit func(text []byte) error) error {
	if h.packed.text != "" {
		return h.packed.read(visit)
	}
	text, err := json.Marshal(h.object)
	if err != nil {
		return err
	}
	return visit(text)
}

// mentions reports whether one of some words may stand in the JSON of an object, in quotes.
func (h *held) mentions(words []string) bool {
	if h.object != nil {
		return true
	}
	found := false
	_ = h.packed.read(func(text []byte) error { // what cannot be read is for open to tell
		found = slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(`"`+word+`"`)) })
		return nil
	})
	return found
}

// open returns an object that is held; nil for none. A start has read what is packed: that it cannot be is a defect.
func (t *Table) open(i *item) Object {
	if i.object != nil || i.none() {
		return i.object
	}
	o, err := t.unpack(i, readOne)
	if err != nil {
		panic(fmt.Sprintf("engine: %v", err))
	}
	return o
}

func (t *Table) unpack(i *item, read func(text []byte, into Object) error) (Object, error) {
	o := t.resource.New()
	if err := i.packed.read(func(text []byte) error { return read(text, o) }); err != nil {
		return nil, fmt.Errorf("read %s: %w", i.key, err)
	}
	o.SetResourceVersion(strconv.FormatInt(i.version, 10))
	return o, nil
}

// Kept is an object as a table keeps it, whatever becomes of that: where it is packed, no more than a small text.
type Kept struct {
	table *Table
	item  item
}

// Kept returns an object that stands at a version; nil where another does, or none.
func (t *Table) Kept(key string, version int64) *Kept {
	i := t.find(key)
	if i.none() || i.version != version {
		return nil
	}
	i.cool()
	return &Kept{t, i}
}

// Object returns the object. It may have to be decoded.
func (k *Kept) Object() Object { return k.table.open(&k.item) }
