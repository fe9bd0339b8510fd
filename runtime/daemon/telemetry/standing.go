package telemetry

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/actors/rules/storm"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
)

var (
	clusters      = define(gauge, "clusters", "Clusters, by the status of their condition Ready.", "ready")
	unschedulable = define(gauge, "bindings_unschedulable", "Bindings without a target cluster.")
	evictionTasks = define(gauge, "eviction_tasks", "Handovers under way, by the reason of their eviction.", "reason")
	taskAge       = defineHistogram("eviction_task_age_seconds", "Age of the handovers under way. It is computed at each scrape: do not apply rate() to it.", latencies)
	held          = define(gauge, "evictions_blocked", "Evictions that are due and blocked, by reason; those that wait for a permit have EvictionRate or a Breaker.", "reason")
	governorState = define(gauge, "governor_state", "1 for the present state of the fleet, as the governor sees it, and of each region that was ever in a state other than Normal; 0 for the other states. The fleet has an empty region.", "region", "state")
	breakerState  = define(gauge, "breaker_state", "1 for the present state of each breaker that was ever open; 0 for the other states. The breaker of the fleet has neither region nor priority.", "region", "priority", "state")
	startsLimited = define(gauge, "starts_limited", "How many evicted workloads may start at the same time on a cluster that backs off because starts failed there.", "cluster")
	workloadsStay = define(gauge, "workloads_stay", "1 for each cluster that runs workloads, is not Ready, and from which nothing evicts them, with the reason.", "cluster", "reason")
	holds         = define(gauge, "holds", "Holds on evictions, by scope: fleet, cluster or binding.", "scope")
)

// scrape tells the present state, at each scrape.
type scrape struct{ *Metrics }

// Describe names what is read at scrapes.
func (s scrape) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*definition{
		clusters, unschedulable, evictionTasks, taskAge, held, governorState, breakerState, startsLimited, workloadsStay, holds,
		nodesReady, zoneState, podsWaiting,
		storeObjects, storeChanges, storeReadOnly, storeSize,
		answering, mailbox, handled, dropped, deadlines, changesTaken, changesWritten, conflicts, refused, monitorSeconds, monitorBytes,
	} {
		to <- d.desc()
	}
}

// Collect reads the objects, and asks the machines.
func (s scrape) Collect(to chan<- prometheus.Metric) {
	w := s.watched.Load()
	if w == nil {
		return
	}
	out := output(to)
	out.clusters(w.engine)
	out.bindings(w.engine, s.config.Clock.Now())
	out.governor(w.engine)
	out.nodes(w.engine, s.nodes)
	out.store(w.engine, s.config.StoreDir)
	if w.fleet != nil {
		out.machines(w.fleet, s.patience)
	}
}

// output is where a scrape goes.
type output chan<- prometheus.Metric

func (o output) put(d *definition, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if d.kind == counter {
		kind = prometheus.CounterValue
	}
	o <- prometheus.MustNewConstMetric(d.desc(), kind, value, labels...)
}

// putAll tells one value for each label. Prometheus sorts them.
func (o output) putAll(d *definition, values map[string]float64) {
	for label, value := range values { // order-free: a set
		o.put(d, value, label)
	}
}

func (o output) clusters(e *engine.Engine) {
	byReady := map[string]float64{"True": 0, "False": 0, "Unknown": 0}
	for _, object := range e.Table(catalog.Clusters.Name()).Snapshot().Under("", "") {
		cluster, status := object.(*api.Cluster), "Unknown"
		if ready := meta.FindStatusCondition(cluster.Status.Conditions, api.ConditionReady); ready != nil {
			status = string(ready.Status)
		}
		byReady[status]++
		if reason := cluster.Status.WorkloadsStay; reason != "" {
			o.put(workloadsStay, 1, cluster.Name, reason)
		}
	}
	o.putAll(clusters, byReady)
}

// tally counts what bindings are about.
type tally struct {
	now           time.Time
	unschedulable float64
	tasks, held   map[string]float64
	ages          []uint64 // by bucket of taskAge, cumulative
	count         uint64
	sum           float64
}

func (o output) bindings(e *engine.Engine, now time.Time) {
	t := tally{
		now: now, tasks: map[string]float64{}, held: map[string]float64{}, ages: make([]uint64, len(taskAge.buckets)),
	}
	for _, r := range [...]*catalog.Resource{catalog.Bindings, catalog.ClusterBindings} {
		for _, object := range e.Table(r.Name()).Snapshot().Under("", "") {
			t.add(store.AsBinding(object))
		}
	}
	o.put(unschedulable, t.unschedulable)
	o.putAll(evictionTasks, t.tasks)
	o.putAll(held, t.held)
	buckets := make(map[float64]uint64, len(t.ages))
	for i, bound := range taskAge.buckets {
		buckets[bound] = t.ages[i]
	}
	o <- prometheus.MustNewConstHistogram(taskAge.desc(), t.count, t.sum, buckets)
}

func (t *tally) add(b *store.Binding) {
	if len(b.Spec.Clusters) == 0 {
		t.unschedulable++
	}
	for i := range b.Status.Evictions {
		if e := &b.Status.Evictions[i]; e.State == api.EvictionBlocked {
			t.held[e.Reason]++
		}
	}
	for i := range b.Spec.GracefulEvictionTasks {
		task := &b.Spec.GracefulEvictionTasks[i]
		t.tasks[task.Reason]++
		if task.CreationTimestamp != nil {
			t.age(max(0, t.now.Sub(task.CreationTimestamp.Time)).Seconds())
		}
	}
}

func (t *tally) age(seconds float64) {
	t.count++
	t.sum += seconds
	for i, bound := range taskAge.buckets {
		if seconds <= bound {
			t.ages[i]++
		}
	}
}

func (o output) governor(e *engine.Engine) {
	scopes := map[string]float64{"fleet": 0, "cluster": 0, "binding": 0}
	fleet := &api.Governance{}
	if object, _ := e.Table(catalog.Governors.Name()).Get(engine.Key(catalog.Governors.Name(), "", api.GovernorName)); object != nil {
		status := &object.(*api.Governor).Status
		fleet = &status.Governance
		for i := range status.Regions {
			o.governance(status.Regions[i].Name, &status.Regions[i].Governance)
		}
		for i := range status.Priorities {
			o.breaker("", strconv.Itoa(int(status.Priorities[i].Priority)), status.Priorities[i].Breaker)
		}
		for i := range status.Starts {
			if s := &status.Starts[i]; s.Most > 0 {
				o.put(startsLimited, float64(s.Most), s.Cluster)
			}
		}
		for i := range status.Holds {
			scopes[scopeOf(&status.Holds[i])]++
		}
	}
	o.governance("", fleet)
	o.putAll(holds, scopes)
}

func scopeOf(h *api.HoldStatus) string {
	switch {
	case h.Binding != "":
		return "binding"
	case h.Cluster != "":
		return "cluster"
	}
	return "fleet"
}

// governance tells how a region is governed, or the fleet.
func (o output) governance(region string, g *api.Governance) {
	for _, s := range []storm.State{storm.Normal, storm.Partial, storm.Full, storm.Blackout, storm.Cooldown} {
		in := g.State == string(s) || g.State == "" && s == storm.Normal
		o.put(governorState, number(in), region, string(s))
	}
	o.breaker(region, "", g.Breaker)
}

func (o output) breaker(region, priority string, b *api.BreakerStatus) {
	if b == nil {
		return
	}
	for _, s := range []storm.BreakerState{storm.Closed, storm.Open, storm.HalfOpen} {
		o.put(breakerState, number(b.State == string(s)), region, priority, string(s))
	}
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
