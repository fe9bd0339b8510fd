package engine

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1" // what encoding/json is to become: it decodes twice as fast
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

// reader decodes what the log kept, as encoding/json would. Parts that read alike in many objects, such as labels, the
// placement of a policy or what a container asks for, are decoded once and shared by all of them: nobody changes what
// is committed. It belongs to one goroutine, and remembers every such part until it is dropped.
type reader struct {
	options json.Options
}

func newReader() *reader {
	return &reader{json.JoinOptions(jsonv1.DefaultOptionsV1(), json.WithUnmarshalers(json.JoinUnmarshalers(
		share[map[string]string](),
		share[[]string](),
		share[corev1.ResourceList](),
		share[*api.ReplicaRequirements](),
		share[*api.Placement](),
		share[*runtime.RawExtension](),
	)))}
}

func (r *reader) read(text []byte, into Object) error { return json.Unmarshal(text, into, r.options) }

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
			if err := jsonv1.Unmarshal(text, &value); err != nil {
				return err
			}
			known[string(text)] = value
		}
		*into = value
		return nil
	})
}
