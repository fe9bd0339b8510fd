package scenario

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/runtime/fleet/config"
)

var update = flag.Bool("update", false, "rewrite docs/scenario.schema.json")

const schemaFile = "../../docs/scenario.schema.json"

// The schema is generated from the types of the language: their fields, tags and comments.
func TestTheSchemaIsCurrent(t *testing.T) {
	text, err := json.MarshalIndent(schemaOfAFile(t), "", "  ")
	require.NoError(t, err)
	text = append(text, '\n')
	if *update {
		require.NoError(t, os.WriteFile(schemaFile, text, 0o644))
	}
	current, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	require.Equal(t, string(current), string(text), "run go test ./runtime/scenario -update")
}

// node is a piece of a schema.
type node map[string]any

// generator makes the definitions of Go types, each once.
type generator struct {
	t           *testing.T
	comments    map[string]string // of "type" and of "type.Field"
	definitions node
}

func schemaOfAFile(t *testing.T) node {
	g := &generator{t: t, comments: commentsOf(t, "document.go", "values.go", "population.go", "apply.go"), definitions: node{}}
	maps.Copy(g.definitions, byHand())
	g.define("settings", settingsSchema())
	g.define("event", eventSchema())
	for name, v := range map[string]any{"fleetEntry": fleetEntry{}, "nodeEntry": nodeEntry{}, "step": step{}, "expectation": expectation{}} {
		g.define(name, g.object(reflect.TypeOf(v)))
	}
	scenario := g.object(reflect.TypeFor[document]())
	scenario["properties"].(node)["apiVersion"] = node{"const": APIVersion}
	scenario["properties"].(node)["kind"] = node{"const": Kind}
	scenario["required"] = []string{"apiVersion", "kind", "metadata", "spec"}
	g.define("scenario", scenario)
	return node{
		"$schema":     "http://json-schema.org/draft-07/schema#",
		"title":       "Leeward scenario",
		"description": "A file of manifests with one or more documents of kind Scenario. docs/scenarios.md describes the language.",
		"type":        "object",
		"properties":  node{"apiVersion": node{"type": "string"}, "kind": node{"type": "string"}},
		"if":          node{"properties": node{"kind": node{"const": Kind}}, "required": []string{"kind"}},
		"then":        ref("scenario"),
		"else":        ref("manifest"),
		"definitions": g.definitions,
	}
}

func (g *generator) define(name string, definition node) { g.definitions[name] = definition }

func ref(name string) node { return node{"$ref": "#/definitions/" + name} }

// byHand are the types that read more than one form.
func byHand() node {
	const number, unit = `[0-9]+(\.[0-9]+)?`, `(ns|us|µs|ms|s|m|h)`
	nameMap := func(of node) node { return node{"type": "object", "additionalProperties": of} }
	list := func(of node) node { return node{"type": "array", "items": of} }
	status := node{"type": "string", "enum": []string{"True", "False", "Unknown", ""}}
	text := node{"type": "string"}
	return node{
		"duration": node{
			"description": "Go's syntax and days: 90s, 5m30s, 1d12h; or 0.",
			"examples":    []string{"30s", "5m", "1h30m", "1d"},
			"anyOf": []node{
				{"type": "string", "pattern": "^(0|" + number + "d(" + number + unit + ")*|(" + number + unit + ")+)$"},
				{"const": 0},
			},
		},
		"startup": node{"anyOf": []node{ref("duration"), ref("startupRange")}},
		"bounds":  node{"anyOf": []node{{"type": "integer", "minimum": 0}, ref("boundsRange")}},
		"yes":     node{"anyOf": []node{{"const": true}, {"type": "object", "maxProperties": 0}}},
		"taintSpec": node{"anyOf": []node{
			{"type": "string", "pattern": ":(NoSchedule|PreferNoSchedule|NoExecute)$", "examples": []string{"failed:NoExecute", "team=a:NoSchedule"}},
			{
				"type": "object", "required": []string{"key", "effect"}, "additionalProperties": false,
				"properties": node{"key": text, "value": text, "timeAdded": text, "effect": node{"enum": []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}}},
			},
		}},
		"conditions": node{"anyOf": []node{nameMap(status), list(ref("condition"))}},
		"labelEdits": nameMap(node{"type": []string{"string", "null"}}),
		"shares":     node{"anyOf": []node{nameMap(node{"type": "integer", "minimum": 0}), {"type": "array", "items": text, "uniqueItems": true}}},
		"tasks":      list(node{"type": []string{"string", "object"}}),
		"clusterRef": node{
			"description": "A name, a pattern (eu-{1..3}, eu-*), a list of these, or a selector ({region: eu}).",
			"anyOf":       []node{text, {"type": "array", "items": text, "minItems": 1}, ref("selector")},
		},
		"nodeRef": node{
			"description": "A name, a pattern (n{1..3}, eu-*), a list of these, or a selector ({zone: a}).",
			"anyOf":       []node{text, {"type": "array", "items": text, "minItems": 1}, ref("selector")},
		},
		"resources": node{
			"description": "Amounts in one line (cpu=4,memory=8Gi,pods=110), or as a mapping.",
			"anyOf":       []node{text, ref("resourceList")},
		},
		"profile":      node{"enum": config.Profiles()},
		"resourceList": nameMap(node{"type": []string{"string", "number"}}),
		"object":       ref("manifest"),
		"applied":      node{"anyOf": []node{ref("manifest"), ref("fileRef"), list(node{"anyOf": []node{ref("manifest"), ref("fileRef")}})}},
		"manifest": node{
			"type": "object", "required": []string{"apiVersion", "kind"},
			"properties": node{"apiVersion": text, "kind": text, "metadata": node{"type": "object"}},
		},
		"metadata": node{"type": "object", "required": []string{"name"}, "properties": node{"name": text}},
	}
}

