package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestFlagsReadWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		name string
		flag pflag.Value
		text string
		want string
	}{
		{"a seed may be nothing", &seedFlag{}, "0", "0"},
		{"a seed has 64 bits", &seedFlag{}, "18446744073709551615", "18446744073709551615"},
		{"a count begins at one", new(countFlag), "1", "1"},
		{"a span knows days", new(spanFlag), "1d12h", "36h"},
		{"a word is one of several", &wordFlag{"a", []string{"a", "b"}}, "b", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, c.flag.Set(c.text))
			require.Equal(t, c.want, c.flag.String())
			require.NotEmpty(t, c.flag.Type())
		})
	}
}

func TestFlagsSayWhatTheyWant(t *testing.T) {
	for _, c := range []struct {
		name string
		flag pflag.Value
		text string
		want string
	}{
		{"a seed is not negative", &seedFlag{}, "-1", "must be a whole number from 0 to 18446744073709551615"},
		{"a seed has no fraction", &seedFlag{}, "1.5", "must be a whole number from 0 to 18446744073709551615"},
		{"a count is not zero", new(countFlag), "0", "must be a whole number, 1 or more"},
		{"a count is a number", new(countFlag), "many", "must be a whole number, 1 or more"},
		{"a span is not zero", new(spanFlag), "0", "must be longer than 0s"},
		{"a span has a unit", new(spanFlag), "5", "has no unit: write 5s or 5m"},
		{"a word is one of those", &wordFlag{"a", []string{"a", "b"}}, "c", "must be one of a, b"},
		{"an override has a value", new(overrideFlag), "field", `--set: "field" is not of the form field=value`},
	} {
		t.Run(c.name, func(t *testing.T) { require.EqualError(t, c.flag.Set(c.text), c.want) })
	}
}

func TestFlagsThatAreOpenShowNothing(t *testing.T) {
	require.Empty(t, (&seedFlag{}).String())
	require.Empty(t, new(spanFlag).String())
	require.Empty(t, new(overrideFlag).String())
}

func TestOverridesAddUp(t *testing.T) {
	var f overrideFlag
	require.NoError(t, f.Set("a=1"))
	require.NoError(t, f.Set("b=x=y,z"))
	require.Len(t, f, 2)
	require.Equal(t, "b", f[1].Field)
	require.Equal(t, "x=y,z", f[1].Value)
}
