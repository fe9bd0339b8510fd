package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	yaml "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/manifest"
)

// reader reads one scenario and collects its problems. A path leads from the document to a value, as
// in "spec.timeline[3].condition".
type reader struct {
	// holders are files with a Scenario among files of manifests.
	holders  []string
	source   Source
	doc      manifest.Document
	decoder  *manifest.Decoder
	problems manifest.Problems

	objects []manifest.Document
	members map[messages.ClusterName]messages.MemberBehaviour
	// memberNodes are the nodes of clusters that have some.
	memberNodes map[messages.ClusterName]*messages.MemberNodes
	// kubelets are those that do not start pods immediately.
	kubelets map[messages.NodeName]messages.KubeletBehaviour
	cast     cast
	// duration is 0 where the run has no given end.
	duration time.Duration
}

// decode reads a node, and says whether that went without a problem. Fields that must be there are.
func (r *reader) decode(path string, n *yaml.Node, into any) bool {
	before := len(r.problems)
	place := r.doc.Place
	place.Field = r.field(path)
	r.problems = append(r.problems, manifest.DecodeNode(place, n, into)...)
	if len(r.problems) == before {
		r.require(path, reflect.ValueOf(into).Elem())
	}
	return len(r.problems) == before
}

// require reports fields with the tag schema:"required" that are not written.
func (r *reader) require(path string, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() {
		return
	}
	for _, n := range needsOf(v.Type()) {
		at := path + "." + n.name
		if n.required && v.Field(n.field).IsZero() {
			r.bad(at, "required")
		} else if n.inside {
			r.require(at, v.Field(n.field))
		}
	}
}

// need is a field that must be written, or that holds such fields.
type need struct {
	field            int
	name             string
	required, inside bool
}

// needs are those of each type that was asked for.
var needs sync.Map

// needsOf are the needs of a type. No type that is written holds its own kind.
func needsOf(t reflect.Type) []need {
	if known, asked := needs.Load(t); asked {
		return known.([]need)
	}
	var all []need
	if t.Kind() == reflect.Struct && t != reflect.TypeFor[yaml.Node]() && !readsItself(t) {
		for i := range t.NumField() {
			all = append(all, needOf(i, t.Field(i))...)
		}
	}
	needs.Store(t, all)
	return all
}

func needOf(i int, field reflect.StructField) []need {
	inner := field.Type
	if inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	n := need{field: i, required: slices.Contains(strings.Split(field.Tag.Get("schema"), ","), "required")}
	n.name, _, _ = strings.Cut(field.Tag.Get("json"), ",")
	n.inside = n.name != "" && field.IsExported() && len(needsOf(inner)) > 0
	if n.required || n.inside {
		return []need{n}
	}
	return nil
}

func readsItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// field returns a path as it is from the top of the file: a scenario may be an item of a List.
func (r *reader) field(path string) string {
	if r.doc.Place.Field == "" {
		return path
	}
	return r.doc.Place.Field + "." + path
}

// bad reports a problem of the value at a path.
func (r *reader) bad(path, format string, args ...any) {
	r.problems = append(r.problems, &manifest.Problem{
		File:    r.doc.Place.File,
		Line:    r.doc.Line(path),
		Object:  r.doc.Place.Object,
		Field:   r.field(path),
		Message: fmt.Sprintf(format, args...),
	})
}

// identified reports what is missing of an object's apiVersion, kind and name, and whether nothing is.
func (r *reader) identified(path string, u *unstructured.Unstructured) bool {
	before := len(r.problems)
	for _, head := range []struct{ field, value string }{
		{"apiVersion", u.GetAPIVersion()}, {"kind", u.GetKind()}, {"metadata.name", u.GetName()},
	} {
		if head.value == "" {
			r.bad(path+"."+head.field, "required")
		}
	}
	return len(r.problems) == before
}

// oneOf reports a word that is none of those allowed; no word at all is.
func (r *reader) oneOf(path, word string, allowed ...string) {
	if word != "" && !slices.Contains(allowed, word) {
		r.bad(path, "want one of %s, not %q", strings.Join(allowed, ", "), word)
	}
}
