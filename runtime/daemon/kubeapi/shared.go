package kubeapi

import (
	"bytes"
	"io"
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
