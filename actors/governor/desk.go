package governor

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// desk is a queue of requests and the workers that serve it.
type desk struct {
	queue queue
	// served has, per worker, when it last served; zero: never. The one that has rested longest is first.
	served []time.Time
}

func newDesk(s messages.Settings) desk {
	return desk{queue: queue{at: map[key]int{}}, served: make([]time.Time, s.EvictionWorkers)}
}

// staff gives the desk so many workers. It keeps those that served last, so that nobody gains a permit by it.
func (d *desk) staff(n int) {
	workers := make([]time.Time, n)
	for i, j := len(workers)-1, len(d.served)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
		workers[i] = d.served[j]
	}
	d.served = workers
}

// serve permits the most urgent requests for which there are workers; one eviction takes a worker pace.
func (d *desk) serve(now time.Time, pace time.Duration, out *actors.Outbox) {
	for d.queue.Len() > 0 && !d.freeAt(pace).After(now) {
		r := d.queue.next()
		out.TellBinding(r.Binding, &messages.EvictionPermitted{Cluster: r.Cluster})
		if len(d.served) > 0 {
			d.served = append(d.served[1:], now)
		}
	}
}

// freeAt is when a worker may serve; without workers there is nothing to wait for.
func (d *desk) freeAt(pace time.Duration) time.Time {
	if len(d.served) == 0 || d.served[0].IsZero() {
		return time.Time{}
	}
	return d.served[0].Add(pace)
}

// due is when the next request can be served, now at the earliest; zero where none waits.
func (d *desk) due(now time.Time, pace time.Duration) time.Time {
	if d.queue.Len() == 0 {
		return time.Time{}
	}
	if free := d.freeAt(pace); free.After(now) {
		return free
	}
	return now
}
