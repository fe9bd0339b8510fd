package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
)

// hub is a shared store in this process: what engines propose it commits immediately, and tells when it is let.
type hub struct {
	mu     sync.Mutex
	news   [][]engine.News // by commit
	stored map[string]int64
	last   int64
	more   chan struct{} // closed at the next commit, or when it tells again
	silent bool          // tells nothing
	broken error         // ends who follows
	// instead hears a proposal, and refuses it with an error.
	instead func(p *engine.Proposal) error
	// after comes before the answer to what was committed, and is that unless it is nil.
	after  func(version int64) error
	terms  []string
	closed int
}

func newHub() *hub { return &hub{stored: map[string]int64{}, more: make(chan struct{})} }

func (h *hub) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	close(h.more)
	h.more = make(chan struct{})
}

func (h *hub) Load(context.Context) (wal.State, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	state := wal.State{Version: h.last}
	for _, news := range h.news {
		for _, n := range news {
			if n.Object != nil && h.stored[n.Key] == n.Version {
				state.Records = append(state.Records, n.Record)
			}
		}
	}
	return state, h.broken
}

func (h *hub) Propose(_ context.Context, p *engine.Proposal) (version int64, err error) {
	h.change(func() {
		h.terms = append(h.terms, fmt.Sprint(p.Term, p.Leads))
		if h.instead != nil {
			if err = h.instead(p); err != nil {
				return
			}
		}
		for _, w := range p.Writes {
			if is := h.stored[w.Key]; is != w.Expected {
				version, err = h.last, &engine.Conflict{Key: w.Key, Expected: w.Expected, Actual: is}
				return
			}
		}
		h.commit(p)
		version = h.last
	})
	if err == nil && h.after != nil {
		err = h.after(version)
	}
	return version, err
}

func (h *hub) commit(p *engine.Proposal) {
	var news []engine.News
	for _, w := range p.Writes {
		h.last++
		news = append(news, engine.News{
			Record: wal.Record{Version: h.last, Key: w.Key, Expires: w.Expires, Object: w.Object}, Proposal: p.ID,
		})
		h.stored[w.Key] = h.last
		if w.Object == nil {
			delete(h.stored, w.Key)
		}
	}
	h.news = append(h.news, news)
}

// silence keeps it from telling what it commits, until it is let tell.
func (h *hub) silence() { h.change(func() { h.silent = true }) }

// tell lets it tell what it has been silent of.
func (h *hub) tell() { h.change(func() { h.silent = false }) }

func (h *hub) next(after int64) (news []engine.News, more <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.silent {
		for _, all := range h.news {
			if all[0].Version > after {
				news = slices.Concat(news, all)
			}
		}
	}
	return news, h.more, h.broken
}

func (h *hub) Follow(ctx context.Context, after int64, hear func([]engine.News) error) error {
	for {
		news, more, err := h.next(after)
		if err != nil {
			return err
		}
		if len(news) > 0 {
			if err := hear(news); err != nil {
				return err
			}
			after = news[len(news)-1].Version
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *hub) Latest(context.Context) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, h.broken
}

func (h *hub) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed++
	return nil
}

