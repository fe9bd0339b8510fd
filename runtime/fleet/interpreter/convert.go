package interpreter

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

// fieldsOf are the fields of an object, as JSON has them.
func fieldsOf(o any) (any, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var v any
	return v, json.Unmarshal(text, &v)
}

// unstructuredOf are the fields of an object; they may not be written to.
func unstructuredOf(o api.Object) (map[string]any, error) {
	if u, is := o.(runtime.Unstructured); is {
		return u.UnstructuredContent(), nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(o)
}

// toLua makes a value of Lua of one of JSON. Fields come in order, so that a script that walks them does so.
func toLua(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case int32:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		t := l.CreateTable(len(v), 0)
		for _, item := range v {
			t.Append(toLua(l, item))
		}
		return t
	case map[string]any:
		t := l.CreateTable(0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			t.RawSetString(name, toLua(l, v[name]))
		}
		return t
	}
	panic(fmt.Sprintf("interpreter: a %T is no value of JSON", v))
}

// reading turns values of Lua into such of JSON.
type reading struct{ nodes int }

// fromLua makes a value of JSON of one of Lua. Lua has one empty table for lists and objects: like says which one it was, where a script only
// hands on what it was given.
func (r *reading) fromLua(v lua.LValue, depth int, like ...any) (any, error) {
	if r.nodes++; r.nodes > mostNodes || depth > mostDepth {
		return nil, fmt.Errorf("the script returns more than %d values, or deeper than %d", mostNodes, mostDepth)
	}
	switch v := v.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LBool:
		return bool(v), nil
	case lua.LString:
		return string(v), nil
	case lua.LNumber:
		return number(float64(v))
	case *lua.LTable:
		return r.table(v, depth, like)
	}
	return nil, fmt.Errorf("the script returns a %s", v.Type())
}

func number(n float64) (any, error) {
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return nil, errors.New("the script returns a number that is none")
	case n == math.Trunc(n) && math.Abs(n) < 1<<53:
		return int64(n), nil
	}
	return n, nil
}

func (r *reading) table(t *lua.LTable, depth int, like []any) (any, error) {
	if length := t.Len(); length > 0 {
		list := make([]any, length)
		for i := range list {
			item, err := r.fromLua(t.RawGetInt(i+1), depth+1, within(like, func(v any) any { return at(v, i) })...)
			if err != nil {
				return nil, err
			}
			list[i] = item
		}
		return list, nil
	}
	fields := map[string]any{}
	var problem error
	t.ForEach(func(key, value lua.LValue) {
		name, is := key.(lua.LString)
		if !is && problem == nil {
			problem = fmt.Errorf("the script returns a table with the key %s", key)
		}
		if problem == nil {
			fields[string(name)], problem = r.fromLua(value, depth+1, within(like, func(v any) any { return fieldAt(v, string(name)) })...)
		}
	})
	if len(fields) == 0 && slices.ContainsFunc(like, isList) {
		return []any{}, problem
	}
	return fields, problem
}

func within(like []any, part func(any) any) (parts []any) {
	for _, v := range like {
		if p := part(v); p != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

func fieldAt(v any, name string) any {
	fields, _ := v.(map[string]any)
	return fields[name]
}

func at(v any, i int) any {
	if list, is := v.([]any); is && i < len(list) {
		return list[i]
	}
	return nil
}

func isList(v any) bool {
	_, is := v.([]any)
	return is
}

// into reads a value of Lua as a type that JSON can be read as.
func into[T any](v lua.LValue) (T, error) {
	var result T
	fields, err := new(reading).fromLua(v, 0)
	if err != nil {
		return result, err
	}
	if object, is := fields.(map[string]any); is && len(object) == 0 {
		fields = nil // or an empty list
	}
	text, err := json.Marshal(fields)
	if err == nil {
		err = inWords(json.Unmarshal(text, &result))
	}
	return result, err
}

// inWords says of a value of the wrong type where it is and what belongs there, in the words of JSON.
func inWords(err error) error {
	wrong, is := errors.AsType[*json.UnmarshalTypeError](err)
	if !is {
		return err
	}
	where := "the result"
	if wrong.Field != "" {
		where = "the field " + wrong.Field + " of the result"
	}
	wanted := "a number of the type " + wrong.Type.Kind().String()
	switch wrong.Type.Kind() {
	case reflect.Slice, reflect.Array:
		wanted = "a list"
	case reflect.String:
		wanted = "a text"
	case reflect.Bool:
		wanted = "true or false"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		wanted = "an object"
	}
	return fmt.Errorf("%s must be %s, not %s", where, wanted, wrong.Value)
}
