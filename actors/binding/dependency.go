package binding

import (
	"cmp"
	"slices"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// ties are a binding's to others, which it needs or which need it.
type ties struct {
	// told is what the resources that this workload depends on were told; requiredBy are the workloads that
	// depend on this resource, by name.
	told       needs
	requiredBy []api.BindingSnapshot
	// released counts the rounds down that end an instant in which less was required.
	released uint8
}

// needs is what a workload last told its dependencies: who they are and where it needs them.
type needs struct {
	dependencies []messages.BindingName
	clusters     []api.TargetCluster
}

// requiredBy are the workloads that depend on this resource, by name.
func (b *Binding) requiredBy() []api.BindingSnapshot {
	if b.ties == nil {
		return nil
	}
	return b.ties.requiredBy
}

func (b *Binding) restoreRequirements(by []api.BindingSnapshot) {
	if b.ties != nil || len(by) > 0 {
		owned(&b.ties).requiredBy = slices.Clone(by)
	}
}

// tellDependencies tells the resources that the workload's pods refer to where they are needed, when that
// changed. Source: Karmada's dependencies distributor.
func (b *Binding) tellDependencies(out *actors.Outbox) {
	needy := b.created && b.spec.PropagateDeps && b.workload != nil && len(b.workload.Dependencies) > 0
	if !needy && b.ties == nil {
		return
	}
	told, now := owned(&b.ties).told, needs{}
	if needy {
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
	b.ties.told = now
}

// whereNeeded are the clusters that run the workload, or, where dependencies stay for the hand-over, still
// run it. Karmada takes them off a cluster at the beginning of a hand-over (K4).
func (v *view) whereNeeded() []api.TargetCluster {
	clusters := v.clusters()
	if !v.settings.DependenciesStay {
		return clusters
	}
	for i := range v.tasks {
		k := &v.tasks[i].GracefulEvictionTask
		if eviction.KeepsCopy(k) && v.target(messages.ClusterName(k.FromCluster)) == nil {
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
	told := &owned(&b.ties).told
	told.dependencies = slices.DeleteFunc(slices.Clone(told.dependencies), func(n messages.BindingName) bool { return n == d })
}

// dependencyRequired notes where a workload needs this resource. What needs it no longer is taken off at the end of
// the instant, when all others have settled what they are: another one may need it where this one did.
func (b *Binding) dependencyRequired(m *messages.DependencyRequired, out *actors.Outbox) {
	next := snapshot(m)
	by := b.requiredBy()
	i, known := slices.BinarySearchFunc(by, next, compareSnapshots)
	switch {
	case known && slices.EqualFunc(by[i].Clusters, m.Clusters, api.TargetCluster.Equal), !known && len(m.Clusters) == 0:
		return
	case known:
		by[i] = next
	default:
		owned(&b.ties).requiredBy = slices.Insert(by, i, next)
	}
	b.ties.released = 2
	switch {
	case len(m.Clusters) == 0:
	case !b.created:
		b.attach(out)
	default:
		out.Record(&messages.RequirementChanged{Binding: b.name, By: m.By, Clusters: m.Clusters})
		b.runCopies(out)
	}
}

// dropReleased takes off who needs this resource no longer, and lets copies go that nobody needs.
func (b *Binding) dropReleased(out *actors.Outbox) {
	if !b.releases() {
		return
	}
	if b.ties.released--; b.ties.released > 0 {
		return
	}
	for _, s := range b.requiredBy() {
		if nowhere(s) && b.created {
			out.Record(&messages.RequirementChanged{Binding: b.name, By: snapshotOf(s)})
		}
	}
	b.ties.requiredBy = slices.DeleteFunc(b.requiredBy(), nowhere)
	b.dropCopies(out)
}

// nowhere reports whether a workload needs this resource no longer.
func nowhere(s api.BindingSnapshot) bool { return len(s.Clusters) == 0 }

// releases reports whether copies may be needed no longer.
func (b *Binding) releases() bool { return b.ties != nil && b.ties.released > 0 }

// attach makes a binding that no policy asked for, because workloads need the resource.
func (b *Binding) attach(out *actors.Outbox) {
	needed := slices.DeleteFunc(slices.Clone(b.requiredBy()), func(s api.BindingSnapshot) bool { return len(s.Clusters) == 0 })
	if b.workload == nil || len(needed) == 0 {
		return
	}
	b.created = true
	b.fromWorkload(&b.spec)
	given := b.spec
	out.Record(&messages.BindingCreated{Binding: b.name, Spec: &given, UID: given.Resource.UID})
	for _, s := range needed {
		out.Record(&messages.RequirementChanged{Binding: b.name, By: snapshotOf(s), Clusters: s.Clusters})
	}
	b.syncCopies(out)
}

// required reports whether some workload needs this resource on a cluster.
func (b *Binding) required(c messages.ClusterName) bool {
	return slices.ContainsFunc(b.requiredBy(), func(s api.BindingSnapshot) bool {
		return api.FindTarget(s.Clusters, string(c)) >= 0
	})
}

// runRequired tells the members where workloads need this resource to have it.
func (b *Binding) runRequired(out *actors.Outbox) {
	for _, by := range b.requiredBy() {
		for _, c := range by.Clusters {
			if name := messages.ClusterName(c.Name); b.target(name) == nil {
				b.runCopy(&target{cluster: name, replicas: b.spec.Replicas}, out)
			}
		}
	}
}

func snapshot(m *messages.DependencyRequired) api.BindingSnapshot {
	namespace, name := m.By.Split()
	return api.BindingSnapshot{Namespace: namespace, Name: name, Clusters: m.Clusters}
}

// snapshotOf is the binding that a snapshot is of.
func snapshotOf(s api.BindingSnapshot) messages.BindingName {
	return messages.NameBinding(s.Namespace, s.Name)
}

func compareSnapshots(a, b api.BindingSnapshot) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
