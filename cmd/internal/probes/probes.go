// Package probes serves what an orchestrator asks of a process over HTTP: its metrics, whether it lives, and whether it is ready.
package probes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Serve answers GET of /metrics, of /readyz and of one more path, which says that the process lives, until the context ends. ready is why
// the process is not ready, nil where it is.
func Serve(ctx context.Context, l net.Listener, metrics prometheus.Gatherer, alive string, ready func() error) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET "+alive, func(w http.ResponseWriter, _ *http.Request) { answer(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, ready()) })
	s := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 16,
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // requests under way are broken off
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics and probes: %w", err)
	}
	return nil
}

func answer(w http.ResponseWriter, problem error) {
	text := "ok"
	if problem != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = problem.Error()
	}
	_, _ = fmt.Fprintln(w, text) // the client may be gone
}
