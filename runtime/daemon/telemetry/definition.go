package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leeward/messages"
	"leeward/runtime/fleet/failover"
)

// namespace precedes the name of every metric.
const namespace = "leeward"

// The types of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// definition describes one metric, to Prometheus and to the readers of docs/metrics.md.
type definition struct {
	name, kind, help string
	labels           []string
	buckets          []float64 // of a histogram, in its unit
}

// definitions are all metrics of the package, in the order of the documentation.
var definitions []*definition

func define(kind, name, help string, labels ...string) *definition {
	d := &definition{name: name, kind: kind, help: help, labels: labels}
	definitions = append(definitions, d)
	return d
}

func defineHistogram(name, help string, buckets []float64, labels ...string) *definition {
	d := define(histogram, name, help, labels...)
	d.buckets = buckets
	return d
}

func (d *definition) opts() prometheus.Opts {
	return prometheus.Opts{Namespace: namespace, Name: d.name, Help: d.help}
}

func (d *definition) counter(r prometheus.Registerer) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts(d.opts()), d.labels)
	r.MustRegister(v)
	return v
}

func (d *definition) gauge(r prometheus.Registerer) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts(d.opts()), d.labels)
	r.MustRegister(v)
	return v
}

func (d *definition) histogram(r prometheus.Registerer) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: d.name, Help: d.help, Buckets: d.buckets,
	}, d.labels)
	r.MustRegister(v)
	return v
}

// desc is for a metric whose value is read at each scrape.
func (d *definition) desc() *prometheus.Desc {
	return prometheus.NewDesc(namespace+"_"+d.name, d.help, d.labels, nil)
}

// The stages of a failover.
const (
	stageEvicted  = "evicted"
	stagePlaced   = "placed"
	stageHealthy  = "healthy"
	stageReleased = "released"
)

// time times the stages of failovers, so far as these began since the daemon did.
func (c *facts) time(at time.Time, s failover.Step, f *failover.Failover) {
	took := func(stage string, since time.Time) { c.stages.WithLabelValues(stage).Observe(at.Sub(since).Seconds()) }
	switch s {
	case failover.Evicted:
		if t := f.Cause.Taint; t != nil && t.TimeAdded != nil {
			took(stageEvicted, t.TimeAdded.Time)
		}
		if due := f.Cause.Deadline; !due.IsZero() {
			c.lateness.Observe(max(0, at.Sub(due)).Seconds())
		}
	case failover.Placed:
		took(stagePlaced, f.Evicted)
	case failover.Released:
		if f.Reason == messages.EndedHealthy {
			took(stageHealthy, f.Evicted)
		}
	case failover.Removed:
		took(stageReleased, f.Released)
	}
}
