package credentials

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"leeward/messages/api"
)

// kubeconfig writes one with a server and a user, as YAML in braces.
func kubeconfig(t *testing.T, server, user string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
  clusters: [{name: a, cluster: %s}], users: [{name: a, user: %s}]}`, server, user), 0o600))
	return file
}

const server = `{server: "https://member:6443/k8s/", proxy-url: "http://proxy:3128", insecure-skip-tls-verify: true}`

func TestWhatAKubeconfigHoldsIsStoredAndReadBack(t *testing.T) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("member", nil, nil)
	require.NoError(t, err)
	folder := t.TempDir()
	for name, text := range map[string]string{"token": "t0k3n", "cert": string(certificate), "key": string(key)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for name, c := range map[string]struct {
		server, user string
		want         Member
	}{
		"a token":             {server, `{token: t0k3n}`, Member{Endpoint: "https://member:6443/k8s", ProxyURL: "http://proxy:3128", Insecure: true, Token: "t0k3n"}},
		"the token of a file": {server, `{tokenFile: ` + folder + `/token}`, Member{Endpoint: "https://member:6443/k8s", ProxyURL: "http://proxy:3128", Insecure: true, Token: "t0k3n"}},
		"certificates in files": {`{server: "https://member", certificate-authority: ` + folder + `/cert}`, `{client-certificate: ` + folder + `/cert, client-key: ` + folder + `/key}`,
			Member{Endpoint: "https://member", CA: certificate, Cert: certificate, Key: key}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Load(kubeconfig(t, c.server, c.user), "")
			require.NoError(t, err)
			require.Equal(t, &c.want, m)
			o := &api.Cluster{}
			o.Name = "eu-1"
			m.Describe(o)
			require.True(t, Pushed(o))
			secret := m.Secret("eu-1")
			require.Equal(t, api.LocalSecretReference{Namespace: secret.Namespace, Name: secret.Name}, *o.Spec.SecretRef)
			again, err := Read(o, secret)
			require.NoError(t, err)
			require.True(t, m.Same(again))
			again.Token += "x"
			require.False(t, m.Same(again))
		})
	}
}

func TestCredentialsThatTheHubCannotUseAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ server, user, says string }{
		"a program":          {server, `{exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never}}`, "its user runs the program aws"},
		"a password":         {server, `{username: a, password: b}`, "neither a token nor a client certificate"},
		"nothing":            {server, `{}`, "neither a token nor a client certificate"},
		"another user":       {server, `{token: t, as: b}`, "acts as another"},
		"another name":       {`{server: "https://member", tls-server-name: x}`, `{token: t}`, "tls-server-name"},
		"no encryption":      {`{server: "http://member"}`, `{token: t}`, `the server "http://member" is not https`},
		"a query":            {`{server: "https://member/?a=b"}`, `{token: t}`, "more than a host and a path"},
		"a strange token":    {server, `{token: "a b"}`, "a character that no token has"},
		"a large token":      {server, `{token: ` + strings.Repeat("a", mostBytes+1) + `}`, "the credentials have 65537 bytes: they may have 65536"},
		"a large file":       {server, `{token: ` + strings.Repeat("a", mostFile) + `}`, "it may have 1048576"},
		"no authority":       {`{server: "https://member", certificate-authority-data: YWJj}`, `{token: t}`, "the authorities hold no certificate"},
		"no key":             {`{server: "https://member"}`, `{client-certificate-data: YWJj, client-key-data: YWJj}`, "the client certificate and its key: "},
		"a file that is not": {`{server: "https://member"}`, `{client-certificate: /nonesuch, client-key: /nonesuch}`, "/nonesuch"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(kubeconfig(t, c.server, c.user), "")
			require.ErrorContains(t, err, c.says)
		})
	}
	_, err := Load(kubeconfig(t, server, `{token: t}`), "nonesuch")
	require.ErrorContains(t, err, `context "nonesuch" does not exist`)
	_, err = Load("nonesuch", "")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestWhatOthersWroteIntoAClusterOrASecretIsChecked(t *testing.T) {
	good := func() (*api.Cluster, *corev1.Secret) {
		c := &api.Cluster{}
		c.Name = "eu-1"
		m := &Member{Endpoint: "https://member", Token: "t"}
		m.Describe(c)
		return c, m.Secret("eu-1")
	}
	for name, c := range map[string]struct {
		spoil func(*api.Cluster, *corev1.Secret) *corev1.Secret
		says  string
	}{
		"another namespace": {func(c *api.Cluster, s *corev1.Secret) *corev1.Secret { c.Spec.SecretRef.Namespace = "shop"; return s }, "read from the namespace karmada-cluster alone"},
		"no Secret":         {func(*api.Cluster, *corev1.Secret) *corev1.Secret { return nil }, "the Secret karmada-cluster/eu-1 does not exist"},
		"an empty Secret":   {func(_ *api.Cluster, s *corev1.Secret) *corev1.Secret { s.Data = nil; return s }, "neither a token nor a client certificate"},
		"no endpoint":       {func(c *api.Cluster, s *corev1.Secret) *corev1.Secret { c.Spec.APIEndpoint = ""; return s }, `the server "" is not a URL`},
		"headers": {func(c *api.Cluster, s *corev1.Secret) *corev1.Secret {
			c.Spec.ProxyHeader = map[string]string{"a": "b"}
			return s
		}, "spec.proxyHeader"},
		"a large Secret": {func(_ *api.Cluster, s *corev1.Secret) *corev1.Secret {
			s.Data["caBundle"] = make([]byte, mostBytes)
			return s
		}, "they may have 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, secret := good()
			_, err := Read(cluster, c.spoil(cluster, secret))
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "t0k3n")
		})
	}
}

func TestAnAnswerIsReadUpToABound(t *testing.T) {
	defer func(before int64) { mostAnswer = before }(mostAnswer)
	mostAnswer = 8 << 20
	body := &cut{io.NopCloser(strings.NewReader("0123456789")), 4}
	text, err := io.ReadAll(body)
	require.ErrorContains(t, err, "the member's answer is longer than")
	require.Equal(t, "0123", string(text))

	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for chunk := bytes.Repeat([]byte("x"), 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	c, err := (&Member{Endpoint: s.URL, Insecure: true, Token: "t"}).Config()
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(c)
	require.NoError(t, err)
	answer, err := client.Get(s.URL)
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, answer.Body)
	require.ErrorContains(t, err, "the member's answer is longer than")
	require.Equal(t, mostAnswer, n)
	require.NoError(t, answer.Body.Close())
}
