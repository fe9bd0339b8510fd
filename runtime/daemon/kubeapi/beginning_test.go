package kubeapi

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/server"

	"leeward/messages"
	"leeward/runtime/daemon/engine"
)

func TestAServerThatBeginsIsAliveAndNotYetReady(t *testing.T) {
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	s, err := New(Config{
		Engine: e, DataDir: t.TempDir(), Addr: "127.0.0.1:0", Logger: zerolog.Nop(), Clock: clock.New(),
		Settings: func() *messages.Settings { return &messages.Settings{} },
	})
	require.NoError(t, err)
	begun := make(chan struct{})
	require.NoError(t, s.generic.AddPostStartHook("slow", func(server.PostStartHookContext) error {
		<-begun
		return nil
	}))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()

	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for path, want := range map[string]int{"/livez": http.StatusOK, "/readyz": http.StatusInternalServerError} {
		answer, err := c.Get("https://" + s.Addr() + path)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, "%s: %s", path, body)
	}
	close(begun)
	stop()
	require.NoError(t, <-ended)
}