// join opens an engine on a hub until the test ends.
func join(t *testing.T, h *hub, committed func(int, time.Duration)) *store {
	t.Helper()
	now := clock.NewMock()
	now.Set(noon)
	e, err := engine.Open(engine.Config{Resources: resources(0), Clock: now, Shared: h, Committed: committed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return &store{e, t, now}
}

func TestASharedStoreIsTheSameForAll(t *testing.T) {
	h := newHub()
	a, b := join(t, h, nil), join(t, h, nil)
	one := configMap("one", "1")
	version, err := a.CommitVersion(engine.Create(mapKey("one"), one), engine.Create(eventKey("e"), event("e")).For(time.Hour))
	require.NoError(t, err)
	require.EqualValues(t, 2, version)
	require.Equal(t, "1", one.ResourceVersion)
	o, at := a.maps().Get(mapKey("one"))
	require.Same(t, one, o, "what was committed here need not be read")
	require.EqualValues(t, 1, at)

	require.NoError(t, b.Fresh(t.Context()))
	o, at = b.maps().Get(mapKey("one"))
	require.Equal(t, one, o)
	require.EqualValues(t, 1, at)
	b.commit(engine.Delete(mapKey("one"), 1))
	require.EqualValues(t, 3, b.Version())
	require.NoError(t, a.Reach(t.Context(), 3))
	require.Empty(t, values(a.maps().Snapshot()))

	c := join(t, h, nil)
	require.EqualValues(t, 3, c.Version())
	require.Equal(t, 1, c.Table(events).Len())
	_, err = c.maps().Watch(2)
	require.ErrorAs(t, err, new(*engine.Expired), "what was before is not known here")
}

func TestASharedStoreIsFollowedByWatchersAndFeeds(t *testing.T) {
	h := newHub()
	a, b := join(t, h, nil), join(t, h, nil)
	_, c := b.maps().SnapshotAndWatch()
	a.commit(engine.Create(mapKey("one"), configMap("one", "1")))
	a.commit(engine.Update(mapKey("one"), configMap("one", "2"), 1))
	require.NoError(t, b.Fresh(t.Context()))
	require.Equal(t, []string{"1 one: - -> 1", "2 one: 1 -> 2"}, next(t, c))
}

func TestAWriteToASharedStoreMeetsWhatOthersWrote(t *testing.T) {
	h := newHub()
	a, b := join(t, h, nil), join(t, h, nil)
	b.commit(engine.Create(mapKey("one"), configMap("one", "1")))
	conflict := new(engine.Conflict)
	require.ErrorAs(t, a.Commit(engine.Create(mapKey("one"), configMap("one", "2"))), &conflict)
	require.EqualValues(t, 1, conflict.Actual)
	require.EqualValues(t, 1, a.Version(), "who reads again sees what it met")
	require.ErrorContains(t, a.Commit(), "nothing to write")
}

func TestWhatIsProposedSaysWhoseDecisionItIs(t *testing.T) {
	h := newHub()
	a := join(t, h, nil)
	term, err := a.Lead(engine.Create(mapKey("lease"), configMap("lease", "a")))
	require.NoError(t, err)
	require.EqualValues(t, 1, term)
	require.NoError(t, a.Follow().Begin(term, engine.Create(mapKey("one"), configMap("one", "1")))())
	mine := a.Follow()
	require.NoError(t, mine.Begin(term, engine.Create(mapKey("two"), configMap("two", "1")))())
	a.commit(engine.Create(mapKey("three"), configMap("three", "1")))
	changes := mine.Take()
	require.Len(t, changes, 1, "its reader knows what it has written")
	require.Equal(t, mapKey("three"), changes[0].Key)
	require.Equal(t, a.Version(), mine.Taken())
	require.Equal(t, []string{"0 true", "1 false", "1 false", "0 false"}, h.terms)
	ids := map[uint64]bool{}
	for _, news := range h.news {
		ids[news[0].Proposal] = true
	}
	require.Len(t, ids, 4, "each is told from all others")

	h.instead = func(*engine.Proposal) error { return &engine.Deposed{Term: 1, Current: 9} }
	require.ErrorAs(t, a.Follow().Begin(term, engine.Create(mapKey("four"), configMap("four", "1")))(), new(*engine.Deposed))
}

func TestACommitToASharedStoreIsVisibleOnceItIsAnswered(t *testing.T) {
	h := newHub()
	measured := make(chan int, 1)
	a := join(t, h, func(n int, _ time.Duration) { measured <- n })
	h.silence()
	done := make(chan error, 1)
	go func() { done <- a.Commit(engine.Create(mapKey("one"), configMap("one", "1"))) }()
	<-h.changed()
	require.Empty(t, values(a.maps().Snapshot()))
	require.True(t, never(done))
	h.tell()
	require.NoError(t, <-done)
	require.Equal(t, []string{"one=1"}, values(a.maps().Snapshot()))
	require.Equal(t, 1, <-measured)
}

// TestAnAnswerThatIsLostIsNoRefusal: what was committed and heard of has happened, whatever became of the answer.
func TestAnAnswerThatIsLostIsNoRefusal(t *testing.T) {
	h := newHub()
	a := join(t, h, nil)
	h.after = func(version int64) error {
		require.NoError(t, a.Reach(t.Context(), version))
		return &engine.Unreachable{Cause: errors.New("no route")}
	}
	version, err := a.CommitVersion(engine.Create(mapKey("one"), configMap("one", "1")), engine.Create(mapKey("two"), configMap("two", "1")))
	require.NoError(t, err)
	require.EqualValues(t, 2, version)
}

// changed is closed at the next commit, immediately if there was one.
func (h *hub) changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.news) > 0 {
		now := make(chan struct{})
		close(now)
		return now
	}
	return h.more
}

