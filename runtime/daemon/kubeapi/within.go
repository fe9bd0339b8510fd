package kubeapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	restclient "k8s.io/client-go/rest"
)

// within is the server as it is asked by what runs in it, such as the controllers of definitions: by the same requests as of others, of a
// user who may do everything, but over no network.
type within struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

func newWithin() *within { return &within{conns: make(chan net.Conn), closed: make(chan struct{})} }

// client is what asks.
func (w *within) client() *restclient.Config {
	return &restclient.Config{Host: "http://leewardd", BearerToken: uuid.NewString(), QPS: -1, Dial: w.dial}
}

// serve answers until the context is done. It waits for no request.
func (w *within) serve(ctx context.Context, answers http.Handler) {
	s := &http.Server{Handler: answers, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	_ = s.Serve(w) // until it is closed
}

func (w *within) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.conns <- theirs:
		return ours, nil
	case <-w.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), ours.Close(), theirs.Close())
	}
}

// Accept returns the next connection.
func (w *within) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses all further connections.
func (w *within) Close() error {
	w.close.Do(func() { close(w.closed) })
	return nil
}

// Addr has no meaning.
func (w *within) Addr() net.Addr { return &net.UnixAddr{Name: "leewardd", Net: "within"} }
