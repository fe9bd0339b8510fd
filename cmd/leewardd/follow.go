package main

import (
	"context"
	"sync"
	"time"

	"leeward/messages"
	"leeward/runtime/daemon/live"
)

// standby keeps machines that follow while another daemon leads, so that they decide as soon as this one does.
type standby struct {
	mu sync.Mutex
	// next are those that follow now; nil: none do.
	next *follower
}

// follower are machines that do not decide yet.
type follower struct {
	// parent is the context for as long as they may follow, settings are those that they are made with.
	parent   context.Context
	settings *messages.Settings
	// giveUp ends whatever they do, stopFollowing their following.
	giveUp, stopFollowing context.CancelFunc
	// ended is closed once they follow no more; fleet are those that may lead then, or nil.
	ended chan struct{}
	fleet *live.Standby
}

// Machines that are behind are made again, the first time immediately, then after twice the time, up to longestWait: a large fleet's cost
// seconds. Those that followed for longestWait count as the first.
const (
	firstWait   = time.Second
	longestWait = time.Minute
)

// follow has machines follow the leader from now on, if none do.
func (m *machines) follow(ctx context.Context) {
	m.standby.mu.Lock()
	defer m.standby.mu.Unlock()
	if m.standby.next == nil {
		m.standby.next = m.follower(ctx)
	}
}

// follower begins to make machines that follow.
func (m *machines) follower(parent context.Context) *follower {
	ctx, giveUp := context.WithCancel(parent)
	following, stopFollowing := context.WithCancel(ctx)
	next := &follower{parent: parent, settings: m.settings.Load(), giveUp: giveUp, stopFollowing: stopFollowing, ended: make(chan struct{})}
	go func() {
		defer close(next.ended)
		next.fleet = m.keepUp(ctx, following, next.settings)
	}()
	return next
}

// keepUp makes machines until some have followed to the end, and returns these.
func (m *machines) keepUp(ctx, following context.Context, s *messages.Settings) *live.Standby {
	clock, log := m.config.Clock, m.config.Log
	for wait := time.Duration(0); ; {
		began := clock.Now()
		fleet, err := live.Follow(ctx, m.configFor(s, 0))
		if err == nil {
			log.Info().Stringer("took", clock.Since(began)).Msg("the machines of this standby follow the leader")
			if err = fleet.Run(following); err == nil {
				return fleet
			}
		}
		if following.Err() != nil {
			return nil
		}
		if clock.Since(began) > longestWait {
			wait = 0
		}
		log.Info().Err(err).Stringer("after", wait).Msg("the machines of this standby are made again")
		select {
		case <-following.Done():
			return nil
		case <-clock.After(wait):
		}
		wait = min(max(firstWait, 2*wait), longestWait)
	}
}

// followNo has no machines follow any more; renewed, others do, with the settings of now.
func (m *machines) followNo(renewed bool) {
	m.standby.mu.Lock()
	defer m.standby.mu.Unlock()
	if next := m.standby.next; next != nil {
		m.standby.next = nil
		next.drop()
		if renewed {
			m.standby.next = m.follower(next.parent)
		}
	}
}

// drop gives machines up, and returns when nothing of them runs.
func (f *follower) drop() {
	f.giveUp()
	if <-f.ended; f.fleet != nil {
		f.fleet.Close()
	}
}

// promote has the machines lead that have followed; nil where there are none, or they are not as the store is.
func (m *machines) promote(ctx context.Context, term int64) (*live.Fleet, error) {
	m.standby.mu.Lock()
	next := m.standby.next
	m.standby.next = nil
	m.standby.mu.Unlock()
	if next == nil {
		return nil, nil
	}
	next.stopFollowing()
	select {
	case <-next.ended:
	case <-ctx.Done():
		next.drop()
		return nil, context.Cause(ctx)
	}
	defer next.giveUp()
	if next.fleet == nil {
		return nil, nil
	}
	fleet, err := next.fleet.Lead(ctx, term)
	if fleet != nil {
		m.config.Log.Info().Msg("the machines that followed the leader decide")
	}
	return fleet, err
}
