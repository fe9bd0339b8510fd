package kubeapi_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"leeward/runtime/daemon/kubeapi"
)

// exec runs a command in a pod of the member as kubectl does, by one of its two protocols, and returns what it said.
func (p *through) exec(t *testing.T, u kubeapi.User, protocol string) string {
	t.Helper()
	c := p.as(u)
	at, err := url.Parse(c.Host + "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/api/v1/namespaces/a/pods/b/exec?command=sh&stdin=true&stdout=true")
	require.NoError(t, err)
	executor, err := remotecommand.NewSPDYExecutor(c, http.MethodPost, at)
	if protocol == "WebSocket" {
		executor, err = remotecommand.NewWebSocketExecutor(c, http.MethodGet, at.String())
	}
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: strings.NewReader("says hello"), Stdout: &out}))
	return out.String()
}

// execute is the pod of the member: what it is told it repeats aloud, with its command, and ends well.
func execute(w http.ResponseWriter, r *http.Request) {
	streams, end := spdyStreams(w, r)
	if streams == nil {
		streams, end = socketStreams(w, r)
	}
	defer end()
	told, err := io.ReadAll(streams[corev1.StreamTypeStdin])
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(streams[corev1.StreamTypeStdout], strings.ToUpper(r.URL.Query().Get("command")+" "+string(told)))
	_, _ = io.WriteString(streams[corev1.StreamTypeError], `{"status":"Success"}`)
}

func spdyStreams(w http.ResponseWriter, r *http.Request) (streams map[string]io.ReadWriteCloser, end func()) {
	if !strings.HasPrefix(r.Header.Get(httpstream.HeaderUpgrade), spdy.HeaderSpdy31) {
		return nil, nil
	}
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		panic(err)
	}
	opened := make(chan httpstream.Stream)
	c := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		opened <- s
		return nil
	})
	streams = map[string]io.ReadWriteCloser{}
	for range 3 {
		s := <-opened
		streams[s.Headers().Get(corev1.StreamType)] = s
	}
	return streams, func() {
		for _, s := range streams {
			_ = s.Close()
		}
		_ = c.Close()
	}
}

func socketStreams(w http.ResponseWriter, r *http.Request) (streams map[string]io.ReadWriteCloser, end func()) {
	c := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{
		"v5.channel.k8s.io": {Binary: true, Channels: []wsstream.ChannelType{wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.ReadChannel}},
	})
	_, all, err := c.Open(w, r)
	if err != nil {
		panic(err)
	}
	return map[string]io.ReadWriteCloser{corev1.StreamTypeStdin: all[0], corev1.StreamTypeStdout: all[1], corev1.StreamTypeError: all[3]}, func() { _ = c.Close() }
}
