package engine

import (
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	openedFirst = partFrom
	// openedTogether is how many objects are decoded ahead of who reads them; the first are fewer, for those who want no
	// more.
	openedTogether = 1024
)

// ReadAs visits what all objects say in the fields that a T has, with their keys and versions, in order: who wants little
// of much need not wait for the rest to be decoded. The fields need names; what is visited is gone afterwards.
func ReadAs[T any](s Snapshot, visit func(key string, version int64, said *T)) error {
	reader := func(bool) func(*item, *T) error { return readAs[T] }
	return eachAs(s.items("", ""), reader, func(i *item, said *T) bool { visit(i.key, i.version, said); return true })
}

func readAs[T any](i *item, into *T) error {
	err := i.read(func(text []byte) error { return json.Unmarshal(text, into, asWritten) })
	if err != nil {
		return fmt.Errorf("read %s: %w", i.key, err)
	}
	return nil
}

// Skipped is a field that is passed over faster than one that a T does not have.
type Skipped struct{}

// UnmarshalJSONFrom reads on.
func (*Skipped) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	_, err := d.ReadValue()
	return err
}

// decoder returns what decodes an item as an object, unless it is one. Of many, what reads alike is shared: a reader takes
// its time to begin.
func decoder(many bool) func(*item, *Object) error {
	read := readOne
	if many {
		read = newReader().read
	}
	return func(i *item, into *Object) (err error) {
		if *into = i.object; *into != nil {
			return nil
		}
		if *into, err = i.unpack(read); err != nil {
			return fmt.Errorf("read %s: %w", i.key, err)
		}
		return nil
	}
}

// eachAs decodes some items at a time, on every processor, and where there are many, while others are visited, until no
// more are wanted. Each goroutine has a decoder of its own, which hears whether there are many.
func eachAs[T any](items iter.Seq[item], decoder func(many bool) func(*item, *T) error, visit func(*item, *T) bool) error {
	syncedTogether := openedFirst
	var gathered []item
	var ahead *opening[T]
	for i := range items {
		if gathered = append(gathered, i); len(gathered) < syncedTogether {
			continue
		}
		next := openAhead(gathered, decoder)
		if syncedTogether < openedTogether {
			ahead, next = next, nil
		}
		if more, err := ahead.hand(visit); err != nil || !more {
			return err
		}
		ahead, gathered, syncedTogether = next, nil, min(2*syncedTogether, openedTogether)
	}
	next := openAhead(gathered, decoder)
	if more, err := ahead.hand(visit); err != nil || !more {
		return err
	}
	_, err := next.hand(visit)
	return err
}

// opening is items that are being decoded.
type opening[T any] struct {
	items []item
	said  []T
	done  chan error
}

func openAhead[T any](items []item, decoder func(many bool) func(*item, *T) error) *opening[T] {
	o := &opening[T]{items, make([]T, len(items)), make(chan error, 1)}
	go func() {
		o.done <- inParts(len(items), func(from, to int) error {
			decode := decoder(len(items) == openedTogether)
			for n := from; n < to; n++ {
				if err := decode(&items[n], &o.said[n]); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	return o
}

// hand delivers what was decoded, once it is, and reports whether more is wanted. Nil has none.
func (o *opening[T]) hand(visit func(*item, *T) bool) (more bool, err error) {
	if o == nil {
		return true, nil
	}
	if err := <-o.done; err != nil {
		return false, err
	}
	for i := range o.items {
		if !visit(&o.items[i], &o.said[i]) {
			return false, nil
		}
	}
	return true, nil
}
