package store

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
)

// ClusterUsage is what copies that serve take of each cluster: cpu in thousandths, all else in whole units. A scheduler that
// reserves capacity for what is placed (capacityReservation) must see what clusters report without it.
type ClusterUsage map[messages.ClusterName]map[corev1.ResourceName]int64

// Count adds the copies of a binding so many times; nil has none. Those of several components report no replicas of each.
func (u ClusterUsage) Count(b *Binding, times int64) {
	for _, item := range b.items() {
		name, ready := messages.ClusterName(item.ClusterName), times*int64(ReadyReplicas(&item))
		if ready == 0 || len(b.Spec.Components) > 0 {
			continue
		}
		if u[name] == nil {
			u[name] = map[corev1.ResourceName]int64{}
		}
		u[name][corev1.ResourcePods] += ready
		if b.Spec.ReplicaRequirements == nil {
			continue
		}
		for what, each := range b.Spec.ReplicaRequirements.ResourceRequest { // order-free: sums
			u[name][what] += ready * api.Units(what, each)
		}
	}
}

// Others is what a cluster reports, without what Leeward's own copies take of it.
func (u ClusterUsage) Others(name messages.ClusterName, reported *api.ResourceSummary) *api.ResourceSummary {
	if reported == nil || len(reported.Allocated) == 0 || len(u[name]) == 0 {
		return reported
	}
	rest := *reported
	rest.Allocated = maps.Clone(reported.Allocated)
	for what, taken := range reported.Allocated { // order-free: each by itself
		others := max(0, api.Units(what, taken)-u[name][what])
		if what == corev1.ResourceCPU {
			rest.Allocated[what] = *resource.NewMilliQuantity(others, taken.Format)
		} else {
			rest.Allocated[what] = *resource.NewQuantity(others, taken.Format)
		}
	}
	return &rest
}

// WithoutOwn has the clusters among some objects report what others take of them, as far as the bindings among the objects
// tell.
func WithoutOwn(objects []api.Object) {
	own := ClusterUsage{}
	for _, o := range objects {
		own.Count(AsBinding(o), 1)
	}
	for i, o := range objects {
		if c, is := o.(*api.Cluster); is {
			others := *c
			others.Status.ResourceSummary = own.Others(messages.ClusterName(c.Name), c.Status.ResourceSummary)
			objects[i] = &others
		}
	}
}

// TakenOn are the clusters of which two states of a binding take something, or may; none where they take the same.
func TakenOn(now, before *Binding) (names []messages.ClusterName) {
	if takeAlike(now, before) {
		return nil
	}
	for _, b := range [...]*Binding{now, before} {
		for _, item := range b.items() {
			names = append(names, messages.ClusterName(item.ClusterName))
		}
	}
	return names
}

func (b *Binding) items() []api.AggregatedStatusItem {
	if b == nil {
		return nil
	}
	return b.Status.AggregatedStatus
}

// takeAlike reports whether the copies of a binding take what they took before.
func takeAlike(now, before *Binding) bool {
	return now != nil && before != nil && len(now.Spec.Components) == len(before.Spec.Components) &&
		(now.Spec.ReplicaRequirements == before.Spec.ReplicaRequirements || equality.Semantic.DeepEqual(now.Spec.ReplicaRequirements, before.Spec.ReplicaRequirements)) &&
		slices.EqualFunc(now.Status.AggregatedStatus, before.Status.AggregatedStatus, serveAlike)
}

func serveAlike(a, b api.AggregatedStatusItem) bool {
	return a.ClusterName == b.ClusterName && (a.Status == b.Status && a.ReadyReplicas == b.ReadyReplicas || ReadyReplicas(&a) == ReadyReplicas(&b))
}
