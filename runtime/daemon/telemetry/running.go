package telemetry

import (
	"context"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leeward/messages"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/live"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

var (
	storeObjects  = define(gauge, "store_objects", "Objects in the store, by resource.", "resource")
	storeChanges  = define(counter, "store_changes_total", "Changes that the store has seen: the latest resource version.")
	storeReadOnly = define(gauge, "store_read_only", "1 once a write to the log has failed, because of a failed sync or a full disk: nothing is written until the daemon is started again.")
	storeSize     = define(gauge, "store_size_bytes", "Size of the files of the store.")

	answering      = define(gauge, "machines_answering", "1 if the machines answered the scrape within a second; otherwise their metrics are missing from it.")
	mailbox        = define(gauge, "mailbox_messages", "Messages that wait in the mailboxes of machines.")
	handled        = define(counter, "messages_total", "Messages that machines handled, by the kind of machine. A restart of the machines resets it to 0.", "machine")
	dropped        = define(counter, "messages_dropped_total", "Messages that no machine handled, by cause: no machine at the address, a panic, or a quarantine of the machine.", "why")
	deadlines      = define(gauge, "deadlines_pending", "Machines that wait for a deadline: of a toleration, a handover, a lease, a cooldown ...")
	changesTaken   = define(counter, "changes_taken_total", "Changes by users and agents that the machines received.")
	changesWritten = define(counter, "changes_written_total", "Objects that the machines changed and the daemon wrote.")
	conflicts      = define(counter, "write_conflicts_total", "Decisions that were made again because another writer had changed the object.")
	refused        = define(counter, "objects_refused_total", "Stored objects that the machines do not admit.")

	monitorSeconds = define(counter, "invariant_monitor_seconds_total", "Time that the monitor of the invariants took, on the goroutine that commits decisions: its rate is its share of one CPU. 0 if invariantMonitor is false. A restart of the machines resets it to 0.")
	monitorBytes   = define(gauge, "invariant_monitor_bytes", "Memory of the monitor of the invariants, estimated from the number of its bindings.")
)

func (o output) store(e *engine.Engine, dir string) {
	for _, r := range catalog.Kept() {
		name := r.Name()
		if table := e.Table(name); table != nil {
			o.put(storeObjects, float64(table.Snapshot().Len()), name.String())
		}
	}
	o.put(storeChanges, float64(e.Version()))
	o.put(storeReadOnly, number(e.Health() != nil))
	o.put(storeSize, sizeOf(dir))
}

// sizeOf adds up the files of a folder. One that goes meanwhile counts as nothing.
func sizeOf(dir string) (bytes float64) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += float64(info.Size())
		}
	}
	return bytes
}

// machines tells of the machines, unless they are too busy to answer.
func (o output) machines(f *live.Fleet, patience time.Duration) {
	o.put(mailbox, float64(f.Backlog()))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var (
		counters kernel.Counters
		spent    [messages.Kinds]kernel.Spent
		pending  int
		stats    live.Stats
		spentOn  time.Duration // the monitor
		bytes    int64
	)
	answered := f.Ask(ctx, func(w *world.World) {
		counters, spent, pending, stats = w.Counters(), w.Spent(), w.Deadlines(), f.Stats()
		spentOn, bytes = f.Monitor()
	})
	o.put(answering, number(answered))
	if !answered {
		return
	}
	for kind := range spent {
		o.put(handled, float64(spent[kind].Messages), messages.Kind(kind).String())
	}
	o.put(dropped, float64(counters.DeadLettered), "no machine there")
	o.put(dropped, float64(counters.DroppedByQuarantine), "quarantine")
	o.put(dropped, float64(counters.Dropped()-counters.DroppedByQuarantine), "panic")
	o.put(deadlines, float64(pending))
	o.put(changesTaken, float64(stats.Taken))
	o.put(changesWritten, float64(stats.Written))
	o.put(conflicts, float64(stats.Conflicts))
	o.put(refused, float64(stats.Refused))
	o.put(monitorSeconds, spentOn.Seconds())
	o.put(monitorBytes, float64(bytes))
}

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
