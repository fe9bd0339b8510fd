package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// wondered runs the command.
func wondered(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	require.Equal(t, code, execute(append([]string{"what-if"}, args...), &out, &log), log.String())
	return out.String(), log.String()
}

func TestWhatIfInJSONIsTheGolden(t *testing.T) {
	golden, err := os.ReadFile("testdata/whatif.json")
	require.NoError(t, err)
	t.Chdir("../..")
	inJSON, _ := wondered(t, 1, "-f", weak, "--lose", "cluster=eu-1", "--samples", "2", "-o", "json")
	require.Equal(t, string(golden), inJSON)
	inYAML, _ := wondered(t, 1, "-f", weak, "--lose", "cluster=eu-1", "--samples", "2", "-o", "yaml")
	converted, err := yaml.YAMLToJSON([]byte(inYAML))
	require.NoError(t, err)
	require.JSONEq(t, inJSON, string(converted))
}

func TestWhatIfExitsByWhatChanges(t *testing.T) {
	t.Chdir("../..")
	for _, c := range []struct {
		code int
		args string
		says string
	}{
		{0, "-f " + weak + " --taint eu-1=a:NoSchedule", ""},
		{1, "-f " + weak + " --drain eu-1", ""},
		{1, "-f " + weak + " --lose region=eu --for 20m --kind network --by region", ""},
		{2, "-f " + weak + " --lose zone=a --drain eu-1", `--lose "zone=a": zone: there is no zone "a"`},
		{2, "-f " + weak, "leeward: name a change: --lose"},
		{2, "-f " + weak + " --drain eu-1 --for 1m --kind network", "--for says how something fails: name it with --lose\n--kind says"},
		{2, "-f " + weak + " --lose eu-1 --for 8d", "leeward: --for 8d: must not be longer than 7d\nsee 'leeward what-if --help'"},
		{2, "-f " + weak + " --drain eu-1 --config evictionWorker=1", `--config: unknown field "evictionWorker"; did you mean`},
		{2, "-f " + weak + " --set evictionWorker=1", `--set "evictionWorker=1": unknown field "evictionWorker"; did you mean`},
		{2, weak + " --drain eu-1", "leeward: what-if takes no arguments: name files with a flag, as -f " + weak},
		{2, "--drain eu-1", "name files with -f"},
		{2, "-f " + weak + " --lose moon --taint x --by tier", `--taint "x": cluster: `},
		{2, "-f " + weak + " --drain eu-1 --samples 1001", "--samples 1001: "},
		{2, "-f " + weak + " --apply nowhere.yaml", `--apply "nowhere.yaml": file: `},
		{2, "-f nowhere.yaml --drain eu-1", "nowhere.yaml"},
	} {
		_, log := wondered(t, c.code, strings.Fields(c.args)...)
		require.Contains(t, log, c.says, c.args)
	}
}
