package kubeapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

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
