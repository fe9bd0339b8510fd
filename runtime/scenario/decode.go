package scenario

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/manifest"
	"leeward/runtime/config"
)

// Decode returns the scenarios of a file, without those that have problems, and all problems. Each gets
// the file's other documents and the files it includes.
func (s Source) Decode(file string, data []byte) ([]*Scenario, manifest.Problems) {
	docs, problems := manifest.NewDecoder(kinds()).Decode(file, data)
	broken := len(problems) > 0
	var scenarios []*Scenario
	for _, doc := range docs {
		r := &reader{source: s, doc: doc, cast: newCast(), decoder: manifest.NewDecoder(kinds())}
		r.cast.incomplete = broken
		written, ok := doc.Object.(*document)
		switch {
		case !ok && doc.Object.GetObjectKind().GroupVersionKind().Kind == Kind:
			r.bad("apiVersion", "want %s", APIVersion)
		case !ok:
		case written.Spec == nil:
			r.bad("spec", "required")
		default:
			own, _ := r.decoder.Decode(file, data)
			if scenario := r.scenario(written.Spec, own); !broken && len(r.problems) == 0 {
				scenarios = append(scenarios, scenario)
			}
		}
		problems = append(problems, r.problems...)
	}
	sortByLine(problems)
	return scenarios, problems
}

func sortByLine(problems manifest.Problems) {
	slices.SortStableFunc(problems, func(a, b *manifest.Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// reader reads one scenario and collects its problems. A path leads from the document to a value, as
// in "spec.timeline[3].condition".
type reader struct {
	source   Source
	doc      manifest.Document
	decoder  *manifest.Decoder
	problems manifest.Problems

	objects []manifest.Document
	members map[messages.ClusterName]messages.MemberBehaviour
	cast    cast
	// duration is 0 where the run has no given end.
	duration time.Duration
}

func (r *reader) scenario(spec *spec, own []manifest.Document) *Scenario {
	r.members = map[messages.ClusterName]messages.MemberBehaviour{}
	r.duration = spec.Duration.orElse(0)
	if spec.Duration != nil && r.duration == 0 {
		r.bad("spec.duration", "must be more than 0; leave it out to run until nothing more is due")
	}
	if _, err := config.Profile(spec.Profile); err != nil {
		r.bad("spec.profile", "%v", err)
	}
	seed := uint64(1)
	if spec.Seed != nil {
		seed = *spec.Seed
	}
	r.add(own)
	r.include(spec.Include)
	r.fleet(spec.Fleet)
	return &Scenario{
		Name:        r.doc.Object.GetName(),
		Description: spec.Description,
		File:        r.doc.Place.File,
		Line:        r.doc.Line(""),
		Profile:     spec.Profile,
		Seed:        seed,
		Duration:    r.duration,
		Config:      r.settings("spec.config", &spec.Config),
		Timeline:    r.timeline(spec.Timeline),
		Expect:      r.expectations(spec.Expect),
		Objects:     r.objects,
		Members:     r.members,
	}
}

// include adds the manifests of the files that the patterns name, each file once.
func (r *reader) include(patterns []string) {
	included := map[string]bool{}
	for i, pattern := range patterns {
		path := fmt.Sprintf("spec.include[%d]", i)
		for _, name := range r.files(path, pattern) {
			if !included[name] {
				included[name] = true
				r.add(r.manifests(path, name, r.decoder))
			}
		}
	}
}

// manifests returns the documents of a file that is named at a path.
func (r *reader) manifests(path, name string, decoder *manifest.Decoder) []manifest.Document {
	if name == filepath.Clean(r.doc.Place.File) {
		r.bad(path, "%s is this very file", name)
		return nil
	}
	data, err := r.source.Read(name)
	if err != nil {
		r.cast.incomplete = true
		r.bad(path, "%v", err)
		return nil
	}
	docs, problems := decoder.Decode(name, data)
	r.problems = append(r.problems, problems...)
	r.cast.incomplete = r.cast.incomplete || len(problems) > 0
	if slices.ContainsFunc(docs, isScenario) {
		r.bad(path, "%s holds a Scenario: only manifests can be named here", name)
		return nil
	}
	return docs
}

// files returns the files that a pattern names, relative to the scenario's own.
func (r *reader) files(path, pattern string) []string {
	if pattern == "" || filepath.IsAbs(pattern) {
		r.bad(path, "want a path relative to this file, not %q", pattern)
		return nil
	}
	full := filepath.Join(filepath.Dir(r.doc.Place.File), filepath.FromSlash(pattern))
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{full}
	}
	names, err := r.source.Glob(full)
	switch {
	case err != nil:
		r.bad(path, "%q is not a glob pattern: %v", pattern, err)
	case len(names) == 0:
		r.cast.incomplete = true
		r.bad(path, "no file matches %q", pattern)
	}
	slices.Sort(names)
	return names
}

func isScenario(doc manifest.Document) bool {
	_, ok := doc.Object.(*document)
	return ok
}

// settings reads a mapping from fields to values, in the order written.
func (r *reader) settings(path string, n *yaml.Node) []config.Override {
	if n.Kind == 0 || n.Tag == "!!null" {
		return nil
	}
	var values map[string]any
	if !r.decode(path, n, &values) {
		return nil
	}
	fields := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.doc.Line(path+"."+a), r.doc.Line(path+"."+b)), strings.Compare(a, b))
	})
	overrides := make([]config.Override, len(fields))
	var trial messages.Settings
	for i, field := range fields {
		at := path + "." + field
		overrides[i] = config.Override{Field: field, Value: values[field], Source: r.sourceOf(at)}
		if err := config.Set(&trial, field, values[field]); err != nil {
			r.bad(at, "%v", err)
		}
	}
	return overrides
}

// sourceOf returns where a value is written, as "fleet.yaml:12".
func (r *reader) sourceOf(path string) string {
	return fmt.Sprintf("%s:%d", r.doc.Place.File, r.doc.Line(path))
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
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[yaml.Node]() || readsItself(v.Type()) {
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch at := path + "." + name; {
		case hasWord(field.Tag, "required") && v.Field(i).IsZero():
			r.bad(at, "required")
		case name != "" && field.IsExported():
			r.require(at, v.Field(i))
		}
	}
}

func readsItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

func hasWord(tag reflect.StructTag, word string) bool {
	return slices.Contains(strings.Split(tag.Get("schema"), ","), word)
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
