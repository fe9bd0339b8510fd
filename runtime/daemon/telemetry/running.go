package telemetry

import (
	"context"
	"os"
	"time"

	"leeward/messages"
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
