package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMendingChangesNothingButTheFault(t *testing.T) {
	for _, id := range []string{"LW011", "LW021"} {
		text := fault(t, id)
		r := linted(t, Options{}, text)
		mended, changes := Mend([]byte(text), r.Findings)
		require.NotEmpty(t, changes)
		golden(t, "mended-"+id+".yaml", string(mended))
		left := linted(t, Options{}, string(mended))
		require.Len(t, left.Findings, len(r.Findings)-len(changes), "what is mended is found no more, and nothing else is found")
		again, none := Mend(mended, left.Findings)
		require.Empty(t, none)
		require.Equal(t, mended, again, "mending twice changes nothing")
		again, _ = Mend(mended, r.Findings)
		require.Equal(t, mended, again, "nor do the old findings, whose lines hold something else by now")
	}
}

func TestALineIsEditedOnlyIfItIsWrittenAsExpected(t *testing.T) {
	seconds := &Edit{Remove: "tolerationSeconds"}
	for line, want := range map[string]string{
		"    tolerationSeconds: 5":                                         "removed",
		"    tolerationSeconds: 5 # why":                                   "removed",
		"  - {key: a, tolerationSeconds: 5}":                               "  - {key: a}",
		"  - {tolerationSeconds: 5, key: a} # tolerationSec":               "  - {key: a} # tolerationSec",
		`  "tolerationSeconds": 5, "key": "a"`:                             "as it is",
		"  - tolerationSeconds: 5":                                         "as it is",
		"  - [{k: a, tolerationSeconds: 5}, {k: b, tolerationSeconds: 6}]": "as it is",
		"tolerationSeconds: &five 5":                                       "as it is",
	} {
		after, remains, ok := seconds.apply(line)
		switch {
		case !ok:
			after = "as it is"
		case !remains:
			after = "removed"
		}
		require.Equal(t, want, after, line)
	}
	after, remains, ok := (&Edit{Replace: "Immediately", By: "Directly"}).apply("purgeMode: Immediately # Immediately")
	require.True(t, ok && remains)
	require.Equal(t, "purgeMode: Directly # Immediately", after)
	require.Contains(t, Change{Line: 3, Old: "a"}.String(), "-a\n")
	require.Equal(t, 1, strings.Count(Change{Line: 3, Old: "a", New: "b", Remains: true}.String(), "+b\n"))
}
