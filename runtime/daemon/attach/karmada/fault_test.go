package karmada

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/shadow"
)

const (
	clusters = "/apis/cluster.karmada.io/v1alpha1/clusters"
	bindings = "/apis/work.karmada.io/v1alpha2/resourcebindings"
)

// TestAWatchThatEndsGoesOn: it is cut, broken off, or too old to go on from, and objects were deleted meanwhile.
func TestAWatchThatEndsGoesOn(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*clienttest.Server){
		"cut": (*clienttest.Server).Cut, "torn": (*clienttest.Server).Tear, "410": (*clienttest.Server).Forget,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "karmada", 0, "m1", "m2", "m3")
			fault(s.server)
			s.server.Remove(clusters + "/m4")
			s.put++
			s.write(clusterOf("m2", "failed"))
			require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
			s.look(func(d *deciding) { require.Nil(t, d.twin.world.Store().Cluster("m4")) })
		})
	}
}

// look lets a test see the machines between two rounds.
func (a *Attachment) look(at func(*deciding)) {
	done := make(chan struct{})
	a.asked <- func(now *deciding) {
		defer close(done)
		at(now)
	}
	<-done
}

// TestWhileTheServerCannotBeFollowedNothingIsDecided: the watch of the clusters is refused, and later served again. A toleration that ends
// meanwhile is met then.
func TestWhileTheServerCannotBeFollowedNothingIsDecided(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"throttled": http.StatusTooManyRequests, "a token that expired": http.StatusUnauthorized} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "karmada", 60, "m1", "m2", "m3")
			s.write(clusterOf("m2", "failed"))
			s.server.Deaf(clusters, code)
			s.server.Cut()
			s.await(func() bool { return s.Ready() != nil })
			require.ErrorContains(t, s.Ready(), "clusters cannot be followed since 2026-11-28T06:00:00Z")
			s.clock.Add(5 * time.Minute)
			s.settled()
			require.Equal(t, "m1:2 m2:2", s.ours(web))
			s.server.Deaf(clusters, 0)
			i := s.inbox.Load()
			s.await(func() bool {
				i.mu.Lock()
				defer i.mu.Unlock()
				for _, l := range i.lost {
					if l.back.IsZero() {
						return false
					}
				}
				return true
			})
			s.advance(catchesUp)
			require.NoError(t, s.Ready())
			require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
			require.Contains(t, s.log.String(), "nothing is decided until it can")
		})
	}
}

// TestAServerThatHangsIsNotFollowed: its watches stay open, and say nothing.
func TestAServerThatHangsIsNotFollowed(t *testing.T) {
	t.Parallel()
	var hangs atomic.Bool
	hangs.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			<-r.Context().Done()
			return
		}
		_, _ = fmt.Fprint(w, `{"metadata":{"resourceVersion":"1"},"items":[]}`)
	}))
	t.Cleanup(server.Close)
	a, _ := bare(t, server.URL)
	held := clock.NewMock()
	r := &reader{rest: a.rest, clock: held, inbox: newInbox(nil), lost: func(*kind, error) {}, patience: 100 * time.Millisecond}
	ctx, end := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() { r.pulse(ctx) })
	follows := func() bool {
		held.Add(pulsePeriod)
		return r.inbox.blind(held.Now()) == nil
	}
	require.Eventually(t, func() bool { return !follows() }, 30*time.Second, time.Millisecond)
	require.ErrorContains(t, r.inbox.blind(held.Now()), "clusters cannot be followed since ")
	hangs.Store(false)
	require.Eventually(t, follows, 30*time.Second, time.Millisecond)
	end()
	asking.Wait()
}

func TestAnObjectThatCannotBeReadHidesNoOther(t *testing.T) {
	t.Parallel()
	s := open(t, "karmada", 0, "m1", "m2", "m3")
	bad := clusterOf("m4")
	bad["spec"].(map[string]any)["taints"] = "none"
	text, err := json.Marshal(bad)
	require.NoError(t, err)
	s.server.Put(clusters+"/m4", string(text)) // it is no news
	s.write(clusterOf("m2", "failed"))
	require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
	require.Contains(t, s.log.String(), "an object cannot be read")
}

// bare is an attachment to a server that is yet to run.
func bare(t *testing.T, url string) (*Attachment, *lines) {
	t.Helper()
	settings, problems := config.Resolve(config.Default, nil)
	require.Empty(t, problems)
	log := &lines{}
	a, err := New(Config{
		Client: &rest.Config{Host: url}, Settings: settings, Clock: clock.NewMock(), Log: zerolog.New(log),
		Metrics: telemetry.NewAttached(build.Build{}), Compared: func(*shadow.Comparison) {},
	})
	require.NoError(t, err)
	return a, log
}

func TestARightThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	for want, forbid := range map[string]func(*clienttest.Server){
		"no right to list resourcebindings.work.karmada.io: leeward attach install grants it": func(s *clienttest.Server) { s.Forbid(bindings) },
		"no right to watch clusters.cluster.karmada.io: leeward attach install grants it":     func(s *clienttest.Server) { s.Deaf(clusters, http.StatusForbidden) },
		"cannot list clusters.cluster.karmada.io":                                             func(s *clienttest.Server) { s.Lack(clusters) },
	} {
		server := clienttest.New(t, nil)
		forbid(server)
		a, _ := bare(t, server.URL())
		err := a.Run(t.Context())
		require.ErrorAs(t, err, new(*Missing))
		require.ErrorContains(t, err, want)
		require.EqualError(t, a.Ready(), "the objects have not been listed yet")
	}
}

