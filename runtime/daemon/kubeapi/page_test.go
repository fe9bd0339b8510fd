package kubeapi_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/daemon/picture"
)

// paged serves a live page whose explanations last until they are let go.
func paged(t *testing.T) (d *daemon, explaining, letGo chan struct{}) {
	t.Helper()
	explaining, letGo = make(chan struct{}), make(chan struct{})
	return serve(t, func(c *kubeapi.Config) {
		c.Page = &kubeapi.Page{
			Files: map[string][]byte{"index.html": []byte("<p>live"), "live.js": []byte("go()"), "live.css": []byte("p{}")},
			Explain: func(ctx context.Context, kind, name string) (any, error) {
				switch kind {
				case "mood":
					return nil, &kubeapi.ExplainError{Problem: errors.New("kind: want another one")}
				case "slow":
					explaining <- struct{}{}
					<-letGo
				}
				return map[string]string{"of": name}, nil
			},
		}
	}), explaining, letGo
}

// seen is an answer.
type seen struct {
	*http.Response
	text string
}

func browse(t *testing.T, c *http.Client, method, address string, header ...string) seen {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := c.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return seen{answer, string(text)}
}

// browser is one whose user is not known; it follows no redirect.
func browser() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (d *daemon) httpClient(u kubeapi.User) *http.Client {
	d.t.Helper()
	c, err := rest.HTTPClientFor(d.as(u))
	require.NoError(d.t, err)
	return c
}

func TestTheLivePage(t *testing.T) {
	d, explaining, letGo := paged(t)
	d.create(clusters, cluster("m1"))
	at := "https://" + d.Addr()
	t.Run("its files are for every browser, and keep to themselves", func(t *testing.T) {
		for path, kind := range map[string]string{"/ui/": "text/html", "/ui/index.html": "text/html", "/ui/live.js": "text/javascript", "/ui/live.css": "text/css"} {
			answer := browse(t, browser(), http.MethodGet, at+path)
			require.Equal(t, http.StatusOK, answer.StatusCode, path)
			require.Equal(t, kind+"; charset=utf-8", answer.Header.Get("Content-Type"))
			policy := answer.Header.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
				require.Contains(t, policy, part)
			}
			require.NotContains(t, policy, "unsafe")
			require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
			require.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"))
			require.Equal(t, "DENY", answer.Header.Get("X-Frame-Options"))
			require.Empty(t, answer.Header.Get("Set-Cookie"))
		}
		packed := browse(t, browser(), http.MethodGet, at+"/ui/live.js", "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
		unpacked, err := gzip.NewReader(strings.NewReader(packed.text))
		require.NoError(t, err)
		text, err := io.ReadAll(unpacked)
		require.NoError(t, err)
		require.Equal(t, "go()", string(text))
		redirect := browse(t, browser(), http.MethodGet, at+"/ui")
		require.Equal(t, "/ui/", redirect.Header.Get("Location"))
		require.Equal(t, http.StatusMethodNotAllowed, browse(t, d.httpClient(kubeapi.Admin()), http.MethodPost, at+"/ui/").StatusCode)
		for _, path := range []string{"/ui/data/watch", "/ui/data/explain", "/ui/data/search", "/ui/data/past", "/ui/data/", "/ui/other.js", "/ui/../api"} {
			require.Equal(t, http.StatusUnauthorized, browse(t, browser(), http.MethodGet, at+path).StatusCode, path)
		}
	})
	t.Run("the picture is for users who may list all that it shows", func(t *testing.T) {
		for user, why := range map[*kubeapi.User]string{
			{Name: "stan"}: `user \"stan\" must be allowed to list clusters.cluster.karmada.io in all namespaces`,
			{Name: "team", Groups: []string{kubeapi.ViewerGroup + ":shop"}}: `user \"team\" must be allowed to list clusters`,
			{Name: "lead", Groups: []string{kubeapi.EditorGroup + ":shop"}}: `user \"lead\" must be allowed to list clusters`,
			new(kubeapi.Agent("m1")): `must be allowed to list clusters`,
		} {
			for _, path := range []string{"/ui/data/watch", "/ui/data/explain?kind=cluster&name=m1", "/ui/data/search?q=a", "/ui/data/past"} {
				answer := browse(t, d.httpClient(*user), http.MethodGet, at+path)
				require.Equal(t, http.StatusForbidden, answer.StatusCode, answer.text)
				require.Contains(t, answer.text, why)
			}
		}
		answer := browse(t, d.httpClient(viewer), http.MethodGet, at+"/ui/data/watch", "Sec-Fetch-Site", "cross-site")
		require.Equal(t, http.StatusForbidden, answer.StatusCode)
		require.Contains(t, answer.text, "another site")
	})
	t.Run("of the past, a viewer is told what is remembered", func(t *testing.T) {
		answer := browse(t, d.httpClient(viewer), http.MethodGet, at+"/ui/data/past")
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
		var past []picture.Message
		require.NoError(t, json.Unmarshal([]byte(answer.text), &past))
	})
	t.Run("a viewer hears what changes", func(t *testing.T) {
		says := viewing(t, d, "Bearer "+token(t, d, viewerToken))
		first := says()
		require.Equal(t, picture.Format, first.Format)
		require.Contains(t, first.Clusters, "m1")
		hostile := cluster("m2")
		hostile.SetAnnotations(map[string]string{"leeward.dev/hold-evictions": "<img src=x onerror=alert(1)>\n\nevent: end"})
		d.create(clusters, hostile)
		var row picture.Cluster
		for row.Held == "" {
			if text := says().Clusters["m2"]; text != nil {
				require.NotContains(t, string(text), "<")
				require.NoError(t, json.Unmarshal(text, &row))
			}
		}
		require.Equal(t, "<img src=x onerror=alert(1)>\n\nevent: end", row.Held)
	})
	t.Run("workloads are found by those who may see the picture", func(t *testing.T) {
		d.create(bindings, object(api.WorkGroupVersion, "ResourceBinding", "default", "found", map[string]any{"resource": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "found", "namespace": "default"}}))
		ask := func(query string) seen {
			return browse(t, d.httpClient(viewer), http.MethodGet, at+"/ui/data/search?"+url.Values{"q": {query}}.Encode())
		}
		var found picture.Found
		require.NoError(t, json.Unmarshal([]byte(ask("FOUND").text), &found))
		require.Equal(t, []string{"found"}, []string{found.Workloads[0].Name})
		wrong := ask(strings.Repeat("a", 300))
		require.Equal(t, http.StatusBadRequest, wrong.StatusCode)
		require.Contains(t, wrong.text, "q: it has 300 bytes")
	})
	t.Run("a token of the daemon is a user until it ends", func(t *testing.T) { testTokens(t, d) })
	t.Run("an explanation is made for one at a time", func(t *testing.T) {
		ask := func(u kubeapi.User, kind string) seen {
			return browse(t, d.httpClient(u), http.MethodGet, at+"/ui/data/explain?"+url.Values{"kind": {kind}, "name": {"m1"}}.Encode())
		}
		require.JSONEq(t, `{"of": "m1"}`, ask(viewer, "cluster").text)
		wrong := ask(viewer, "mood")
		require.Equal(t, http.StatusBadRequest, wrong.StatusCode)
		require.Contains(t, wrong.text, "want another one")
		answers := make(chan seen)
		go func() { answers <- ask(viewer, "slow") }()
		<-explaining
		for range 2 { // one of his may wait, not two
			go func() { answers <- ask(viewer, "cluster") }()
		}
		require.Equal(t, http.StatusTooManyRequests, (<-answers).StatusCode)
		close(letGo)
		for range 2 {
			require.Equal(t, http.StatusOK, (<-answers).StatusCode)
		}
	})
}

