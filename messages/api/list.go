package api

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// List holds objects of one kind, as a server returns them; its own kind is theirs with List behind it.
type List[T any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []T `json:"items"`
}

// OpenAPIModelName names the list in OpenAPI, which has no word for a type with a parameter.
func (List[T]) OpenAPIModelName() string {
	return "leeward.messages.api." + reflect.TypeFor[T]().Name() + "List"
}
