package binding

import (
	"cmp"
	"slices"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// dependencies are a binding's to others, which it needs or which need it.
type dependencies struct {
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

// needers are the workloads that depend on this resource, by name.
func (ds *dependencies) needers() []api.BindingSnapshot {
	if ds == nil {
		return nil
	}
	return ds.requiredBy
}

// restore takes over who depends on this resource.
func (ds *dependencies) restore(by []api.BindingSnapshot) { ds.requiredBy = slices.Clone(by) }

// tell tells the resources that the workload's pods refer to where they are needed, when that
// changed. Source: Karmada's dependencies distributor.
func (ds *dependencies) tell(v *view, out *actors.Outbox) {
	told, now := ds.told, needs{}
	if v.needy() {
		now = needs{dependencies: v.workload.Dependencies, clusters: v.whereNeeded()}
	}
	moved := !slices.EqualFunc(told.clusters, now.clusters, api.TargetCluster.Equal)
	if !moved && slices.Equal(told.dependencies, now.dependencies) {
		return
	}
	ds.told = now
	for _, d := range without(told.dependencies, now.dependencies) {
		out.TellBinding(d, &messages.DependencyRequired{By: v.name})
	}
	if moved {
		told.dependencies = nil
	}
	for _, d := range without(now.dependencies, told.dependencies) {
		out.TellBinding(d, &messages.DependencyRequired{By: v.name, Clusters: now.clusters})
	}
}

// without are the names of one list, in order, that another one does not have.
func without(names, others []messages.BindingName) []messages.BindingName {
	has := make(map[messages.BindingName]bool, len(others))
	for _, n := range others {
		has[n] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(n messages.BindingName) bool { return has[n] })
}

// needy reports whether the workload depends on other resources that go where it goes.
func (v *view) needy() bool {
	return v.created && v.spec.PropagateDeps && v.workload != nil && len(v.workload.Dependencies) > 0
}

// whereNeeded are the clusters that run the workload, or, where dependencies stay for the handover, still
// run it. Karmada takes them off a cluster at the beginning of a handover (K4).
func (v *view) whereNeeded() []api.TargetCluster {
	clusters := v.targets.shown()
	if !v.ways().DependenciesStay() {
		return clusters
	}
	for i := range v.handover.tasks {
		k := &v.handover.tasks[i].GracefulEvictionTask
		if eviction.KeepsCopy(k) && v.targets.of(messages.ClusterName(k.FromCluster)) == nil {
			left := api.TargetCluster{Name: k.FromCluster}
			if k.Replicas != nil {
				left.Replicas = *k.Replicas
			}
			clusters = append(clusters, left)
		}
	}
	return clusters
}

// forget has tell tell one dependency, which is new, where it is needed.
func (ds *dependencies) forget(d messages.BindingName) {
	told := &ds.told
	told.dependencies = slices.DeleteFunc(slices.Clone(told.dependencies), func(n messages.BindingName) bool { return n == d })
}

// nowhere reports whether a workload needs this resource no longer.
func nowhere(s api.BindingSnapshot) bool { return len(s.Clusters) == 0 }

// releases reports whether copies may be needed no longer.
func (ds *dependencies) releases() bool { return ds != nil && ds.released > 0 }

// required reports whether some workload needs this resource on a cluster.
func (ds *dependencies) required(c messages.ClusterName) bool {
	return slices.ContainsFunc(ds.needers(), func(s api.BindingSnapshot) bool {
		return api.FindTarget(s.Clusters, string(c)) >= 0
	})
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
