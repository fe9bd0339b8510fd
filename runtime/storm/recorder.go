package storm

import (
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// recorder listens to one lane and keeps what the report needs. It belongs to the lane's goroutine while an instant
// runs, except for its counters, which anybody may read.
type recorder struct {
	storm    *Storm
	counters [released + 1]atomic.Int64
	standing map[messages.BindingName]*standing
	// latest is, for each actor, the standing of whom its last fact was about, which is mostly that of the next.
	latest []*standing
	actor  int32 // who tells the present fact
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
	return &recorder{
		storm: s, standing: map[messages.BindingName]*standing{}, taints: map[messages.ClusterName][]corev1.Taint{}, timing: newTiming(),
	}
}

// anyone stands for the number of an actor where that is not known.
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
	case *messages.Scheduled:
		r.scheduled(now, f)
	case *messages.PlacementConfirmed:
		r.replaced(now, r.of(f.Binding))
	case *messages.ScheduleFailed:
		r.scheduleFailed(f)
	case *messages.EvictionBlocked:
		r.evictionBlocked(f)
	case *messages.EvictionStarted:
		r.evictionStarted(now, f)
	case *messages.EvictionWithdrawn:
		r.evictionWithdrawn(f)
	case *messages.HealthChanged:
		r.healthChanged(now, f)
	case *messages.EvictionEnded:
		r.evictionEnded(now, f)
	case *messages.TaintAdded:
		r.taints[f.Cluster], _ = taint.Add(r.taints[f.Cluster], f.Taint)
	case *messages.TaintRemoved:
		r.taints[f.Cluster], _ = taint.Remove(r.taints[f.Cluster], f.Taint.Key, f.Taint.Effect)
	}
}

func (r *recorder) of(b messages.BindingName) *standing {
	for int(r.actor) >= len(r.latest) {
		r.latest = append(r.latest, nil)
	}
	if s := r.latest[r.actor]; s != nil && s.binding == b {
		return s
	}
	s := r.standing[b]
	if s == nil {
		s = &standing{binding: b}
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

func (r *recorder) scheduled(now time.Time, f *messages.Scheduled) {
	s := r.of(f.Binding)
	s.runs(f.Clusters)
	if s.unplaced == 0 {
		r.counters[placed].Add(1) // nothing had failed
	}
	r.replaced(now, s)
}

// replaced notes that there is a place for all that was evicted.
func (r *recorder) replaced(now time.Time, s *standing) {
	for ; s.unplaced > 0; s.unplaced-- {
		r.count(placed, now, s.due)
	}
}

func (r *recorder) scheduleFailed(f *messages.ScheduleFailed) {
	if f.Cleared {
		r.of(f.Binding).runs(nil)
	}
}

func (r *recorder) evictionBlocked(f *messages.EvictionBlocked) {
	r.held++
	r.of(f.Binding).held = f.Reason
}

// evictionStarted begins a failover. One that leaves several clusters is timed from the first.
func (r *recorder) evictionStarted(now time.Time, f *messages.EvictionStarted) {
	s := r.of(f.Binding)
	s.leaves(f.Cluster)
	if s.tasks == 0 {
		s.due, s.healthy, s.unplaced = r.storm.due(now, f.Grounds.Deadline), moment{}, 0
	}
	s.tasks++
	s.unplaced++
	r.count(evicted, now, s.due)
}

func (r *recorder) evictionWithdrawn(f *messages.EvictionWithdrawn) {
	s := r.of(f.Binding)
	s.runs(f.Clusters)
	s.tasks = max(0, s.tasks-1)
	r.withdrawn++
}

// healthChanged notes when the last copy became healthy: that is what a handover waits for.
func (r *recorder) healthChanged(now time.Time, f *messages.HealthChanged) {
	if s := r.of(f.Binding); s.tasks > 0 && f.Health == api.Healthy {
		s.healthy = r.storm.moment(now)
	}
}

func (r *recorder) evictionEnded(now time.Time, f *messages.EvictionEnded) {
	s := r.of(f.Binding)
	if s.tasks == 0 {
		return // people wrote the task
	}
	s.tasks--
	if (s.healthy != moment{}) {
		r.counters[healthy].Add(1)
		r.record(healthy, s.healthy, s.due)
	}
	r.count(released, now, s.due)
}

// count counts a stage that is reached now, and times it.
func (r *recorder) count(g stage, now time.Time, due moment) {
	reached := r.storm.moment(now)
	r.counters[g].Add(1)
	r.record(g, reached, due)
	r.last = reached.fleet
}
