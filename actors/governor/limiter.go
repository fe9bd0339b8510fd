package governor

import (
	"fmt"
	"time"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/storm"
	"leeward/messages"
)

// limiter has each kind of request served by a fixed number of workers, and each domain at its own rate.
type limiter struct {
	settings *messages.Settings
	permits  *permits
}

// employ gives each kind its workers. Those that served last remain, so that no request gains a permit by it.
func (l *limiter) employ(kinds []*node) {
	for _, n := range kinds {
		served, workers := n.scope.served, make([]time.Time, l.settings.EvictionWorkers)
		for i, j := len(workers)-1, len(served)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
			workers[i] = served[j]
		}
		n.scope.served = workers
	}
}

// blocks is the gate of the limiter. What waits for a worker is not told so, as in Karmada.
func (l *limiter) blocks(now time.Time, n *node) *wait {
	if free := l.workerFree(n); free.After(now) {
		return &wait{until: free}
	}
	d := n.domain()
	if d == nil {
		return nil
	}
	r := l.rate(d)
	free := d.bucket.FreeAt(now, r)
	if !free.After(now) {
		return nil
	}
	return &wait{reason: "EvictionRate", message: fmt.Sprintf("%s is limited to %v evictions a second", d, r.PerSecond), until: free}
}

// workerFree is when a worker serves requests of a kind; zero: there are no workers to wait for.
func (l *limiter) workerFree(n *node) time.Time {
	if n.scope == nil || len(n.scope.served) == 0 || n.scope.served[0].IsZero() {
		return time.Time{}
	}
	return n.scope.served[0].Add(l.workerRests())
}

// workerRests is the time that one eviction takes a worker.
func (l *limiter) workerRests() time.Duration { return karmada.Of(l.settings).WorkerRests() }

// busy is what a request is told that showed a reason which is over, and waits for a worker like the others; nil: it does
// not.
func (l *limiter) busy(now time.Time, n *node) *wait {
	for ; n != nil; n = n.parent {
		if l.workerFree(n).After(now) {
			message := fmt.Sprintf("waiting for one of %d eviction workers, which take %s for each eviction", l.settings.EvictionWorkers, messages.Period(l.workerRests()))
			return &wait{reason: "EvictionWorkers", message: message}
		}
	}
	return nil
}

// rate is that of a domain, as its state has it or, if that is slower, its setting. Clusters without a region share none.
func (l *limiter) rate(d *domain) storm.Rate {
	r := storm.Rate{Burst: l.settings.EvictionBurst}
	switch {
	case d.tier == tierFleet:
		r.PerSecond = l.settings.FleetEvictionRate
	case d.tier == tierCluster:
		r.PerSecond = l.settings.ClusterEvictionRate
	case d.name != "":
		r.PerSecond = l.settings.RegionEvictionRate
	}
	if v := d.state.verdict; v.Limited && v.PerSecond > 0 && (!r.Limits() || v.PerSecond < r.PerSecond) {
		r = storm.Rate{PerSecond: v.PerSecond}
	}
	return r
}

// charge counts an eviction in a scope.
func (l *limiter) charge(now time.Time, s *scope) {
	if d := s.domain; d != nil {
		if r := l.rate(d); r.Limits() {
			d.bucket.Take(now, r)
			l.permits.note(d)
		}
	}
	if len(s.served) > 0 {
		s.served = append(s.served[1:], now)
	}
}

// refund takes back one eviction in a scope. Only the time of a worker is spent, as in Karmada.
func (l *limiter) refund(n *node) {
	d := n.domain()
	if d == nil {
		return
	}
	if r := l.rate(d); r.Limits() {
		d.bucket.Return(r)
		l.permits.note(d)
	}
}
