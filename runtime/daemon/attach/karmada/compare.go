package karmada

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/shadow"
	"leeward/runtime/fleet/store"
)

// comparing holds what the machines decide in shadow against what the other control plane decides, decision by decision.
type comparing struct {
	tell func(*shadow.Comparison)
	open map[messages.BindingName]*compared
	// touched are the bindings of which there is news, due when others must be judged again: an instant may be there that is none any more.
	touched map[messages.BindingName]bool
	due     agenda
	// most is how many bindings are compared at the same time. Those beyond are not.
	most int
}

// compared is a binding of which one of both has decided something.
type compared struct {
	name                messages.BindingName
	evictions, removals map[messages.ClusterName]*pair
	placement           pair
	// answer is the generation of the binding, as the server has it, that the other scheduler has yet to answer; 0: none.
	answer int64
	// differed are the clusters of the last placement that did not agree.
	differed *differing
	// again is when the machines adopt what is there once more, where they decided otherwise after they did.
	again time.Time
	// appointed is when it is judged the next time.
	appointed time.Time
}

// differing are the clusters of a placement as both have it.
type differing struct{ ours, theirs []api.TargetCluster }

// pair is one decision.
type pair struct {
	// ours was decided; due will be decided at a deadline, unless that changes.
	ours, due, theirs *shadow.Decision
	// why is what Leeward said last of why it does not decide it; cancelled is set where it had, and took that back.
	why       string
	cancelled bool
	// lastCopy is set where the other removed the last copy that was healthy.
	lastCopy bool
	// told is set where it was told that the other never decided it.
	told bool
	// until is when what is not decided by then is forgotten.
	until time.Time
}

const (
	mostCompared = 200_000
	// delay is how much later than the other's decision the machines may hear of what led to it.
	delay = 5 * time.Second
	// answers is how long the other scheduler is waited for after an eviction, where it says nothing.
	answers = 30 * time.Second

	leeward     = "leewardd"
	scheduler   = "karmada-scheduler"
	controllers = "karmada-controller-manager"
)

func newComparing(tell func(*shadow.Comparison)) *comparing {
	return &comparing{tell: tell, open: map[messages.BindingName]*compared{}, touched: map[messages.BindingName]bool{}, most: mostCompared}
}

// of is the comparison of a binding; nil: there are too many.
func (c *comparing) of(name messages.BindingName) *compared {
	b := c.open[name]
	if b == nil && len(c.open) < c.most {
		b = &compared{name: name, evictions: map[messages.ClusterName]*pair{}, removals: map[messages.ClusterName]*pair{}}
		c.open[name] = b
	}
	if b != nil {
		c.touched[name] = true
	}
	return b
}

func pairOf(all map[messages.ClusterName]*pair, name messages.ClusterName) *pair {
	if all[name] == nil {
		all[name] = &pair{}
	}
	return all[name]
}

// hear hears what the machines decide.
func (c *comparing) hear(at time.Time, f messages.Fact, told string) {
	about, is := f.(messages.AboutBinding)
	if !is {
		return
	}
	if f, deleted := f.(*messages.BindingDeleted); deleted {
		delete(c.open, f.Binding)
	}
	if !decides(f) {
		return
	}
	b := c.of(about.AboutBinding())
	if b == nil {
		return
	}
	ours := &shadow.Decision{At: at, By: leeward, Reason: told}
	switch f := f.(type) {
	case *messages.EvictionScheduled:
		pairOf(b.evictions, f.Cluster).due = &shadow.Decision{At: f.Grounds.Deadline, By: leeward, Reason: told}
	case *messages.EvictionBlocked:
		p := pairOf(b.evictions, f.Cluster)
		p.why, p.until = told, at.Add(shadow.Patience)
	case *messages.EvictionCancelled:
		pairOf(b.evictions, f.Cluster).cancel(at, told)
	case *messages.EvictionStarted:
		pairOf(b.evictions, f.Cluster).decide(ours)
	case *messages.EvictionWithdrawn:
		pairOf(b.evictions, f.Cluster).cancel(at, told)
		pairOf(b.removals, f.Cluster).cancel(at, told)
		b.placement.ours = ours
	case *messages.EvictionEnded:
		if f.Reason != messages.EndedDeleted {
			pairOf(b.removals, f.Cluster).decide(ours)
		}
	case *messages.HandoverBlocked:
		p := pairOf(b.removals, f.Cluster)
		p.why, p.until = told, at.Add(shadow.Patience)
	case *messages.Scheduled, *messages.PlacementConfirmed, *messages.ScheduleFailed, *messages.BindingDescheduled:
		b.placement.ours = ours
	}
}

// decides reports whether a fact is compared.
func decides(f messages.Fact) bool {
	switch f.(type) {
	case *messages.EvictionScheduled, *messages.EvictionBlocked, *messages.EvictionCancelled, *messages.EvictionStarted, *messages.EvictionWithdrawn,
		*messages.EvictionEnded, *messages.HandoverBlocked, *messages.Scheduled, *messages.PlacementConfirmed, *messages.ScheduleFailed,
		*messages.BindingDescheduled:
		return true
	}
	return false
}

