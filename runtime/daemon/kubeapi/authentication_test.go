package kubeapi_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"leeward/runtime/daemon/kubeapi"
)

func dynamicFor(t *testing.T, c *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(c)
	require.NoError(t, err)
	return client
}

// issuer issues tokens, as an identity provider does.
type issuer struct {
	*httptest.Server
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i := &issuer{key: key}
	answers := http.NewServeMux()
	answers.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/keys")
	})
	answers.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"keys":[{"kty":"RSA","alg":"RS256","use":"sig","kid":"1","e":"AQAB","n":%q}]}`, segment(key.N.Bytes()))
	})
	i.Server = httptest.NewTLSServer(answers)
	t.Cleanup(i.Close)
	return i
}

func segment(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token says who a user is, for an hour.
func (i *issuer) token(t *testing.T, audience, user string, groups ...string) string {
	t.Helper()
	claims, err := json.Marshal(map[string]any{"iss": i.URL, "aud": audience, "sub": user, "groups": groups, "exp": clock.New().Now().Add(time.Hour).Unix()})
	require.NoError(t, err)
	text := segment([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + segment(claims)
	digest := sha256.Sum256([]byte(text))
	signed, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, digest[:])
	require.NoError(t, err)
	return text + "." + segment(signed)
}

// trusting is a file that trusts an issuer: who is in the group sre there is an editor here.
func (i *issuer) trusting(t *testing.T) string {
	t.Helper()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
	return written(t, fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: %s
    audiences: [leeward]
    certificateAuthority: |
      %s
  claimMappings:
    username: {claim: sub, prefix: "sso:"}
    groups: {expression: 'dyn(claims.groups).map(g, g == "sre" ? "leeward:editors" : "sso:" + g)'}
`, i.URL, strings.ReplaceAll(strings.TrimSpace(string(authority)), "\n", "\n      ")))
}

func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "authentication.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestATokenOfATrustedIssuerIsAUser(t *testing.T) {
	i := newIssuer(t)
	d := serve(t, func(c *kubeapi.Config) { c.Authentication = i.trusting(t) })
	create := func(name, token string) error {
		anyone := rest.AnonymousClientConfig(d.as(viewer))
		anyone.BearerToken = token
		_, err := dynamicFor(t, anyone).Resource(clusters).Create(t.Context(), cluster(name), metav1.CreateOptions{})
		return err
	}
	editor := i.token(t, "leeward", "ed", "sre")
	require.Eventually(t, func() bool { // once the server has the issuer's keys
		err := create("m1", editor)
		return err == nil || apierrors.IsAlreadyExists(err)
	}, time.Minute, 20*time.Millisecond)
	for name, c := range map[string]struct{ token, wrong string }{
		"a group that may nothing":   {i.token(t, "leeward", "stan", "leeward:admins"), `User "sso:stan" cannot create resource "clusters"`},
		"a token for another server": {i.token(t, "elsewhere", "ed", "sre"), "Unauthorized"},
		"a token of another issuer":  {newIssuer(t).token(t, "leeward", "ed", "sre"), "Unauthorized"},
		"a token that was tampered":  {editor[:len(editor)-8] + "AAAAAAAA", "Unauthorized"},
		"what is no token of theirs": {"sesame", "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, create("m2", c.token), c.wrong) })
	}
}

func TestAUserMustBeKnownClearly(t *testing.T) {
	const kind = "apiVersion: apiserver.config.k8s.io/v1\nkind: "
	for name, c := range map[string]struct {
		change func(*kubeapi.Config)
		wrong  string
	}{
		"no certificate":            {func(c *kubeapi.Config) { c.ServingCert, c.ServingKey = "no.crt", "no.key" }, "read the serving certificate"},
		"no authority of clients":   {func(c *kubeapi.Config) { c.ClientCA = "no.crt" }, "read the authorities of clients"},
		"no file of issuers":        {func(c *kubeapi.Config) { c.Authentication = "no.yaml" }, "read who issues tokens: no.yaml: open no.yaml"},
		"a file of something else":  {func(c *kubeapi.Config) { c.Authentication = written(t, kind+"AuthorizationConfiguration\n") }, "AuthorizationConfiguration"},
		"a field that is not there": {func(c *kubeapi.Config) { c.Authentication = written(t, kind+"AuthenticationConfiguration\njwd: []\n") }, `unknown field "jwd"`},
		"an issuer without address": {func(c *kubeapi.Config) {
			c.Authentication = written(t, kind+"AuthenticationConfiguration\njwt: [{}]\n")
		}, "jwt[0].issuer.url: Required value"},
		"a user without a name": {func(c *kubeapi.Config) {
			c.Authentication = written(t, kind+"AuthenticationConfiguration\nanonymous: {enabled: true}\n")
		}, "anonymous: it is settled who may do what without a name"},
	} {
		t.Run(name, func(t *testing.T) {
			config := configOf(t, open(t), t.TempDir(), "127.0.0.1:0")
			c.change(&config)
			_, err := kubeapi.New(config)
			require.ErrorContains(t, err, c.wrong)
		})
	}
}
