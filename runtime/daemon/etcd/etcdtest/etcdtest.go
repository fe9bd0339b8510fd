// Package etcdtest runs an etcd for tests.
package etcdtest

import (
	"crypto/x509"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// Start runs an etcd in this process until the test ends, on ports that are free, and returns its address. It does not
// wait for the disk.
func Start(t testing.TB) string {
	t.Helper()
	return start(t, func(c *embed.Config) { c.UnsafeNoFsync = true })
}

// StartDurable is Start of one that does wait for the disk.
func StartDurable(t testing.TB) string {
	t.Helper()
	return start(t, func(*embed.Config) {})
}

// StartSecured is Start of one that takes only clients who show a certificate: this one, which is its own, too.
func StartSecured(t testing.TB) (server, certFile, keyFile string) {
	t.Helper()
	pair, err := transport.SelfCert(zap.NewNop(), t.TempDir(), []string{"127.0.0.1:0"}, 1, x509.ExtKeyUsageClientAuth)
	require.NoError(t, err)
	server = start(t, func(c *embed.Config) {
		c.UnsafeNoFsync, c.ListenClientUrls[0].Scheme = true, "https"
		c.ClientTLSInfo = transport.TLSInfo{CertFile: pair.CertFile, KeyFile: pair.KeyFile, TrustedCAFile: pair.CertFile, ClientCertAuth: true}
	})
	return server, pair.CertFile, pair.KeyFile
}

func start(t testing.TB, configure func(*embed.Config)) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir, c.LogLevel = t.TempDir(), "fatal"
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{free}, []url.URL{free}
	configure(c)
	e, err := embed.StartEtcd(c)
	require.NoError(t, err)
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return c.ListenClientUrls[0].Scheme + "://" + e.Clients[0].Addr().String()
}
