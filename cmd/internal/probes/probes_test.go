package probes

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

func TestMetricsAndProbes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "works", Help: "Works."}))
	ended := make(chan error, 1)
	var broken atomic.Bool
	ready := func() error {
		if broken.Load() {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	go func() { ended <- Serve(ctx, l, metrics, "/healthz", ready) }()
	get := func(path string) (int, string) {
		r, err := http.Get("http://" + l.Addr().String() + path)
		require.NoError(t, err)
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		return r.StatusCode, string(body)
	}
	code, text := get("/readyz")
	require.Equal(t, http.StatusOK, code, text)
	broken.Store(true)
	code, text = get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "unexpected EOF\n", text)
	code, _ = get("/healthz")
	require.Equal(t, http.StatusOK, code, "the process lives")
	_, text = get("/metrics")
	require.Contains(t, text, "works 0")
	stop()
	require.NoError(t, <-ended)
}