func TestAProposalThatFailsIsForgotten(t *testing.T) {
	h := newHub()
	measured := 0
	a := join(t, h, func(int, time.Duration) { measured++ })
	down := &engine.Unreachable{Cause: errors.New("no route")}
	var ids []uint64
	h.instead = func(p *engine.Proposal) error { ids = append(ids, p.ID); return down }
	one := configMap("one", "1")
	require.ErrorIs(t, a.Commit(engine.Create(mapKey("one"), one)), down)
	require.Zero(t, measured)
	h.instead = nil

	h.change(func() { // it was committed all the same, and is heard of now
		h.commit(&engine.Proposal{ID: ids[0], Writes: []engine.ProposedWrite{{Key: mapKey("one"), Object: []byte(`{"data":{"value":"1"}}`)}}})
	})
	require.NoError(t, a.Fresh(t.Context()))
	o, _ := a.maps().Get(mapKey("one"))
	require.NotSame(t, one, o, "its writer has been told that it failed, and may have changed it")
	require.Equal(t, "1", o.(*corev1.ConfigMap).Data["value"])
}

func TestASharedStoreThatCannotBeFollowedTakesNoMore(t *testing.T) {
	h := newHub()
	a := join(t, h, nil)
	a.commit(engine.Create(mapKey("one"), configMap("one", "1")))
	require.NoError(t, a.Health())
	select {
	case <-a.Lost():
		t.Fatal("nothing is lost yet")
	default:
	}
	gone := errors.New("compacted")
	h.change(func() { h.broken = gone })
	<-a.Lost()
	require.ErrorIs(t, a.Health(), gone)
	require.ErrorContains(t, a.Health(), "follow the shared store: compacted")
	require.ErrorAs(t, a.Commit(engine.Create(mapKey("two"), configMap("two", "1"))), new(*engine.ReadOnly))
	require.ErrorAs(t, a.Reach(t.Context(), 7), new(*engine.ReadOnly))
	require.Equal(t, []string{"one=1"}, values(a.maps().Snapshot()))
	require.Equal(t, []string{"0 false"}, h.terms, "nothing is proposed any more")
}

// TestACommitThatIsNeverShownIsAnswered has a hub that commits, says nothing of it, and breaks.
func TestACommitThatIsNeverShownIsAnswered(t *testing.T) {
	h := newHub()
	a := join(t, h, nil)
	h.silence()
	done := make(chan error, 1)
	go func() { done <- a.Commit(engine.Create(mapKey("one"), configMap("one", "1"))) }()
	<-h.changed()
	h.change(func() { h.broken = errors.New("compacted") })
	require.ErrorAs(t, <-done, new(*engine.ReadOnly))
}

func TestWhatASharedStoreSaysThatCannotBeReadEndsIt(t *testing.T) {
	for name, c := range map[string]struct{ key, object, wrong string }{
		"no such resource":     {"/apps/deployments/default/a", `{}`, "read /apps/deployments/default/a: the store has no such resource"},
		"another shape":        {mapKey("a"), `{"data":7}`, "read /core/configmaps/default/a: json: "},
		"another shape, event": {eventKey("a"), `{"count":"x"}`, "read /events.k8s.io/events/default/a: json: "},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub()
			a := join(t, h, nil)
			h.change(func() {
				h.commit(&engine.Proposal{Writes: []engine.ProposedWrite{{Key: c.key, Object: []byte(c.object)}}})
			})
			<-a.Lost()
			require.ErrorContains(t, a.Health(), "follow the shared store: "+c.wrong)
			require.Zero(t, a.Version())
		})
	}
	h := newHub()
	h.commit(&engine.Proposal{Writes: []engine.ProposedWrite{{Key: eventKey("a"), Object: []byte(`{"count":"x"}`)}}})
	_, err := engine.Open(engine.Config{Resources: resources(0), Clock: clock.NewMock(), Shared: h})
	require.ErrorContains(t, err, "open the shared store: read /events.k8s.io/events/default/a: json: ")
	require.Equal(t, 1, h.closed)
}

