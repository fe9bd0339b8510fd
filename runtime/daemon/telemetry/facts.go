package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"leeward/messages"
	"leeward/runtime/fleet/invariant"
)

// latencies are the buckets of what may take a moment or an hour, in seconds.
var latencies = []float64{.01, .05, .1, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

var (
	factsTotal       = define(counter, "facts_total", "Facts about clusters, bindings and evictions, by kind: TaintAdded, Scheduled, EvictionScheduled ...", "kind")
	evictionsStarted = define(counter, "evictions_started_total", "Evictions that began, by reason: TaintUntolerated, ApplicationFailure, Failback, Rebalance, Reschedule.", "reason")
	evictionsEnded   = define(counter, "evictions_ended_total", "Handovers that ended, by reason: healthy, timeout, unsuppressed, deleted by hand, scaled to zero, or withdrawn.", "reason")
	evictionsDelayed = define(counter, "evictions_delayed_total", "How often an eviction that was due was blocked, by reason: EvictionRate, BreakerOpen, Held, NoClusterFit ...", "reason")
	placements       = define(counter, "placements_total", "Placements that were decided, by their trigger: eviction, failback, replicas changed ...", "trigger")
	placementsFailed = define(counter, "placements_failed_total", "Attempts to schedule for which no cluster fitted, by reason.", "reason")
	invariantsBroken = define(counter, "invariants_broken_total", "How often an invariant was found broken since the daemon started, once for each binding and cluster. Anything but 0 is a bug of the machines or an edit by a user; the log has the details (docs/simulation.md lists the invariants). Always 0 if invariantMonitor is false.", "invariant")
	stageSeconds     = defineHistogram("failover_stage_seconds",
		"Duration of the stages of failovers: evicted, from the taint to the eviction, tolerations included; placed, from the eviction to a new placement; healthy, from the eviction to the end of the handover by a healthy replacement; released, from the end of the handover until the old copy was removed.",
		latencies, "stage")
	lateness = defineHistogram("eviction_lateness_seconds", "Time from the deadline of an eviction to its start: the cost of limits, holds and a missing target cluster.", latencies)
)

// facts are the counters of facts.
type facts struct {
	total, started, ended, delayed, placed, failed, broken *prometheus.CounterVec

	stages   *prometheus.HistogramVec
	lateness prometheus.Observer
}

func newFacts(r prometheus.Registerer) facts {
	broken := invariantsBroken.counter(r)
	for _, name := range invariant.Watched() {
		broken.WithLabelValues(string(name))
	}
	return facts{
		total: factsTotal.counter(r), started: evictionsStarted.counter(r), ended: evictionsEnded.counter(r),
		delayed: evictionsDelayed.counter(r), placed: placements.counter(r), failed: placementsFailed.counter(r), broken: broken,
		stages: stageSeconds.histogram(r), lateness: lateness.histogram(r).WithLabelValues(),
	}
}

// count counts a fact by its kind, and those of evictions and placements by their reasons.
func (c *facts) count(f messages.Fact) {
	c.total.WithLabelValues(f.Kind()).Inc()
	switch f := f.(type) {
	case *messages.EvictionStarted:
		c.started.WithLabelValues(f.Task.Reason).Inc()
	case *messages.EvictionEnded:
		c.ended.WithLabelValues(f.Reason).Inc()
	case *messages.EvictionWithdrawn:
		c.ended.WithLabelValues("withdrawn").Inc()
	case *messages.EvictionBlocked:
		c.delayed.WithLabelValues(f.Reason).Inc()
	case *messages.Scheduled:
		c.placed.WithLabelValues(f.Trigger).Inc()
	case *messages.ScheduleFailed:
		c.failed.WithLabelValues(f.Reason).Inc()
	}
}
