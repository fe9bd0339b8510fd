package assess

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// usageOf is an amount of each resource, in the units of api.Units.
type usageOf map[corev1.ResourceName]int64

// usage is what is requested of each cluster.
type usage map[string]usageOf

// used sums up what bindings request of clusters: by their placements, whatever serves, for that is what must fit.
func used(s *store.Store) usage {
	all := usage{}
	for _, b := range s.Bindings() {
		for _, t := range b.Spec.Clusters {
			all.add(t.Name, b.Spec, int64(t.Replicas))
		}
	}
	return all
}

func (u usage) add(cluster string, spec *api.BindingSpec, replicas int64) {
	if replicas == 0 || len(spec.Components) > 0 {
		return
	}
	if u[cluster] == nil {
		u[cluster] = usageOf{}
	}
	u[cluster].add(spec, replicas)
}

func (u usageOf) add(spec *api.BindingSpec, replicas int64) {
	u[corev1.ResourcePods] += replicas
	if spec.ReplicaRequirements == nil {
		return
	}
	for what, each := range spec.ReplicaRequirements.ResourceRequest { // order-free: sums
		u[what] += replicas * api.Units(what, each)
	}
}

// quantity is an amount as people write it.
func quantity(what corev1.ResourceName, units int64) string {
	switch what {
	case corev1.ResourceCPU:
		return resource.NewMilliQuantity(units, resource.DecimalSI).String()
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return resource.NewQuantity(units, resource.BinarySI).String()
	}
	return resource.NewQuantity(units, resource.DecimalSI).String()
}

// capacityOf is what a cluster has, and what others take of it.
func capacityOf(c *api.Cluster) (has corev1.ResourceList, others corev1.ResourceList) {
	if s := c.Status.ResourceSummary; s != nil {
		return s.Allocatable, s.Allocated
	}
	return nil, nil
}

// overflows are the surviving clusters of which more is requested than they have, and was not before.
func (f *fleet) overflows(after usage, failed map[messages.ClusterName]bool) (all []Overflow) {
	for _, c := range f.clusters {
		if failed[messages.ClusterName(c.Name)] {
			continue
		}
		has, others := capacityOf(c)
		for what, allocatable := range has { // sorted below
			limit, taken := api.Units(what, allocatable), int64(0)
			if q, is := others[what]; is {
				taken = api.Units(what, q)
			}
			now, was := taken+after[c.Name][what], taken+f.before[c.Name][what]
			if now > limit && now > was {
				all = append(all, Overflow{c.Name, string(what), quantity(what, now), quantity(what, limit)})
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
	has, others := capacityOf(c)
	allocatable, known := has[what]
	if q, is := others[what]; is {
		requested += api.Units(what, q)
	}
	return known && float64(requested) >= full*float64(api.Units(what, allocatable))
}

// fullest are the surviving clusters that are full, in order, and the lacking resources of which they are; all that are lacking
// where none is full.
func (f *fleet) fullest(after usage, lacking usageOf, failed map[messages.ClusterName]bool) (names []string, tight []corev1.ResourceName) {
	all := resources(lacking)
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

// resources are those of which there is an amount, in order.
func resources(u usageOf) (names []corev1.ResourceName) {
	for what := range u { // sorted below
		names = append(names, what)
	}
	slices.Sort(names)
	return names
}