func TestWhoWaitsForAVersionWaitsForNoLonger(t *testing.T) {
	h := newHub()
	a, b := join(t, h, nil), join(t, h, nil)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	ahead := new(engine.Ahead)
	require.ErrorAs(t, a.Reach(done, 1), &ahead)
	require.Equal(t, engine.Ahead{Version: 1, Current: 0}, *ahead)
	b.commit(engine.Create(mapKey("one"), configMap("one", "1")))
	require.NoError(t, a.Reach(t.Context(), 1))
	require.NoError(t, a.Reach(done, 1), "it is there")
	h.change(func() { h.broken = errors.New("down") })
	require.ErrorContains(t, a.Fresh(t.Context()), "down")

	alone := open(t, 0)
	require.NoError(t, alone.Reach(done, 1), "nobody else writes")
	require.NoError(t, alone.Fresh(done))
	require.Nil(t, alone.Lost())
	require.Greater(t, alone.Batch(), 1<<40)
	require.Equal(t, engine.SharedBatch, a.Batch())
}

// never reports that nothing comes of what has capacity for it, as far as that shows while others run.
func never(comes <-chan error) bool {
	for range 2000 {
		if runtime.Gosched(); len(comes) > 0 {
			return false
		}
	}
	return true
}

// TestWhoMeetsAnotherWriteHearsOfItFirst: else who reads again would read the same, and meet it again.
func TestWhoMeetsAnotherWriteHearsOfItFirst(t *testing.T) {
	h, asked := newHub(), make(chan struct{})
	a := join(t, h, nil)
	h.silence()
	h.change(func() {
		h.commit(&engine.Proposal{ID: 1, Writes: []engine.ProposedWrite{{Key: mapKey("one"), Object: []byte(`{}`)}}})
	})
	h.instead = func(*engine.Proposal) error { close(asked); return nil }
	done := make(chan error, 1)
	go func() { done <- a.Commit(engine.Create(mapKey("one"), configMap("one", "1"))) }()
	<-asked
	require.True(t, never(done))
	h.tell()
	require.ErrorAs(t, <-done, new(*engine.Conflict))
	require.EqualValues(t, 1, a.Version())
}

// TestCommitsThatAreHeardOfTogetherAreAnsweredEach with their own versions.
func TestCommitsThatAreHeardOfTogetherAreAnsweredEach(t *testing.T) {
	h, asked := newHub(), make(chan struct{}, 2)
	a := join(t, h, nil)
	h.silence()
	h.instead = func(*engine.Proposal) error { asked <- struct{}{}; return nil }
	answers := map[string]chan int64{}
	for _, name := range []string{"one", "two"} {
		answer := make(chan int64, 1)
		answers[name] = answer
		go func() {
			version, err := a.CommitVersion(engine.Create(mapKey(name), configMap(name, "1")), engine.Create(mapKey(name+"b"), configMap(name, "1")))
			if err == nil {
				answer <- version
			}
			close(answer)
		}()
		<-asked
	}
	h.change(func() {})
	h.tell()
	require.EqualValues(t, 2, <-answers["one"])
	require.EqualValues(t, 4, <-answers["two"])
}

// TestWhatIsBeingShownIsNotWithdrawn has the answer to a commit lost while the engine is about to show it.
func TestWhatIsBeingShownIsNotWithdrawn(t *testing.T) {
	h, reading, read := newHub(), make(chan struct{}), make(chan struct{})
	now, tables := clock.NewMock(), resources(0)
	newEvent := tables[1].New
	tables[1].New = func() engine.Object { close(reading); <-read; return newEvent() }
	e, err := engine.Open(engine.Config{Resources: tables, Clock: now, Shared: h})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	h.silence()
	h.after = func(int64) error {
		h.change(func() {
			h.silent = false
			h.commit(&engine.Proposal{Writes: []engine.ProposedWrite{{Key: eventKey("other"), Object: []byte(`{}`)}}})
		})
		<-reading
		return &engine.Unreachable{Cause: errors.New("no route")}
	}
	done := make(chan error, 1)
	go func() { done <- e.Commit(engine.Create(mapKey("one"), configMap("one", "1"))) }()
	<-reading
	require.True(t, never(done))
	close(read)
	require.NoError(t, <-done)
}

