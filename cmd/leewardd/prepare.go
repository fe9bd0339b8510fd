package main

import (
	"context"
	"sync"

	"leeward/messages"
	"leeward/runtime/daemon/live"
)

// preparation makes the machines of a standby whose leader is late, so that they decide as soon as this daemon leads.
type preparation struct {
	mu sync.Mutex
	// next is what is being made, or is made; nil: nothing is.
	next *prepared
}

// prepared are machines that do not decide yet.
type prepared struct {
	settings *messages.Settings // those that they were made with
	giveUp   context.CancelFunc
	made     chan struct{} // closed once fleet is there, or could not be made
	fleet    *live.Prepared
}

// late begins to make machines when the leader is late, and gives them up when it is not.
func (m *machines) late(ctx context.Context, is bool) {
	m.preparation.mu.Lock()
	defer m.preparation.mu.Unlock()
	if m.preparation.next != nil {
		m.preparation.next.drop()
		m.preparation.next = nil
	}
	if !is {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	next := &prepared{settings: m.settings.Load(), giveUp: cancel, made: make(chan struct{})}
	m.preparation.next = next
	began, log := m.config.Clock.Now(), m.config.Log
	log.Info().Msg("the leader is late: machines are made in case this daemon leads")
	c := m.configFor(next.settings, 0)
	go func() {
		defer close(next.made)
		fleet, err := live.Prepare(ctx, c)
		if next.fleet = fleet; err != nil {
			log.Info().Err(err).Msg("no machines are made in advance")
			return
		}
		log.Info().Stringer("took", m.config.Clock.Now().Sub(began)).Msg("machines are made in advance")
	}()
}

// drop gives machines up, wherever their making is, and returns when nothing of them runs.
func (p *prepared) drop() {
	p.giveUp()
	if <-p.made; p.fleet != nil {
		p.fleet.Close()
	}
}

// advance has machines lead that were made in advance; nil where there are none, or a leader has decided since, or settings have
// changed.
func (m *machines) advance(ctx context.Context, term int64) (*live.Fleet, error) {
	m.preparation.mu.Lock()
	next := m.preparation.next
	m.preparation.next = nil
	m.preparation.mu.Unlock()
	if next == nil {
		return nil, nil
	}
	if next.settings != m.settings.Load() {
		next.drop()
		return nil, nil
	}
	select {
	case <-next.made:
	case <-ctx.Done():
		next.drop()
		return nil, context.Cause(ctx)
	}
	next.giveUp()
	if next.fleet == nil {
		return nil, nil
	}
	return next.fleet.Lead(ctx, term)
}
