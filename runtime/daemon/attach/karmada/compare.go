package karmada

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
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
		if taskFrom(before, k.FromCluster) == nil {
			b.evicted(now, messages.ClusterName(k.FromCluster), cmp.Or(k.Producer, controllers), reasonOf(k), is)
		}
	}
	for _, t := range before.Spec.Clusters {
		if api.FindTarget(is.Spec.Clusters, t.Name) < 0 && taskFrom(is, t.Name) == nil && byController(before, is) {
			b.evicted(now, messages.ClusterName(t.Name), controllers, "it was taken off spec.clusters", is)
		}
	}
	for i := range before.Spec.GracefulEvictionTasks {
		k := &before.Spec.GracefulEvictionTasks[i]
		if taskFrom(is, k.FromCluster) != nil {
			continue
		}
		name := messages.ClusterName(k.FromCluster)
		if api.FindTarget(is.Spec.Clusters, k.FromCluster) >= 0 { // it is a target again: the copy stays
			delete(b.removals, name)
			continue
		}
		p := pairOf(b.removals, name)
		p.theirs = &shadow.Decision{At: now, By: cmp.Or(k.Producer, controllers), Reason: "the task is gone: " + reasonOf(k)}
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
	for _, t := range before.Spec.Clusters {
		if api.FindTarget(is.Spec.Clusters, t.Name) < 0 && taskFrom(is, t.Name) == nil && !byController(before, is) {
			return true
		}
	}
	return false
}

// byController reports whether a version of a binding was written by Karmada's controllers alone, which evict, and do not place.
func byController(before, is *store.Binding) bool {
	by := managers(before.Meta.ManagedFields, is.Meta.ManagedFields)
	return slices.Contains(by, controllers) && !slices.Contains(by, scheduler)
}

func taskFrom(b *store.Binding, cluster string) *api.GracefulEvictionTask {
	for i := range b.Spec.GracefulEvictionTasks {
		if k := &b.Spec.GracefulEvictionTasks[i]; k.FromCluster == cluster {
			return k
		}
	}
	return nil
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

// state is a binding as both have it; nil: one has none.
type state struct{ ours, theirs *store.Binding }

// judge tells of the comparisons that can be made, and returns the bindings of which the machines must adopt what is there, in order. It is
// called when the machines have settled what was heard by now. Only what there is news of is looked at, and what is due.
func (c *comparing) judge(now time.Time, of func(messages.BindingName) state) (adopt []messages.BindingName) {
	for len(c.due) > 0 && !c.due[0].at.After(now) {
		c.touched[heap.Pop(&c.due).(appointment).name] = true
	}
	names := slices.Sorted(maps.Keys(c.touched))
	clear(c.touched)
	for _, name := range names {
		b, s := c.open[name], of(name)
		switch {
		case b == nil:
			continue
		case s.ours == nil && s.theirs == nil:
			delete(c.open, name)
			continue
		case s.ours == nil || s.theirs == nil:
			c.appoint(b, now, now.Add(shadow.Patience))
			continue
		}
		adopts, ends := c.judgeOne(b, s, now)
		switch {
		case adopts:
			adopt = append(adopt, name)
			c.touched[name] = true
		case ends:
			delete(c.open, name)
			continue
		}
		c.appoint(b, now, b.next(now))
	}
	return adopt
}

// appoint has a binding judged at an instant; zero: at none. What is appointed before that stays.
func (c *comparing) appoint(b *compared, now, at time.Time) {
	if !at.IsZero() && (!b.appointed.After(now) || at.Before(b.appointed)) {
		b.appointed = at
		heap.Push(&c.due, appointment{at, b.name})
	}
}

// judgeOne reports whether the machines must adopt where a binding is, and whether nothing of it remains to be compared.
func (c *comparing) judgeOne(b *compared, s state, now time.Time) (adopts, ends bool) {
	j := &judging{comparing: c, compared: b, state: s, now: now}
	evicting := j.pairs(shadow.Eviction, b.evictions)
	placing := j.placed(evicting)
	removing := j.pairs(shadow.Removal, b.removals)
	switch {
	case evicting || placing:
	case !sameTargets(s.ours, s.theirs) || !removing && !sameTasks(s.ours, s.theirs):
		if adopts = !now.Before(b.again); adopts {
			b.again = now.Add(shadow.Patience)
		}
	default:
		b.again = time.Time{}
		ends = len(b.evictions)+len(b.removals) == 0
	}
	return adopts, ends
}

// judging judges the decisions on one binding.
type judging struct {
	*comparing
	*compared
	state
	now time.Time
}

// pairs judges evictions or removals, and reports whether one of both is still waited for.
func (j *judging) pairs(kind shadow.Kind, all map[messages.ClusterName]*pair) (open bool) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		switch {
		case kind == shadow.Removal && p.theirs == nil && j.neverEvicts(name): // that was told
			delete(all, name)
		case p.theirs != nil && p.ours != nil:
			j.conclude(kind, name, p, p.ours)
			delete(all, name)
		case p.theirs != nil && p.due != nil:
			j.conclude(kind, name, p, p.due)
			delete(all, name)
		case p.theirs != nil && j.now.Sub(p.theirs.At) >= delay:
			j.conclude(kind, name, p, nil)
			delete(all, name)
		case p.theirs != nil:
			open = true
		case p.ours != nil && !p.told && j.now.Sub(p.ours.At) >= shadow.Patience:
			j.conclude(kind, name, p, p.ours)
			p.told = true
		case p.ours != nil && !p.told:
			open = true
		case p.ours != nil && api.FindTarget(j.ours.Spec.Clusters, string(name)) >= 0 && taskFrom(j.ours, string(name)) == nil,
			p.ours == nil && p.due == nil && !j.now.Before(p.until):
			delete(all, name)
		}
	}
	return open
}

