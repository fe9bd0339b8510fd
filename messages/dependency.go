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

// InterpretationFailed says that a script of a ResourceInterpreterCustomization could not read a workload; the rules of its kind are used
// in its place.
type InterpretationFailed struct {
	Binding BindingName `json:"binding"`
	// Reason names the script, and what is wrong.
	Reason string `json:"reason"`
}

func (*InterpretationFailed) Kind() string { return "InterpretationFailed" }

// AboutBinding names the binding of the workload.
func (f *InterpretationFailed) AboutBinding() BindingName { return f.Binding }

func (*RequirementChanged) Kind() string { return "RequirementChanged" }

func (f *RequirementChanged) AboutBinding() BindingName { return f.Binding }
