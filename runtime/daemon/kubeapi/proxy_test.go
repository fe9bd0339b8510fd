package kubeapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

// through is a daemon that passes requests on to a member, and what the member was asked.
type through struct {
	*daemon
	mu  sync.Mutex
	got *http.Request
	// hangs gets each request that the member does not answer.
	hangs chan struct{}
}

func newThrough(t *testing.T) *through {
	t.Helper()
	p := &through{hangs: make(chan struct{}, 100)}
	s := httptest.NewTLSServer(p)
	t.Cleanup(s.Close)
	p.daemon = serve(t, func(c *kubeapi.Config) {
		c.Member = func(c *api.Cluster, secret *corev1.Secret) (*url.URL, http.RoundTripper, error) {
			if secret == nil {
				return nil, nil, fmt.Errorf("no Secret %s", c.Spec.SecretRef.Name)
			}
			at, err := url.Parse(c.Spec.APIEndpoint)
			return at, transport.NewBearerAuthRoundTripper(string(secret.Data["token"]), s.Client().Transport), err
		}
	})
	of := func(name string, mode api.ClusterSyncMode) *api.Cluster {
		c := &api.Cluster{Spec: api.ClusterSpec{SyncMode: mode, APIEndpoint: s.URL + "/base", SecretRef: &api.LocalSecretReference{Namespace: api.LeaseNamespace, Name: name}}}
		c.Name = name
		return c
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: api.LeaseNamespace, Name: "m1"}, Data: map[string][]byte{"token": []byte("of-the-hub")}}
	for r, o := range map[*catalog.Resource][]api.Object{catalog.Clusters: {of("m1", api.Push), of("m2", api.Pull), of("m3", api.Push)}, catalog.Secrets: {secret}} {
		for _, o := range o {
			o.GetObjectKind().SetGroupVersionKind(r.Kind)
			require.NoError(t, p.engine.Commit(engine.Create(engine.Key(r.Name(), o.GetNamespace(), o.GetName()), o)))
		}
	}
	return p
}

// ServeHTTP is the member.
func (p *through) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.got = r.Clone(context.Background())
	p.mu.Unlock()
	switch {
	case r.URL.Path == "/base/hang":
		p.hangs <- struct{}{}
		<-r.Context().Done()
	case r.URL.Path == "/base/elsewhere":
		http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
	case strings.HasSuffix(r.URL.Path, "/exec"):
		execute(w, r)
	case strings.HasSuffix(r.URL.Path, "/log"):
		_, _ = io.WriteString(w, "first line\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // it is followed
		p.hangs <- struct{}{}
	case r.Method == http.MethodPost:
		_, _ = io.Copy(w, r.Body)
	default:
		w.Header().Set("Set-Cookie", "a=b")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	}
}

// ask asks for a path of the API as a user.
func (p *through) ask(u kubeapi.User, method, path, body string, header ...string) *http.Response {
	p.t.Helper()
	conn, err := rest.TransportFor(p.as(u))
	require.NoError(p.t, err)
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.as(u).Host+"/apis/cluster.karmada.io/v1alpha1/clusters/"+path, strings.NewReader(body))
	require.NoError(p.t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := conn.RoundTrip(r)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(b)
}

func TestRequestsArePassedOnToMembers(t *testing.T) {
	p := newThrough(t)
	member := kubeapi.User{Name: "ada", Groups: []string{kubeapi.MemberAdminGroup}}
	t.Run("with the credentials of the hub and none of the caller", func(t *testing.T) {
		a := p.ask(member, "GET", "m1/proxy/api/v1/pods?limit=5", "", "Authorization", "Bearer mine", "Cookie", "c=d", "X-Remote-User", "root", "X-Forwarded-For", "1.2.3.4",
			"Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.bWluZQ, v5.channel.k8s.io", "Accept", "text/plain")
		require.Equal(t, "418 short and stout", fmt.Sprint(a.StatusCode, " ", text(t, a)))
		require.Empty(t, a.Header.Get("Set-Cookie"))
		require.Equal(t, "/base/api/v1/pods?limit=5", p.got.URL.String())
		require.Equal(t, "Bearer of-the-hub", p.got.Header.Get("Authorization"))
		require.Equal(t, "v5.channel.k8s.io", p.got.Header.Get("Sec-WebSocket-Protocol"))
		require.Equal(t, "text/plain", p.got.Header.Get("Accept"))
		for _, h := range []string{"Cookie", "X-Remote-User", "X-Forwarded-For", "Impersonate-User"} {
			require.Empty(t, p.got.Header.Get(h), h)
		}
		require.Equal(t, "what is written", text(t, p.ask(member, "POST", "m1/proxy/api/v1/pods", "what is written")))
	})
	t.Run("kubectl exec", func(t *testing.T) {
		for _, protocol := range []string{"SPDY", "WebSocket"} {
			require.Equal(t, "SH SAYS HELLO", p.exec(t, member, protocol), protocol)
			require.Equal(t, "Bearer of-the-hub", p.got.Header.Get("Authorization"), protocol)
		}
	})
	t.Run("kubectl logs -f", func(t *testing.T) {
		a := p.ask(member, "GET", "m1/proxy/api/v1/namespaces/a/pods/b/log?follow=true", "")
		line, err := bufio.NewReader(a.Body).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "first line\n", line, "it comes before the log ends")
		require.NoError(t, a.Body.Close())
		<-p.hangs // the member is told that the reader went
	})
	t.Run("for those who may", func(t *testing.T) {
		require.Equal(t, http.StatusTeapot, p.ask(kubeapi.Admin(), "GET", "m1/proxy", "").StatusCode)
		require.Equal(t, "/base/", p.got.URL.Path)
		for _, group := range []string{kubeapi.EditorGroup, kubeapi.ViewerGroup, kubeapi.AgentGroup, kubeapi.PusherGroup} {
			require.Equal(t, http.StatusForbidden, p.ask(kubeapi.User{Name: "bob", Groups: []string{group}}, "GET", "m1/proxy/api", "").StatusCode, group)
		}
		require.Equal(t, http.StatusForbidden, p.ask(member, "GET", "m1", "").StatusCode, "it is a role for members alone")
	})
	t.Run("and written into the audit log", func(t *testing.T) {
		log, err := os.ReadFile(filepath.Join(p.dir, "audit.jsonl"))
		require.NoError(t, err)
		require.Contains(t, string(log), `"requestURI":"/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/api/v1/pods?limit=5","verb":"get","user":{"username":"ada"`)
	})
}

