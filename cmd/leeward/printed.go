package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"sigs.k8s.io/yaml"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario/explain"
	"leeward/runtime/scenario/forecast"
)

// printed writes a result as JSON, YAML, or in words by a function. The error has its exit code.
func printed(stdout io.Writer, form string, result any, words func(io.Writer) error) error {
	out := bufio.NewWriter(stdout)
	var err error
	switch form {
	case "json", "yaml":
		err = encoded(out, form, result)
	default:
		err = words(out)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return internal(err)
	}
	return nil
}

// encoded writes a result as JSON or YAML, in which an empty list is [].
func encoded(out io.Writer, form string, result any) error {
	withLists(reflect.ValueOf(result))
	if form == "yaml" {
		text, err := yaml.Marshal(result)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(result)
}

// withLists makes the lists of a result that are nil empty ones, which JSON does not write as null.
func withLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			withLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				withLists(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			withLists(v.Index(i))
		}
	}
}

// unfinished is the error of a prediction that came to no end, with its exit code: its input is at fault, it was interrupted, or
// neither. Where says which input, undone what did not come to its end.
func unfinished(err error, where fmt.Stringer, undone string) error {
	var fleet *forecast.Invalid
	var manifests *world.Invalid
	var asked *explain.Invalid
	switch {
	case errors.As(err, &fleet), errors.As(err, &manifests), errors.As(err, &asked):
		return invalid(fmt.Errorf("%s: %w", where, err))
	case errors.Is(err, context.Canceled):
		return &exitcode.Exit{Code: exitInternal, Err: fmt.Errorf("leeward: interrupted: nothing was %s", undone)}
	}
	return internal(err)
}

// progressOn returns what tells, on a terminal, how many of how many are done; nil: it is none. Wipe takes it off its line.
func progressOn(stderr io.Writer) (progress func(done, of int), wipe func()) {
	if !logging.IsTerminal(stderr) {
		return nil, func() {}
	}
	return func(done, of int) { say(stderr, fmt.Sprintf("\r\x1b[K%d of %d", done, of)) }, func() { say(stderr, "\r\x1b[K") }
}