// decide notes what Leeward decided. Where it decides the same again, the first time counts.
func (p *pair) decide(ours *shadow.Decision) {
	if p.ours == nil {
		p.ours, p.due, p.cancelled = ours, nil, false
	}
}

// cancel notes that Leeward took a decision back.
func (p *pair) cancel(at time.Time, why string) {
	p.ours, p.due, p.told = nil, nil, false
	p.cancelled, p.why, p.until = true, why, at.Add(shadow.Patience)
}

// take hears what the other control plane made of a binding.
func (c *comparing) take(now time.Time, of change) {
	if of.now == nil || of.now.Meta.DeletionTimestamp != nil {
		if of.before != nil {
			delete(c.open, of.before.Name())
		}
		return
	}
	before := of.before
	if before == nil {
		before = &store.Binding{Meta: &metav1.ObjectMeta{}, Spec: &api.BindingSpec{}, Status: &api.BindingStatus{}}
	}
	b := c.of(of.now.Name())
	if b == nil {
		return
	}
	b.tasks(now, before, of.now)
	b.placed(now, before, of.now)
}

// tasks compares the graceful eviction tasks of two versions, and the clusters that were evicted from without one.
func (b *compared) tasks(now time.Time, before, is *store.Binding) {
	for i := range is.Spec.GracefulEvictionTasks {
		k := &is.Spec.GracefulEvictionTasks[i]
		if before.Spec.TaskFrom(k.FromCluster) == nil {
			b.evicted(now, messages.ClusterName(k.FromCluster), cmp.Or(k.Producer, controllers), reasonOf(k), is)
		}
	}
	for _, t := range before.Spec.Clusters {
		if api.FindTarget(is.Spec.Clusters, t.Name) < 0 && is.Spec.TaskFrom(t.Name) == nil && byController(before, is) {
			b.evicted(now, messages.ClusterName(t.Name), controllers, "it was taken off spec.clusters", is)
		}
	}
	for i := range before.Spec.GracefulEvictionTasks {
		k := &before.Spec.GracefulEvictionTasks[i]
		if is.Spec.TaskFrom(k.FromCluster) != nil {
			continue
		}
		name := messages.ClusterName(k.FromCluster)
		if api.FindTarget(is.Spec.Clusters, k.FromCluster) >= 0 { // it is a target again: the copy stays
			delete(b.removals, name)
			continue
		}
		p := pairOf(b.removals, name)
		p.theirs = &shadow.Decision{At: now, By: controllers, Reason: "the task is gone: " + reasonOf(k)}
		p.lastCopy = !servesBeside(is, k.FromCluster)
	}
}

func (b *compared) evicted(now time.Time, name messages.ClusterName, by, why string, is *store.Binding) {
	pairOf(b.evictions, name).theirs = &shadow.Decision{At: now, By: by, Reason: why}
	b.answer = is.Meta.Generation
}

// placed compares the target clusters of two versions, and what the other scheduler says of them.
func (b *compared) placed(now time.Time, before, is *store.Binding) {
	failed := meta.FindStatusCondition(is.Status.Conditions, "Scheduled")
	was := meta.FindStatusCondition(before.Status.Conditions, "Scheduled")
	switch {
	case moved(before, is):
		b.placement.theirs = &shadow.Decision{At: now, By: scheduler, Reason: "spec.clusters was changed"}
	case failed != nil && failed.Status == metav1.ConditionFalse && (was == nil || *was != *failed):
		b.placement.theirs = &shadow.Decision{At: now, By: scheduler, Reason: failed.Reason + ": " + failed.Message}
	case b.answer > 0 && is.Status.SchedulerObservedGeneration >= b.answer:
		b.placement.theirs = &shadow.Decision{At: now, By: scheduler, Reason: "it scheduled the binding, and changed nothing"}
	default:
		return
	}
	b.answer = 0
}

// moved reports whether a binding runs elsewhere, or with other replicas, but for what was evicted.
func moved(before, is *store.Binding) bool {
	for _, t := range is.Spec.Clusters {
		if i := api.FindTarget(before.Spec.Clusters, t.Name); i < 0 || !before.Spec.Clusters[i].Equal(t) {
			return true
		}
	}
	return slices.ContainsFunc(before.Spec.Clusters, func(t api.TargetCluster) bool {
		return api.FindTarget(is.Spec.Clusters, t.Name) < 0 && is.Spec.TaskFrom(t.Name) == nil && !byController(before, is)
	})
}

// byController reports whether a version of a binding was written by Karmada's controllers alone, which evict, and do not place.
func byController(before, is *store.Binding) bool {
	by := managers(before.Meta.ManagedFields, is.Meta.ManagedFields)
	return slices.Contains(by, controllers) && !slices.Contains(by, scheduler)
}

func reasonOf(k *api.GracefulEvictionTask) string {
	if k.Message == "" {
		return k.Reason
	}
	return k.Reason + ": " + k.Message
}

// servesBeside reports whether a copy on another cluster than one is reported to be healthy.
func servesBeside(b *store.Binding, cluster string) bool {
	return slices.ContainsFunc(b.Status.AggregatedStatus, func(s api.AggregatedStatusItem) bool {
		return s.ClusterName != cluster && s.Health == api.Healthy && api.FindTarget(b.Spec.Clusters, s.ClusterName) >= 0
	})
}
