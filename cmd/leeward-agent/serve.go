package main

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

// listener takes the address of metrics and probes; nil: there is none.
func (o *options) listener() (net.Listener, error) {
	if o.listen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}

// serve answers for metrics and probes until the context ends.
func serve(ctx context.Context, l net.Listener, metrics prometheus.Gatherer, ready func() error) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, ready()) })
	s := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 16}
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
	_, _ = fmt.Fprintln(w, text) // who does not listen is not told
}
