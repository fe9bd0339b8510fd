// Package etcdtest runs an etcd for tests.
package etcdtest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/server/v3/embed"
)

// Start runs an etcd in this process until the test ends, on ports that are free, and returns its address. It does not
// wait for the disk.
func Start(t testing.TB) string {
	t.Helper()
	return start(t, true)
}

// StartDurable is Start of one that does wait for the disk.
func StartDurable(t testing.TB) string {
	t.Helper()
	return start(t, false)
}

func start(t testing.TB, volatile bool) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir, c.UnsafeNoFsync, c.LogLevel = t.TempDir(), volatile, "fatal"
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{free}, []url.URL{free}
	e, err := embed.StartEtcd(c)
	require.NoError(t, err)
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return "http://" + e.Clients[0].Addr().String()
}
