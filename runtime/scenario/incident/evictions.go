package incident

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario"
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

// Apart is how far apart a recorded and a replayed instant may be and still be the same: what is recorded was seen when
// it had been written, and clocks of an API tick in seconds.
const Apart = 2 * time.Second

// Held holds a run of the scenario of an incident against what was recorded, until an instant; zero: until the end of the recording.
func (i *Incident) Held(run *replay.Run, s *scenario.Scenario, until time.Duration) []replay.Comparison {
	recorded, end := i.Evictions(), i.Duration
	if until > 0 && until < end {
		end = until
		recorded = recorded.until(end, nil)
	}
	return Compare(recorded, Replayed(run, s.Began.Objects), end)
}

// Compare holds evictions against each other, in order of time. What comes to pass only after the end of the recording,
// and not in it, does not count: that may have come to pass later, too.
func Compare(recorded, replayed Evictions, end time.Duration) []replay.Comparison {
	replayed = replayed.until(end, recorded)
	both := maps.Clone(replayed)
	maps.Copy(both, recorded)
	all := make([]replay.Comparison, 0, len(both))
	times := make(map[left]time.Duration, len(both))
	keys := slices.Collect(maps.Keys(both))
	for _, l := range keys {
		if times[l] = both[l].At; recorded[l] != nil {
			times[l] = recorded[l].At
		}
	}
	slices.SortFunc(keys, func(a, b left) int {
		return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(a.binding, b.binding), cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.times, b.times))
	})
	for _, l := range keys {
		all = append(all, replay.Comparison{
			Binding: string(l.binding), Cluster: l.cluster, Recorded: recorded[l], Replayed: replayed[l],
			Verdict: agreement(recorded[l], replayed[l]),
		})
	}
	return all
}

// until are the evictions as far as they had come to pass at an instant, and those that others were ahead of by then.
func (all Evictions) until(end time.Duration, others Evictions) Evictions {
	by := Evictions{}
	for l, d := range all { // order-free: each by itself
		other, seen := others[l], *d
		if d.At > end && other == nil {
			continue
		}
		if !d.Open && d.Released > end && (other == nil || other.Open) {
			seen.Open, seen.Back, seen.Released = true, false, 0
		}
		by[l] = &seen
	}
	return by
}

func agreement(recorded, replayed *replay.EvictionRecord) replay.Agreement {
	switch {
	case replayed == nil:
		return replay.OnlyRecorded
	case recorded == nil:
		return replay.OnlyReplayed
	case !slices.EqualFunc(recorded.To, replayed.To, api.TargetCluster.Equal) || recorded.Open != replayed.Open || recorded.Back != replayed.Back:
		return replay.Differs
	}
	for _, d := range []time.Duration{replayed.At - recorded.At, replayed.Released - recorded.Released} {
		switch {
		case d < -Apart:
			return replay.Earlier
		case d > Apart:
			return replay.Later
		}
	}
	return replay.Same
}