// TestWhatNeedNotBeReadMayBeMissing: the right to read Secrets, and a kind that the server does not have.
func TestWhatNeedNotBeReadMayBeMissing(t *testing.T) {
	t.Parallel()
	server := clienttest.New(t, nil)
	server.Forbid("/api/v1/secrets")
	server.Lack("/apis/leeward.dev/v1alpha1/evictionbudgets")
	a, log := bare(t, server.URL())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	require.Eventually(t, func() bool { return a.Ready() == nil }, 30*time.Second, time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	require.Contains(t, log.String(), `{"level":"warn","resource":"secrets"`)
	require.Contains(t, log.String(), `{"level":"info","resource":"evictionbudgets.leeward.dev"`)
}

// TestAServerMayBeSlowAndAskForPatience: the first list of clusters is answered with 429, and the next takes its time.
func TestAServerMayBeSlowAndAskForPatience(t *testing.T) {
	t.Parallel()
	server := clienttest.New(t, map[string]string{clusters + "/m1": `{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"m1"}}`})
	target, err := url.Parse(server.URL())
	require.NoError(t, err)
	forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	var mu sync.Mutex
	lists := 0
	asked, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		if r.URL.Path == clusters && r.URL.Query().Get("watch") == "" {
			mu.Lock()
			lists++
			n = lists
			mu.Unlock()
		}
		switch n {
		case 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		case 2:
			close(asked)
			<-release
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	a, _ := bare(t, slow.URL)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-asked
	require.Error(t, a.Ready())
	close(release)
	require.Eventually(t, func() bool { return a.Ready() == nil }, 30*time.Second, time.Millisecond)
	stop()
	require.NoError(t, <-ended)
}

func TestAWriteDoesNotLeaveTheProcess(t *testing.T) {
	t.Parallel()
	server := clienttest.New(t, nil)
	a, _ := bare(t, server.URL())
	for _, verb := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		err := a.rest.Verb(verb).AbsPath(clusters + "/m1").Body([]byte("{}")).Do(t.Context()).Error()
		require.ErrorContains(t, err, verb+" "+clusters+"/m1: a daemon in shadow only reads")
	}
	require.Empty(t, server.Requests())
}

// TestAnInboxIsBounded: what is beyond the bound is not followed, and nothing is decided.
func TestAnInboxIsBounded(t *testing.T) {
	k := &kind{Resource: catalog.Clusters}
	i := newInbox([]*kind{k})
	i.most = 2
	add := func(name, version string) {
		require.NoError(t, (&sink{i, k}).Add(&api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}))
	}
	for range 1000 { // an object that changes all the time takes the place of one
		for _, name := range []string{"m1", "m2"} {
			add(name, strings.Repeat("1", 1+int(i.heard%7)))
		}
	}
	require.Len(t, i.take(), 2)
	require.NoError(t, i.blind(start))
	add("m3", "1")
	require.EqualError(t, i.blind(start), "there are more than 2 objects")
	require.Empty(t, i.take())
}

// TestComparisonsAreBounded: of bindings beyond the bound none is compared, and others take the place of those that are done.
func TestComparisonsAreBounded(t *testing.T) {
	c := newComparing(func(*shadow.Comparison) {})
	c.most = 2
	for _, name := range []messages.BindingName{"a", "b", "c"} {
		c.hear(start, &messages.Scheduled{Binding: name}, "scheduled")
	}
	require.Len(t, c.open, 2)
	c.hear(start, &messages.BindingDeleted{Binding: "a"}, "deleted")
	c.hear(start, &messages.Scheduled{Binding: "c"}, "scheduled")
	require.Contains(t, c.open, messages.BindingName("c"))
}

var errAway = errors.New("away")

func TestAKindIsLostUntilItsChangesHaveArrived(t *testing.T) {
	k := &kind{Resource: catalog.Clusters}
	i := newInbox([]*kind{k})
	require.True(t, i.lose(k, start, errAway))
	require.False(t, i.lose(k, start.Add(time.Second), errAway), "it is told once")
	i.find(k, start.Add(time.Minute))
	require.ErrorContains(t, i.blind(start.Add(time.Minute+catchesUp-1)), "away")
	require.NoError(t, i.blind(start.Add(time.Minute+catchesUp)))
	require.True(t, i.lose(k, start, errAway))
	require.NoError(t, (&sink{i, k}).Bookmark("7"))
	require.NoError(t, i.blind(start))
}

// TestAnObjectMayComeAndGoBetweenTwoLooks: of any kind, and it is as if it had never been.
func TestAnObjectMayComeAndGoBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	s := open(t, "karmada", 0, "m1", "m2", "m3")
	i := s.inbox.Load()
	s.look(func(*deciding) { // no round is made meanwhile
		for _, o := range []map[string]any{workOf("m4"), clusterOf("m9"), s.binding.object(s.placement)} {
			key := keyOf(o)
			key.Name = "x-" + key.Name
			about := o["metadata"].(map[string]any)
			about["name"] = key.Name
			text, err := json.Marshal(o)
			require.NoError(t, err)
			s.server.Put(pathOf(key), string(text))
			s.server.Remove(pathOf(key))
		}
		require.Eventually(t, func() bool {
			i.mu.Lock()
			defer i.mu.Unlock()
			return i.heard >= s.put+6
		}, 20*time.Second, time.Millisecond)
	})
	s.put += 6
	s.write(clusterOf("m2", "failed"))
	require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
}
