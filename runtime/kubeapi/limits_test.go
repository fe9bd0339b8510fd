package kubeapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/kubeapi"
)

// caller sends requests as they are: clients of Kubernetes would try again what is refused.
type caller struct {
	t      *testing.T
	client *http.Client
	host   string
}

func (d *daemon) caller(t *testing.T) *caller {
	t.Helper()
	c := d.as(kubeapi.Admin())
	c.NextProtos = nil // HTTP/2: many requests share a connection
	client, err := rest.HTTPClientFor(c)
	require.NoError(t, err)
	return &caller{t, client, c.Host}
}

func (c *caller) send(method, path, body string) (code int, answer string) {
	c.t.Helper()
	code, answer, err := c.attempt(method, path, body)
	require.NoError(c.t, err)
	return code, answer
}

func (c *caller) attempt(method, path, body string) (code int, answer string, err error) {
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.host+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", map[string]string{http.MethodPatch: "application/merge-patch+json"}[method])
	response, err := c.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), errors.Join(err, response.Body.Close())
}

const clusterPath = "/apis/cluster.karmada.io/v1alpha1/clusters/m1"

func TestARequestMayBeOnlySoLarge(t *testing.T) {
	d := serve(t)
	large := func(size int) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"c-"},"data":{"a":"` + strings.Repeat("x", size) + `"}}`
	}
	const megabyte = 1 << 20
	for name, c := range map[string]struct{ size, code int }{
		"what fits":                    {megabyte / 2, http.StatusCreated},
		"what is more than is read of": {4 * megabyte, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			code, answer := d.caller(t).send(http.MethodPost, "/api/v1/namespaces/default/configmaps", large(c.size))
			require.Equal(t, c.code, code, answer)
		})
	}
}

func TestARequestMayTakeOnlySoLong(t *testing.T) {
	answered := make(chan struct{})
	d := serve(t, func(c *kubeapi.Config) {
		c.Preview = func(_ context.Context, _, old api.Object) []string {
			if old != nil {
				<-answered
			}
			return nil
		}
	})
	d.create(clusters, cluster("m1"))
	code, answer, err := d.caller(t).attempt(http.MethodPatch, clusterPath+"?timeout=100ms", `{"spec":{"region":"eu"}}`)
	close(answered)
	if err == nil { // or the connection was cut, where the answer had begun
		require.Equal(t, http.StatusGatewayTimeout, code, answer)
	}
}

func TestOnlySoManyRequestsAreServedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		atOnce             int
		method, path, body string
	}{
		"writes": {200, http.MethodPatch, clusterPath, `{"spec":{"region":"eu"}}`},
		"reads":  {400, http.MethodGet, "/readyz/machines", ""},
	} {
		t.Run(name, func(t *testing.T) {
			begun, ended, goOn := make(chan struct{}), make(chan string, c.atOnce), make(chan struct{})
			wait := func() {
				select {
				case begun <- struct{}{}:
					<-goOn
				case <-goOn: // one that tries again, for another was first
				}
			}
			d := serve(t, func(config *kubeapi.Config) {
				config.Ready = func(context.Context) error { wait(); return nil }
				config.Preview = func(_ context.Context, _, old api.Object) []string {
					if old != nil {
						wait()
					}
					return nil
				}
			})
			letGo := sync.OnceFunc(func() { close(goOn) })
			t.Cleanup(letGo)
			d.create(clusters, cluster("m1"))
			caller := d.caller(t)
			for range c.atOnce {
				go func() {
					code, answer, err := caller.attempt(c.method, c.path, c.body)
					ended <- fmt.Sprintln(code, answer, err)
				}()
			}
			for range c.atOnce {
				select {
				case <-begun:
				case how := <-ended:
					t.Fatal("it should wait, and has ended: ", how)
				}
			}
			code, answer := caller.send(c.method, c.path, c.body)
			require.Equal(t, http.StatusTooManyRequests, code, answer)
			letGo()
			for range c.atOnce {
				<-ended
			}
		})
	}
}
