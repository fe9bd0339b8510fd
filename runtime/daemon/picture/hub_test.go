package picture

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// held is a hub whose time a test holds: the session of its viewers goes on when it is told to.
type held struct {
	*Hub
	*session
	t     *testing.T
	clock *clock.Mock
	store *engine.Engine
}

func hold(t *testing.T) *held {
	t.Helper()
	mock := clock.NewMock()
	mock.Set(began)
	e := open(t, 0)
	h := New(e, mock)
	s := newSession(h)
	s.follow()
	return &held{h, s, t, mock, e}
}

func (h *held) join(user string) *Viewer {
	h.t.Helper()
	v, err := h.Join(user)
	require.NoError(h.t, err)
	return v
}

// later lets time pass, and the session go on.
func (h *held) later(d time.Duration) {
	h.t.Helper()
	h.clock.Set(h.clock.Now().Add(d))
	require.NoError(h.t, h.session.beat())
}

func (h *held) next(v *Viewer) Message {
	h.t.Helper()
	require.NotEmpty(h.t, v.messages, "nothing was said")
	text, err := v.Next(h.t.Context())
	require.NoError(h.t, err)
	var m Message
	require.NoError(h.t, json.Unmarshal(text, &m))
	return m
}

func TestViewersAreToldThePictureThenWhatChanged(t *testing.T) {
	h := hold(t)
	put(t, h.store, catalog.Clusters, clusterOf("m1", metav1.ConditionTrue))
	first := h.join("ada")
	require.NoError(t, h.session.fleet.catchUp())
	h.welcome()
	m := h.next(first)
	require.Equal(t, Format, m.Format)
	require.Equal(t, Version, m.Version)
	require.Contains(t, m.Clusters, "m1")

	put(t, h.store, catalog.Clusters, clusterOf("m1", metav1.ConditionFalse))
	h.later(beat)
	require.Empty(t, first.messages, "not more often than once a second")
	second := h.join("eve")
	h.welcome()
	h.later(pace)
	require.JSONEq(t, string(h.next(second).Clusters["m1"]), string(m.Clusters["m1"]), "who comes later has the picture of the others")
	for _, v := range []*Viewer{first, second} {
		news := h.next(v)
		require.Empty(t, news.Format)
		require.Nil(t, news.Governor)
		require.Contains(t, string(news.Clusters["m1"]), `"ready":"False"`)
	}
	h.later(pace)
	require.Empty(t, first.messages)
	h.later(quiet)
	require.Equal(t, Message{At: h.clock.Now()}, h.next(first), "that the page is live, and nothing else")
}

func TestALongMessageIsFollowedByAPause(t *testing.T) {
	h := hold(t)
	v := h.join("ada")
	h.welcome()
	h.next(v)
	storm := func(s api.EvictionState) {
		for i := range mostEvictions {
			put(t, h.store, catalog.Bindings, evicting(bindingOf(string(rune('a'+i)), "m1"), "m1", s, 0))
		}
	}
	sent, wait := 0, 20*time.Second
	for range int(wait / beat) {
		if len(v.messages) > 0 {
			text, err := v.Next(t.Context())
			require.NoError(t, err)
			sent += len(text)
			storm([]api.EvictionState{api.EvictionBlocked, api.EvictionScheduled}[sent%2])
		}
		if sent == 0 {
			storm(api.EvictionBlocked)
		}
		h.later(beat)
	}
	require.Positive(t, sent)
	require.LessOrEqual(t, sent, int(wait/time.Second)*mostASecond+60_000, "over time, and one message")
}

func TestASlowViewerIsDroppedAndTheOthersAreNot(t *testing.T) {
	h := hold(t)
	slow, quick := h.join("ada"), h.join("eve")
	h.welcome()
	for i := range behind + 2 {
		if i < behind+1 {
			h.next(quick)
		}
		put(t, h.store, catalog.Clusters, clusterOf("m1", []metav1.ConditionStatus{"True", "False"}[i%2]))
		h.later(pace)
	}
	for range behind {
		_, err := slow.Next(t.Context())
		require.NoError(t, err, "what he was told before")
	}
	_, err := slow.Next(t.Context())
	require.ErrorIs(t, err, ErrSlow)
	slow.Leave()
	h.next(quick)
}

func TestViewersAreLimitedInAllAndOfOneUser(t *testing.T) {
	h := hold(t)
	var mine []*Viewer
	for range MostOfUser {
		mine = append(mine, h.join("ada"))
	}
	_, err := h.Join("ada")
	require.EqualError(t, err, "there are 16 viewers already, the most there may be")
	mine[0].Leave()
	mine[0].Leave()
	h.join("ada")
	_, err = h.Join("ada")
	require.Error(t, err, "to leave twice is to leave once")
	for i := range MostViewers - MostOfUser {
		h.join(string(rune('b' + i/MostOfUser)))
	}
	_, err = h.Join("zoe")
	require.EqualError(t, err, "there are 128 viewers already, the most there may be")
}

func TestAHubTellsWhileItRuns(t *testing.T) {
	t.Parallel() // it waits
	e := open(t, 0)
	h := New(e, clock.New())
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	running.Go(func() { h.Run(ctx) })
	for i := range 3 {
		v, err := h.Join("ada")
		require.NoError(t, err)
		_, err = v.Next(t.Context())
		require.NoError(t, err)
		if i == 1 {
			put(t, e, catalog.Clusters, clusterOf("m1", metav1.ConditionTrue))
			text, err := v.Next(t.Context())
			require.NoError(t, err)
			require.Contains(t, string(text), `"m1"`)
		}
		v.Leave()
		_, err = v.Next(t.Context())
		require.ErrorIs(t, err, context.Canceled)
	}
	v, err := h.Join("ada")
	require.NoError(t, err)
	stop()
	running.Wait()
	for err = nil; err == nil; {
		_, err = v.Next(t.Context())
	}
	require.ErrorIs(t, err, ErrStopping)
	_, err = h.Join("ada")
	require.ErrorIs(t, err, ErrStopping)
}
