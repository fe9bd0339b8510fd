package kubeapi_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"

	"leeward/runtime/daemon/kubeapi"
)

// issue writes a certificate for a name, with that of its authority, and its key into a folder.
func issue(t *testing.T, dir, name string) (certFile, keyFile string) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(name, nil, nil)
	require.NoError(t, err)
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	require.NoError(t, os.WriteFile(keyFile, key, 0o600))
	require.NoError(t, os.WriteFile(certFile, certificate, 0o600))
	return certFile, keyFile
}

// shown is the certificate that a server shows to who calls it by a name.
func shown(t *testing.T, addr, name string) *x509.Certificate {
	t.Helper()
	c, err := tls.Dial("tcp", addr, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	return c.ConnectionState().PeerCertificates[0]
}

func TestTheServerShowsTheCertificateThatItIsGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := serve(t, func(c *kubeapi.Config) { c.ServingCert, c.ServingKey = issue(t, dir, "leeward.example.org") })
	d.create(clusters, cluster("m1")) // by the administrator's kubeconfig, which trusts the server's own
	first := shown(t, d.Addr(), "leeward.example.org")
	require.NoError(t, first.VerifyHostname("leeward.example.org"))
	require.Equal(t, "leewardd", shown(t, d.Addr(), "localhost").Subject.CommonName)
	issue(t, dir, "leeward.example.org")
	require.Eventually(t, func() bool { return !shown(t, d.Addr(), "leeward.example.org").Equal(first) }, time.Minute, 20*time.Millisecond)
}

func TestOldTLSIsRefused(t *testing.T) {
	d := serve(t)
	d.create(clusters, cluster("m1"))
	_, err := tls.Dial("tcp", d.Addr(), &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11, InsecureSkipVerify: true})
	require.ErrorContains(t, err, "protocol version")
}

func TestAKubeconfigTrustsWhatIsShownWhereItPointsTo(t *testing.T) {
	dir := t.TempDir()
	given, _ := issue(t, t.TempDir(), "leeward.example.org")
	leaf := filepath.Join(t.TempDir(), "leaf.crt")
	chain, err := cert.CertsFromFile(given)
	require.NoError(t, err)
	text, err := cert.EncodeCertificates(chain[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(leaf, text, 0o600))
	for name, c := range map[string]struct {
		at      kubeapi.Endpoint
		trusted string
	}{
		"the daemon's own authority":                    {kubeapi.Endpoint{Address: "leeward.example.org:7443"}, "leeward-ca"},
		"the daemon's own on its own machine":           {kubeapi.Endpoint{Address: "127.0.0.1:7443", ServingCert: given}, "leeward-ca"},
		"the authority that comes with the certificate": {kubeapi.Endpoint{Address: "leeward.example.org:7443", ServingCert: given}, chain[1].Subject.CommonName},
		"those of the system, where none comes along":   {kubeapi.Endpoint{Address: "leeward.example.org:7443", ServingCert: leaf}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := kubeapi.Kubeconfig(dir, c.at, viewer, clock.New().Now())
			require.NoError(t, err)
			text := k.Clusters["leeward"].CertificateAuthorityData
			if c.trusted == "" {
				require.Empty(t, text)
				return
			}
			trusted, err := cert.ParseCertsPEM(text)
			require.NoError(t, err)
			require.Len(t, trusted, 1)
			require.Equal(t, c.trusted, trusted[0].Subject.CommonName)
		})
	}
	_, err = kubeapi.Kubeconfig(dir, kubeapi.Endpoint{Address: "a.example:1", ServingCert: "nowhere.crt"}, viewer, clock.New().Now())
	require.ErrorContains(t, err, "read the serving certificate: open nowhere.crt")
	_, err = kubeapi.Kubeconfig(dir, kubeapi.Endpoint{Address: "a.example"}, viewer, clock.New().Now())
	require.ErrorContains(t, err, `read the address "a.example"`)
}

func TestClientsOfAnotherAuthorityAreKnown(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir() // another daemon's folder, for its authority
	k, err := kubeapi.Kubeconfig(elsewhere, kubeapi.Endpoint{Address: "127.0.0.1:1"}, viewer, clock.New().Now())
	require.NoError(t, err)
	theirs, err := clientcmd.NewDefaultClientConfig(*k, nil).ClientConfig()
	require.NoError(t, err)
	for name, trusts := range map[string]bool{"one that is trusted": true, "one that is not": false} {
		t.Run(name, func(t *testing.T) {
			d := serve(t, func(c *kubeapi.Config) {
				if trusts {
					c.ClientCA = filepath.Join(elsewhere, "pki", "ca.crt")
				}
			})
			d.create(clusters, cluster("m1")) // by its own authority, as ever
			them := rest.CopyConfig(d.as(viewer))
			them.CertData, them.KeyData = theirs.CertData, theirs.KeyData
			_, err := dynamicFor(t, them).Resource(clusters).List(t.Context(), metav1.ListOptions{})
			require.Equal(t, trusts, err == nil, err)
		})
	}
}

func TestAKubeconfigPointsToThisMachineWhereTheServerListensEverywhere(t *testing.T) {
	d := start(t, open(t), t.TempDir(), "0.0.0.0:0", func(c *kubeapi.Config) { c.Expose = true })
	_, port, err := net.SplitHostPort(d.Addr())
	require.NoError(t, err)
	require.Equal(t, "https://127.0.0.1:"+port, d.as(viewer).Host)
	d.create(clusters, cluster("m1"))
}
