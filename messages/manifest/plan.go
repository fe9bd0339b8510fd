package manifest

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages/spelling"
)

// plan reads a node that is no alias into a value of the type that the plan was made for.
type plan func(w *walk, n *yaml.Node, v reflect.Value)

// plans remembers the plan of each type for the life of the process.
var plans sync.Map

var (
	nodeType            = reflect.TypeFor[yaml.Node]()
	objectType          = reflect.TypeFor[map[string]any]()
	jsonUnmarshalerType = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// planOf returns the plan of a type. It is made when first used, so a type may contain itself.
func planOf(t reflect.Type) func() plan {
	made, ok := plans.Load(t)
	if !ok {
		made, _ = plans.LoadOrStore(t, sync.OnceValue(func() plan { return makePlan(t) }))
	}
	return made.(func() plan)
}

func makePlan(t reflect.Type) plan {
	switch pointer := reflect.PointerTo(t); {
	case t == nodeType:
		return nodePlan
	case t == objectType:
		return objectPlan
	case pointer.Implements(jsonUnmarshalerType):
		return jsonPlan(t)
	case pointer.Implements(textUnmarshalerType):
		return textPlan
	}
	switch t.Kind() {
	case reflect.Struct:
		return structPlan(t)
	case reflect.Map:
		return mapPlan(t)
	case reflect.Slice:
		return slicePlan(t)
	case reflect.Pointer:
		return pointerPlan(t)
	case reflect.Interface:
		return interfacePlan
	case reflect.String:
		return stringPlan
	case reflect.Bool:
		return boolPlan
	case reflect.Float32, reflect.Float64:
		return floatPlan
	}
	return integerPlan(t)
}

// nodePlan takes a node as it is; within an alias it stays one, so that reading it later is counted.
func nodePlan(w *walk, n *yaml.Node, v reflect.Value) {
	if w.aliases > 0 {
		n = aliasOf(n)
	}
	v.Set(reflect.ValueOf(n).Elem())
}

func pointerPlan(t reflect.Type) plan {
	elem := planOf(t.Elem())
	return func(w *walk, n *yaml.Node, v reflect.Value) {
		v.Set(reflect.New(t.Elem()))
		elem()(w, n, v.Elem())
	}
}

func interfacePlan(w *walk, n *yaml.Node, v reflect.Value) {
	if free := w.generic(n); free != nil {
		v.Set(reflect.ValueOf(free))
	}
}

func objectPlan(w *walk, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		w.wrong(n, "a mapping")
		return
	}
	v.Set(reflect.ValueOf(w.genericMap(n)))
}

func slicePlan(t reflect.Type) plan {
	if t.Elem().Kind() == reflect.Uint8 {
		return bytesPlan
	}
	elem := planOf(t.Elem())
	return func(w *walk, n *yaml.Node, v reflect.Value) {
		if n.Kind != yaml.SequenceNode {
			w.wrong(n, "a list")
			return
		}
		p := elem()
		v.Set(reflect.MakeSlice(t, len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			w.push(step{index: i, kind: stepItem})
			w.value(item, v.Index(i), p)
			w.pop()
		}
	}
}

func mapPlan(t reflect.Type) plan {
	elem := planOf(t.Elem())
	return func(w *walk, n *yaml.Node, v reflect.Value) {
		if n.Kind != yaml.MappingNode {
			w.wrong(n, "a mapping")
			return
		}
		p, entries := elem(), w.entries(n)
		made := reflect.MakeMapWithSize(t, len(entries)/2)
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		for k, item := range pairs(entries) {
			name, ok := w.key(k)
			if !ok {
				continue
			}
			key.SetString(name)
			value.SetZero()
			w.push(step{name: name, kind: stepKey})
			if made.MapIndex(key).IsValid() {
				w.duplicate(k, entries)
			}
			w.value(item, value, p)
			w.pop()
			made.SetMapIndex(key, value)
		}
		v.Set(made)
	}
}

// duplicate reports the key k, which is already there.
func (w *walk) duplicate(k *yaml.Node, entries []*yaml.Node) {
	for first := range pairs(entries) {
		if follow(first).Value == follow(k).Value {
			w.report(k, "", "set twice, first on line "+itoa(first.Line))
			return
		}
	}
}

// structField is a field with its name in JSON.
type structField struct {
	name  string
	index []int
	plan  func() plan
}

// maxFields bounds the fields of one struct, so that those seen are counted without allocating.
const maxFields = 128

func structPlan(t reflect.Type) plan {
	fields := structFields(t, nil)
	if len(fields) > maxFields {
		panic(fmt.Sprintf("manifest: %s has %d fields, more than %d", t, len(fields), maxFields))
	}
	byName := make(map[string]int, len(fields))
	names := make([]string, len(fields))
	for i, f := range fields {
		byName[f.name], names[i] = i, f.name
	}
	return func(w *walk, n *yaml.Node, v reflect.Value) {
		if n.Kind != yaml.MappingNode {
			w.wrong(n, "a mapping")
			return
		}
		var seen [maxFields]bool
		entries := w.entries(n)
		for k, item := range pairs(entries) {
			name, ok := w.key(k)
			if !ok {
				continue
			}
			i, known := byName[name]
			w.push(step{name: name})
			switch {
			case !known:
				w.report(k, "", "unknown field"+spelling.Hint(name, names))
			case seen[i]:
				w.duplicate(k, entries)
			default:
				seen[i] = true
				w.member(item, v.FieldByIndex(fields[i].index), fields[i].plan())
			}
			w.pop()
		}
	}
}

// member reads a field of a struct; null leaves it as it is.
func (w *walk) member(n *yaml.Node, v reflect.Value, p plan) {
	if target := follow(n); isNull(target) && !isTagged(target) {
		return
	}
	w.value(n, v, p)
}

// structFields lists the fields of a struct as encoding/json sees them; embedded structs without a
// name give theirs.
func structFields(t reflect.Type, outer []int) []structField {
	var fields []structField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		index := append(append([]int(nil), outer...), i)
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			fields = append(fields, structFields(f.Type, index)...)
		case name == "":
			fields = append(fields, structField{f.Name, index, planOf(f.Type)})
		default:
			fields = append(fields, structField{name, index, planOf(f.Type)})
		}
	}
	return fields
}

func bytesPlan(w *walk, n *yaml.Node, v reflect.Value) {
	data, err := base64.StdEncoding.DecodeString(n.Value)
	if !isText(n) || err != nil {
		w.wrong(n, "base64")
		return
	}
	v.SetBytes(data)
}
