package openapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"sync"

	"leeward/messages/api"
)

// docOf returns the comment of a field by its name in JSON, or for "" of a type.
func docOf(t reflect.Type, field string) string {
	if isOurs(t) {
		name, _, _ := strings.Cut(t.Name(), "[")
		return ownComments()[comment{name, field}]
	}
	if documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		return documented.SwaggerDoc()[field]
	}
	return ""
}

// comment is where a comment is written: at a type, or at one of its fields.
type comment struct{ kind, field string }

// ownComments are the comments of messages/api. Its source is part of the binary and always parses.
var ownComments = sync.OnceValue(func() map[comment]string {
	comments := map[comment]string{}
	entries, _ := api.Source.ReadDir(".")
	for _, entry := range entries {
		text, _ := api.Source.ReadFile(entry.Name())
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), text, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		read(file, comments)
	}
	return comments
})

func read(file *ast.File, into map[comment]string) {
	for _, declared := range file.Decls {
		types, ok := declared.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		for _, each := range types.Specs {
			named := each.(*ast.TypeSpec)
			into[comment{named.Name.Name, ""}] = plain(types.Doc)
			if object, ok := named.Type.(*ast.StructType); ok {
				readFields(named.Name.Name, object, into)
			}
		}
	}
}

// readFields reads the comments of fields. One that speaks of the field and those below it is that of the
// first.
func readFields(kind string, object *ast.StructType, into map[comment]string) {
	for _, field := range object.Fields.List {
		if field.Tag == nil {
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
		if name != "" {
			into[comment{kind, name}] = plain(field.Doc)
		}
	}
}

// plain returns a comment in one line.
func plain(comments *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comments.Text()), " ")
}

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
