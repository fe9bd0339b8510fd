package world

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

// generationAfter is the generation of an object that takes the place of an older one. As with an API server it
// rises when what the object asks for changes, not with its metadata or status.
func generationAfter(o, old api.Object) int64 {
	if equality.Semantic.DeepEqual(wishes(o), wishes(old)) {
		return old.GetGeneration()
	}
	return old.GetGeneration() + 1
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
