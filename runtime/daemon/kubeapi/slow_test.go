package kubeapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/picture"
)

// stuck is a connection whose client does not read.
type stuck struct {
	http.ResponseWriter
	deadline time.Time
}

func (s *stuck) SetWriteDeadline(at time.Time) error { s.deadline = at; return nil }

func (s *stuck) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func TestAViewerWhoDoesNotReadIsNotWaitedFor(t *testing.T) {
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	now := clock.New()
	l := newLive(&Config{Engine: e, Clock: now, Page: &Page{}})
	ctx, stop := context.WithCancel(t.Context())
	var runs sync.WaitGroup
	runs.Go(func() { l.hub.Run(ctx) })
	defer runs.Wait()
	defer stop()
	for range picture.MostOfUser + 1 { // each leaves its place to the next
		w, began := &stuck{ResponseWriter: httptest.NewRecorder()}, now.Now()
		require.NoError(t, l.watch(w, httptest.NewRequest(http.MethodGet, watchPath, nil), "ada"))
		require.WithinRange(t, w.deadline, began.Add(readsWithin), now.Now().Add(readsWithin))
	}
}
