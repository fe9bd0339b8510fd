package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

// full is a place to which nothing can be written.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestExitCodes(t *testing.T) {
	const first = "../../scenarios/nginx-is-evicted-from-a-failed-cluster.yaml"
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) string {
		require.NoError(t, os.WriteFile(in(name), []byte(text), 0o600))
		return in(name)
	}
	empty, file, fleet := t.TempDir(), put("file", ""), put("fleet.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
	kubeconfig := put("kubeconfig", "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n")
	require.NoError(t, wal.Create(in("store"), nil))
	require.NoError(t, wal.Create(in("used"), nil))
	used, _, err := wal.Open(in("used"), wal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, used.Close()) }()
	loop := in("loop") // a name that is right, and cannot be used
	require.NoError(t, os.Symlink("loop", loop))
	none := in("none")
	const late = "clusterFailureThreshold=2m"

	for name, c := range map[string]struct {
		code int
		args []string
	}{
		"help":                                      {exitHeld, nil},
		"a command that there is not":               {exitInvalid, []string{"reply"}},
		"a flag that there is not":                  {exitInvalid, []string{"storm", "--nonesuch"}},
		"a value that makes no sense":               {exitInvalid, []string{"storm", "--clusters", "many"}},
		"an argument too many":                      {exitInvalid, []string{"pause", "now"}},
		"a scenario that holds":                     {exitHeld, []string{"replay", first}},
		"an expectation that fails":                 {exitFailed, []string{"replay", first, "--until", "1s"}},
		"an example of a thousand pods":             {exitHeld, []string{"replay", "../../docs/examples/thousand-pods.yaml"}},
		"a scenario that is not there":              {exitInvalid, []string{"replay", none}},
		"a recording that is not there":             {exitInvalid, []string{"replay", none + ".jsonl"}},
		"a recording that cannot be read":           {exitInternal, []string{"replay", loop + "/x.jsonl"}},
		"a scenario that fails, to shrink":          {exitFailed, []string{"replay", first, "--set", late, "--shrink", in("small.yaml")}},
		"a scenario that holds, to shrink":          {exitInvalid, []string{"replay", first, "--shrink", none}},
		"a file to shrink to that exists":           {exitInvalid, []string{"replay", first, "--set", late, "--shrink", file}},
		"a file to shrink to that cannot be made":   {exitInternal, []string{"replay", first, "--set", late, "--shrink", none + "/x.yaml"}},
		"a sweep that holds":                        {exitHeld, []string{"replay", first, "--sweep", "seed=1,2"}},
		"a sweep of which a variant fails":          {exitFailed, []string{"replay", first, "--sweep", "clusterFailureThreshold=30s,2m"}},
		"a sweep of a value that makes no sense":    {exitInvalid, []string{"replay", first, "--sweep", "clusterFailureThreshold=soon"}},
		"first scenarios":                           {exitHeld, []string{"init", "-f", "../../docs/examples/fleet.yaml", "--most", "1", "--out", in("first.yaml")}},
		"first scenarios of what is not there":      {exitInvalid, []string{"init", "-f", none}},
		"first scenarios of what cannot be read":    {exitInternal, []string{"init", "-f", loop}},
		"first scenarios in a file that exists":     {exitInvalid, []string{"init", "-f", "../../docs/examples/fleet.yaml", "--out", file}},
		"a page that cannot be made":                {exitInternal, []string{"replay", first, "--html", none + "/page.html"}},
		"a storm's page that cannot be made":        {exitInternal, []string{"storm", "--html", none + "/page.html"}},
		"a report that is not there":                {exitInvalid, []string{"storm", "--compare", none}},
		"a report that cannot be read":              {exitInternal, []string{"storm", "--compare", loop}},
		"a report that is none":                     {exitInvalid, []string{"storm", "--compare", file}},
		"a manifest that is not there":              {exitInvalid, []string{"validate", none}},
		"a manifest that cannot be read":            {exitInternal, []string{"validate", loop}},
		"a store that is sound":                     {exitHeld, []string{"store", "verify", in("store")}},
		"a folder that is not there":                {exitInvalid, []string{"store", "verify", none}},
		"a folder without a store":                  {exitInvalid, []string{"store", "compact", empty}},
		"a folder that cannot be read":              {exitInternal, []string{"store", "verify", loop}},
		"a folder that cannot be compacted":         {exitInternal, []string{"store", "compact", loop}},
		"a store in use, to verify":                 {exitFailed, []string{"store", "verify", in("used")}},
		"a store in use, to export":                 {exitFailed, []string{"store", "export", in("used")}},
		"a store in use, to compact":                {exitFailed, []string{"store", "compact", in("used")}},
		"a store that is there already":             {exitInvalid, []string{"store", "import", in("store"), fleet}},
		"a store that cannot be made":               {exitInternal, []string{"store", "import", file + "/store", fleet}},
		"manifests of a store that are not there":   {exitInvalid, []string{"store", "import", none, none}},
		"a server that does not answer":             {exitFailed, []string{"cordon", "clusters", "c", "--kubeconfig", kubeconfig}},
		"a kubeconfig that is not there":            {exitInvalid, []string{"cordon", "clusters", "c", "--kubeconfig", none}},
		"a recording's file that is there already":  {exitInvalid, []string{"record", "--kubeconfig", kubeconfig, "-o", file}},
		"a recording's file that cannot be written": {exitInternal, []string{"record", "--kubeconfig", kubeconfig, "-o", none + "/x.jsonl"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, log bytes.Buffer
			require.Equal(t, c.code, execute(c.args, &out, &log), log.String())
		})
	}
	for name, args := range map[string][]string{
		"replay": {"replay", first}, "validate": {"validate", fleet}, "verify": {"store", "verify", in("store")}, "export": {"store", "export", in("store"), "-o", "yaml"},
		"sweep": {"replay", first, "--sweep", "seed=1"}, "shrink": {"replay", first, "--set", late, "--shrink", in("smaller.yaml")}, "init": {"init", "-f", "../../docs/examples/fleet.yaml", "--most", "1"},
		"compact": {"store", "compact", in("store")}, "import": {"store", "import", in("new"), fleet}, "version": {"version"},
	} {
		t.Run("output that cannot be written by "+name, func(t *testing.T) {
			var log bytes.Buffer
			require.Equal(t, exitInternal, execute(args, full{}, &log), log.String())
		})
	}
}
