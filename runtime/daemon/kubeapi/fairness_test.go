package kubeapi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
)

// fleet is a server with clusters m0, m1 ... and their leases, where patches to the region "held" compute until letGo.
type fleet struct {
	*daemon
	letGo func()
	// computed counts those patches.
	computed *atomic.Int64
}

func serveFleet(t *testing.T, size int) fleet {
	t.Helper()
	held, computed := make(chan struct{}), &atomic.Int64{}
	d := serve(t, func(c *kubeapi.Config) {
		c.Preview = func(_ context.Context, o, old api.Object) []string {
			if c, is := o.(*api.Cluster); is && old != nil && c.Spec.Region == "held" {
				computed.Add(1)
				<-held
			}
			return nil
		}
	})
	f := fleet{d, sync.OnceFunc(func() { close(held) }), computed}
	t.Cleanup(f.letGo)
	for n := range size {
		d.create(clusters, cluster(nameOf(n)))
		code, answer := f.agent(t, n).send(http.MethodPost, leasesPath, `{"metadata":{"name":"`+nameOf(n)+`"},"spec":{"leaseDurationSeconds":40}}`)
		require.Equal(t, http.StatusCreated, code, answer)
	}
	return f
}

const (
	leasesPath   = "/apis/coordination.k8s.io/v1/namespaces/" + api.LeaseNamespace + "/leases"
	clustersPath = "/apis/cluster.karmada.io/v1alpha1/clusters/"
	toHeld       = `{"spec":{"region":"held"}}`
)

func nameOf(n int) string { return fmt.Sprintf("m%d", n) }

func (f fleet) agent(t *testing.T, n int) *caller { return f.callerAs(t, kubeapi.Agent(nameOf(n))) }

// beat has every agent but the first some do what tells that its cluster is not silent. None tries twice.
func (f fleet) beat(t *testing.T, size, but int) {
	t.Helper()
	for n := but; n < size; n++ {
		agent := f.agent(t, n)
		code, answer := agent.send(http.MethodPatch, leasesPath+"/"+nameOf(n), `{"spec":{"renewTime":"2026-11-22T12:00:00.000000Z"}}`)
		require.Equal(t, http.StatusOK, code, answer)
		code, answer = agent.send(http.MethodPatch, clustersPath+nameOf(n)+"/status", `{"status":{"kubernetesVersion":"v1.37.0"}}`)
		require.Equal(t, http.StatusOK, code, answer)
	}
}

// flood sends requests side by side and tells of their answers.
func flood(size int, request func(n int) (code int, answer string, err error)) <-chan int {
	codes := make(chan int, size)
	for n := range size {
		go func() {
			code, _, _ := request(n)
			codes <- code
		}()
	}
	return codes
}

// awaitRefused returns once so many were told to try again later. No other answer may come before.
func awaitRefused(t *testing.T, codes <-chan int, most int) {
	t.Helper()
	for range most {
		require.Equal(t, http.StatusTooManyRequests, <-codes, "0 is an error of the client")
	}
}

// TestNoFloodOfOneClientMakesAClusterSilent: 250 requests that last are more than the server takes of one user, and more
// than it took of all. Every agent is heard at its first attempt meanwhile, and so is another user who writes.
func TestNoFloodOfOneClientMakesAClusterSilent(t *testing.T) {
	t.Parallel()
	const size, requests, refused = 5, 250, 50
	editor := kubeapi.User{Name: "ed", Groups: []string{kubeapi.EditorGroup}}
	for name, begin := range map[string]func(t *testing.T, f fleet) <-chan int{
		"writes of one user that compute": func(t *testing.T, f fleet) <-chan int {
			admin := f.caller(t)
			return flood(requests, func(n int) (int, string, error) {
				return admin.attempt(http.MethodPatch, clustersPath+nameOf(n%size), toHeld)
			})
		},
		"bodies of one user that do not end": func(t *testing.T, f fleet) <-chan int {
			admin := f.caller(t)
			return flood(requests, func(int) (int, string, error) {
				return admin.attemptSlowly(http.MethodPost, "/api/v1/namespaces/default/configmaps", endlessBody(t))
			})
		},
		"heartbeats of one agent that do not end": func(t *testing.T, f fleet) <-chan int {
			agent := f.agent(t, 0)
			return flood(requests, func(int) (int, string, error) {
				return agent.attemptSlowly(http.MethodPut, leasesPath+"/m0", endlessBody(t))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := serveFleet(t, size)
			awaitRefused(t, begin(t, f), refused) // so all is taken that there is for the rest
			f.beat(t, size, 1)
			code, answer := f.callerAs(t, editor).send(http.MethodPatch, clustersPath+"m4", `{"spec":{"region":"eu"}}`)
			require.Equal(t, http.StatusOK, code, answer)
		})
	}
}

// endlessBody is the body of a request that says no more until the test ends.
func endlessBody(t *testing.T) io.Reader {
	t.Helper()
	body, end := io.Pipe()
	t.Cleanup(func() { require.NoError(t, end.Close()) })
	return body
}

func TestOneUserHasOnlySoManyWatches(t *testing.T) {
	t.Parallel()
	const most = 256
	f := serveFleet(t, 2)
	admin := f.caller(t)
	watch := func(ctx context.Context) *http.Response {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, admin.host+"/api/v1/namespaces?watch=true", nil)
		require.NoError(t, err)
		response, err := admin.client.Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() }) // the test's context may have ended it
		return response
	}
	first, end := context.WithCancel(t.Context())
	require.Equal(t, http.StatusOK, watch(first).StatusCode)
	for range most - 1 {
		require.Equal(t, http.StatusOK, watch(t.Context()).StatusCode)
	}
	more := watch(t.Context())
	require.Equal(t, http.StatusTooManyRequests, more.StatusCode)
	require.Equal(t, "1", more.Header.Get("Retry-After"))
	code, _ := admin.send(http.MethodGet, clustersPath+"m0", "")
	require.Equal(t, http.StatusOK, code, "watches are no requests under way")
	code, _ = f.agent(t, 1).send(http.MethodGet, clustersPath+"m1?watch=true&timeoutSeconds=1", "")
	require.Equal(t, http.StatusOK, code, "others have their own")
	end()
	for watch(t.Context()).StatusCode != http.StatusOK { // once the server has noticed that the first has gone
		runtime.Gosched()
	}
}

