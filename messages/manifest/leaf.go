package manifest

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	yaml "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func stringPlan(w *walk, n *yaml.Node, v reflect.Value) {
	switch {
	case isText(n):
		v.SetString(n.Value)
	case n.Kind == yaml.ScalarNode && !isNull(n):
		w.wrong(n, "a string: quote it")
	default:
		w.wrong(n, "a string")
	}
}

func boolPlan(w *walk, n *yaml.Node, v reflect.Value) {
	b, ok := free(n).(bool)
	if !ok {
		w.wrong(n, "true or false")
		return
	}
	v.SetBool(b)
}

func floatPlan(w *walk, n *yaml.Node, v reflect.Value) {
	switch f := free(n).(type) {
	case int64:
		v.SetFloat(float64(f))
	case uint64:
		v.SetFloat(float64(f))
	case float64:
		v.SetFloat(f)
	default:
		w.wrong(n, "a number")
	}
}

func integerPlan(t reflect.Type) plan {
	switch zero := reflect.Zero(t); {
	case zero.CanInt():
		return intPlan(t)
	case zero.CanUint():
		return uintPlan
	}
	panic(fmt.Sprintf("manifest: no plan for %s: JSON cannot hold it", t))
}

func intPlan(t reflect.Type) plan {
	least, most := -1<<(t.Bits()-1), 1<<(t.Bits()-1)-1
	return func(w *walk, n *yaml.Node, v reflect.Value) {
		i, err := scalarInt(n)
		switch {
		case err != nil:
			w.wrong(n, "an integer")
		case v.OverflowInt(i):
			w.wrong(n, fmt.Sprintf("an integer from %d to %d", least, most))
		default:
			v.SetInt(i)
		}
	}
}

func uintPlan(w *walk, n *yaml.Node, v reflect.Value) {
	u, ok := free(n).(uint64)
	if i, err := scalarInt(n); err == nil && i >= 0 {
		u, ok = uint64(i), true
	}
	if !ok || v.OverflowUint(u) {
		w.wrong(n, "an integer, 0 or more")
		return
	}
	v.SetUint(u)
}

var errNoInteger = errors.New("not an integer of 64 bits")

// scalarInt returns the integer that n is; 3.0 and 1e3 are.
func scalarInt(n *yaml.Node) (int64, error) {
	i, ok := free(n).(int64)
	if !ok {
		return 0, errNoInteger
	}
	return i, nil
}

// free returns what a scalar is, and nil for any other node and for what JSON cannot hold.
func free(n *yaml.Node) any {
	if n.Kind != yaml.ScalarNode {
		return nil
	}
	value, err := scalar(n)
	if err != nil {
		return nil
	}
	return value
}

// wants words what a type reads, where its own error would not say it.
var wants = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():  "a quantity, as 500m or 2Gi",
	reflect.TypeFor[metav1.Time]():        "a time, as 2026-01-31T15:04:05Z",
	reflect.TypeFor[metav1.MicroTime]():   "a time, as 2026-01-31T15:04:05.000000Z",
	reflect.TypeFor[metav1.Duration]():    "a duration, as 1m30s",
	reflect.TypeFor[intstr.IntOrString](): "an integer or a string",
}

// jsonPlan hands a node, as JSON, to a type that reads itself.
func jsonPlan(t reflect.Type) plan {
	want := wants[t]
	return func(w *walk, n *yaml.Node, v reflect.Value) {
		before := len(w.problems)
		value := w.generic(n)
		if len(w.problems) > before {
			return
		}
		text, err := json.Marshal(value)
		if err == nil {
			err = v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text)
		}
		switch {
		case err != nil && want != "":
			w.wrong(n, want)
		case err != nil:
			w.report(n, written(n), err.Error())
		}
	}
}

func textPlan(w *walk, n *yaml.Node, v reflect.Value) {
	if !isText(n) {
		stringPlan(w, n, v)
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
		w.report(n, written(n), err.Error())
	}
}
