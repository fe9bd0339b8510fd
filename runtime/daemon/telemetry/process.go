package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leeward/messages"
	"leeward/runtime/daemon/build"
)

var (
	commitSeconds = defineHistogram("store_commit_seconds",
		"Time to make a batch of changes durable and visible, from when the store received it.",
		[]float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5})
	commitObjects = defineHistogram("store_commit_objects", "Objects in a batch of changes.",
		[]float64{1, 10, 100, 1000, 10000})
	machineRestarts = define(counter, "machine_restarts_total",
		"How often the machines were recreated from the stored objects because one of them panicked, its step did not return, or a quarantined one was tried again.")
	quarantined = define(gauge, "machines_quarantined",
		"Machines in quarantine because a step of theirs did not return, by kind; the log and an Event of the object name them.", "machine")
	reloads = define(counter, "config_reloads_total",
		"How often the configuration was read again, by result: applied, or refused because of an error in it.", "result")
	leader = define(gauge, "leader",
		"1 while the machines of this daemon decide; 0 for a standby, whose machines follow, and in shadow mode.")
	buildInfo = define(gauge, "build_info", "Always 1; the labels identify the program.", "version", "revision", "goversion")
)

// process counts what happens to the daemon itself.
type process struct {
	commitSeconds, commitObjects prometheus.Observer
	restarts                     prometheus.Counter
	reloads                      *prometheus.CounterVec
	leader                       prometheus.Gauge
	quarantined                  *prometheus.GaugeVec
}

func newProcess(r prometheus.Registerer, b build.Build) process {
	buildInfo.gauge(r).WithLabelValues(b.Version, b.Revision, b.GoVersion).Set(1)
	leads := prometheus.NewGauge(prometheus.GaugeOpts(leader.opts()))
	r.MustRegister(leads)
	return process{
		quarantined:   quarantined.gauge(r),
		leader:        leads,
		commitSeconds: commitSeconds.histogram(r).WithLabelValues(),
		commitObjects: commitObjects.histogram(r).WithLabelValues(),
		restarts:      machineRestarts.counter(r).WithLabelValues(),
		reloads:       reloads.counter(r),
	}
}

// Committed notes that a batch of changes is durable: engine.Config.Committed.
func (m *Metrics) Committed(objects int, took time.Duration) {
	m.process.commitSeconds.Observe(took.Seconds())
	m.process.commitObjects.Observe(float64(objects))
}

// Leads notes whether the machines of this daemon decide.
func (m *Metrics) Leads(is bool) { m.process.leader.Set(number(is)) }

// Restarted notes that the machines were built again.
func (m *Metrics) Restarted() { m.process.restarts.Inc() }

// Quarantined notes how many machines of a kind are not run.
func (m *Metrics) Quarantined(kind messages.Kind, n int) {
	m.process.quarantined.WithLabelValues(kind.String()).Set(float64(n))
}

// Reloaded notes that the configuration was read again, and whether it was fit for use.
func (m *Metrics) Reloaded(applied bool) {
	result := "applied"
	if !applied {
		result = "refused"
	}
	m.process.reloads.WithLabelValues(result).Inc()
}
