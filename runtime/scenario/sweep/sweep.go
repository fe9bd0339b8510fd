// Package sweep runs a scenario under each of several values of settings, profiles and seeds, and compares what comes of it.
package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario/replay"
)

// Most is how many runs a sweep may take.
const Most = 1000

// The fields of an axis that are no settings.
const (
	Seed    = "seed"
	Profile = "profile"
)

// Axis is a field and the values that it takes, in the order written.
type Axis struct {
	Field  string
	Values []string
}

// ParseAxis reads "field=a,b,c". The field is a setting, or seed, or profile.
func ParseAxis(text string) (Axis, error) {
	field, list, found := strings.Cut(text, "=")
	if !found || field == "" || list == "" {
		return Axis{}, fmt.Errorf("%q is not of the form field=a,b,c", text)
	}
	a := Axis{field, strings.Split(list, ",")}
	for i, value := range a.Values {
		if value == "" {
			return Axis{}, fmt.Errorf("%q: value %d of %s is empty", text, i+1, field)
		}
		if slices.Index(a.Values, value) < i {
			return Axis{}, fmt.Errorf("%q: the value %s is given twice", text, value)
		}
		if err := known(field, value); err != nil {
			return Axis{}, err
		}
	}
	return a, nil
}

// known reports a seed that is none, and a profile or a setting that there is not. Values of settings depend on each other: they are
// checked together.
func known(field, value string) error {
	switch {
	case field == Seed:
		if _, err := strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("seed %q: must be a whole number from 0 to 18446744073709551615", value)
		}
	case field == Profile:
		_, err := config.Profile(value)
		return err
	case !config.Known(field):
		return config.Unknown(config.Override{Field: field, Value: value, Source: "--sweep"})
	}
	return nil
}

// Variant is one value of each axis.
type Variant struct {
	axes   []Axis
	values []int
}

// Variants are all combinations, in the order of the values; the last axis changes first.
func Variants(axes []Axis) ([]Variant, error) {
	n := 1
	for i, a := range axes {
		if slices.ContainsFunc(axes[:i], func(b Axis) bool { return b.Field == a.Field }) {
			return nil, fmt.Errorf("%s is given twice: name all of its values together", a.Field)
		}
		if n *= len(a.Values); n > Most {
			return nil, fmt.Errorf("more than %d variants: give fewer values", Most)
		}
	}
	if len(axes) == 0 {
		return nil, errors.New("a sweep needs a field with its values")
	}
	all := make([]Variant, n)
	for i := range all {
		values := make([]int, len(axes))
		for rest, k := i, len(axes)-1; k >= 0; k-- {
			values[k], rest = rest%len(axes[k].Values), rest/len(axes[k].Values)
		}
		all[i] = Variant{axes, values}
	}
	return all, nil
}

// Values are those of the variant, in the order of the axes.
func (v Variant) Values() []string {
	values := make([]string, len(v.axes))
	for i, k := range v.values {
		values[i] = v.axes[i].Values[k]
	}
	return values
}

// Apply puts the values on top of options.
func (v Variant) Apply(o replay.Options) replay.Options {
	o.Set = slices.Clip(o.Set)
	for i, value := range v.Values() {
		switch field := v.axes[i].Field; field {
		case Seed:
			o.Seed, _ = strconv.ParseUint(value, 10, 64) // ParseAxis has read it
		case Profile:
			o.Profile = value
		default:
			o.Set = append(o.Set, config.Override{Field: field, Value: value, Source: "--sweep"})
		}
	}
	return o
}

// String names the variant: "profile=karmada, gracefulEvictionTimeout=20s".
func (v Variant) String() string {
	values := v.Values()
	for i := range values {
		values[i] = v.axes[i].Field + "=" + values[i]
	}
	return strings.Join(values, ", ")
}
