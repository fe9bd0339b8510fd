package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/etcd/etcdtest"
	"leeward/runtime/fleet/catalog"
)

// moves runs the command and returns what it says.
func moves(t *testing.T, to, server, dataDir string, flags ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := rootCommand(nil)
	c.SetArgs(append([]string{"move", "--to", to, "--etcd-servers", server, "--data-dir", dataDir}, flags...))
	c.SetOut(&out)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// see returns who looks at a daemon.
func see(t *testing.T, r *running) *onlooker {
	t.Helper()
	c, err := client.New(r.client, io.Discard)
	require.NoError(t, err)
	return &onlooker{t, t.Context(), c}
}

// identity is who an object is, and since when.
func (o *onlooker) identity(k api.Key) string {
	o.t.Helper()
	object, err := o.client.Get(o.ctx, catalog.Of(k), k.Namespace, k.Name)
	require.NoError(o.t, err)
	return fmt.Sprint(object.GetUID(), object.GetCreationTimestamp())
}

func TestAFleetMovesToEtcdAndBackAndNoDeadlineMoves(t *testing.T) {
	t.Parallel() // it waits
	dir, server := t.TempDir(), etcdtest.Start(t)
	r := startIn(t, dir, "")
	seen := see(t, r)
	due := leaves(r, seen)
	cluster, workload := seen.identity(firstOne), seen.identity(webBinding)
	_, err := moves(t, toEtcd, server, filepath.Join(dir, "data"))
	require.ErrorContains(t, err, "another process has it open")
	require.NoError(t, r.stop())
	out, err := moves(t, toEtcd, server, filepath.Join(dir, "data"))
	require.NoError(t, err)
	require.Regexp(t, `^moved: \d+ objects to etcd; .*data/store still has them: do not start a daemon there again\n$`, out)

	_, file := shared(server)
	r = start(t, file)
	seen = see(t, r)
	require.Equal(t, cluster, seen.identity(firstOne))
	require.Equal(t, workload, seen.identity(webBinding))
	left(t, seen, due)
	_, err = moves(t, toFolder, server, filepath.Join(dir, "data"), "--replace")
	require.Regexp(t, `^move to the folder: .* is the leader, until .*: stop all daemons$`, err.Error())
	require.NoError(t, r.stop())
	_, err = moves(t, toFolder, server, filepath.Join(dir, "data"))
	require.ErrorContains(t, err, "holds a store already: use another --data-dir, or --replace to rename it")
	_, err = moves(t, toFolder, server, filepath.Join(dir, "data"), "--replace")
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(dir, "data", "store.replaced"))

	seen = see(t, startIn(t, dir, ""))
	left(t, seen, due)
	require.Equal(t, cluster, seen.identity(firstOne))
}

// TestAMoveThatIsKilledIsDoneByMovingAgain kills one when etcd has a part of the fleet.
func TestAMoveThatIsKilledIsDoneByMovingAgain(t *testing.T) {
	t.Parallel()
	dir, server := t.TempDir(), etcdtest.Start(t)
	var records []wal.Record
	for n := range 20_000 {
		name := fmt.Sprint("m", n)
		records = append(records, wal.Record{
			Key:    engine.Key(corev1.Resource("configmaps"), "default", name),
			Object: fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"default","uid":"u"}}`, name),
		})
	}
	require.NoError(t, wal.Create(filepath.Join(dir, "store"), records))
	s, err := etcd.Open(etcd.Config{Servers: []string{server}, Prefix: "/leeward", Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })

	mover := exec.Command(os.Args[0])
	mover.Env = append(os.Environ(), asDaemon+"="+strings.Join([]string{"move", "--to", "etcd", "--etcd-servers", server, "--data-dir", dir}, " "))
	require.NoError(t, mover.Start())
	ctx, begun := context.WithCancel(t.Context())
	_ = s.Follow(ctx, 0, func([]engine.News) error { // it ends as it is told to
		begun()
		return mover.Process.Kill()
	})
	require.Error(t, mover.Wait(), "it was killed")
	_, err = s.Load(t.Context())
	require.ErrorIs(t, err, etcd.ErrPartial)
	_, file := shared(server)
	require.ErrorIs(t, refuses(t, file), etcd.ErrPartial)

	_, err = moves(t, toEtcd, server, dir)
	require.NoError(t, err)
	state, err := s.Load(t.Context())
	require.NoError(t, err)
	require.Len(t, state.Records, len(records))
	_, err = moves(t, toEtcd, server, dir)
	require.EqualError(t, err, "move to etcd: etcd has objects under /leeward/objects already: use another --etcd-prefix, or --replace to delete them")
}

// refuses runs a daemon that does not start, and returns why.
func refuses(t *testing.T, configuration string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "leewardd.yaml")
	require.NoError(t, os.WriteFile(file, []byte(configuration), 0o600))
	c := rootCommand(nil)
	c.SetArgs([]string{"--config", file, "--data-dir", t.TempDir(), "--secure-port", "0"})
	c.SetErr(io.Discard)
	return c.ExecuteContext(t.Context())
}

func TestAMoveThatMakesNoSenseIsRefused(t *testing.T) {
	server := etcdtest.Start(t)
	for want, arguments := range map[string][]string{
		`required flag(s) "to" not set`:                                             {},
		`--to: "moon" is not one of etcd, folder`:                                   {"--to", "moon", "--etcd-servers", server},
		"move needs --etcd-servers: a fleet moves between the data folder and etcd": {"--to", "etcd"},
		"nowhere/store: holds no store":                                             {"--to", "etcd", "--etcd-servers", server, "--data-dir", "nowhere"},
	} {
		c := rootCommand(nil)
		c.SetArgs(append([]string{"move"}, arguments...))
		require.EqualError(t, c.ExecuteContext(t.Context()), want)
	}
}
