// Package telemetry measures the daemon, for Prometheus. What happens is counted as facts are heard; the present state is
// read at each scrape, from the objects as they are stored and from the machines, so that it is right after a restart,
// too. docs/metrics.md lists all metrics.
package telemetry

import (
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"

	"leeward/messages"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/live"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/invariant"
)

// Config is what is measured.
type Config struct {
	Clock clock.Clock
	// Build says which program runs.
	Build build.Build
	// StoreDir is the folder of the store. Empty: it has none.
	StoreDir string
}

// Metrics measure one daemon.
type Metrics struct {
	config   Config
	registry *prometheus.Registry
	facts    facts
	// failovers are those that began since the daemon did, and are not over.
	failovers failover.Fold
	nodes     *nodeFacts
	process   process
	// patience is how long a scrape waits for the machines.
	patience time.Duration
	// watched is what runs now; nil before it does.
	watched atomic.Pointer[watched]
}

// watched is what a scrape looks at.
type watched struct {
	engine *engine.Engine
	fleet  *live.Fleet
}

// New returns metrics of a daemon that is yet to start.
func New(c Config) *Metrics {
	m := &Metrics{config: c, registry: prometheus.NewPedanticRegistry(), failovers: failover.Fold{}, patience: time.Second}
	m.nodes = newNodeFacts(m.registry)
	m.facts, m.process = newFacts(m.registry), newProcess(m.registry, c.Build)
	m.registry.MustRegister(scrape{m})
	return m
}

// Gatherer hands out the metrics. It may be used by anyone at any time.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Registerer takes further metrics, which are handed out, too.
func (m *Metrics) Registerer() prometheus.Registerer { return m.registry }

// Watch has scrapes look at an engine and at the fleet that runs on it, nil for none, in place of those before.
func (m *Metrics) Watch(e *engine.Engine, f *live.Fleet) { m.watched.Store(&watched{e, f}) }

// Broken counts an invariant that does not hold. It is for any goroutine: live.Config.Broken.
func (m *Metrics) Broken(v *invariant.Violation) {
	m.facts.broken.WithLabelValues(string(v.Invariant)).Inc()
}

// Hear counts a fact. It belongs to the goroutine of the fleet.
func (m *Metrics) Hear(f messages.Fact) {
	m.facts.count(f)
	m.failovers.Take(m.config.Clock.Now(), f, m.facts.time)
}