func TestWhatIsNotPassedOn(t *testing.T) {
	p := newThrough(t)
	for path, refused := range map[string]struct {
		code int
		why  string
	}{
		"m1/proxy/api/../../m2/status":   {400, "is no path in a member"},
		"m1/proxy/%2e%2e/other":          {400, "is no path in a member"},
		"m1/proxy/api/..%2f..%2fother":   {400, "is no path in a member"},
		"m1/proxy/https://evil.example/": {400, "is no path in a member"},
		"m1/proxy//evil.example/api":     {400, "is no path in a member"},
		`m1/proxy/a%5c..%5cb`:            {400, "is no path in a member"},
		"m2/proxy/api":                   {400, "cluster m2 is not in push mode"},
		"m3/proxy/api":                   {503, "no Secret m3"},
		"m4/proxy/api":                   {404, `"m4" not found`},
		"m1/proxy/elsewhere":             {503, "it answers with a redirect, which is not followed"},
	} {
		a := p.ask(kubeapi.Admin(), "GET", path, "")
		require.Equal(t, refused.code, a.StatusCode, path)
		require.Contains(t, text(t, a), strings.ReplaceAll(refused.why, `"`, `\"`), path)
	}
	require.Equal(t, http.StatusMethodNotAllowed, p.ask(kubeapi.Admin(), "TRACE", "m1/proxy/api", "").StatusCode)
	large := p.ask(kubeapi.Admin(), "POST", "m1/proxy/api", strings.Repeat("x", 4<<20))
	require.Equal(t, http.StatusRequestEntityTooLarge, large.StatusCode)

	off := serve(t)
	_, err := off.client(kubeapi.Admin()).Resource(clusters).Get(t.Context(), "m1", metav1.GetOptions{}, "proxy")
	require.True(t, apierrors.IsNotFound(err), "it is off unless it is asked for: %v", err)
}

// A member that answers nothing takes of the one who asks it, and of no other.
func TestAMemberThatHangsCostsNoOther(t *testing.T) {
	const ofUser = 32
	p := newThrough(t)
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := rest.TransportFor(p.as(kubeapi.Admin()))
	require.NoError(t, err)
	var all sync.WaitGroup
	for range ofUser {
		all.Go(func() {
			r, err := http.NewRequestWithContext(ctx, "GET", p.as(kubeapi.Admin()).Host+"/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/hang", nil)
			if err == nil {
				_, err = conn.RoundTrip(r)
			}
			if err == nil {
				panic("the member answers")
			}
		})
	}
	for range ofUser {
		<-p.hangs
	}
	a := p.ask(kubeapi.Admin(), "GET", "m1/proxy/api", "")
	require.Equal(t, http.StatusTooManyRequests, a.StatusCode)
	require.Contains(t, text(t, a), "one user may have 32 requests to members under way")
	other := kubeapi.User{Name: "ada", Groups: []string{kubeapi.MemberAdminGroup}}
	require.Equal(t, http.StatusTeapot, p.ask(other, "GET", "m1/proxy/api", "").StatusCode)
	_, err = p.client(kubeapi.Admin()).Resource(clusters).Get(t.Context(), "m1", metav1.GetOptions{})
	require.NoError(t, err, "the same user, at the hub")
	cancel()
	all.Wait()
}
