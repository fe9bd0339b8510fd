package messages

import (
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
)

// ToPropagation is what a PropagationPolicy or ClusterPropagationPolicy understands.
type ToPropagation interface{ toPropagation() }

// Workload is what propagation and placement need to know of one resource template.
type Workload struct {
	Binding    BindingName
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	UID        types.UID
	Labels     map[string]string
	// Annotations, like labels, are the object's own and must not change.
	Annotations map[string]string
	// Replicas is zero for a resource that has none.
	Replicas     int32
	Requirements *api.ReplicaRequirements
	// HasReplicas is true for kinds whose replicas can be divided.
	HasReplicas bool
	// Set is what a workload of several pod templates runs; nil: it has no or one template.
	Set *ComponentSet
	// Revision numbers the versions of the pod template; zero: there was only one.
	Revision int32
	// Dependencies are the bindings of what its pods refer to, in order.
	Dependencies []BindingName
}

// PropagationApplied carries the policy's present spec; WorkloadOffered messages follow it.
// From: ingress. To: the policy.
type PropagationApplied struct {
	Spec *api.PropagationSpec
	// Absent are those of its dependentOverrides that do not exist, as "OverridePolicy default/web".
	Absent []string
}

// PropagationDeleted makes the policy give up its claims; bindings keep what it gave them.
// From: ingress. To: the policy.
type PropagationDeleted struct{}

// WorkloadOffered asks the policy whether it claims a workload that is new or changed, or that a
// changed policy may claim now. From: ingress. To: policies that may select it.
type WorkloadOffered struct{ Workload *Workload }

func (*PropagationApplied) toPropagation() {}
func (*PropagationDeleted) toPropagation() {}
func (*WorkloadOffered) toPropagation()    {}
func (*SettingsChanged) toPropagation()    {}
func (*Woken) toPropagation()              {}

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
