package expect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// mismatch returns how got differs from want, empty if it does not. Both are trees as JSON has them.
// A mapping asks only for the keys it names, and null for a key that is not set; a list asks for one
// like each of its elements, in any order, and an empty list for no element at all; scalars are equal
// by value, also as quantities ("1" and "1000m") and as times.
func mismatch(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		return mapMismatch(path, want, got)
	case []any:
		return listMismatch(path, want, got)
	}
	if sameScalar(want, got) {
		return ""
	}
	return path + is(got)
}

func mapMismatch(path string, want map[string]any, got any) string {
	fields, ok := got.(map[string]any)
	if !ok && (got != nil || len(want) > 0) {
		return path + is(got)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if said := mismatch(join(path, key), want[key], fields[key]); said != "" {
			return said
		}
	}
	return ""
}

func listMismatch(path string, want []any, got any) string {
	elements, ok := got.([]any)
	if !ok && got != nil || len(want) == 0 && len(elements) > 0 {
		return path + is(got)
	}
	for _, w := range want {
		like := func(g any) bool { return mismatch("", w, g) == "" }
		if !slices.ContainsFunc(elements, like) {
			return path + is(got) + ", without " + compact(w)
		}
	}
	return ""
}

// is words what was found.
func is(got any) string {
	if got == nil {
		return " is not set"
	}
	return " is " + compact(got)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// compact writes a tree on one line, cut where it is long.
func compact(v any) string {
	const most = 300
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// sameScalar compares by value. A number and a text are the same where they read the same: YAML's 2 is
// the quantity "2". A boolean is only ever the same as a boolean.
func sameScalar(want, got any) bool {
	w, isText := scalarText(want)
	g, isTextToo := scalarText(got)
	if !isText || !isTextToo {
		return want == got
	}
	return w == g || sameQuantity(w, g) || sameTime(w, g)
}

func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case int:
		return strconv.Itoa(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

func sameQuantity(a, b string) bool {
	x, okay := quantity(a)
	y, also := quantity(b)
	return okay && also && x.Cmp(y) == 0
}

// quantity reads what looks like a quantity. Decimal exponents do not: they are never printed, and large
// ones take for ever to compare.
func quantity(s string) (resource.Quantity, bool) {
	const longest = 32
	if s == "" || len(s) > longest || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return resource.Quantity{}, false
	}
	for i := range len(s) - 1 {
		if (s[i] == 'e' || s[i] == 'E') && s[i+1] != 'i' {
			return resource.Quantity{}, false
		}
	}
	q, err := resource.ParseQuantity(s)
	return q, err == nil
}

func sameTime(a, b string) bool {
	x, err := time.Parse(time.RFC3339Nano, a)
	if err != nil {
		return false
	}
	y, err := time.Parse(time.RFC3339Nano, b)
	return err == nil && x.Equal(y)
}

// tree returns a value as JSON has it: mappings, lists and scalars.
func tree(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var t any
	return t, json.Unmarshal(text, &t)
}
