package world

import (
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

// generationAfter is the generation of an object that takes the place of an older one. As with an API server it
// rises when what the object asks for changes, not with its metadata or status.
func generationAfter(o, old api.Object) int64 {
	if asksTheSame(o, old) {
		return old.GetGeneration()
	}
	return old.GetGeneration() + 1
}

// asksTheSame compares two objects of one kind without their metadata and status.
func asksTheSame(o, old api.Object) bool {
	a, b := reflect.ValueOf(o), reflect.ValueOf(old)
	if _, any := o.(*unstructured.Unstructured); any || a.Type() != b.Type() {
		return equality.Semantic.DeepEqual(wishes(o), wishes(old))
	}
	for i := range a.Elem().NumField() {
		switch a.Elem().Type().Field(i).Name {
		case "TypeMeta", "ObjectMeta", "Status":
		default:
			if !equality.Semantic.DeepEqual(a.Elem().Field(i).Interface(), b.Elem().Field(i).Interface()) {
				return false
			}
		}
	}
	return true
}

// wishes are the fields of an object besides its metadata and status.
func wishes(o api.Object) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(fmt.Sprintf("world: %s was decoded but has no fields: %v", api.KeyOf(o), err))
	}
	rest := maps.Clone(fields)
	delete(rest, "metadata")
	delete(rest, "status")
	return rest
}
