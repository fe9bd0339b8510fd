package assess

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario/forecast"
)

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