var viewerToken = kubeapi.User{Name: "vera", Groups: []string{kubeapi.ViewerGroup}}

func token(t *testing.T, d *daemon, u kubeapi.User) string {
	t.Helper()
	text, err := kubeapi.Token(d.dir, u, time.Hour, clock.New().Now())
	require.NoError(t, err)
	return text
}

// viewing views the fleet until the test ends.
func viewing(t *testing.T, d *daemon, authorization string) (next func() picture.Message) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+d.Addr()+"/ui/data/watch", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", authorization)
	answer, err := browser().Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, answer.Body.Close()) })
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	require.Contains(t, answer.Header.Get("Cache-Control"), "no-store")
	lines := bufio.NewReader(answer.Body)
	return func() (m picture.Message) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			if data, is := strings.CutPrefix(line, "data: "); is {
				require.NoError(t, json.Unmarshal([]byte(data), &m))
				return m
			}
			require.Contains(t, []string{"event: picture\n", "\n"}, line)
		}
	}
}

func testTokens(t *testing.T, d *daemon) {
	who := func(token string) seen {
		return browse(t, browser(), http.MethodGet, "https://"+d.Addr()+"/apis/cluster.karmada.io/v1alpha1/clusters", "Authorization", "Bearer "+token)
	}
	require.Equal(t, http.StatusOK, who(token(t, d, viewerToken)).StatusCode)
	require.Equal(t, http.StatusForbidden, who(token(t, d, kubeapi.User{Name: "stan"})).StatusCode)
	sign := func(dir string, lasts time.Duration, at time.Time) string {
		text, err := kubeapi.Token(dir, viewerToken, lasts, at)
		require.NoError(t, err)
		return text
	}
	other := t.TempDir()
	valid := token(t, d, viewerToken)
	parts := strings.Split(valid, ".")
	for name, bad := range map[string]string{
		"one that has ended":     sign(d.dir, time.Hour, clock.New().Now().Add(-2*time.Hour)),
		"one that has not begun": sign(d.dir, time.Hour, clock.New().Now().Add(2*time.Hour)),
		"one of another daemon":  sign(other, time.Hour, clock.New().Now()),
		"one that is not signed": "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"one of another text":    parts[0] + "." + parts[1][:10] + "A" + parts[1][11:] + "." + parts[2],
		"a long one":             strings.Repeat("a", 10_000) + valid,
	} {
		require.Equal(t, http.StatusUnauthorized, who(bad).StatusCode, name)
	}
	for name, u := range map[string]kubeapi.User{
		"user \"\"": {}, "user \"system:masters\"": {Name: "system:masters"}, "groups [\"system:masters\"]": {Name: "ada", Groups: []string{"system:masters"}},
	} {
		_, err := kubeapi.Token(d.dir, u, time.Hour, clock.New().Now())
		require.ErrorContains(t, err, name)
	}
	_, err := kubeapi.Token(d.dir, viewerToken, 13*time.Hour, clock.New().Now())
	require.ErrorContains(t, err, "13h0m0s is out of range: a token is good for up to 12h0m0s")
	_, err = kubeapi.Token(d.dir, kubeapi.User{Name: strings.Repeat("a", 5000)}, time.Hour, clock.New().Now())
	require.ErrorContains(t, err, "the token would have")
	info, err := os.Stat(filepath.Join(d.dir, "pki", "tokens.key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
