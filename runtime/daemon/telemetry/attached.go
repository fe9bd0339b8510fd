package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leeward/messages"
	"leeward/runtime/daemon/build"
)

var (
	attachedMode = define(gauge, "attach_mode", "1 for the present mode of a daemon with --attach: starting, shadow, standby, acting, or stepped-back where another controller acts, too.", "mode")
	attachedMade = define(counter, "attach_requests_total",
		"Requests that write to the API server, with --attach, by verb and outcome: served, gone (the pod or binding is), conflict (others changed it, 409), throttled (429), blocked (by a PodDisruptionBudget) or failed.", "verb", "outcome")
	attachedTook        = defineHistogram("attach_request_seconds", "Time that the API server took for a request that writes, with --attach.", latencies, "verb")
	attachedWindow      = define(gauge, "attach_requests_limit", "How many requests that write may be under way, with --attach: fewer after the API server was overloaded.")
	attachedWaiting     = define(gauge, "attach_requests_waiting", "Requests that write and wait to be made, with --attach.")
	attachedLost        = define(counter, "attach_watch_errors_total", "How often a resource could not be listed or watched, with --attach.")
	attachedOverwritten = define(counter, "attach_overwritten_total", "How often others wrote where a binding runs, or what evicts it, that the daemon acts on, with --attach beside Karmada.")
	attachedCompared    = define(counter, "shadow_comparisons_total",
		"Decisions in shadow that were compared with those of the control plane that acts, with --attach, by kind (eviction, placement, removal, taint) and verdict: agreed, earlier, later, elsewhere, never or unasked.", "kind", "verdict")
)

// The modes of a daemon that is attached.
const (
	Starting    = "starting"
	Shadow      = "shadow"
	Standby     = "standby"
	Acting      = "acting"
	SteppedBack = "stepped-back"
)

var modes = []string{Starting, Shadow, Standby, Acting, SteppedBack}

// Attached measures a daemon that is attached to the API server of a cluster.
type Attached struct {
	registry        *prometheus.Registry
	facts           *prometheus.CounterVec
	lateness        prometheus.Observer
	mode            *prometheus.GaugeVec
	requests        *prometheus.CounterVec
	took            *prometheus.HistogramVec
	window, waiting prometheus.Gauge
	lost            prometheus.Counter
	overwritten     prometheus.Counter
	compared        *prometheus.CounterVec
}

// NewAttached returns metrics of a daemon that is yet to attach.
func NewAttached(b build.Build) *Attached {
	r := prometheus.NewPedanticRegistry()
	buildInfo.gauge(r).WithLabelValues(b.Version, b.Revision, b.GoVersion).Set(1)
	return &Attached{
		registry: r, facts: factsTotal.counter(r), lateness: podsLateness.histogram(r).WithLabelValues(), mode: attachedMode.gauge(r),
		requests: attachedMade.counter(r), took: attachedTook.histogram(r), window: attachedWindow.gauge(r).WithLabelValues(),
		waiting: attachedWaiting.gauge(r).WithLabelValues(), lost: attachedLost.counter(r).WithLabelValues(),
		overwritten: attachedOverwritten.counter(r).WithLabelValues(), compared: attachedCompared.counter(r),
	}
}

// Gatherer hands out the metrics. It may be used by anyone at any time.
func (a *Attached) Gatherer() prometheus.Gatherer { return a.registry }

// Hear counts a fact.
func (a *Attached) Hear(at time.Time, f messages.Fact) {
	a.facts.WithLabelValues(f.Kind()).Inc()
	if f, is := f.(*messages.PodEvicted); is && !f.Deadline.IsZero() {
		a.lateness.Observe(max(0, at.Sub(f.Deadline)).Seconds())
	}
}

// Mode notes in which mode the daemon is.
func (a *Attached) Mode(is string) {
	for _, mode := range modes {
		a.mode.WithLabelValues(mode).Set(number(mode == is))
	}
}

// Requested notes what became of a request.
func (a *Attached) Requested(verb messages.APIVerb, outcome string, took time.Duration) {
	a.requests.WithLabelValues(string(verb), outcome).Inc()
	a.took.WithLabelValues(string(verb)).Observe(took.Seconds())
}

// Pending notes how many requests wait, and how many may be under way.
func (a *Attached) Pending(waiting, limit int) {
	a.waiting.Set(float64(waiting))
	a.window.Set(float64(limit))
}

// Lost notes that a resource could not be followed.
func (a *Attached) Lost() { a.lost.Inc() }

// Overwritten notes that others wrote what the daemon decides.
func (a *Attached) Overwritten() { a.overwritten.Inc() }

// Compared notes a comparison by what was decided, and by its verdict.
func (a *Attached) Compared(kind, verdict string) { a.compared.WithLabelValues(kind, verdict).Inc() }
