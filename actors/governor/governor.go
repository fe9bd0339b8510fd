// Package governor is the machine that decides how fast evictions go: it hands out permits to a fixed
// number of workers at a fixed rate. Requests of one instant are served together, the most urgent
// first, so that their order of arrival does not matter. ResourceBindings and ClusterResourceBindings
// wait apart, each kind for workers of its own.
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
	// bindings are the requests of ResourceBindings, clusterBindings those of ClusterResourceBindings.
	// Source: Karmada's queues binding-eviction and cluster-binding-eviction.
	bindings, clusterBindings desk
}

// New returns a governor with no requests.
func New(settings messages.Settings) *Governor {
	return &Governor{settings: settings, bindings: newDesk(settings), clusterBindings: newDesk(settings)}
}

// Receive routes a message to its transition.
func (g *Governor) Receive(now time.Time, m messages.ToGovernor, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RequestEviction:
		g.deskOf(m.Binding).queue.put(m)
	case *messages.WithdrawRequest:
		g.deskOf(m.Binding).queue.drop(key{m.Binding, m.Cluster})
	case *messages.SettingsChanged:
		g.settingsChanged(m.Settings)
	case *messages.Woken:
		g.woken(now, out)
	default:
		panic(fmt.Sprintf("governor: unknown message %T", m))
	}
	g.wake(now, out)
}

// deskOf returns where a binding's requests wait.
func (g *Governor) deskOf(b messages.BindingName) *desk {
	if b.Namespace() == "" {
		return &g.clusterBindings
	}
	return &g.bindings
}

func (g *Governor) settingsChanged(s messages.Settings) {
	g.settings = s
	g.bindings.staff(s.EvictionWorkers)
	g.clusterBindings.staff(s.EvictionWorkers)
}

// woken serves: the kernel wakes at the end of an instant, when all its requests are there.
func (g *Governor) woken(now time.Time, out *actors.Outbox) {
	g.bindings.serve(now, g.pace(), out)
	g.clusterBindings.serve(now, g.pace(), out)
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
	due := g.bindings.due(now, g.pace())
	if other := g.clusterBindings.due(now, g.pace()); due.IsZero() || !other.IsZero() && other.Before(due) {
		due = other
	}
	out.WakeAt(due)
}
