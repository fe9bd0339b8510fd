package storm

import (
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/runtime/fleet/failover"
)

// recorder listens to one lane and keeps what the report needs. It belongs to the lane's goroutine while an instant
// runs, except for its counters, which any goroutine may read.
type recorder struct {
	storm    *Storm
	counters [released + 1]atomic.Int64
	standing map[messages.BindingName]*followed
	// latest is, for each actor, the standing of whom its last fact was about, which is mostly that of the next.
	latest []*followed
	actor  int32     // who tells the present fact
	at     *followed // of whom it is
	step   failover.Reader
	taints map[messages.ClusterName][]corev1.Taint
	timing

	withdrawn, held int
	last            time.Duration // of the fleet's time, when something was last counted
}

// stage is a step of a failover; its index.
type stage int

const (
	evicted stage = iota
	placed
	healthy
	released
)

var stageNames = [...]string{evicted: StageEvicted, placed: StagePlaced, healthy: StageHealthy, released: StageReleased}

func newRecorder(s *Storm) *recorder {
	r := &recorder{
		storm: s, standing: map[messages.BindingName]*followed{}, taints: map[messages.ClusterName][]corev1.Taint{}, timing: newTiming(),
	}
	r.step = r.stepped
	return r
}

// anyone is the number of an actor where that is not known.
const anyone = 0

// observe routes a fact of an actor to what it changes. Members tell of copies, too; only bindings count.
func (r *recorder) observe(actor int32, now time.Time, f messages.Fact) {
	r.actor = actor
	switch f := f.(type) {
	case *messages.BindingCreated:
		r.of(f.Binding).asks(f.Spec, f.Replicas)
	case *messages.BindingUpdated:
		r.of(f.Binding).asks(f.Spec, f.Replicas)
	case *messages.BindingDeleted:
		r.forget(f.Binding)
	case *messages.TaintAdded:
		r.taints[f.Cluster], _ = taint.Add(r.taints[f.Cluster], f.Taint)
	case *messages.TaintRemoved:
		r.taints[f.Cluster], _ = taint.Remove(r.taints[f.Cluster], f.Taint.Key, f.Taint.Effect)
	default:
		r.failsOver(now, f)
	}
}

// failsOver takes in a fact that may be a step of a failover.
func (r *recorder) failsOver(now time.Time, f messages.Fact) {
	b, about := failover.About(f)
	if !about {
		return
	}
	before := r.counters[placed].Load()
	r.at = r.of(b)
	r.at.Take(now, f, r.step)
	if _, again := f.(*messages.Scheduled); again && r.counters[placed].Load() == before {
		r.counters[placed].Add(1) // nothing had failed
	}
}

func (r *recorder) of(b messages.BindingName) *followed {
	for int(r.actor) >= len(r.latest) {
		r.latest = append(r.latest, nil)
	}
	if s := r.latest[r.actor]; s != nil && s.binding == b {
		return s
	}
	s := r.standing[b]
	if s == nil {
		s = &followed{binding: b}
		r.standing[b] = s
	}
	r.latest[r.actor] = s
	return s
}

func (r *recorder) forget(b messages.BindingName) {
	delete(r.standing, b)
	if int(r.actor) < len(r.latest) {
		r.latest[r.actor] = nil
	}
}

// stepped counts a step of a failover of the present binding. One that leaves several clusters is timed from the first.
func (r *recorder) stepped(now time.Time, step failover.Step, f *failover.Failover) {
	at := r.at
	switch step {
	case failover.Blocked:
		r.held++
		at.held = f.BlockedBy.Reason
	case failover.Evicted:
		if at.handovers() == 1 {
			at.due = r.storm.due(now, f.Cause.Deadline)
		}
		r.count(evicted, now, at.due)
	case failover.Placed:
		r.count(placed, now, at.due)
	case failover.Available:
		at.healthy = r.storm.moment(now)
	case failover.Released:
		if !f.Available.IsZero() {
			r.counters[healthy].Add(1)
			r.record(healthy, at.healthy, at.due)
		}
		r.count(released, now, at.due)
	case failover.Cancelled:
		if !f.Evicted.IsZero() {
			r.withdrawn++
		}
	}
}

// count counts a stage that is reached now, and times it.
func (r *recorder) count(g stage, now time.Time, due moment) {
	reached := r.storm.moment(now)
	r.counters[g].Add(1)
	r.record(g, reached, due)
	r.last = reached.fleet
}
