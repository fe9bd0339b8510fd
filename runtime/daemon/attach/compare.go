package attach

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/shadow"
)

// comparing compares what the machines decide in shadow with what the cluster's own controller does. It keeps the other's evictions from the
// machines, so that they decide as if there were none.
type comparing struct {
	tell func(*shadow.Comparison)
	open map[messages.PodName]*comparison
	// before are the pods that the other had marked already when the machines began; done those that were compared.
	before, done map[types.UID]bool
}

// comparison is a pod that one of both evicts.
type comparison struct {
	pod *corev1.Pod
	// ours is what was decided, due what will be decided at a deadline, unless that changes.
	ours, due, theirs *shadow.Decision
	// until is when it is judged at the latest; zero: neither has evicted yet.
	until time.Time
}

// mostCompared is how many pods are compared at the same time. Those beyond are not.
const mostCompared = 100_000

// delay is how much later than a mark the machines may hear of the taint that led to it.
const delay = 5 * time.Second

func newComparing(tell func(*shadow.Comparison)) *comparing {
	return &comparing{tell: tell, open: map[messages.PodName]*comparison{}, before: map[types.UID]bool{}, done: map[types.UID]bool{}}
}

// began notes a pod that was there when the machines began.
func (c *comparing) began(p *corev1.Pod) {
	if markOf(p) != nil {
		c.before[p.UID] = true
	}
}

// hides is a pod as the machines must see it: without the other's eviction. That is noted here.
func (c *comparing) hides(p *corev1.Pod, now time.Time) *corev1.Pod {
	m := markOf(p)
	if m == nil || c.before[p.UID] {
		return p
	}
	if o := c.of(p); o != nil && o.theirs == nil {
		o.theirs = &shadow.Decision{At: m.at, By: m.by, Reason: m.message}
		o.expire(now.Add(delay))
	}
	without := *p
	without.DeletionTimestamp, without.Status.Conditions, without.ManagedFields = nil, nil, nil
	return &without
}

// of is the comparison of a pod, nil where it is done, or there are too many.
func (c *comparing) of(p *corev1.Pod) *comparison {
	name := podName(p)
	if o := c.open[name]; o != nil && o.pod.UID == p.UID {
		return o
	}
	if c.done[p.UID] || len(c.open) >= mostCompared {
		return nil
	}
	o := &comparison{pod: p}
	c.open[name] = o
	return o
}

// expire has it judged at an instant, if not before.
func (o *comparison) expire(at time.Time) {
	if o.until.IsZero() || at.Before(o.until) {
		o.until = at
	}
}

// hear hears what the machines decide of a pod.
func (c *comparing) hear(at time.Time, f messages.Fact, p *corev1.Pod, told journal.Phrase) {
	if p == nil || c.before[p.UID] {
		return
	}
	switch f := f.(type) {
	case *messages.PodEvictionScheduled:
		if o := c.of(p); o != nil {
			o.due = &shadow.Decision{At: f.Deadline, By: fieldManager, Reason: told.Text()}
		}
	case *messages.PodEvictionCancelled:
		if o := c.open[f.Pod]; o != nil {
			o.due = nil
		}
	case *messages.PodEvicted:
		if o := c.of(p); o != nil && o.ours == nil {
			o.ours = &shadow.Decision{At: at, By: fieldManager, Reason: told.Text()}
			o.expire(at.Add(shadow.Patience))
		}
	}
}

// gone says that a pod does not exist any more, for whatever reason. Where the other had not evicted it, there is nothing to compare.
func (c *comparing) gone(p *corev1.Pod) {
	delete(c.before, p.UID)
	if o := c.open[podName(p)]; o != nil && o.theirs == nil {
		delete(c.open, podName(p))
	}
	delete(c.done, p.UID)
}

// judge tells of the comparisons that can be made: both have decided, or one has waited long enough. It is called when the machines have
// settled what was heard by now.
func (c *comparing) judge(now time.Time) {
	ready := map[messages.PodName]*shadow.Decision{}
	for name, o := range c.open { // order-free: a set
		switch {
		case o.theirs != nil && o.ours != nil:
			ready[name] = o.ours
		case o.theirs != nil && o.due != nil:
			ready[name] = o.due
		case !o.until.IsZero() && !o.until.After(now):
			ready[name] = o.ours
		case o.ours == nil && o.due == nil && o.theirs == nil:
			delete(c.open, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ready)) {
		c.conclude(name, c.open[name], ready[name], now)
	}
}

func (c *comparing) conclude(name messages.PodName, o *comparison, ours *shadow.Decision, now time.Time) {
	delete(c.open, name)
	c.done[o.pod.UID] = true
	c.tell(&shadow.Comparison{
		Time: now, Verdict: shadow.Judge(ours, o.theirs), Kind: shadow.Eviction, Pod: string(name), UID: string(o.pod.UID), Node: o.pod.Spec.NodeName,
		Workload: workloadOf(o.pod), Ours: ours, Theirs: o.theirs,
	})
}

// next is when something must be judged.
func (c *comparing) next() (next time.Time, found bool) {
	for _, o := range c.open { // order-free: the earliest
		if !o.until.IsZero() && (!found || o.until.Before(next)) {
			next, found = o.until, true
		}
	}
	return next, found
}

// workloadOf names what controls a pod, "ReplicaSet default/web-5d8": the pod itself where nothing does.
func workloadOf(p *corev1.Pod) string {
	if owner := metav1.GetControllerOf(p); owner != nil {
		return owner.Kind + " " + p.Namespace + "/" + owner.Name
	}
	return "Pod " + p.Namespace + "/" + p.Name
}
