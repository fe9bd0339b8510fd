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

// DependenciesChanged says what a workload refers to now, because objects that it selects by labels came, went or changed theirs.
// From: ingress. To: the workload's binding.
type DependenciesChanged struct{ Dependencies []BindingName }

func (*DependencyRequired) toBinding()  {}
func (*DependencyApplied) toBinding()   {}
func (*DependenciesChanged) toBinding() {}

// RequirementChanged says where a workload needs a resource that it depends on; on no cluster: nowhere any
// more.
type RequirementChanged struct {
	Binding  BindingName         `json:"binding"`
	By       BindingName         `json:"by"`
	Clusters []api.TargetCluster `json:"clusters,omitempty"`
}

// InterpretationFailed says that a script of a ResourceInterpreterCustomization could not read a workload, or not all of it.
type InterpretationFailed struct {
	Binding BindingName `json:"binding"`
	// Reason names the script, what is wrong, and what is used in its place.
	Reason string `json:"reason"`
}

func (*InterpretationFailed) Kind() string { return "InterpretationFailed" }

// AboutBinding names the binding of the workload.
func (f *InterpretationFailed) AboutBinding() BindingName { return f.Binding }

func (*RequirementChanged) Kind() string { return "RequirementChanged" }

func (f *RequirementChanged) AboutBinding() BindingName { return f.Binding }
