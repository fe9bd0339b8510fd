package scenario

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBracesExpandLeftmostSlowest(t *testing.T) {
	for pattern, want := range map[string]string{
		"member1":           "member1",
		"member{1..3}":      "member1 member2 member3",
		"m{08..11}":         "m08 m09 m10 m11",
		"m{0..2}":           "m0 m1 m2",
		"{eu,us}-{1..2}":    "eu-1 eu-2 us-1 us-2",
		"{a,b,c}":           "a b c",
		"only{x}":           "onlyx",
		"r{1..2}-{a,b}-end": "r1-a-end r1-b-end r2-a-end r2-b-end",
	} {
		got, err := ExpandBraces(pattern)
		require.NoError(t, err, pattern)
		require.Equal(t, strings.Fields(want), got, pattern)
	}
}

func TestBracesReject(t *testing.T) {
	for pattern, want := range map[string]string{
		"m{1..3":                 "does not close its brace",
		"m}1{":                   "closes a brace that it did not open",
		"m{1}}":                  "closes a brace that it did not open",
		"m{{1..2}}":              "must not put a brace into a brace",
		"m{}":                    "has an empty brace",
		"m{3..1}":                "has a range {3..1} that runs backwards",
		"m{a..c}":                "has a range {a..c} that is not {number..number}",
		"m{-1..2}":               "has a range {-1..2} that is not {number..number}",
		"m{1..4000000000}":       "expands to more than 10000 names",
		"m{1..1000}-{1..1000}":   "expands to more than 10000 names",
		strings.Repeat("m", 254): "is longer than 253 characters",
	} {
		_, err := ExpandBraces(pattern)
		require.EqualError(t, err, want, pattern)
	}
}

func FuzzBraces(f *testing.F) {
	for _, s := range []string{"m{1..3}", "{a,b}-{01..02}", "{", "}{", "{1..9999}{1..9999}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		names, err := ExpandBraces(pattern)
		if err == nil {
			require.NotEmpty(t, names)
			require.LessOrEqual(t, len(names), mostNames)
		}
	})
}