// TestWhatOthersWroteIsPacked as what this engine wrote is, once it is not of the latest.
func TestWhatOthersWroteIsPacked(t *testing.T) {
	h := newHub()
	a, b := join(t, h, nil), &store{t: t, clock: clock.NewMock()}
	var err error
	b.Engine, err = engine.Open(engine.Config{Resources: resources(4), Clock: b.clock, Shared: h})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	for n := range 12 { // the first four are not packed
		a.commit(engine.Create(mapKey(fmt.Sprintf("%02d", n)), configMap("m", "1")))
		require.NoError(t, b.Fresh(t.Context()))
	}
	hot := 0
	for n := range 12 {
		o, _ := b.maps().Get(mapKey(fmt.Sprintf("%02d", n)))
		if again, _ := b.maps().Get(mapKey(fmt.Sprintf("%02d", n))); o == again {
			hot++
		}
	}
	require.Equal(t, 8, hot, "those and the latest four")
}

// TestWhatExpiresIsTriedAgainInASecond where the store does not answer.
func TestWhatExpiresIsTriedAgainInASecond(t *testing.T) {
	h := newHub()
	a := join(t, h, nil)
	a.commit(engine.Create(eventKey("e"), event("e")).For(time.Second))
	_, c := a.Table(events).SnapshotAndWatch()
	tried := make(chan error, 100)
	h.instead = func(*engine.Proposal) error {
		err := &engine.Unreachable{Cause: errors.New("no route")}
		select {
		case tried <- err:
		default:
		}
		return err
	}
	a.clock.Add(time.Second)
	require.Error(t, <-tried)
	require.True(t, never(tried))
	h.change(func() { h.instead = nil })
	a.clock.Add(time.Second)
	changes, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Nil(t, changes[0].Object)
}

func TestASharedStoreTakesSoMuchInOneWrite(t *testing.T) {
	h := newHub()
	a := join(t, h, nil)
	var writes []engine.Write
	for n := range engine.SharedBatch + 1 {
		writes = append(writes, engine.Create(mapKey(fmt.Sprint(n)), configMap(fmt.Sprint(n), "1")))
	}
	err := a.Commit(writes...)
	require.ErrorAs(t, err, new(*engine.TooLarge))
	require.EqualError(t, err, "too large for the shared store: 101 writes at once, and 100 may be")
	a.commit(writes[1:]...)
	require.Equal(t, engine.SharedBatch, a.maps().Len())
}

func TestWhatExpiresInASharedStoreGoes(t *testing.T) {
	h := newHub()
	a := join(t, h, nil)
	var writes []engine.Write
	for n := range engine.SharedBatch {
		writes = append(writes, engine.Create(eventKey(fmt.Sprint(n)), event("e")).For(time.Minute))
	}
	a.commit(writes...)
	a.commit(engine.Create(eventKey("last"), event("e")).For(time.Minute), engine.Create(eventKey("stays"), event("e")))
	require.Equal(t, noon.Add(time.Minute).UnixNano(), h.news[0][0].Expires)
	require.Zero(t, h.news[1][1].Expires)
	_, c := a.Table(events).SnapshotAndWatch()
	a.clock.Add(59 * time.Second)
	require.Equal(t, engine.SharedBatch+2, a.Table(events).Len())
	a.clock.Add(2 * time.Second)
	for gone := 0; gone < engine.SharedBatch+1; {
		changes, err := c.Next(t.Context())
		require.NoError(t, err)
		gone += len(changes)
	}
	require.Equal(t, 1, a.Table(events).Len(), "all that is due goes at once")
}

func TestASharedStoreIsLetGo(t *testing.T) {
	h := newHub()
	now := clock.NewMock()
	e, err := engine.Open(engine.Config{Resources: resources(0), Clock: now, Shared: h})
	require.NoError(t, err)
	_, c := e.Table(maps).SnapshotAndWatch()
	require.NoError(t, e.Close())
	require.NoError(t, e.Close())
	require.Equal(t, 1, h.closed)
	_, err = c.Next(t.Context())
	require.ErrorIs(t, err, engine.ErrClosed)
	require.NoError(t, e.Health(), "it has not failed")
	require.ErrorIs(t, e.Commit(engine.Create(mapKey("one"), configMap("one", "1"))), engine.ErrClosed)
	require.ErrorIs(t, e.Reach(t.Context(), 1), engine.ErrClosed)
	require.Empty(t, h.terms)
}
