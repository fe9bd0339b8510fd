// Package quota holds the rules of FederatedResourceQuotas: what workloads charge to the quotas of their
// namespace, and which placement asks for more than a quota leaves. Source: Karmada's gate
// FederatedQuotaEnforcement.
package quota

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages/api"
)

// Usage is what workloads ask for, by resource. Sums are exact, so their order does not matter; a resource
// of which nothing is asked is not in it.
type Usage map[corev1.ResourceName]resource.Quantity

// Of returns what a workload asks of the clusters that it is placed on: for its replicas, or, of a workload of
// several components, for those that each cluster lists. What has no replicas, or requests nothing, uses nothing.
func Of(targets []api.TargetCluster, each *api.ReplicaRequirements, components []api.Component) Usage {
	used := Usage{}
	for _, t := range targets {
		used.charge(t.Replicas, each)
		for i := range components {
			used.charge(t.Components.Replicas(components[i].Name), components[i].ReplicaRequirements)
		}
	}
	return used
}

// charge adds replicas times what each of them requests.
func (u Usage) charge(replicas int32, each *api.ReplicaRequirements) {
	if each == nil {
		return
	}
	for name, request := range each.ResourceRequest { // order-free: each resource has its own sum
		total := request.DeepCopy()
		total.Mul(int64(replicas))
		u.put(name, total)
	}
}

// Add adds another usage; Sub takes it away again.
func (u Usage) Add(other Usage) {
	for name, amount := range other { // order-free: each resource has its own sum
		u.put(name, amount)
	}
}

// Sub takes away what Add added.
func (u Usage) Sub(other Usage) {
	for name, amount := range other { // order-free: each resource has its own sum
		less := amount.DeepCopy()
		less.Neg()
		u.put(name, less)
	}
}

func (u Usage) put(name corev1.ResourceName, amount resource.Quantity) {
	sum := u[name].DeepCopy() // a large quantity shares its digits with its copies
	sum.Add(amount)
	if sum.IsZero() {
		delete(u, name)
		return
	}
	u[name] = sum
}

// Less reports whether less of some resource is used than before.
func (u Usage) Less(before Usage) bool {
	for name, had := range before { // order-free: any will do
		if now := u[name]; now.Cmp(had) < 0 {
			return true
		}
	}
	return false
}

// Against returns the usage as a quota shows it: of what it limits, in the notation of the limits.
func (u Usage) Against(limits corev1.ResourceList) corev1.ResourceList {
	shown := make(corev1.ResourceList, len(limits))
	for name, limit := range limits { // order-free: each resource has its own sum
		shown[name] = like(limit, u[name])
	}
	return shown
}

// like returns an amount in the notation of another.
func like(limit, amount resource.Quantity) resource.Quantity {
	amount = amount.DeepCopy()
	amount.Format = limit.Format
	return amount
}

// Excess is a resource of which a placement asks for more than a quota leaves.
type Excess struct {
	Resource corev1.ResourceName
	// Taken is what all workloads of the namespace have, the one at hand included; Asked is what it asks for
	// on top of that.
	Taken, Asked, Limit resource.Quantity
}

// String returns "2 more cpu asked for, 4 of 5 taken".
func (e Excess) String() string {
	return fmt.Sprintf("%s more %s asked for, %s of %s taken", e.Asked.String(), e.Resource, e.Taken.String(), e.Limit.String())
}

// Exceeds returns the first resource, in the order of names, of which a workload would use more than now
// and all of the namespace together more than the limit; false if there is none. A request for no more
// than it has is never over, whatever the limit.
func Exceeds(limits corev1.ResourceList, taken, before, after Usage) (Excess, bool) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		limit, asked, sum := limits[name], after[name].DeepCopy(), taken[name].DeepCopy()
		asked.Sub(before[name])
		sum.Add(asked)
		if asked.Sign() > 0 && sum.Cmp(limit) > 0 {
			return Excess{Resource: name, Taken: like(limit, taken[name]), Asked: like(limit, asked), Limit: limit}, true
		}
	}
	return Excess{}, false
}
