package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
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

func TestThePageOnWhatIfBeginsWithItsRealOutput(t *testing.T) {
	t.Chdir("../..")
	page, err := os.ReadFile("docs/what-if.md")
	require.NoError(t, err)
	out, log := wondered(t, 1, "-f", weak, "--lose", "region=eu")
	require.Empty(t, log, "progress is for terminals")
	var block strings.Builder
	for line := range strings.Lines("$ leeward what-if -f " + weak + " --lose region=eu\n" + out) {
		if line != "\n" {
			line = "    " + line
		}
		block.WriteString(line)
	}
	require.Contains(t, string(page), "\n\n"+block.String()+"\n", "docs/what-if.md shows another output")
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
		{2, "-f " + weak, "name a change"},
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

func TestWhatIfWritesNothing(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../../" + weak)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fleet.yaml"), text, 0o600))
	t.Chdir(dir)
	t.Setenv("TMPDIR", dir)
	tree := func() map[string]string {
		files := map[string]string{}
		require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := e.Info()
			require.NoError(t, err)
			files[name] = info.Mode().String() + info.ModTime().String()
			return nil
		}))
		return files
	}
	before := tree()
	for _, form := range []string{"text", "wide", "json", "yaml"} {
		out, _ := wondered(t, 1, "-f", ".", "--drain", "eu-1", "--scale", "shop/web=1@5m", "-o", form)
		require.Contains(t, out, "predict")
	}
	require.Equal(t, before, tree())
}
