package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/cmd/internal/exitcode"
)

const kubeconfig = `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
  clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: a}]}`

// run runs the command with flags and returns its error.
func run(t *testing.T, args ...string) error {
	t.Helper()
	c := rootCommand()
	c.SetArgs(args)
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	return c.ExecuteContext(ended)
}

func TestFlagsThatMakeNoSenseAreNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(kubeconfig), 0o600))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no cluster":          {[]string{"--hub-kubeconfig", file}, `required flag(s) "cluster" not set`},
		"no hub":              {[]string{"--cluster", "m1"}, `required flag(s) "hub-kubeconfig" not set`},
		"no name":             {[]string{"--cluster", "M_1", "--hub-kubeconfig", file}, `--cluster: "M_1" is not the name of a cluster`},
		"no such file":        {[]string{"--cluster", "m1", "--hub-kubeconfig", "nonesuch"}, "--hub-kubeconfig: read the kubeconfig"},
		"a fast heartbeat":    {[]string{"--cluster", "m1", "--hub-kubeconfig", file, "--heartbeat", "1ms"}, "--heartbeat: 1ms is out of range: it must be 1s to 10m0s"},
		"a negative duration": {[]string{"--cluster", "m1", "--hub-kubeconfig", file, "--failure-threshold", "-1s"}, "--failure-threshold: -1s is out of range"},
		"no workers":          {[]string{"--cluster", "m1", "--hub-kubeconfig", file, "--workers", "0"}, "--workers: 0 is out of range: it must be 1 to 256"},
		"no namespace":        {[]string{"--cluster", "m1", "--hub-kubeconfig", file, "--leader-elect-namespace", "a/b"}, `--leader-elect-namespace: "a/b" is not the name of a namespace`},
		"many workers":        {[]string{"--cluster", "m1", "--hub-kubeconfig", file, "--workers", "257"}, "--workers: 257 is out of range"},
		"a level":             {[]string{"--cluster", "m1", "--hub-kubeconfig", file, "--log-level", "loud"}, `--log-level: "loud" is not one of`},
		"a format":            {[]string{"--cluster", "m1", "--hub-kubeconfig", file, "--log-format", "xml"}, `--log-format: "xml" is not one of`},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t, c.args...)
			require.ErrorContains(t, err, c.says)
			require.Equal(t, exitcode.Invalid, exitcode.Of(err))
		})
	}
	require.NoError(t, run(t, "--cluster", "m1", "--hub-kubeconfig", file, "--kubeconfig", file, "--listen", "127.0.0.1:0"), "a signal ends it")
	err := run(t, "--cluster", "m1", "--hub-kubeconfig", file, "--kubeconfig", file, "--listen", "nonesuch")
	require.ErrorContains(t, err, "--listen: ")
	require.Equal(t, exitcode.Internal, exitcode.Of(err))
}
