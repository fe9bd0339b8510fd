package karmada

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/shadow"
	"leeward/runtime/fleet/store"
)

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
		case p.ours != nil && api.FindTarget(j.ours.Spec.Clusters, string(name)) >= 0 && j.ours.Spec.TaskFrom(string(name)) == nil,
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
	return len(a.Spec.GracefulEvictionTasks) == len(b.Spec.GracefulEvictionTasks) &&
		!slices.ContainsFunc(a.Spec.GracefulEvictionTasks, func(t api.GracefulEvictionTask) bool { return b.Spec.TaskFrom(t.FromCluster) == nil })
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
