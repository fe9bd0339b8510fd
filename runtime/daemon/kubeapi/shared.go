package kubeapi

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"leeward/runtime/daemon/engine"
)

// recently is how many of a table's latest events are remembered as they were written out.
const recently = 128

// sharing has all watchers of a table send the same event object, so that it is copied and encoded once.
type sharing struct {
	mu     sync.Mutex
	latest [recently]struct {
		version int64
		deleted bool
		event   *shared
	}
	wrappings wrappings
}

// of returns what is sent of an object for the change of a version; deleted tells the end of an object from what
// is stored. make makes it, unless another watcher was first.
func (s *sharing) of(version int64, deleted bool, make func() *shared) *shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	place := &s.latest[version%recently]
	if place.event == nil || place.version != version || place.deleted != deleted {
		place.version, place.deleted, place.event = version, deleted, make()
	}
	return place.event
}

// shared is an object that several watchers send. It is encoded once for each form that they want.
type shared struct {
	engine.Object
	// logged is the object as the log has it, without its version; nil where that is not at hand.
	logged    []byte
	wrappings *wrappings

	mu      sync.Mutex
	encoded map[runtime.Identifier][]byte
}

var _ runtime.CacheableObject = (*shared)(nil)

// GetObject returns a copy that its taker may write to.
func (s *shared) GetObject() runtime.Object { return s.DeepCopyObject() }

// CacheEncode writes the object out, as it was written before if it was.
func (s *shared) CacheEncode(id runtime.Identifier, encode func(runtime.Object, io.Writer) error, w io.Writer) error {
	text, err := s.text(id, encode)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func (s *shared) text(id runtime.Identifier, encode func(runtime.Object, io.Writer) error) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := s.encoded[id]; ok {
		return text, nil
	}
	text, err := s.write(id, encode)
	if err != nil {
		return nil, err
	}
	if s.encoded == nil {
		s.encoded = map[runtime.Identifier][]byte{}
	}
	s.encoded[id] = text
	return text, nil
}

// write writes the object out, of what the log has where it can.
func (s *shared) write(id runtime.Identifier, encode func(runtime.Object, io.Writer) error) ([]byte, error) {
	if s.logged != nil {
		if w, known := s.wrappings.of(id); known {
			return w.around(s.logged, s.GetResourceVersion()), nil
		}
	}
	var b bytes.Buffer
	if err := encode(s.GetObject(), &b); err != nil {
		return nil, err
	}
	if s.logged != nil {
		s.wrappings.learn(id, b.Bytes(), s.logged, s.GetResourceVersion())
	}
	return b.Bytes(), nil
}

// wrapping is what an encoding puts before the JSON of an object: that of a watch says what has happened to it. One
// that does more to an object, as tables do, has none.
type wrapping []byte

var (
	beforeObject   = []byte(`"object":`)
	afterObject    = []byte("}\n")
	beforeMetadata = []byte(`"metadata":{`)
)

// around is an object of the log with its version, wrapped.
func (w wrapping) around(logged []byte, version string) []byte {
	before, after, _ := bytes.Cut(logged, beforeMetadata)
	text := make([]byte, 0, len(w)+len(logged)+len(version)+64)
	text = append(append(append(text, w...), before...), beforeMetadata...)
	text = append(append(append(text, `"resourceVersion":"`...), version...), `",`...) // every object has a name
	return append(append(text, after...), afterObject...)
}

// wrappingOf finds out what an encoding has put around an object of the log, if it did no more than that.
func wrappingOf(encoded, logged []byte, version string) wrapping {
	at := bytes.Index(encoded, beforeObject)
	if at < 0 || !bytes.HasSuffix(encoded, afterObject) {
		return nil
	}
	w := wrapping(bytes.Clone(encoded[:at+len(beforeObject)]))
	var wanted, got any
	if json.Unmarshal(encoded, &wanted) != nil || json.Unmarshal(w.around(logged, version), &got) != nil || !reflect.DeepEqual(wanted, got) {
		return nil
	}
	return w
}

// wrappings are those of the encodings that clients of a table have asked for, nil for those that have none. Each is
// learnt of the first object that is written out, and holds for all.
type wrappings struct {
	mu    sync.RWMutex
	known map[runtime.Identifier]wrapping
}

func (w *wrappings) of(id runtime.Identifier) (known wrapping, found bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	known = w.known[id]
	return known, known != nil
}

// learn looks at an object that was written out.
func (w *wrappings) learn(id runtime.Identifier, encoded, logged []byte, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.known[id]; known {
		return
	}
	if w.known == nil {
		w.known = map[runtime.Identifier]wrapping{}
	}
	w.known[id] = wrappingOf(encoded, logged, version)
}