// placed judges where the binding runs, once both have evicted it from the same clusters.
func (j *judging) placed(evicting bool) (open bool) {
	p := &j.placement
	switch {
	case p.ours == nil && p.theirs == nil:
		return j.answer > 0 && evicting
	case evicting:
		return true
	case p.theirs == nil && j.neverEvicted(): // that was told
		j.placement, j.answer = pair{}, 0
		return false
	case p.theirs == nil && j.answer > 0 && j.waits():
		return true
	}
	same := sameTargets(j.state.ours, j.state.theirs)
	switch {
	case !same && j.differedSo(): // that was told
		j.placement, j.answer = pair{}, 0
		return false
	case p.ours != nil && p.theirs != nil:
	case p.theirs != nil && !same && j.now.Sub(p.theirs.At) < delay, p.ours != nil && !same && j.now.Sub(p.ours.At) < shadow.Patience:
		return true
	case same: // one of both only confirmed it
		j.placement, j.answer = pair{}, 0
		return false
	}
	for d, clusters := range map[*shadow.Decision][]api.TargetCluster{p.ours: j.state.ours.Spec.Clusters, p.theirs: j.state.theirs.Spec.Clusters} { // order-free: each by itself
		if d != nil {
			d.Clusters = clusters
		}
	}
	j.conclude(shadow.Placement, "", p, p.ours)
	if !same {
		j.differed = &differing{j.state.ours.Spec.Clusters, j.state.theirs.Spec.Clusters}
	}
	j.placement, j.answer = pair{}, 0
	return false
}

// differedSo reports whether the placements are those that were told of last.
func (j *judging) differedSo() bool {
	d := j.differed
	return d != nil && shadow.SameClusters(d.ours, j.state.ours.Spec.Clusters) && shadow.SameClusters(d.theirs, j.state.theirs.Spec.Clusters)
}

// neverEvicts reports whether it was told that the other never evicts the binding from a cluster.
func (j *judging) neverEvicts(from messages.ClusterName) bool {
	p := j.evictions[from]
	return p != nil && p.told
}

// neverEvicted is neverEvicts of any cluster.
func (j *judging) neverEvicted() bool {
	for from := range j.evictions { // order-free: any of them
		if j.neverEvicts(from) {
			return true
		}
	}
	return false
}

// waits reports whether the other scheduler may still answer.
func (j *judging) waits() bool {
	return j.placement.ours != nil && j.now.Sub(j.placement.ours.At) < answers
}

func (j *judging) conclude(kind shadow.Kind, cluster messages.ClusterName, p *pair, ours *shadow.Decision) {
	c := &shadow.Comparison{
		Time: j.now, Verdict: shadow.Judge(ours, p.theirs), Kind: kind, Binding: string(j.name), Cluster: string(cluster),
		Workload: workloadOf(j.state.theirs), Ours: ours, Theirs: p.theirs,
	}
	if ours == nil {
		c.Why, c.Cancelled = p.why, p.cancelled
		c.LastCopy = p.lastCopy
	}
	j.tell(c)
}

// workloadOf names what a binding is of, "Deployment shop/web".
func workloadOf(b *store.Binding) string {
	r := &b.Spec.Resource
	if r.Namespace == "" {
		return fmt.Sprintf("%s %s", r.Kind, r.Name)
	}
	return fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name)
}

func sameTargets(a, b *store.Binding) bool {
	return shadow.SameClusters(a.Spec.Clusters, b.Spec.Clusters)
}

func sameTasks(a, b *store.Binding) bool {
	if len(a.Spec.GracefulEvictionTasks) != len(b.Spec.GracefulEvictionTasks) {
		return false
	}
	for i := range a.Spec.GracefulEvictionTasks {
		if taskFrom(b, a.Spec.GracefulEvictionTasks[i].FromCluster) == nil {
			return false
		}
	}
	return true
}

// next is when the binding must be judged after an instant; zero: when there is news.
func (b *compared) next(now time.Time) (next time.Time) {
	later := func(at time.Time) {
		if at.After(now) {
			next = actors.Earlier(next, at)
		}
	}
	pairs := append(slices.Collect(maps.Values(b.evictions)), slices.Collect(maps.Values(b.removals))...)
	for _, p := range append(pairs, &b.placement) { // order-free: the earliest
		switch {
		case p.theirs != nil:
			later(p.theirs.At.Add(delay))
		case p.ours != nil && !p.told:
			later(p.ours.At.Add(shadow.Patience))
		}
		later(p.until)
	}
	if b.placement.ours != nil && b.answer > 0 {
		later(b.placement.ours.At.Add(answers))
	}
	later(b.again)
	return next
}

// next is when something must be judged; zero: when there is news.
func (c *comparing) next(now time.Time) time.Time {
	switch {
	case len(c.touched) > 0:
		return now
	case len(c.due) == 0:
		return time.Time{}
	}
	return c.due[0].at
}

// agenda is a heap of appointments.
type agenda []appointment

type appointment struct {
	at   time.Time
	name messages.BindingName
}

// Len, Less, Swap, Push and Pop make it a heap.
func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(appointment)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}
