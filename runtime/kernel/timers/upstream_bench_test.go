package timers_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"leeward/runtime/kernel/timers"
)

// outstanding is how many pods wait for the end of a toleration.
const outstanding = 100_000

// BenchmarkUpstream cancels the timer of one pod and sets it again while 100,000 others wait, as when a taint or a toleration is edited,
// in one run with the way of the taint eviction controller: a map of workers by the name of the pod, behind a lock, each with a timer of
// its own (TimedWorkerQueue, which cannot be imported). The metric upstream/ours is how many times as long that takes.
func BenchmarkUpstream(b *testing.B) {
	q := &timedWorkers{clock: clock.RealClock{}, workers: map[string]*timedWorker{}}
	var h timers.Heap
	names := make([]string, outstanding)
	for id := range names {
		names[id] = fmt.Sprintf("default/pod-%d", id)
		q.add(names[id], time.Hour)
		h.Set(int32(id), int64(id))
	}
	defer q.stop()
	const turns = 1000
	var theirs, ours float64
	n := 0
	for b.Loop() {
		before := b.Elapsed()
		for turn := range turns {
			name := names[(n*turns+turn*7919)%outstanding]
			q.cancel(name)
			q.add(name, time.Hour)
		}
		between := b.Elapsed()
		for turn := range turns {
			id := int32((n*turns + turn*7919) % outstanding)
			h.Clear(id)
			h.Set(id, int64(n*turns+turn))
		}
		theirs += float64((between - before).Nanoseconds())
		ours += float64((b.Elapsed() - between).Nanoseconds())
		n++
	}
	b.ReportMetric(theirs/float64(n*turns), "upstream-ns/op")
	b.ReportMetric(ours/float64(n*turns), "ours-ns/op")
	b.ReportMetric(theirs/ours, "upstream/ours")
}

type timedWorkers struct {
	mu      sync.Mutex
	clock   clock.WithDelayedExecution
	workers map[string]*timedWorker
}

type timedWorker struct {
	name           string
	created, fires time.Time
	timer          clock.Timer
}

func (q *timedWorkers) add(name string, after time.Duration) {
	now := q.clock.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.workers[name] != nil {
		return
	}
	w := &timedWorker{name: name, created: now, fires: now.Add(after)}
	w.timer = q.clock.AfterFunc(after, func() { q.cancel(name) })
	q.workers[name] = w
}

func (q *timedWorkers) cancel(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.workers[name]; w != nil {
		w.timer.Stop()
		delete(q.workers, name)
	}
}

func (q *timedWorkers) stop() {
	for name := range q.workers {
		q.cancel(name)
	}
}
