package assess

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario/forecast"
)

// closed is the state of a breaker that stops nothing.
const closed = string(storm.Closed)

// conclude tells what became of the fleet.
func (r *run) conclude(s *store.Store) *Outcome {
	o := r.outcome
	if !r.availableAt.IsZero() {
		o.AvailableAfter = new(span.Seconds(r.availableAt.Sub(r.now)))
	}
	r.lacks(r.now.Add(Horizon))
	o.Unavailability = float64(r.shortfall) / 1000
	o.lacking = forecast.UsageOf{}
	for i := range r.workloads {
		if d := r.down[i]; d.total > 0 || !d.since.IsZero() {
			o.Down++
			o.downOf = append(o.downOf, down{i, d})
		}
		r.judge(i, s)
	}
	slices.SortStableFunc(o.downOf, func(a, b down) int { // the longest first
		return cmp.Compare(b.length(), a.length())
	})
	slices.SortStableFunc(o.Troubles, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(a.Workload, b.Workload))
	})
	after := forecast.Used(s)
	o.Overflows = r.overflows(after, r.failed)
	if len(o.lacking) > 0 {
		o.fullest, o.tight = r.fullest(after, o.lacking, r.failed)
		slices.SortStableFunc(o.fullest, func(a, b string) int { return cmp.Compare(r.turn(a), r.turn(b)) })
	}
	r.shares()
	return o
}

// judge names a workload that is not whole again, and says why.
func (r *run) judge(i int, s *store.Store) {
	w, o := &r.workloads[i], r.outcome
	lacks := max(0, r.target[i]-r.available[i])
	refused, is := r.refused[w.name]
	gone := w.spec.Replicas == 0 && r.lost[i] && r.nowhere(s.Binding(w.name))
	if lacks == 0 && !gone && (!is || w.unschedulable) {
		return
	}
	t := Trouble{Workload: w.name, Missing: lacks}
	if is && !w.unschedulable {
		t.Kind, t.Reason = Unschedulable, refused.message
		t.Missing = max(lacks, refused.missing)
		if t.Missing == 0 {
			t.Missing = r.lostReplicas(i)
		}
		o.Unschedulable.add(t.Missing)
		o.lacking.Add(w.spec, int64(t.Missing))
	} else {
		t.Kind, t.Reason = r.why(i, s)
	}
	if lacks > 0 || gone {
		o.Unavailable.add(lacks)
	}
	o.Lacking += int(t.Missing)
	o.Troubles = append(o.Troubles, t)
}

// nowhere reports whether no cluster that remains has a resource without replicas.
func (r *run) nowhere(b *store.Binding) bool {
	return b == nil || !slices.ContainsFunc(b.Spec.Clusters, func(t api.TargetCluster) bool { return !r.failed[messages.ClusterName(t.Name)] })
}

// lostReplicas are those that a workload had on the clusters that fail.
func (r *run) lostReplicas(i int) (n int32) {
	for _, t := range r.workloads[i].spec.Clusters {
		if r.failed[messages.ClusterName(t.Name)] {
			n += t.Replicas
		}
	}
	return n
}

// why is why a workload that some cluster could take is not whole again.
func (r *run) why(i int, s *store.Store) (kind, reason string) {
	w := &r.workloads[i]
	if b := r.blocked[w.name]; b != "" {
		return Blocked, b
	}
	now := s.Binding(w.name)
	for _, t := range w.spec.Clusters {
		name := messages.ClusterName(t.Name)
		if !r.failed[name] || now == nil || api.FindTarget(now.Spec.Clusters, t.Name) < 0 {
			continue
		}
		if stays := r.stays[name]; stays != "" {
			return Stays, stays
		}
		if c := s.Cluster(name); c != nil && now.Spec.Placement != nil {
			if until := forecast.Tolerated(c.Spec.Taints, now.Spec.Placement.ClusterTolerations, &r.settings, r.now, "after the loss"); until != "" {
				return Tolerates, until
			}
		}
	}
	return Starting, "the copies that take over are not available within " + span.String(Horizon)
}

// shares tells what becomes of each group that had copies on the clusters.
func (r *run) shares() {
	all := make([]Share, len(r.groups))
	for i := range r.workloads {
		of := &all[r.workloads[i].group]
		if r.lost[i] {
			of.Workloads++
		}
		if r.available[i] < r.target[i] {
			of.Unavailable++
		}
	}
	for n, of := range all {
		if of.Workloads > 0 {
			of.Group, of.Lowest = r.groups[n], r.lowestOf[n]
			r.outcome.Groups = append(r.outcome.Groups, of)
		}
	}
	slices.SortFunc(r.outcome.Groups, func(a, b Share) int { return cmp.Compare(a.Group, b.Group) })
}

// overflows are the surviving clusters of which more is requested than they have, and was not before.
func (f *fleet) overflows(after forecast.Usage, failed map[messages.ClusterName]bool) (all []Overflow) {
	for _, c := range f.clusters {
		if failed[messages.ClusterName(c.Name)] {
			continue
		}
		has, others := forecast.CapacityOf(c)
		for what, allocatable := range has { // sorted below
			limit, taken := api.Units(what, allocatable), api.Units(what, others[what])
			now, was := taken+after[c.Name][what], taken+f.before[c.Name][what]
			if now > limit && now > was {
				all = append(all, Overflow{c.Name, string(what), forecast.Quantity(what, now), forecast.Quantity(what, limit)})
			}
		}
	}
	slices.SortFunc(all, func(a, b Overflow) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Resource, b.Resource))
	})
	return all
}

// full is the part of a cluster's capacity from which it counts as full.
const full = 0.9

// isFull reports whether a cluster of which so much is requested is full of a resource.
func isFull(c *api.Cluster, what corev1.ResourceName, requested int64) bool {
	has, others := forecast.CapacityOf(c)
	allocatable, known := has[what]
	return known && float64(requested+api.Units(what, others[what])) >= full*float64(api.Units(what, allocatable))
}

// fullest are the surviving clusters that are full, in order, and the lacking resources of which they are; all that are lacking
// where none is full.
func (f *fleet) fullest(after forecast.Usage, lacking forecast.UsageOf, failed map[messages.ClusterName]bool) (names []string, tight []corev1.ResourceName) {
	all := slices.Sorted(maps.Keys(lacking))
	for _, c := range f.clusters {
		if failed[messages.ClusterName(c.Name)] {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(all), func(what corev1.ResourceName) bool { return !isFull(c, what, after[c.Name][what]) })
		if len(of) > 0 {
			names = append(names, c.Name)
			tight = append(tight, of...)
		}
	}
	slices.Sort(tight)
	if tight = slices.Compact(tight); len(tight) == 0 {
		tight = all
	}
	return names, tight
}
