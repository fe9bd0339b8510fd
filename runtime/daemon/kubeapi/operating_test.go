package kubeapi_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/runtime/daemon/kubeapi"
)

// read returns what a path answers to a user.
func (d *daemon) read(u kubeapi.User, path string) (code int, body string) {
	d.t.Helper()
	c := d.as(u)
	client, err := rest.HTTPClientFor(c)
	require.NoError(d.t, err)
	answer, err := client.Get(c.Host + path)
	require.NoError(d.t, err)
	raw, err := io.ReadAll(answer.Body)
	require.NoError(d.t, errors.Join(err, answer.Body.Close()))
	return answer.StatusCode, string(raw)
}

func TestItsOwnMetricsAreServedBesideThoseOfTheServer(t *testing.T) {
	t.Parallel()
	own := prometheus.NewRegistry()
	own.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "leeward_test", Help: "A test."}))
	d := serve(t, func(c *kubeapi.Config) { c.Metrics = own })
	_, body := d.read(kubeapi.User{Name: "vera", Groups: []string{kubeapi.ViewerGroup}}, "/metrics")
	require.Contains(t, body, "\nleeward_test 0\n")
	require.Contains(t, body, "\napiserver_")
	code, _ := d.read(kubeapi.Agent("member1"), "/metrics")
	require.Equal(t, 403, code)
}

func TestReadinessSaysWhatIsWrong(t *testing.T) {
	var wrong atomic.Pointer[error]
	d := serve(t, func(c *kubeapi.Config) {
		c.Ready = func(context.Context) error {
			if err := wrong.Load(); err != nil {
				return *err
			}
			return nil
		}
	})
	code, body := d.read(kubeapi.Agent("member1"), "/readyz/machines")
	require.Equal(t, 200, code, body)
	silent := errors.New("the machines do not answer")
	wrong.Store(&silent)
	code, body = d.read(kubeapi.Agent("member1"), "/readyz/machines")
	require.Equal(t, 500, code)
	require.Contains(t, body, "the machines do not answer")
	code, body = d.read(kubeapi.Admin(), "/readyz")
	require.Equal(t, 500, code)
	require.Contains(t, body, "[-]machines failed")
}