// forms are the struct types behind the definitions that are written by hand.
var forms = map[string]reflect.Type{
	"startupRange": reflect.TypeFor[startup](), "boundsRange": reflect.TypeFor[bounds](),
	"condition": reflect.TypeFor[condition](), "selector": reflect.TypeFor[selector](), "fileRef": reflect.TypeFor[fileRef](),
}

// object returns the schema of a struct.
func (g *generator) object(t reflect.Type) node {
	for name, form := range forms {
		if g.definitions[name] == nil {
			g.define(name, node{}) // so that it is made once
			g.define(name, g.object(form))
		}
	}
	properties, required, groups, dependencies := node{}, []string{}, map[string][]node{}, node{}
	for name, field := range jsonFields(t) {
		property := g.field(field)
		if comment := g.comments[t.Name()+"."+field.Name]; comment != "" {
			property["description"] = comment
		}
		properties[name] = property
		for _, word := range tagWords(field) {
			with, isWith := strings.CutPrefix(word, "with=")
			switch {
			case word == "required":
				required = append(required, name)
			case word == "mode" || word == "what" || word == "action" || word == "target":
				groups[word] = append(groups[word], node{"required": []string{name}})
			case isWith:
				dependencies[name] = node{"anyOf": requiring(strings.Split(with, "+"))}
			}
		}
	}
	made := node{"type": "object", "properties": properties, "additionalProperties": false}
	if comment := g.comments[t.Name()]; comment != "" {
		made["description"] = comment
	}
	if len(required) > 0 {
		slices.Sort(required)
		made["required"] = required
	}
	if len(dependencies) > 0 {
		made["dependencies"] = dependencies
	}
	var all []node
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, node{"oneOf": groups[group]})
	}
	if all != nil {
		made["allOf"] = all
	}
	return made
}

func requiring(names []string) []node {
	var all []node
	for _, name := range names {
		all = append(all, node{"required": []string{name}})
	}
	return all
}

// jsonFields walks the fields of a struct in their order, with their names in JSON.
func jsonFields(t reflect.Type) func(func(string, reflect.StructField) bool) {
	return func(yield func(string, reflect.StructField) bool) {
		for i := range t.NumField() {
			field := t.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" && !yield(name, field) {
				return
			}
		}
	}
}

func tagWords(field reflect.StructField) []string {
	return slices.DeleteFunc(strings.Split(field.Tag.Get("schema"), ","), func(word string) bool { return word == "" })
}

// field returns the schema of a field: what its tag names, or what its type asks for.
func (g *generator) field(field reflect.StructField) node {
	named := ""
	for _, word := range tagWords(field) {
		switch {
		case word == "required" || word == "mode" || word == "what" || word == "action" || word == "target" || strings.HasPrefix(word, "with="):
		case strings.Contains(word, "|"):
			return node{"type": "string", "enum": strings.Split(word, "|")}
		default:
			named = word
		}
	}
	t := field.Type
	switch {
	case named != "" && t == reflect.TypeFor[[]yaml.Node]():
		return node{"type": "array", "items": ref(named)}
	case named != "":
		return ref(named)
	}
	return g.typed(t)
}

