package engine

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1" // what encoding/json is to become: it decodes twice as fast
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

// reader decodes what the log kept, as encoding/json would. Parts that read alike in many objects, such as times,
// labels, the placement of a policy or what a container asks for, are decoded once and shared by all of them: none of them changes what
// is committed. It belongs to one goroutine, and remembers every such part until it is dropped.
type reader struct {
	options json.Options
}

// asBefore are the options of encoding/json, but for its look at the whole text before it decodes any: what cannot be read
// is thrown away.
var asBefore = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

// asWritten are options for what was written here: names are as they are in the type, and each is there once.
var asWritten = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func newReader() *reader {
	return &reader{json.JoinOptions(asBefore, json.WithUnmarshalers(json.JoinUnmarshalers(
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

func readOne(text []byte, into Object) error { return json.Unmarshal(text, into, asBefore) }

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
			if err := json.Unmarshal(text, &value, asBefore); err != nil {
				return err
			}
			known[string(text)] = value
		}
		*into = value
		return nil
	})
}
