package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/cmd/internal/exitcode"
	"leeward/runtime/daemon/engine/wal"
)

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	used, damaged, empty := in("used"), in("damaged"), in("empty")
	file := in("file")
	require.NoError(t, os.WriteFile(file, []byte("profile: other\n"), 0o600))
	require.NoError(t, wal.Create(filepath.Join(used, "store"), nil))
	log, _, err := wal.Open(filepath.Join(used, "store"), wal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, log.Close()) }()
	require.NoError(t, os.MkdirAll(filepath.Join(damaged, "store"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(damaged, "store", "00000000000000000001.log"), []byte("this is no log at all"), 0o600))
	require.NoError(t, os.Symlink("loop", in("loop")))
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, busy.Close()) }()
	_, port, err := net.SplitHostPort(busy.Addr().String())
	require.NoError(t, err)

	for name, c := range map[string]struct {
		code int
		args []string
	}{
		"help":                                    {exitcode.Held, []string{"--help"}},
		"a configuration that is printed":         {exitcode.Held, []string{"config"}},
		"a flag that there is not":                {exitcode.Invalid, []string{"--nonesuch"}},
		"a command that there is not":             {exitcode.Invalid, []string{"run"}},
		"a flag that is missing":                  {exitcode.Invalid, []string{"move"}},
		"a value that makes no sense":             {exitcode.Invalid, []string{"--log-level", "loud"}},
		"a configuration that is invalid":         {exitcode.Invalid, []string{"config", "--config", file}},
		"a configuration that is not there":       {exitcode.Invalid, []string{"--config", in("none")}},
		"a configuration that cannot be read":     {exitcode.Internal, []string{"--config", in("loop")}},
		"an agent that has no name":               {exitcode.Invalid, []string{"kubeconfig", "--agent", "No Name"}},
		"a move to nowhere":                       {exitcode.Invalid, []string{"move", "--to", "nowhere"}},
		"a move without etcd":                     {exitcode.Invalid, []string{"move", "--to", "etcd"}},
		"an address that everybody reaches":       {exitcode.Invalid, []string{"--data-dir", empty, "--bind-address", "0.0.0.0", "--secure-port", "0"}},
		"a certificate that is not there":         {exitcode.Invalid, []string{"--data-dir", empty, "--secure-port", "0", "--tls-cert-file", in("none"), "--tls-private-key-file", in("none")}},
		"authorities that are none":               {exitcode.Invalid, []string{"--data-dir", empty, "--secure-port", "0", "--client-ca-file", file}},
		"issuers that are none":                   {exitcode.Invalid, []string{"--data-dir", empty, "--secure-port", "0", "--authentication-config", file}},
		"issuers that cannot be read":             {exitcode.Internal, []string{"--data-dir", empty, "--secure-port", "0", "--authentication-config", in("loop")}},
		"certificates of etcd that are not there": {exitcode.Invalid, []string{"--data-dir", empty, "--secure-port", "0", "--etcd-servers", "https://127.0.0.1:1", "--etcd-cafile", in("none")}},
		"a store that is in use":                  {exitcode.Failed, []string{"--data-dir", used, "--secure-port", "0"}},
		"a store that is damaged":                 {exitcode.Failed, []string{"--data-dir", damaged, "--secure-port", "0"}},
		"a folder that cannot be made":            {exitcode.Internal, []string{"--data-dir", file, "--secure-port", "0"}},
		"a port that another process has":         {exitcode.Internal, []string{"--data-dir", empty, "--secure-port", port}},
		"a kubeconfig that cannot be made":        {exitcode.Internal, []string{"kubeconfig", "--agent", "member1", "--data-dir", file}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			stop() // a daemon that starts all the same ends
			root := rootCommand(nil)
			root.SetArgs(c.args)
			root.SetOut(io.Discard)
			root.SetErr(io.Discard)
			err := root.ExecuteContext(ctx)
			require.Equal(t, c.code, exitcode.Of(err), "%v", err)
		})
	}
}
