package binding

import (
	"cmp"
	"slices"
	"strings"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// needs is what a workload last told its dependencies: who they are and where it needs them.
type needs struct {
	dependencies []messages.BindingName
	clusters     []api.TargetCluster
}

// tellDependencies tells the resources that the workload's pods refer to where they are needed, when that
// changed. Source: Karmada's dependencies distributor.
func (b *Binding) tellDependencies(out *actors.Outbox) {
	told := b.needs
	var now needs
	if b.created && b.spec.PropagateDeps && b.workload != nil {
		now = needs{dependencies: b.workload.Dependencies, clusters: b.whereNeeded()}
	}
	for _, d := range told.dependencies {
		if !slices.Contains(now.dependencies, d) {
			out.TellBinding(d, &messages.DependencyRequired{By: b.name})
		}
	}
	moved := !slices.EqualFunc(told.clusters, now.clusters, api.TargetCluster.Equal)
	for _, d := range now.dependencies {
		if moved || !slices.Contains(told.dependencies, d) {
			out.TellBinding(d, &messages.DependencyRequired{By: b.name, Clusters: now.clusters})
		}
	}
	b.needs = now
}

// whereNeeded are the clusters that run the workload, or, where dependencies stay for the hand-over, still
// run it. Karmada takes them off a cluster at the beginning of a hand-over (K4).
func (b *Binding) whereNeeded() []api.TargetCluster {
	clusters := b.clusters()
	if !b.settings.DependenciesStay {
		return clusters
	}
	for i := range b.tasks {
		k := &b.tasks[i].GracefulEvictionTask
		if eviction.KeepsCopy(k) && b.target(messages.ClusterName(k.FromCluster)) == nil {
			left := api.TargetCluster{Name: k.FromCluster}
			if k.Replicas != nil {
				left.Replicas = *k.Replicas
			}
			clusters = append(clusters, left)
		}
	}
	return clusters
}

// dependencyApplied tells one dependency, which is new, where it is needed.
func (b *Binding) dependencyApplied(d messages.BindingName) {
	b.needs.dependencies = slices.DeleteFunc(slices.Clone(b.needs.dependencies), func(n messages.BindingName) bool { return n == d })
}

// dependencyRequired notes where a workload needs this resource.
func (b *Binding) dependencyRequired(m *messages.DependencyRequired, out *actors.Outbox) {
	next := snapshot(m)
	i, known := slices.BinarySearchFunc(b.requiredBy, next, compareSnapshots)
	switch {
	case known && len(m.Clusters) == 0:
		b.requiredBy = slices.Delete(b.requiredBy, i, i+1)
	case known && slices.EqualFunc(b.requiredBy[i].Clusters, m.Clusters, api.TargetCluster.Equal), len(m.Clusters) == 0:
		return
	case known:
		b.requiredBy[i] = next
	default:
		b.requiredBy = slices.Insert(b.requiredBy, i, next)
	}
	if !b.created {
		b.attach(out)
		return
	}
	out.Record(&messages.RequirementChanged{Binding: b.name, By: m.By, Clusters: m.Clusters})
	b.syncCopies(out)
}

// attach makes a binding that no policy asked for, because workloads need the resource.
func (b *Binding) attach(out *actors.Outbox) {
	if b.workload == nil || len(b.requiredBy) == 0 {
		return
	}
	b.created = true
	b.fromWorkload(&b.spec)
	given := b.spec
	out.Record(&messages.BindingCreated{Binding: b.name, Spec: &given, UID: given.Resource.UID})
	for _, s := range b.requiredBy {
		out.Record(&messages.RequirementChanged{Binding: b.name, By: snapshotOf(s), Clusters: s.Clusters})
	}
	b.syncCopies(out)
}

// required reports whether some workload needs this resource on a cluster.
func (b *Binding) required(c messages.ClusterName) bool {
	return slices.ContainsFunc(b.requiredBy, func(s api.BindingSnapshot) bool {
		return slices.ContainsFunc(s.Clusters, func(t api.TargetCluster) bool { return t.Name == string(c) })
	})
}

// runRequired tells the members where workloads need this resource to have it.
func (b *Binding) runRequired(out *actors.Outbox) {
	for i := range b.requiredBy {
		for _, c := range b.requiredBy[i].Clusters {
			if name := messages.ClusterName(c.Name); b.target(name) == nil {
				b.runCopy(&target{cluster: name, replicas: b.spec.Replicas}, out)
			}
		}
	}
}

func snapshot(m *messages.DependencyRequired) api.BindingSnapshot {
	s := api.BindingSnapshot{Name: string(m.By), Clusters: m.Clusters}
	if namespace, name, namespaced := strings.Cut(string(m.By), "/"); namespaced {
		s.Namespace, s.Name = namespace, name
	}
	return s
}

// snapshotOf is the binding that a snapshot is of.
func snapshotOf(s api.BindingSnapshot) messages.BindingName {
	if s.Namespace == "" {
		return messages.BindingName(s.Name)
	}
	return messages.BindingName(s.Namespace + "/" + s.Name)
}

func compareSnapshots(a, b api.BindingSnapshot) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
