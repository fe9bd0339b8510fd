package store

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// healthChanged writes what a cluster reports of its copy: items stand in the order of the clusters'
// names, whichever reported first.
func (b *Binding) healthChanged(at time.Time, f *messages.HealthChanged) bool {
	items := b.Status.AggregatedStatus
	item, i := api.AggregatedStatusItem{ClusterName: string(f.Cluster)}, b.item(string(f.Cluster))
	if i >= 0 {
		item = items[i]
	}
	before := item
	item.Applied, item.AppliedMessage = f.Refused == "", f.Refused
	item.Health, item.ReadyReplicas, item.Revision = f.Health, f.Ready, f.Revision
	if !instant(item.UnhealthySince).Equal(f.Since) {
		item.UnhealthySince = microTime(f.Since)
	}
	if !instant(item.StartingSince).Equal(f.Starting) {
		item.StartingSince = microTime(f.Starting)
	}
	switch {
	case i < 0:
		b.Status.AggregatedStatus = slices.Insert(slices.Clip(items), placeOf(items, item), item)
	case items[i] == item:
		return false
	default:
		b.Status.AggregatedStatus = slices.Clone(items)
		b.Status.AggregatedStatus[i] = item
	}
	if item.Applied != before.Applied || item.AppliedMessage != before.AppliedMessage {
		b.judgeFullyApplied(at)
	}
	return true
}

// statusChanged writes what a copy says of itself, if its cluster reports one.
func (b *Binding) statusChanged(f *messages.StatusChanged) bool {
	i := b.item(string(f.Cluster))
	if i < 0 {
		return false
	}
	items := slices.Clone(b.Status.AggregatedStatus)
	items[i].Status = nil
	if len(f.Status) > 0 {
		items[i].Status = &runtime.RawExtension{Raw: f.Status}
	}
	b.Status.AggregatedStatus = items
	return true
}

func (b *Binding) healthForgotten(at time.Time, f *messages.HealthForgotten) (changed bool) {
	ofCluster := func(item api.AggregatedStatusItem) bool { return item.ClusterName == string(f.Cluster) }
	b.Status.AggregatedStatus, changed = without(b.Status.AggregatedStatus, ofCluster)
	if changed {
		b.judgeFullyApplied(at)
	}
	return changed
}

// judgeFullyApplied sets the condition that every expected cluster has applied its copy; it does not
// hold of a binding that is expected nowhere.
func (b *Binding) judgeFullyApplied(at time.Time) {
	expected, applied, refused := 0, 0, ""
	for cluster := range eviction.Copies(b.Spec) {
		expected++
		switch i := b.item(cluster); {
		case i >= 0 && b.Status.AggregatedStatus[i].Applied:
			applied++
		case i >= 0 && refused == "":
			refused = cluster + " did not apply its copy: " + b.Status.AggregatedStatus[i].AppliedMessage
		}
	}
	c := metav1.Condition{
		Type:    api.ConditionFullyApplied,
		Status:  metav1.ConditionFalse,
		Reason:  "FullyAppliedFailed",
		Message: cmp.Or(refused, "not every cluster has applied its copy"),
	}
	if applied == expected && expected > 0 {
		c.Status, c.Reason = metav1.ConditionTrue, "FullyAppliedSuccess"
		c.Message = "every cluster has applied its copy"
	}
	b.setCondition(at, c)
}

// item returns the index of a cluster's item, or -1.
func (b *Binding) item(cluster string) int {
	for i := range b.Status.AggregatedStatus {
		if b.Status.AggregatedStatus[i].ClusterName == cluster {
			return i
		}
	}
	return -1
}

// placeOf returns the index of the first item whose cluster comes after the new one's.
func placeOf(items []api.AggregatedStatusItem, item api.AggregatedStatusItem) int {
	for i := range items {
		if items[i].ClusterName > item.ClusterName {
			return i
		}
	}
	return len(items)
}

func instant(t *metav1.MicroTime) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func microTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	return &metav1.MicroTime{Time: t}
}

// serving is how many replicas of a binding serve users on one cluster.
type serving struct {
	cluster  messages.ClusterName
	replicas int32
}

// Available is how many replicas of a binding serve users, as its own Available says; of any other object none do.
func (s *Store) Available(key api.Key) int32 {
	if e := s.find(key); e != nil && e.binding != nil {
		return e.binding.Available()
	}
	return 0
}

// Available is how many replicas serve users, wherever they run and whatever is reported of them. It is known where
// members are simulated.
func (b *Binding) Available() (sum int32) {
	for _, s := range b.serving {
		sum += s.replicas
	}
	return sum
}

// serves sets how many replicas serve on a cluster.
func (b *Binding) serves(on messages.ClusterName, replicas int32) {
	b.serving = slices.DeleteFunc(b.serving, func(s serving) bool { return s.cluster == on })
	if replicas > 0 {
		b.serving = append(b.serving, serving{on, replicas})
	}
}
