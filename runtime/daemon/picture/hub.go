package picture

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/benbjohnson/clock"

	"leeward/runtime/daemon/engine"
)

const (
	// MostViewers and MostOfUser are how many there may be, and how many of one user.
	MostViewers = 128
	MostOfUser  = 16
	// behind is how many messages a viewer may be behind before he is dropped.
	behind = 16
	// beat is how often the changes of the store are taken; their ring has 16384 of each table.
	beat = 200 * time.Millisecond
	// pace is the shortest time between two messages of what changed, and mostASecond how many bytes a second a viewer is sent,
	// after his first picture: after a long message the next one is later.
	pace        = time.Second
	mostASecond = 20_000
	// quiet is how long nothing is said before a message without news says that the page is live.
	quiet = 5 * time.Second
)

// Why a viewer gets no more.
var (
	ErrSlow     = errors.New("this viewer did not read in time")
	ErrStopping = errors.New("the daemon is stopping")
)

// FullError says that there are as many viewers as may be.
type FullError struct{ Most int }

func (e *FullError) Error() string {
	return fmt.Sprintf("there are %d viewers already, the most there may be", e.Most)
}

// Hub tells viewers of a fleet. Its methods may be called by anyone at any time.
type Hub struct {
	engine *engine.Engine
	clock  clock.Clock
	past   past

	mu      sync.Mutex
	viewers map[*Viewer]struct{}
	users   map[string]int
	// joined has an item after a viewer has joined.
	joined chan struct{}
	// stopped is set once the hub tells nothing any more.
	stopped bool
}

// New returns a hub that reads an engine while it runs.
func New(e *engine.Engine, c clock.Clock) *Hub {
	return &Hub{engine: e, clock: c, viewers: map[*Viewer]struct{}{}, users: map[string]int{}, joined: make(chan struct{}, 1)}
}

// Viewer is one who reads.
type Viewer struct {
	hub      *Hub
	user     string
	messages chan []byte
	// fresh has no picture yet; err is why there are no more messages. Both are guarded by the hub.
	fresh bool
	err   error
}

// Join has a user view the fleet until Leave is called. The error is a *FullError, or ErrStopping.
func (h *Hub) Join(user string) (*Viewer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopped:
		return nil, ErrStopping
	case len(h.viewers) >= MostViewers:
		return nil, &FullError{MostViewers}
	case h.users[user] >= MostOfUser:
		return nil, &FullError{MostOfUser}
	}
	v := &Viewer{hub: h, user: user, messages: make(chan []byte, behind), fresh: true}
	h.viewers[v] = struct{}{}
	h.users[user]++
	select {
	case h.joined <- struct{}{}:
	default:
	}
	return v, nil
}

// Next waits for the next message: JSON, to be read only, for others may have the same. The error is ErrSlow, ErrStopping or the
// context's.
func (v *Viewer) Next(ctx context.Context) ([]byte, error) {
	select {
	case text, open := <-v.messages:
		if open {
			return text, nil
		}
		v.hub.mu.Lock()
		defer v.hub.mu.Unlock()
		return nil, v.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Leave ends it.
func (v *Viewer) Leave() {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	v.hub.drop(v, context.Canceled)
}

// stop has all viewers be told that the daemon stops, and takes no more.
func (h *Hub) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	for v := range h.viewers { // order-free: each for itself
		h.drop(v, ErrStopping)
	}
}

// viewed says whether there is a viewer.
func (h *Hub) viewed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.viewers) > 0
}

// drop ends a viewer, once. The lock is held.
func (h *Hub) drop(v *Viewer, why error) {
	if _, views := h.viewers[v]; !views {
		return
	}
	delete(h.viewers, v)
	if h.users[v.user]--; h.users[v.user] == 0 {
		delete(h.users, v.user)
	}
	v.err = why
	close(v.messages)
}

// Run tells viewers how the fleet is, and remembers how it was, until the context ends.
func (h *Hub) Run(ctx context.Context) {
	defer h.stop()
	s := newSession(h)
	ticker := h.clock.Ticker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.joined:
			s.welcome()
		case <-ticker.C:
			if s.beat() != nil {
				return
			}
		}
	}
}

// session is what a hub does while it runs.
type session struct {
	hub *Hub
	// fleet is followed from begins on, or from the first viewer on.
	fleet  *fleet
	begins time.Time
	// told is the picture that viewers have; nil: none has one. said is when they last heard of it, next when they may again.
	told       *frame
	said, next time.Time
}

func newSession(h *Hub) *session { return &session{hub: h, begins: h.clock.Now().Add(settles)} }

// follow reads the fleet, if that was not done yet.
func (s *session) follow() {
	if s.fleet == nil {
		s.fleet = follow(s.hub.engine)
	}
}

// welcome gives the picture to those who have none: the one that the others have.
func (s *session) welcome() {
	s.follow()
	now := s.hub.clock.Now().UTC()
	if s.told == nil {
		s.told, s.said, s.next = s.fleet.draw(), now, now.Add(pace)
	}
	s.tell(encode(s.told.whole(now)), true)
}

// beat takes what has changed, and tells and remembers it when it is time. The error is engine.ErrClosed.
func (s *session) beat() error {
	now := s.hub.clock.Now().UTC()
	if s.fleet == nil && now.Before(s.begins) {
		return nil
	}
	s.follow()
	if err := s.fleet.catchUp(); err != nil {
		return err
	}
	if !s.hub.viewed() {
		s.told = nil
	} else if s.told != nil && !now.Before(s.next) {
		s.news(now)
	}
	if now.Before(s.hub.past.next) {
		return nil
	}
	drawn := s.told
	if drawn == nil {
		drawn = s.fleet.draw()
	}
	s.hub.past.note(drawn, now)
	return nil
}

// news tells viewers what has changed since they were last told, or that nothing has.
func (s *session) news(now time.Time) {
	if s.fleet.changed {
		drawn := s.fleet.draw()
		m := drawn.changedSince(s.told, now)
		s.told = drawn
		if m != nil {
			text := encode(m)
			s.said, s.next = now, now.Add(max(pace, time.Duration(len(text))*time.Second/mostASecond))
			s.tell(text, false)
			return
		}
	}
	if now.Sub(s.said) >= quiet {
		s.said = now
		s.tell(encode(&Message{At: now}), false)
	}
}

// tell sends a message to those who have no picture, or to those who have one. Who is too far behind is dropped.
func (s *session) tell(text []byte, fresh bool) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	for v := range h.viewers { // order-free: each for itself
		if v.fresh != fresh {
			continue
		}
		v.fresh = false
		select {
		case v.messages <- text:
		default:
			h.drop(v, ErrSlow)
		}
	}
}