func TestWritesOfOneObjectDoNotPileUp(t *testing.T) {
	t.Parallel()
	const wait = 16
	f := serveFleet(t, 1)
	admin := f.caller(t)
	codes := flood(20, func(int) (int, string, error) { return admin.attempt(http.MethodPatch, clustersPath+"m0", toHeld) })
	awaitRefused(t, codes, 20-wait)
	for f.computed.Load() == 0 { // those that are refused may be answered before the first of the others computes
		runtime.Gosched()
	}
	require.EqualValues(t, 1, f.computed.Load(), "one computes, and the others wait")
	f.beat(t, 1, 0) // its agent writes to the same object
	f.letGo()
	for range wait {
		require.Equal(t, http.StatusOK, <-codes)
	}
}

func TestOneUsersWritesComputeOnAsManyProcessorsAsThereAre(t *testing.T) {
	const size = 5
	f := serveFleet(t, size)
	admin := f.caller(t)
	codes := flood(size, func(n int) (int, string, error) {
		return admin.attempt(http.MethodPatch, clustersPath+nameOf(n)+"?timeout=500ms", toHeld)
	})
	for range size {
		require.NotEqual(t, http.StatusOK, <-codes)
	}
	f.letGo()
	require.NoError(t, f.engine.Close()) // after all that was under way
	require.LessOrEqual(t, f.computed.Load(), int64(runtime.GOMAXPROCS(0)))
}

// TestAWriteThatIsCutOffIsNotComputed: five wait for one that computes, and are given up before it ends.
func TestAWriteThatIsCutOffIsNotComputed(t *testing.T) {
	f := serveFleet(t, 1)
	admin := f.caller(t)
	first := flood(1, func(int) (int, string, error) { return admin.attempt(http.MethodPatch, clustersPath+"m0", toHeld) })
	for f.computed.Load() == 0 {
		runtime.Gosched()
	}
	others := flood(5, func(int) (int, string, error) {
		return admin.attempt(http.MethodPatch, clustersPath+"m0?timeout=100ms", toHeld)
	})
	for range 5 {
		code := <-others // none where the connection was cut
		require.Contains(t, []int{http.StatusGatewayTimeout, 0}, code)
	}
	f.letGo()
	require.Equal(t, http.StatusOK, <-first)
	code, answer := admin.send(http.MethodPatch, clustersPath+"m0", `{"spec":{"region":"eu"}}`)
	require.Equal(t, http.StatusOK, code, answer)
	require.EqualValues(t, 1, f.computed.Load())
}

// TestASlowBodyIsCutOff sends a byte now and then, over HTTP/1.1, where the server waited for all of them.
func TestASlowBodyIsCutOff(t *testing.T) {
	d := serve(t)
	c := d.as(kubeapi.Admin())
	trust, err := rest.TLSConfigFor(c)
	require.NoError(t, err)
	conn, err := tls.Dial("tcp", strings.TrimPrefix(c.Host, "https://"), trust)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "POST /api/v1/namespaces/default/configmaps?timeout=500ms HTTP/1.1\r\n"+
		"Host: leeward\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := clock.New().Ticker(20 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := conn.Write([]byte(" ")); err != nil {
				return
			}
		}
	}()
	require.NoError(t, conn.SetReadDeadline(clock.New().Now().Add(50*time.Second)))
	_, err = io.Copy(io.Discard, bufio.NewReader(conn))
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	if failed, is := err.(interface{ Timeout() bool }); is {
		require.False(t, failed.Timeout(), "the connection is still open")
	}
	<-ended
}
