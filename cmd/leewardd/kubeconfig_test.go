package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"leeward/cmd/internal/exitcode"
)

// printed runs a command line and returns what it prints.
func printed(args ...string) (string, error) {
	c := rootCommand(nil)
	var out bytes.Buffer
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.Execute()
	return out.String(), err
}

func TestAKubeconfigSaysWhoItIsFor(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args   []string
		user   string
		groups []string
	}{
		"an agent": {[]string{"--agent", "member1"}, "leeward:agent:member1", []string{"leeward:agents"}},
		"a user": {
			[]string{"--user", "vera", "--group", "leeward:viewers", "--group", "sre"}, "vera", []string{"leeward:viewers", "sre"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := printed(append([]string{"kubeconfig", "--data-dir", dir, "--secure-port", "1234"}, c.args...)...)
			require.NoError(t, err)
			k, err := clientcmd.RESTConfigFromKubeConfig([]byte(text))
			require.NoError(t, err)
			require.Equal(t, "https://127.0.0.1:1234", k.Host)
			block, _ := pem.Decode(k.CertData)
			certificate, err := x509.ParseCertificate(block.Bytes)
			require.NoError(t, err)
			require.Equal(t, c.user, certificate.Subject.CommonName)
			require.ElementsMatch(t, c.groups, certificate.Subject.Organization)
			roots := x509.NewCertPool()
			require.True(t, roots.AppendCertsFromPEM(k.CAData))
			_, err = certificate.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
			require.NoError(t, err, "one authority signs for all")
		})
	}
}

func TestAKubeconfigSaysWhereTheDaemonIs(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		host string
	}{
		"where it listens":                       {[]string{"--bind-address", "10.0.0.1"}, "https://10.0.0.1:7443"},
		"its name, if it listens everywhere":     {[]string{"--bind-address", "0.0.0.0", "--tls-host", "leeward.example.org"}, "https://leeward.example.org:7443"},
		"this machine, if it has no name":        {[]string{"--bind-address", "::"}, "https://127.0.0.1:7443"},
		"where it is said to be, whatever it is": {[]string{"--server", "lb.example.org:443"}, "https://lb.example.org:443"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := printed(append([]string{"kubeconfig", "--data-dir", dir, "--agent", "m1"}, c.args...)...)
			require.NoError(t, err)
			k, err := clientcmd.RESTConfigFromKubeConfig([]byte(text))
			require.NoError(t, err)
			require.Equal(t, c.host, k.Host)
		})
	}
}

func TestAKubeconfigOfAFolderThatNoDaemonHasUsedSaysSo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mistyped")
	said := "No daemon has used " + dir + " yet"
	first, err := printed("kubeconfig", "--data-dir", dir, "--agent", "m1")
	require.NoError(t, err)
	require.Contains(t, first, said)
	second, err := printed("kubeconfig", "--data-dir", dir, "--agent", "m1")
	require.NoError(t, err)
	require.NotContains(t, second, said)
}

func TestAKubeconfigIsForAUser(t *testing.T) {
	_, err := printed("kubeconfig", "--data-dir", t.TempDir())
	require.ErrorContains(t, err, "at least one of the flags in the group [agent karmada-agent user] is required")
	_, err = printed("kubeconfig", "--data-dir", t.TempDir(), "--agent", "m1,m2")
	require.ErrorContains(t, err, `--agent: "m1,m2" is not the name of a cluster: a lowercase RFC 1123 label`)
	_, err = printed("kubeconfig", "--data-dir", t.TempDir(), "--agent", "m1", "--user", "vera")
	require.ErrorContains(t, err, "[agent karmada-agent user] are set none of the others can be")
	_, err = printed("kubeconfig", "--data-dir", t.TempDir(), "--karmada-agent", "M1")
	require.ErrorContains(t, err, `--karmada-agent: "M1" is not the name of a cluster`)
	text, err := printed("kubeconfig", "--data-dir", t.TempDir(), "--karmada-agent", "m1")
	require.NoError(t, err)
	require.Contains(t, text, "user: system:karmada:agent:m1")
}

// hostIn runs kubeconfig for an agent of a data folder and returns the server that is in it.
func hostIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	text, err := printed(append([]string{"kubeconfig", "--data-dir", dir, "--agent", "m1"}, args...)...)
	require.NoError(t, err)
	k, err := clientcmd.RESTConfigFromKubeConfig([]byte(text))
	require.NoError(t, err)
	return k.Host
}

func TestAKubeconfigHasThePortThatTheDaemonReallyHas(t *testing.T) {
	dir := t.TempDir()
	r := startIn(t, dir, "")
	data := filepath.Join(dir, "data")
	require.Equal(t, r.client.Host, hostIn(t, data), "the daemon took any port")
	require.Equal(t, r.client.Host, hostIn(t, data, "--config", r.config, "--secure-port", "0"), "which is no port to print")
	require.Equal(t, "https://127.0.0.1:1234", hostIn(t, data, "--secure-port", "1234"), "unless a flag says another")
	require.NoError(t, r.stop())
	require.Equal(t, "https://127.0.0.1:7443", hostIn(t, data), "no daemon listens any more")
}

func TestAnAddressThatAKilledDaemonLeftBehindIsNotBelieved(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dir, stale := t.TempDir(), closed.Addr().String()
	require.NoError(t, closed.Close())
	for _, text := range []string{stale, "no address", ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "address"), []byte(text), 0o600))
		require.Equal(t, "https://127.0.0.1:7443", hostIn(t, dir), text)
	}
}

func TestTheAddressOfTheLivePage(t *testing.T) {
	dir := t.TempDir()
	at := []string{"--data-dir", dir, "--secure-port", "1234"}
	text, err := printed(append([]string{"ui"}, at...)...)
	require.NoError(t, err)
	require.Equal(t, "https://127.0.0.1:1234/ui/\n", text)
	require.NoFileExists(t, filepath.Join(dir, "pki", "tokens.key"))
	text, err = printed(append([]string{"ui", "--open", "--server", "leeward.example.org:443", "--user", "ada", "--group", "leeward:editors", "--for", "10m"}, at...)...)
	require.NoError(t, err)
	require.Regexp(t, `^ada, in leeward:editors, until \d\d:\d\d:\d\d\.\nhttps://leeward.example.org:443/ui/#token=[\w.-]+\n$`, text)
	for wrong, args := range map[string][]string{
		"13h0m0s is out of range: a token is good for up to 12h0m0s": {"--for", "13h"},
		"0s is out of range":                            {"--for", "0s"},
		`none that begins with "system:"`:               {"--group", "system:masters"},
		`user "": must have a name`:                     {"--user", ""},
		"ui is false: the daemon serves no live page":   {"--ui=false"},
		"attach is set: the daemon serves no live page": {"--attach", "kubeconfig"},
	} {
		_, err := printed(slices.Concat([]string{"ui", "--open"}, at, args)...)
		require.ErrorContains(t, err, wrong)
		require.Equal(t, exitcode.Invalid, exitcode.Of(err))
	}
}
