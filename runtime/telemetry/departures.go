package telemetry

import (
	"slices"
	"time"

	"github.com/benbjohnson/clock"

	"leeward/messages"
)

// The stages of a failover.
const (
	stageEvicted  = "evicted"
	stagePlaced   = "placed"
	stageHealthy  = "healthy"
	stageReleased = "released"
)

// departures are the old copies that are on their way out, by their bindings, so far as their ways began since the
// daemon did: as few as there are at a time.
type departures map[messages.BindingName][]departure

type departure struct {
	from   messages.ClusterName
	placed bool
	// since is when it began; once the hand-over is done, when that ended.
	since time.Time
	ended bool
}

// hear times the stages of failovers.
func (d departures) hear(c clock.Clock, f messages.Fact, to *facts) {
	switch f := f.(type) {
	case *messages.EvictionStarted:
		d.started(c.Now(), f, to)
	case *messages.Scheduled:
		d.placed(c, f.Binding, to)
	case *messages.EvictionEnded:
		d.ended(c.Now(), f, to)
	case *messages.EvictionWithdrawn:
		d.over(f.Binding, f.Cluster)
	case *messages.HealthForgotten:
		d.gone(c, f.Binding, f.Cluster, to)
	case *messages.CopyPreserved:
		d.over(f.Binding, f.Cluster)
	case *messages.BindingDeleted:
		delete(d, f.Binding)
	case *messages.ClusterRemoved:
		d.removed(f.Cluster)
	}
}

func (d departures) find(b messages.BindingName, from messages.ClusterName) *departure {
	all := d[b]
	if i := slices.IndexFunc(all, func(o departure) bool { return o.from == from }); i >= 0 {
		return &all[i]
	}
	return nil
}

func (d departures) started(now time.Time, f *messages.EvictionStarted, to *facts) {
	if t := f.Grounds.Taint; t != nil && t.TimeAdded != nil {
		to.stages.WithLabelValues(stageEvicted).Observe(now.Sub(t.TimeAdded.Time).Seconds())
	}
	if !f.Grounds.Deadline.IsZero() {
		to.lateness.Observe(max(0, now.Sub(f.Grounds.Deadline)).Seconds())
	}
	d.over(f.Binding, f.Cluster)
	d[f.Binding] = append(d[f.Binding], departure{from: f.Cluster, since: now})
}

// placed ends the wait of all departures of a binding for a placement.
func (d departures) placed(c clock.Clock, b messages.BindingName, to *facts) {
	all := d[b]
	for i := range all {
		if p := &all[i]; !p.placed && !p.ended {
			p.placed = true
			to.stages.WithLabelValues(stagePlaced).Observe(c.Now().Sub(p.since).Seconds())
		}
	}
}

func (d departures) ended(now time.Time, f *messages.EvictionEnded, to *facts) {
	p := d.find(f.Binding, f.Cluster)
	if p == nil {
		return
	}
	if f.Reason == messages.EndedHealthy {
		to.stages.WithLabelValues(stageHealthy).Observe(now.Sub(p.since).Seconds())
	}
	p.ended, p.since = true, now
}

// gone notes that a copy is, which may also be one that fails and starts again.
func (d departures) gone(c clock.Clock, b messages.BindingName, from messages.ClusterName, to *facts) {
	if p := d.find(b, from); p != nil && p.ended {
		to.stages.WithLabelValues(stageReleased).Observe(c.Now().Sub(p.since).Seconds())
		d.over(b, from)
	}
}

// over forgets a departure.
func (d departures) over(b messages.BindingName, from messages.ClusterName) {
	rest := slices.DeleteFunc(d[b], func(o departure) bool { return o.from == from })
	if len(rest) == 0 {
		delete(d, b)
		return
	}
	d[b] = rest
}

func (d departures) removed(c messages.ClusterName) {
	for b := range d { // order-free: each by itself
		d.over(b, c)
	}
}
