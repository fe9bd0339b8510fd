package store

import (
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
)

// requirementChanged notes where a workload needs the resource; the workloads stand in order of their names.
func (b *Binding) requirementChanged(at time.Time, f *messages.RequirementChanged) bool {
	namespace, name := f.By.Split()
	i := slices.IndexFunc(b.Spec.RequiredBy, func(s api.BindingSnapshot) bool {
		return s.Namespace > namespace || s.Namespace == namespace && s.Name >= name
	})
	if i < 0 {
		i = len(b.Spec.RequiredBy)
	}
	known := i < len(b.Spec.RequiredBy) && b.Spec.RequiredBy[i].Namespace == namespace && b.Spec.RequiredBy[i].Name == name
	next := slices.Clone(b.Spec.RequiredBy)
	switch {
	case known && len(f.Clusters) == 0:
		next = slices.Delete(next, i, i+1)
	case len(f.Clusters) == 0, known && slices.EqualFunc(next[i].Clusters, f.Clusters, api.TargetCluster.Equal):
		return false
	case known:
		next[i].Clusters = f.Clusters
	default:
		next = slices.Insert(next, i, api.BindingSnapshot{Namespace: namespace, Name: name, Clusters: f.Clusters})
	}
	if len(next) == 0 {
		next = nil
	}
	b.Spec.RequiredBy = next
	b.Meta.Generation++
	b.judgeFullyApplied(at)
	return true
}
