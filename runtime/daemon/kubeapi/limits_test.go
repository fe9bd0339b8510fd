package kubeapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
)

// caller sends requests as they are: clients of Kubernetes would try again what is refused.
type caller struct {
	t      *testing.T
	client *http.Client
	host   string
}

func (d *daemon) caller(t *testing.T) *caller {
	t.Helper()
	return d.callerAs(t, kubeapi.Admin())
}

func (d *daemon) callerAs(t *testing.T, u kubeapi.User) *caller {
	t.Helper()
	c := d.as(u)
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
	return c.attemptSlowly(method, path, strings.NewReader(body))
}

func (c *caller) attemptSlowly(method, path string, body io.Reader) (code int, answer string, err error) {
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.host+path, body)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", map[string]string{http.MethodPatch: "application/merge-patch+json", http.MethodPut: "application/json"}[method])
	response, err := c.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), errors.Join(err, response.Body.Close())
}

const clusterPath = "/apis/cluster.karmada.io/v1alpha1/clusters/m1"

func TestARequestMayBeOnlySoLarge(t *testing.T) {
	t.Parallel()
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
