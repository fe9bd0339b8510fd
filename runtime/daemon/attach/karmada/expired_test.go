package karmada

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

// requests are the lists and watches that a server was asked for, with its answers: "watch clusters 410".
type requests struct {
	mu  sync.Mutex
	all []string
}

// trace has the reads of a daemon noted.
func (l *requests) trace(c *Config, _ *faults) {
	wrap := c.Client.WrapTransport
	c.Client.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return tracing{l, wrap(next)}
	}
}

type tracing struct {
	*requests
	next http.RoundTripper
}

// RoundTrip makes a request.
func (l tracing) RoundTrip(q *http.Request) (*http.Response, error) {
	r, err := l.next.RoundTrip(q)
	if err == nil && q.Method == http.MethodGet {
		verb := "list"
		if q.URL.Query().Get("watch") != "" {
			verb = "watch"
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, fmt.Sprintf("%s %s %d", verb, path.Base(q.URL.Path), r.StatusCode))
	}
	return r, err
}

// after are the reads from the one of a number on.
func (l *requests) after(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all[n:])
}

// TestWhatWasMissedBeforeA410IsInTheNewList: in the middle of a failover the server forgets the versions that the watches would go on from, and
// meanwhile copies become healthy and a workload is deleted. Each kind is listed again, what differs is news, no decision is made or
// written twice, and none is lost.
func TestWhatWasMissedBeforeA410IsInTheNewList(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web", "db", "api")
	read := &requests{}
	a := s.acts(opted, read.trace).leads()
	s.until("m1:2 m2:2")
	before := a.faults.count()
	s.silent["m3"] = true
	s.taint("m2", "failed")
	s.until("m1:2 m3:2 -m2")
	forgets := len(read.after(0))
	s.server.Forget()
	s.server.Remove(ofBinding + "api-deployment")
	for _, c := range []string{"m1", "m2", "m3"} {
		s.server.Remove("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-" + c + "/works/api-abc")
	}
	s.bound = []string{"web", "db"}
	s.heals("m3")
	s.until("m1:2 m3:2")
	a.eventually(func(d *deciding) bool {
		return d.twin.world.Store().Binding(messages.NameBinding("shop", "api-deployment")) == nil
	})
	for _, kind := range []string{"federatedresourcequotas", "resourcebindings", "works"} {
		require.Eventually(t, func() bool {
			then := read.after(forgets)
			again := slices.Index(then, "list "+kind+" 200")
			return again >= 0 && slices.Contains(then[again:], "watch "+kind+" 200")
		}, time.Minute, time.Millisecond, "%s are listed again, and watched", kind) // client-go waits longer from failure to failure, by the wall clock
	}
	require.True(t, slices.ContainsFunc(read.after(forgets), func(r string) bool { return strings.HasSuffix(r, " 410") }))
	a.stop() // so that nothing is under way
	require.Equal(t, 3, strings.Count(a.log.String(), `"message":"eviction started"`), &a.log)
	require.LessOrEqual(t, a.faults.count()-before, 3*4+a.faults.conflicts, "%v", a.faults.writes)
}
