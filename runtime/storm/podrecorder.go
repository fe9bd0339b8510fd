package storm

import (
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
)

// podRecorder listens to the facts of nodes and pods and keeps what the report needs. A pod that is evicted and the one that its owner
// creates in its place are one failover, which is timed from when the pod had to leave. Counters are for any goroutine.
type podRecorder struct {
	clocks   *clocks
	counters [released + 1]atomic.Int64
	pods     map[messages.PodName]*followedPod
	// waiting are the failovers of each owner for which there is no other pod yet, the oldest first.
	waiting map[messages.OwnerName][]*podFailover
	// tainted is when a node got the NoExecute taint that it got last.
	tainted map[messages.NodeName]time.Time
	timing

	withdrawn, refused int
	last               time.Duration
}

// followedPod is a pod, as facts tell of it.
type followedPod struct {
	owner messages.OwnerName
	node  messages.NodeName
	// leaves is the failover that began with its eviction; replaces the one that it is to end. Nil: none.
	leaves, replaces *podFailover
	ready            bool
}

// podFailover is one.
type podFailover struct {
	due     moment
	deleted bool
}

func newPodRecorder(c *clocks) podRecorder {
	return podRecorder{
		clocks: c, pods: map[messages.PodName]*followedPod{}, waiting: map[messages.OwnerName][]*podFailover{},
		tainted: map[messages.NodeName]time.Time{}, timing: newTiming(),
	}
}

// reset forgets what was counted while the cluster was built.
func (r *podRecorder) reset() {
	r.timing = newTiming()
	for g := range r.counters {
		r.counters[g].Store(0)
	}
}

func (r *podRecorder) hear(now time.Time, f messages.Fact) {
	switch f := f.(type) {
	case *messages.NodeTaintAdded:
		if f.Taint.Effect == corev1.TaintEffectNoExecute {
			r.tainted[f.Node] = now
		}
	case *messages.PodCreated:
		r.created(f)
	case *messages.PodBound:
		p := r.pods[f.Pod]
		p.node = f.Node
		r.counters[placed].Add(1)
		r.reached(placed, now, p.replaces)
	case *messages.PodPhaseChanged:
		r.phased(now, r.pods[f.Pod], f)
	case *messages.PodEvictionFailed:
		r.refused++
	case *messages.PodEvictionCancelled:
		r.withdrawn++
	case *messages.PodEvicted:
		r.leaves(now, f)
	case *messages.PodDeletionRequested:
		r.deletion(now, r.pods[f.Pod], f)
	case *messages.PodDeleted:
		if p := r.pods[f.Pod]; p != nil {
			r.reached(released, now, p.leaves)
			if p.leaves != nil {
				r.counters[released].Add(1)
			}
			delete(r.pods, f.Pod)
		}
	}
}

// created begins a pod. One whose owner waits for another is that.
func (r *podRecorder) created(f *messages.PodCreated) {
	p := &followedPod{owner: f.Owner, node: f.Node}
	if waiting := r.waiting[f.Owner]; len(waiting) > 0 {
		p.replaces, r.waiting[f.Owner] = waiting[0], waiting[1:]
	}
	r.pods[f.Pod] = p
}

// leaves notes when a pod had to: at the end of its toleration, or when its node was tainted.
func (r *podRecorder) leaves(now time.Time, f *messages.PodEvicted) {
	deadline := f.Deadline
	if deadline.IsZero() {
		deadline = r.tainted[f.Node]
	}
	if p := r.pods[f.Pod]; p.leaves == nil {
		p.leaves = &podFailover{due: r.clocks.due(now, deadline)}
	}
}

// deletion counts the eviction of a pod, which its owner sees now.
func (r *podRecorder) deletion(now time.Time, p *followedPod, f *messages.PodDeletionRequested) {
	if p == nil || p.leaves == nil || p.leaves.deleted || f.Cause != "" {
		return
	}
	p.leaves.deleted = true
	r.counters[evicted].Add(1)
	r.reached(evicted, now, p.leaves)
	if p.owner != "" {
		r.waiting[p.owner] = append(r.waiting[p.owner], p.leaves)
	}
}

func (r *podRecorder) phased(now time.Time, p *followedPod, f *messages.PodPhaseChanged) {
	if p == nil || p.ready || !f.Ready {
		return
	}
	p.ready = true
	r.counters[healthy].Add(1)
	r.reached(healthy, now, p.replaces)
	p.replaces = nil
}

// reached times a stage of a failover; nil: it is of none.
func (r *podRecorder) reached(g stage, now time.Time, of *podFailover) {
	if of == nil {
		return
	}
	at := r.clocks.moment(now)
	r.record(g, at, of.due)
	r.last = max(r.last, at.fleet)
}
