package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ConfigGroupVersion is the API of what says how resources are read.
const ConfigGroupVersion = "config.karmada.io/v1alpha1"

// ResourceInterpreterCustomization says by scripts how objects of one kind are read and written.
type ResourceInterpreterCustomization struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ResourceInterpreterCustomizationSpec `json:"spec"`
}

// ResourceInterpreterWebhookConfiguration would name a webhook that reads custom kinds. No daemon has one: Karmada's agent lists them.
type ResourceInterpreterWebhookConfiguration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

// ResourceInterpreterCustomizationSpec is of which kind, and how.
type ResourceInterpreterCustomizationSpec struct {
	Target         CustomizationTarget `json:"target"`
	Customizations CustomizationRules  `json:"customizations"`
}

// CustomizationTarget is the kind.
type CustomizationTarget struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// CustomizationRules are the scripts, by what they do. Where there is none, the rules of the kind hold.
type CustomizationRules struct {
	// Retention: function Retain(desiredObj, observedObj) returns what is applied in a member.
	Retention *LuaRule `json:"retention,omitempty"`
	// ReplicaResource: function GetReplicas(obj) returns the replicas, and what each of them needs.
	ReplicaResource *LuaRule `json:"replicaResource,omitempty"`
	// ComponentResource: function GetComponents(obj) returns the pod templates of a workload of several, with the pods of each.
	ComponentResource *LuaRule `json:"componentResource,omitempty"`
	// ReplicaRevision: function ReviseReplica(obj, replicas) returns the object with other replicas.
	ReplicaRevision *LuaRule `json:"replicaRevision,omitempty"`
	// StatusReflection: function ReflectStatus(observedObj) returns what is reported of an object's status.
	StatusReflection *LuaRule `json:"statusReflection,omitempty"`
	// StatusAggregation: function AggregateStatus(obj, items) returns the object with the status that its copies add up to.
	StatusAggregation *LuaRule `json:"statusAggregation,omitempty"`
	// HealthInterpretation: function InterpretHealth(observedObj) returns whether an object is healthy.
	HealthInterpretation *LuaRule `json:"healthInterpretation,omitempty"`
	// DependencyInterpretation: function GetDependencies(obj) returns what an object refers to.
	DependencyInterpretation *LuaRule `json:"dependencyInterpretation,omitempty"`
}

// LuaRule is one script.
type LuaRule struct {
	LuaScript string `json:"luaScript"`
}

// DeepCopyObject copies all of it.
func (c *ResourceInterpreterCustomization) DeepCopyObject() runtime.Object { return copyOf(c) }

// DeepCopyObject copies all of it.
func (c *ResourceInterpreterWebhookConfiguration) DeepCopyObject() runtime.Object { return copyOf(c) }
