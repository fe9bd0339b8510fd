package messages

import "leeward/messages/api"

// DependencyRequired says on which clusters a workload needs what it depends on; on none: nowhere any more.
// It replaces what the same workload said before.
// From: the workload's binding. To: the binding of each resource that its pods refer to.
type DependencyRequired struct {
	By       BindingName
	Clusters []api.TargetCluster
}

// DependencyApplied says that something a workload may depend on is there now, or again.
// From: ingress. To: the workload's binding.
type DependencyApplied struct{ Dependency BindingName }

func (*DependencyRequired) toBinding() {}
func (*DependencyApplied) toBinding()  {}

// RequirementChanged says where a workload needs a resource that it depends on; on no cluster: nowhere any
// more.
type RequirementChanged struct {
	Binding  BindingName         `json:"binding"`
	By       BindingName         `json:"by"`
	Clusters []api.TargetCluster `json:"clusters,omitempty"`
}

func (*RequirementChanged) Kind() string { return "RequirementChanged" }

func (f *RequirementChanged) AboutBinding() BindingName { return f.Binding }
