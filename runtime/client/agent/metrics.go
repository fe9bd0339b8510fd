package agent

import "github.com/prometheus/client_golang/prometheus"

// metrics count what the agent does.
type metrics struct {
	applied, refused, pruned, deleted, repaired, reported, unreported prometheus.Counter
	memberReachable, leads, works                                     prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	count := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "leeward_agent", Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "leeward_agent", Name: name, Help: help})
		r.MustRegister(g)
		return g
	}
	return &metrics{
		applied:         count("applied_total", "Manifests that the member took."),
		refused:         count("refused_total", "Manifests that the member, or the agent, refused."),
		repaired:        count("repaired_total", "Objects that were applied again because something else changed or deleted them."),
		pruned:          count("pruned_total", "Objects that were deleted because their Work no longer holds them."),
		deleted:         count("deleted_total", "Objects that were deleted with their Work."),
		reported:        count("reported_total", "Reports about Works that the hub took."),
		unreported:      count("report_failures_total", "Reports about the cluster that the hub did not take."),
		memberReachable: gauge("member_reachable", "1 if the last probe reached the member."),
		leads:           gauge("leads", "1 if this replica applies Works."),
		works:           gauge("works", "Works of the cluster."),
	}
}

func (m *metrics) reachable(is bool) { m.memberReachable.Set(asNumber(is)) }

func asNumber(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
