package openapi

import (
	"reflect"
	"strings"
)

// markersOf returns what the markers above a field, or for "" above a type, say that no tag does.
func markersOf(t reflect.Type, field string) markers {
	if !strings.HasPrefix(t.PkgPath(), "k8s.io/") {
		return markers{}
	}
	name := strings.TrimSuffix(t.Name()+"."+field, ".")
	if m, is := marked[strings.TrimPrefix(t.PkgPath(), "k8s.io/api/")+"."+name]; is {
		return m
	}
	return marked[name]
}

func keyed(keys ...string) markers { return markers{listType: "map", keys: keys} }

var (
	atomic     = markers{mapType: "atomic"}
	atomicList = markers{listType: "atomic"}
	set        = markers{listType: "set"}
)

// marked are the types and fields of the kinds that are served, with their package where those of the same name differ. Source: +structType, +mapType, +listType,
// +listMapKey and +default in types.go of k8s.io/api and of k8s.io/apimachinery; a test compares them.
var marked = map[string]markers{
	"autoscaling/v1.CrossVersionObjectReference": atomic,

	"ConfigMapKeySelector":      atomic,
	"EndpointAddress":           atomic,
	"EndpointPort":              atomic,
	"EvictionResponder":         atomic,
	"FileKeySelector":           atomic,
	"LabelSelector":             atomic,
	"LocalObjectReference":      atomic,
	"NodeSelector":              atomic,
	"NodeSelectorTerm":          atomic,
	"ObjectFieldSelector":       atomic,
	"ObjectReference":           atomic,
	"OwnerReference":            atomic,
	"ResourceFieldSelector":     atomic,
	"RoleRef":                   atomic,
	"ScopeSelector":             atomic,
	"SecretKeySelector":         atomic,
	"SecretReference":           atomic,
	"ServiceBackendPort":        atomic,
	"Subject":                   atomic,
	"TopologySelectorTerm":      atomic,
	"TypedLocalObjectReference": atomic,

	"PodSpec.nodeSelector":                                  atomic,
	"ServiceSpec.selector":                                  atomic,
	"ReplicationControllerSpec.selector":                    atomic,
	"PersistentVolumeSpec.claimRef":                         {mapType: "granular"},
	"PersistentVolumeClaimStatus.allocatedResourceStatuses": {mapType: "granular"},

	"Container.ports":                     keyed("containerPort", "protocol"),
	"EphemeralContainerCommon.ports":      keyed("containerPort", "protocol"),
	"PodSpec.topologySpreadConstraints":   keyed("topologyKey", "whenUnsatisfiable"),
	"PodStatus.volumeHealth":              keyed("name"),
	"PodVolumeHealth.healthConditions":    keyed("status", "reason"),
	"VolumeHealthStatus.healthConditions": keyed("status", "reason"),
	"ResourceRequirements.claims":         keyed("name"),
	"ResourceStatus.resources":            keyed("resourceID"),
	"ServiceSpec.ports":                   keyed("port", "protocol"),

	"JobStatus.conditions": atomicList,
	"PodStatus.hostIPs":    atomicList,

	"ContainerRestartRuleOnExitCodes.values":          set,
	"NodeAllocatableResourceClaimStatus.containers":   set,
	"NodePodPreemptionPolicy.disableResizePreemption": set,
	"PodFailurePolicyOnExitCodesRequirement.values":   set,
	"UncountedTerminatedPods.failed":                  set,
	"UncountedTerminatedPods.succeeded":               set,
	"VolumeMount.bindMountOptions":                    set,

	"ContainerPort.protocol": {preset: "TCP"},
	"ServicePort.protocol":   {preset: "TCP"},
}
