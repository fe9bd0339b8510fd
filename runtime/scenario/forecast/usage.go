package forecast

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// UsageOf is an amount of each resource, in the units of api.Units.
type UsageOf map[corev1.ResourceName]int64

// Usage is what is requested of each cluster.
type Usage map[string]UsageOf

// Used sums up what bindings request of clusters: by their placements, whatever serves, for that is what must fit.
func Used(s *store.Store) Usage {
	all := Usage{}
	for _, b := range s.Bindings() {
		for _, t := range b.Spec.Clusters {
			all.Add(t.Name, b.Spec, int64(t.Replicas))
		}
	}
	return all
}

// Add adds what replicas of a workload request of a cluster.
func (u Usage) Add(cluster string, spec *api.BindingSpec, replicas int64) {
	if replicas == 0 || len(spec.Components) > 0 {
		return
	}
	if u[cluster] == nil {
		u[cluster] = UsageOf{}
	}
	u[cluster].Add(spec, replicas)
}

// Add adds what replicas of a workload request.
func (u UsageOf) Add(spec *api.BindingSpec, replicas int64) {
	u[corev1.ResourcePods] += replicas
	if spec.ReplicaRequirements == nil {
		return
	}
	for what, each := range spec.ReplicaRequirements.ResourceRequest { // order-free: sums
		u[what] += replicas * api.Units(what, each)
	}
}

// readable is how many thousandths of a processor are too many to be written as thousandths.
const readable = 10_000

// Quantity is an amount as people write it.
func Quantity(what corev1.ResourceName, units int64) string {
	switch what {
	case corev1.ResourceCPU:
		if units%1000 != 0 && (units >= readable || units <= -readable) {
			return strconv.FormatFloat(float64(units)/1000, 'f', -1, 64)
		}
		return resource.NewMilliQuantity(units, resource.DecimalSI).String()
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return resource.NewQuantity(units, resource.BinarySI).String()
	}
	return resource.NewQuantity(units, resource.DecimalSI).String()
}

// CapacityOf is what a cluster has, and what others take of it.
func CapacityOf(c *api.Cluster) (has corev1.ResourceList, others corev1.ResourceList) {
	if s := c.Status.ResourceSummary; s != nil {
		return s.Allocatable, s.Allocated
	}
	return nil, nil
}