func (g *generator) typed(t reflect.Type) node {
	switch {
	case t == reflect.TypeFor[corev1.ResourceList]():
		return ref("resourceList")
	case t == reflect.TypeFor[metav1.ObjectMeta]():
		return ref("metadata")
	case t.PkgPath() == reflect.TypeFor[document]().PkgPath() && g.definitions[t.Name()] != nil:
		return ref(t.Name())
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.typed(t.Elem())
	case reflect.Struct:
		g.define(t.Name(), g.object(t))
		return ref(t.Name())
	case reflect.Slice:
		return node{"type": "array", "items": g.typed(t.Elem())}
	case reflect.Map:
		return node{"type": "object", "additionalProperties": g.typed(t.Elem())}
	case reflect.Interface: // anything
		return node{}
	case reflect.Bool:
		return node{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Uint64:
		return node{"type": "integer", "minimum": 0}
	}
	require.Equal(g.t, reflect.String, t.Kind(), "no schema for %s", t)
	return node{"type": "string"}
}

// settingsSchema lists the settings with what they mean.
func settingsSchema() node {
	properties := node{"featureGates": node{
		"description": "Feature gates, as Karmada's flag takes them or as a mapping.",
		"type":        []string{"string", "object"},
	}}
	comments := config.Comments()
	for i, field := range config.Fields() {
		property := node{"description": comments[i]}
		switch kind := field.Type(); {
		case len(field.Words) > 0:
			property["enum"] = field.Words
		case kind == "true or false":
			property["type"] = "boolean"
		case strings.HasSuffix(kind, "number"):
			property["type"] = "number"
		default:
			property["type"] = "string"
		}
		properties[field.Name] = property
	}
	return node{"description": "docs/profiles.md describes the settings.", "type": "object", "properties": properties, "additionalProperties": false}
}

// eventSchema knows the fields of every kind of fact.
func eventSchema() node {
	var perKind []node
	for _, kind := range factKinds() {
		names := append(slices.Sorted(maps.Keys(fieldsOf(facts[kind]))), "kind")
		perKind = append(perKind, node{
			"if":   node{"properties": node{"kind": node{"const": kind}}},
			"then": node{"propertyNames": node{"enum": names}},
		})
	}
	return node{
		"type": "object", "required": []string{"kind"}, "allOf": perKind,
		"properties": node{
			"kind":    node{"description": "Kind of the fact.", "enum": factKinds()},
			"cluster": node{"description": "Cluster that the fact is about.", "type": "string"},
			"binding": node{"description": "Binding that the fact is about, or its workload.", "type": "string"},
		},
	}
}

// commentsOf returns the comments of the types and their fields in Go files, each on one line.
func commentsOf(t *testing.T, names ...string) map[string]string {
	comments := map[string]string{}
	line := func(groups ...*ast.CommentGroup) string {
		for _, group := range groups {
			if text := strings.Join(strings.Fields(group.Text()), " "); text != "" {
				return text
			}
		}
		return ""
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, declared := range file.Decls {
			general, ok := declared.(*ast.GenDecl)
			if !ok || general.Tok != token.TYPE {
				continue
			}
			for _, spec := range general.Specs {
				typed := spec.(*ast.TypeSpec)
				of, ok := typed.Type.(*ast.StructType)
				if !ok {
					continue
				}
				comments[typed.Name.Name] = line(typed.Doc, general.Doc)
				for _, field := range of.Fields.List {
					for _, ident := range field.Names {
						comments[typed.Name.Name+"."+ident.Name] = line(field.Doc)
					}
				}
			}
		}
	}
	return comments
}

// Every field of the language says what it is: editors show it.
func TestEveryFieldHasAComment(t *testing.T) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		properties, _ := v.(node)["properties"].(node)
		for name, property := range properties {
			if path != "manifest" && path != "metadata" && path != "scenario" && path != "taintSpec" {
				require.NotEmpty(t, property.(node)["description"], "%s.%s", path, name)
			}
		}
	}
	for name, definition := range schemaOfAFile(t)["definitions"].(node) {
		walk(name, definition)
	}
}
