package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each form of each command that predicts or explains is a golden, of a small dump.
func TestEveryFormIsGolden(t *testing.T) {
	t.Chdir("../..")
	const fleet = "-f cmd/leeward/testdata/forms/fleet.yaml"
	for name, args := range map[string]string{
		"assess":  "assess " + fleet,
		"what-if": "what-if " + fleet + " --lose m1@1m --for 20m --samples 3 --by cluster",
		"explain": "explain binding web-deployment -n shop " + fleet,
		"cluster": "explain cluster m1 " + fleet,
		"lint":    "lint " + fleet,
		"diff":    "diff " + fleet + " --set enableNoExecuteTaintEviction=false..true",
	} {
		for _, form := range []string{"text", "wide", "json", "yaml"} {
			if name == "lint" && form == "wide" {
				continue // which it does not have
			}
			t.Run(name+" "+form, func(t *testing.T) {
				var out, log bytes.Buffer
				require.LessOrEqual(t, execute(append(strings.Fields(args), "-o", form), &out, &log), exitFailed, log.String())
				require.Empty(t, log.String())
				isGolden(t, "forms/"+name+"."+form, out.String())
			})
		}
	}
}
