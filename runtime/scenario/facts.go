package scenario

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"leeward/messages"
)

// facts are all kinds of facts, so that a slip in an event is found before the run.
var facts = kindsOf(messages.Facts()...)

func kindsOf(all ...messages.Fact) map[string]reflect.Type {
	kinds := make(map[string]reflect.Type, len(all))
	for _, f := range all {
		kinds[f.Kind()] = reflect.TypeOf(f).Elem()
	}
	return kinds
}

// factKinds returns the names of all facts, sorted.
func factKinds() []string { return slices.Sorted(maps.Keys(facts)) }

// misfit returns the error of a tree that no value of a Go type could match: it has a field that the
// type has not in JSON, or another shape. A type that reads itself, or holds anything, fits everything.
func misfit(tree any, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if tree == nil || t.Kind() == reflect.Interface || readsItself(t) {
		return nil
	}
	if want := shapeOf(t); want != shapeOf(reflect.TypeOf(tree)) {
		return errors.New("is " + want)
	}
	switch tree := tree.(type) {
	case map[string]any:
		return misfitMember(tree, t)
	case []any:
		for _, item := range tree {
			if err := misfit(item, t.Elem()); err != nil {
				return err
			}
		}
	}
	return nil
}

// shapeOf says what JSON has for a type.
func shapeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Slice:
		return "a list"
	default:
		return "a single value"
	}
}

func misfitMember(tree map[string]any, t reflect.Type) error {
	if t.Kind() != reflect.Struct {
		return nil
	}
	fields := fieldsOf(t)
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		field, ok := fields[name]
		if !ok {
			return fmt.Errorf("has no field %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if err := misfit(tree[name], field); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	return nil
}

// fieldsOf returns the types of a struct's fields by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
		case name == "-":
		case name == "" && f.Anonymous:
			maps.Copy(fields, fieldsOf(f.Type))
		case name != "":
			fields[name] = f.Type
		}
	}
	return fields
}
