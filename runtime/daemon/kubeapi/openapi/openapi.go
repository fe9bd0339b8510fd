// Package openapi describes Go types in OpenAPI, as openapi-gen would, but from the types themselves when the
// server starts: 20,000 generated lines are not kept, and a new field is described immediately.
//
// What a struct tag cannot say comes from comments: those of k8s.io/api have SwaggerDoc methods, those of
// messages/api are read from its source, and what the markers of k8s.io/api say of merging is in a table here.
package openapi

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"leeward/messages/api"
)

// Definitions returns what is served of the types of samples, and of all that they are made of.
func Definitions(samples ...any) common.GetOpenAPIDefinitions {
	return func(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
		d := definitions{ref: ref, known: map[string]common.OpenAPIDefinition{}}
		for _, sample := range samples {
			d.define(reflect.TypeOf(sample).Elem())
		}
		return d.known
	}
}

// FriendlyName returns the name of a definition as it is served. Types that name themselves keep it.
func FriendlyName(canonical string) string {
	if strings.Contains(canonical, "/") {
		return util.ToRESTFriendlyName(canonical)
	}
	return canonical
}

// definitions is what is known so far, by canonical name.
type definitions struct {
	ref   common.ReferenceCallback
	known map[string]common.OpenAPIDefinition
}

// define makes sure that a named type is known, and returns its canonical name.
func (d *definitions) define(t reflect.Type) string {
	name := nameOf(t)
	if _, known := d.known[name]; known {
		return name
	}
	d.known[name] = common.OpenAPIDefinition{} // a type may contain itself
	n := node{definitions: d, of: t, needs: map[string]bool{}}
	schema, is := scalar(t)
	if !is {
		schema = n.object()
	}
	schema.Description = docOf(t, "")
	d.known[name] = common.OpenAPIDefinition{Schema: schema, Dependencies: slices.Sorted(maps.Keys(n.needs))}
	return name
}

// nameOf returns the canonical name of a type. What a type of ours inlines has a name, which is not its own.
func nameOf(t reflect.Type) string {
	if isOurs(t) && !strings.Contains(t.Name(), "[") {
		return t.PkgPath() + "." + t.Name()
	}
	return util.GetCanonicalTypeName(reflect.New(t).Interface())
}

func isOurs(t reflect.Type) bool { return t.PkgPath() == reflect.TypeFor[api.Cluster]().PkgPath() }

// node is one struct being described.
type node struct {
	*definitions
	of    reflect.Type
	needs map[string]bool
}

func (n *node) object() spec.Schema {
	schema := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{}}}
	n.fields(n.of, &schema)
	slices.Sort(schema.Required)
	extend(&schema, "x-kubernetes-map-type", markersOf(n.of, "").mapType)
	return schema
}

// fields adds what a struct, or one that is inlined in it, is made of.
func (n *node) fields(t reflect.Type, schema *spec.Schema) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case name == "" && field.Anonymous:
			n.fields(field.Type, schema)
		default:
			schema.Properties[name] = n.property(t, field, name)
			if !strings.Contains(options, "omit") && !unasked[name] && field.Type.Kind() != reflect.Pointer {
				schema.Required = append(schema.Required, name)
			}
		}
	}
}

// unasked are fields that are always written, and that clients need not write.
var unasked = map[string]bool{"metadata": true, "status": true}

func (n *node) property(t reflect.Type, field reflect.StructField, name string) spec.Schema {
	schema := n.schema(field.Type)
	schema.Description = docOf(t, name)
	m := markersOf(t, name).orTags(field)
	extend(&schema, "x-kubernetes-list-type", m.listType)
	extend(&schema, "x-kubernetes-map-type", m.mapType)
	extend(&schema, "x-kubernetes-patch-strategy", field.Tag.Get("patchStrategy"))
	extend(&schema, "x-kubernetes-patch-merge-key", field.Tag.Get("patchMergeKey"))
	if len(m.keys) > 0 {
		schema.AddExtension("x-kubernetes-list-map-keys", m.keys)
	}
	if m.preset != "" {
		schema.Default = m.preset
	}
	return schema
}

func extend(schema *spec.Schema, name, value string) {
	if value != "" {
		schema.AddExtension(name, value)
	}
}

// schema describes a type where it is used: a struct by reference.
func (n *node) schema(t reflect.Type) spec.Schema {
	if _, is := scalar(t); is && t.Kind() != reflect.Struct {
		schema, _ := scalar(t)
		return schema
	}
	switch t.Kind() {
	case reflect.Pointer:
		return n.schema(t.Elem())
	case reflect.Slice, reflect.Array:
		return *spec.ArrayProperty(new(n.schema(t.Elem())))
	case reflect.Map:
		return *spec.MapProperty(new(n.schema(t.Elem())))
	case reflect.Interface:
		return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	}
	name := n.define(t)
	n.needs[name] = true
	return spec.Schema{SchemaProps: spec.SchemaProps{Ref: n.ref(name)}}
}

// ownType is a type that says how it is written.
type ownType interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

// scalar describes a type that is written as one value: a number, a text, or whatever it says itself.
func scalar(t reflect.Type) (spec.Schema, bool) {
	if t == reflect.TypeFor[runtime.RawExtension]() {
		return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}, true
	}
	if t == reflect.TypeFor[api.JSON]() { // any value: it has no type
		return spec.Schema{}, true
	}
	if own, says := reflect.New(t).Interface().(ownType); says {
		return simple(own.OpenAPISchemaType()[0], own.OpenAPISchemaFormat()), true
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return simple("string", "byte"), true
	}
	kind, format := common.OpenAPITypeFormat(t.Kind().String())
	return simple(kind, format), kind != ""
}

func simple(kind, format string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{kind}, Format: format}}
}

// markers are what comments of k8s.io/api say of a field, or of a type: how it is merged, and its default.
type markers struct {
	listType string
	keys     []string
	mapType  string
	preset   string
}

// orTags takes from the tags of a field how its list is merged, where no marker says otherwise.
func (m markers) orTags(field reflect.StructField) markers {
	if field.Type.Kind() != reflect.Slice || m.listType != "" || field.Type.Elem().Kind() == reflect.Uint8 {
		return m
	}
	key := field.Tag.Get("patchMergeKey")
	switch {
	case !strings.HasPrefix(field.Tag.Get("patchStrategy"), "merge"):
		m.listType = "atomic"
	case key == "":
		m.listType = "set"
	default:
		m.listType = "map"
		m.keys = []string{key}
	}
	return m
}
