package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"leeward/messages"
	"leeward/runtime/daemon/live"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/world"
)

// machines are those that look after the fleet: one set after another, where they fail.
type machines struct {
	config   live.Config
	settings atomic.Pointer[messages.Settings]
	metrics  *telemetry.Metrics
	running  atomic.Pointer[live.Fleet]
	// recorded tells what is known of decisions from before.
	recorded func() func(string, messages.BindingName, messages.ClusterName, time.Time) bool
	// quarantine are those that are not run.
	quarantine quarantine
	// always is set where some are to run at any time: there is no other daemon whose machines do.
	always bool
	// making is held while machines are made: new settings hold for those that run by then, or for the next.
	making sync.Mutex
	// standby are those that follow while another daemon leads.
	standby standby
}

// start makes machines of what is stored, which decide in a term; 0 where the store is this daemon's own. It ends early, with an
// error, where the context is done.
func (m *machines) start(ctx context.Context, term int64) (run func(context.Context) error, err error) {
	m.making.Lock()
	defer m.making.Unlock()
	fleet, err := m.promote(ctx, term)
	if fleet == nil && err == nil {
		fleet, err = live.Open(ctx, m.configFor(m.settings.Load(), term))
	}
	if err != nil {
		return nil, err
	}
	m.running.Store(fleet)
	m.metrics.Watch(m.config.Engine, fleet)
	return fleet.Run, nil
}

// configFor is that of machines with settings that decide in a term.
func (m *machines) configFor(s *messages.Settings, term int64) live.Config {
	c := m.config
	c.Settings, c.Term, c.Quarantine = *s, term, m.quarantine.kept
	if m.recorded != nil && !c.Shadow {
		c.Recorded = m.recorded()
	}
	return c
}

// rest notes that no machines run: another daemon leads.
func (m *machines) rest() {
	m.running.Store(nil)
	m.metrics.Watch(m.config.Engine, nil)
}

// attempts is how long one set of machines is asked before it is looked whether there is another.
const attempts = 2 * time.Second

// govern has settings hold from now on. No deadline is lost: each is computed again. It returns when the machines have
// them, or none run; false where the context is done first.
func (m *machines) govern(ctx context.Context, s *messages.Settings) bool {
	m.making.Lock()
	m.settings.Store(s)
	m.followNo(true)
	m.making.Unlock()
	for m.running.Load() != nil && !m.ask(ctx, attempts, func(w *world.World) { w.SetAll(*s) }) {
		if ctx.Err() != nil {
			return false
		}
	}
	return true
}

// ask asks the machines that run now, for some time.
func (m *machines) ask(ctx context.Context, patience time.Duration, what func(*world.World)) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	fleet := m.running.Load()
	return fleet != nil && fleet.Ask(ctx, what)
}

// ready says when the machines do not act. Those of a standby need not.
func (m *machines) ready(ctx context.Context) error {
	if m.running.Load() == nil {
		if m.always {
			return errors.New("the machines are being created from the stored objects")
		}
		return nil
	}
	if !m.ask(ctx, attempts, func(*world.World) {}) {
		return errors.New("the machines have not answered for " + attempts.String())
	}
	return nil
}
