package incident

import (
	"cmp"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario/replay"
)

// PlacementAt is where a binding is, and what it leaves, from an instant after the start on.
type PlacementAt struct {
	At       time.Duration
	Clusters []api.TargetCluster
	Tasks    []api.GracefulEvictionTask
}

// left is one eviction of one binding from one cluster; times counts those before it.
type left struct {
	binding messages.BindingName
	cluster string
	times   int
}

// Evictions are how bindings left clusters.
type Evictions map[left]*replay.EvictionRecord

// follower follows one binding from placement to placement.
type follower struct {
	name messages.BindingName
	last PlacementAt
	all  Evictions
	// open are the evictions whose old copy is still there, in order.
	open []left
}

func (all Evictions) of(name messages.BindingName, existing PlacementAt) *follower {
	d := &follower{name: name, last: existing, all: all}
	for _, k := range existing.Tasks {
		d.leave(0, k.FromCluster)
	}
	return d
}

// add takes in the next placement.
func (d *follower) add(p PlacementAt) {
	for _, t := range d.last.Clusters {
		if !targeted(p.Clusters, t.Name) {
			d.leave(p.At, t.Name)
		}
	}
	d.takenOver(gains(d.last.Clusters, p.Clusters))
	d.open = slices.DeleteFunc(d.open, func(l left) bool { return d.ends(l, &p) })
	d.last = p
}

func (d *follower) leave(at time.Duration, cluster string) {
	if slices.ContainsFunc(d.open, func(l left) bool { return l.cluster == cluster }) {
		return
	}
	l := left{d.name, cluster, 0}
	for d.all[l] != nil {
		l.times++
	}
	d.all[l] = &replay.EvictionRecord{At: at, Open: true}
	d.open = append(d.open, l)
}

// takenOver notes what was gained for the evictions that wait for it.
func (d *follower) takenOver(gained []api.TargetCluster) {
	for _, l := range d.open {
		if o := d.all[l]; o.To == nil {
			o.To = slices.DeleteFunc(slices.Clone(gained), func(t api.TargetCluster) bool { return t.Name == l.cluster })
		}
	}
}

// ends closes an eviction whose task is gone.
func (d *follower) ends(l left, p *PlacementAt) bool {
	if slices.ContainsFunc(p.Tasks, func(k api.GracefulEvictionTask) bool { return k.FromCluster == l.cluster }) {
		return false
	}
	o := d.all[l]
	o.Open, o.Released, o.Back = false, p.At, targeted(p.Clusters, l.cluster)
	return true
}

func targeted(clusters []api.TargetCluster, name string) bool {
	return api.FindTarget(clusters, name) >= 0
}

// gains are the clusters that have more than before, with what they have more, by name; nil: none has.
func gains(before, now []api.TargetCluster) []api.TargetCluster {
	var gained []api.TargetCluster
	for _, t := range now {
		had := int32(0)
		i := api.FindTarget(before, t.Name)
		if i >= 0 {
			had = before[i].Pods()
		}
		if more := t.Pods() - had; i < 0 || more > 0 {
			gained = append(gained, api.TargetCluster{Name: t.Name, Replicas: more})
		}
	}
	slices.SortFunc(gained, func(a, b api.TargetCluster) int { return cmp.Compare(a.Name, b.Name) })
	return gained
}

// Evictions are those of the incident as it was.
func (i *Incident) Evictions() Evictions {
	all, bindings := begin(i.Stood)
	for n := range i.Changes {
		c := &i.Changes[n]
		b := store.AsBinding(c.Now)
		if b == nil || b.Meta.DeletionTimestamp != nil {
			continue // a binding that goes leaves no cluster
		}
		name := b.Name()
		if bindings[name] == nil || c.Before == nil {
			bindings[name] = all.of(name, PlacementAt{})
		}
		bindings[name].add(PlacementAt{c.At, b.Spec.Clusters, b.Spec.GracefulEvictionTasks})
	}
	return all
}

// Replayed are the evictions of a run that began with some objects.
func Replayed(r *replay.Run, existing []api.Object) Evictions {
	all, bindings := begin(existing)
	folds := map[messages.BindingName]*failover.Binding{}
	for _, o := range existing {
		if b := store.AsBinding(o); b != nil {
			folds[b.Name()] = failover.Stored(b.Name(), b.Spec)
		}
	}
	for n := range r.Events {
		e := &r.Events[n]
		if f, created := e.Fact.(*messages.BindingCreated); created {
			delete(folds, f.Binding)
		}
		name, about := failover.About(e.Fact)
		if _, gone := e.Fact.(*messages.BindingDeleted); gone || !about {
			continue // a binding that goes leaves no cluster
		}
		if folds[name] == nil {
			bindings[name], folds[name] = all.of(name, PlacementAt{}), &failover.Binding{}
		}
		folds[name].Take(e.At, e.Fact, func(time.Time, failover.Step, *failover.Failover) {})
		next := PlacementAt{At: e.At.Sub(r.Start), Clusters: slices.Clone(folds[name].Clusters)}
		for o := range folds[name].Handovers() {
			next.Tasks = append(next.Tasks, o.Eviction.Task)
		}
		bindings[name].add(next)
	}
	return all
}

// begin takes over the placements of bindings that existed at the start.
func begin(existing []api.Object) (Evictions, map[messages.BindingName]*follower) {
	all, bindings := Evictions{}, map[messages.BindingName]*follower{}
	for _, o := range existing {
		if b := store.AsBinding(o); b != nil {
			bindings[b.Name()] = all.of(b.Name(), PlacementAt{0, b.Spec.Clusters, b.Spec.GracefulEvictionTasks})
		}
	}
	return all, bindings
}
