package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/span"
)

// Field describes one field of the settings.
type Field struct {
	Name string
	// Flag is the flag of Karmada that the field mirrors, if any.
	Flag string
	// Cures lists the faults of Karmada that the field can cure: "K1".
	Cures []string
	// Words are the values of a field that is a word.
	Words []string

	in    bounds
	index int // within messages.Settings
}

// Fields returns every field, in the order of messages.Settings.
func Fields() []Field { return slices.Clone(fields) }

// Type returns what the field's values look like: "duration", "true or false", or its words.
func (f Field) Type() string { return f.reader().name }

// Range returns the documented range of a field that is a number or a duration, as "0 or more"; empty: any.
func (f Field) Range() string { return f.in.text }

// Of returns the field's value as Set reads it.
func (f Field) Of(s *messages.Settings) string {
	switch v := f.value(s).Interface().(type) {
	case time.Duration:
		return span.String(v)
	default:
		return fmt.Sprint(v)
	}
}

func (f Field) value(s *messages.Settings) reflect.Value {
	return reflect.ValueOf(s).Elem().Field(f.index)
}

func (f Field) set(s *messages.Settings, given any) error {
	text, err := scalar(given)
	if err != nil {
		return err
	}
	r, v := f.reader(), f.value(s)
	read, err := r.read(text)
	if err != nil {
		return fmt.Errorf("%q is not %s", text, r.wanted)
	}
	value := reflect.ValueOf(read).Convert(v.Type())
	if n, isNumber := number(value); isNumber && !f.in.holds(n) {
		return fmt.Errorf("%s is out of range: it must be %s", text, f.in.text)
	}
	v.Set(value)
	return nil
}

// reader reads the values of one type.
type reader struct {
	name   string
	wanted string // completes `"5x" is not ...`
	read   func(text string) (any, error)
}

// readers by type; every other field is a word.
var readers = map[reflect.Type]reader{
	reflect.TypeFor[bool]():          {"true or false", "true or false", reading(strconv.ParseBool)},
	reflect.TypeFor[time.Duration](): {"duration", "a duration: give it a unit, such as 90s, 10m or 1d", reading(parseDuration)},
	reflect.TypeFor[int]():           {"whole number", "a whole number", reading(strconv.Atoi)},
	reflect.TypeFor[int64]():         {"whole number", "a whole number", reading(parseInt64)},
	reflect.TypeFor[float64]():       {"number", "a number", reading(parseFloat64)},
}

func reading[T any](parse func(string) (T, error)) func(string) (any, error) {
	return func(text string) (any, error) { return parse(text) }
}

// parseDuration reads a negative one, too: what is out of range is said of all fields alike.
func parseDuration(text string) (time.Duration, error) {
	if positive, negative := strings.CutPrefix(text, "-"); negative {
		d, err := span.Parse(positive)
		return -d, err
	}
	return span.Parse(text)
}

func parseInt64(text string) (int64, error)     { return strconv.ParseInt(text, 10, 64) }
func parseFloat64(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

func (f Field) reader() reader {
	if r, known := readers[reflect.TypeFor[messages.Settings]().Field(f.index).Type]; known {
		return r
	}
	words := slices.Clone(f.Words)
	for i := range words {
		words[i] = cmp.Or(words[i], `""`)
	}
	return reader{strings.Join(words, ", "), "one of " + strings.Join(words, ", "), f.word}
}

// word finds a word whatever its letter case, so that YAML's True is the condition status True.
func (f Field) word(text string) (any, error) {
	for _, word := range f.Words {
		if strings.EqualFold(word, text) {
			return word, nil
		}
	}
	return nil, errors.New("unknown word")
}

// scalar returns the text of a value that YAML decoded.
func scalar(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool, int, int64, uint64:
		return fmt.Sprint(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case nil:
		return "", errors.New("a value is missing")
	default:
		return "", errors.New("takes one value, not a list or a map")
	}
}

// bounds is the range of a number; durations count in nanoseconds.
type bounds struct {
	text  string
	holds func(float64) bool
}

// ranges are those that a tag can name.
var ranges = map[string]func(float64) bool{
	"0 or more":              func(v float64) bool { return v >= 0 && v <= math.MaxFloat64 },
	"more than 0":            func(v float64) bool { return v > 0 && v <= math.MaxFloat64 },
	"more than 0, at most 1": func(v float64) bool { return v > 0 && v <= 1 },
	"0 to 1":                 func(v float64) bool { return v >= 0 && v <= 1 },
	"0 to 16":                func(v float64) bool { return v >= 0 && v <= eviction.Remembered },             // as a binding's history keeps
	"at most 9223372036":     func(v float64) bool { return v <= float64(math.MaxInt64/int64(time.Second)) }, // whole seconds that fit a time.Duration
}

func number(v reflect.Value) (n float64, isNumber bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanFloat():
		return v.Float(), true
	default:
		return 0, false
	}
}

func lookup(name string) (Field, error) {
	for i := range fields {
		if fields[i].Name == name {
			return fields[i], nil
		}
	}
	names := lists.Of(fields, func(f Field) string { return f.Name })
	return Field{}, fmt.Errorf("unknown field %q%s", name, spelling.Hint(name, append(names, featureGates)))
}
