// Package governor is the machine that decides how fast evictions go: it hands out permits to a fixed
// number of workers at a fixed rate. Requests of one instant are served together, the most urgent
// first, so that their order of arrival does not matter.
package governor

import (
	"fmt"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// stoppedPace is how long a worker rests between evictions at rate zero. Source: Karmada's eviction
// worker.
const stoppedPace = 30 * time.Minute

// Governor hands out permits to evict.
type Governor struct {
	settings messages.Settings
	queue    queue
	// served has, per worker, when it last served; zero: never. The one that has rested longest is first.
	served []time.Time
}

// New returns a governor with no requests.
func New(settings messages.Settings) *Governor {
	return &Governor{settings: settings, queue: queue{at: map[key]int{}}, served: make([]time.Time, settings.EvictionWorkers)}
}

// Receive routes a message to its transition.
func (g *Governor) Receive(now time.Time, m messages.ToGovernor, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RequestEviction:
		g.queue.put(m)
	case *messages.WithdrawRequest:
		g.queue.drop(key{m.Binding, m.Cluster})
	case *messages.SettingsChanged:
		g.settingsChanged(m.Settings)
	case *messages.Woken:
		g.woken(now, out)
	default:
		panic(fmt.Sprintf("governor: unknown message %T", m))
	}
	g.wake(now, out)
}

// settingsChanged keeps the workers that served last, so that nobody gains a permit by it.
func (g *Governor) settingsChanged(s messages.Settings) {
	workers := make([]time.Time, s.EvictionWorkers)
	for i, j := len(workers)-1, len(g.served)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
		workers[i] = g.served[j]
	}
	g.settings, g.served = s, workers
}

// woken serves: the kernel wakes at the end of an instant, when all its requests are there.
func (g *Governor) woken(now time.Time, out *actors.Outbox) {
	for g.queue.Len() > 0 && !g.freeAt().After(now) {
		r := g.queue.next()
		out.TellBinding(r.Binding, &messages.EvictionPermitted{Cluster: r.Cluster})
		if len(g.served) > 0 {
			g.served = append(g.served[1:], now)
		}
	}
}

// freeAt is when a worker may serve; without workers there is nothing to wait for.
func (g *Governor) freeAt() time.Time {
	if len(g.served) == 0 || g.served[0].IsZero() {
		return time.Time{}
	}
	return g.served[0].Add(g.pace())
}

// pace is the time that one eviction takes a worker.
func (g *Governor) pace() time.Duration {
	if g.settings.ResourceEvictionRate <= 0 {
		return stoppedPace
	}
	return time.Duration(float64(time.Second) / g.settings.ResourceEvictionRate)
}

// wake arms the end of this instant if a worker is free, or else the instant at which one will be.
func (g *Governor) wake(now time.Time, out *actors.Outbox) {
	if g.queue.Len() == 0 {
		out.WakeAt(time.Time{})
		return
	}
	free := g.freeAt()
	if free.Before(now) {
		free = now
	}
	out.WakeAt(free)
}
