// Package governor is the machine that decides how fast evictions go: it hands out permits to a fixed
// number of workers at a fixed rate. Requests of one instant are served together, the most urgent
// first, so that their order of arrival does not matter.
package governor

import (
	"cmp"
	"container/heap"
	"fmt"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// stoppedPace is how long a worker rests between evictions at rate zero. Source: Karmada's eviction
// worker.
const stoppedPace = 30 * time.Minute

// Governor hands out permits to evict.
type Governor struct {
	settings messages.Settings
	queue    queue
	// busyUntil has, per worker, the instant at which it may serve again.
	busyUntil []time.Time
	// collected is the instant whose requests are complete, because its end has come.
	collecting time.Time
}

// New returns a governor with no requests.
func New(settings messages.Settings) *Governor {
	return &Governor{settings: settings, queue: queue{at: map[key]int{}}, busyUntil: make([]time.Time, settings.EvictionWorkers)}
}

// Receive routes a message to its transition.
func (g *Governor) Receive(now time.Time, m messages.ToGovernor, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RequestEviction:
		g.queue.put(m)
	case *messages.WithdrawRequest:
		g.queue.drop(key{m.Binding, m.Cluster})
	case *messages.SettingsChanged:
		g.settingsChanged(m.Settings)
	case *messages.Woken:
		g.woken(now, out)
	default:
		panic(fmt.Sprintf("governor: unknown message %T", m))
	}
	g.wake(now, out)
}

func (g *Governor) settingsChanged(s messages.Settings) {
	g.settings = s
	workers := make([]time.Time, s.EvictionWorkers)
	copy(workers, g.busyUntil)
	g.busyUntil = workers
}

// woken serves at the end of an instant only: a worker that gets free during an instant waits for the
// requests that are still to come in it.
func (g *Governor) woken(now time.Time, out *actors.Outbox) {
	if !g.collecting.Equal(now) {
		return
	}
	g.collecting = time.Time{}
	if len(g.busyUntil) == 0 {
		for g.queue.Len() > 0 {
			permit(g.queue.next(), out)
		}
		return
	}
	for i := range g.busyUntil {
		if g.queue.Len() == 0 {
			return
		}
		if !g.busyUntil[i].After(now) {
			permit(g.queue.next(), out)
			g.busyUntil[i] = now.Add(g.pace())
		}
	}
}

func permit(r *messages.RequestEviction, out *actors.Outbox) {
	out.TellBinding(r.Binding, &messages.EvictionPermitted{Cluster: r.Cluster})
}

// pace is the time that one eviction takes a worker.
func (g *Governor) pace() time.Duration {
	if g.settings.ResourceEvictionRate <= 0 {
		return stoppedPace
	}
	return time.Duration(float64(time.Second) / g.settings.ResourceEvictionRate)
}

// wake arms the end of this instant if a worker is free, or else the instant at which one will be.
func (g *Governor) wake(now time.Time, out *actors.Outbox) {
	if g.queue.Len() == 0 {
		out.WakeAt(time.Time{})
		return
	}
	free := now
	for i, until := range g.busyUntil {
		if i == 0 || until.Before(free) {
			free = until
		}
	}
	if !free.After(now) {
		free, g.collecting = now, now
	}
	out.WakeAt(free)
}

type key struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

// queue is a heap of requests that knows where each one is.
type queue struct {
	items []*messages.RequestEviction
	at    map[key]int
}

func keyOf(r *messages.RequestEviction) key { return key{r.Binding, r.Cluster} }

// put adds a request, or replaces the one for the same binding and cluster.
func (q *queue) put(r *messages.RequestEviction) {
	if i, known := q.at[keyOf(r)]; known {
		q.items[i] = r
		heap.Fix(q, i)
		return
	}
	heap.Push(q, r)
}

func (q *queue) drop(k key) {
	if i, known := q.at[k]; known {
		heap.Remove(q, i)
	}
}

func (q *queue) next() *messages.RequestEviction { return heap.Pop(q).(*messages.RequestEviction) }

func (q *queue) Len() int { return len(q.items) }

// Less puts the higher priority first, then the longer wait, then the name.
func (q *queue) Less(i, j int) bool {
	a, b := q.items[i], q.items[j]
	return cmp.Or(
		-cmp.Compare(a.Priority, b.Priority),
		a.Since.Compare(b.Since),
		cmp.Compare(a.Binding, b.Binding),
		cmp.Compare(a.Cluster, b.Cluster),
	) < 0
}

func (q *queue) Swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	q.at[keyOf(q.items[i])], q.at[keyOf(q.items[j])] = i, j
}

// Push is for package heap.
func (q *queue) Push(x any) {
	r := x.(*messages.RequestEviction)
	q.at[keyOf(r)] = len(q.items)
	q.items = append(q.items, r)
}

// Pop is for package heap.
func (q *queue) Pop() any {
	last := len(q.items) - 1
	r := q.items[last]
	q.items[last] = nil
	q.items = q.items[:last]
	delete(q.at, keyOf(r))
	return r
}
