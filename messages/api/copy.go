package api

import (
	"maps"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Copy returns a deep copy of an object: nothing that can be written to is shared. Times keep their
// full precision.
func Copy(o Object) Object { return o.DeepCopyObject().(Object) }

// Shallow returns a copy of an object whose own fields, those of its metadata among them, may be set. What they point to is shared.
func Shallow(o Object) Object {
	if u, is := o.(*unstructured.Unstructured); is {
		fields := maps.Clone(u.Object)
		if metadata, is := fields["metadata"].(map[string]any); is {
			fields["metadata"] = maps.Clone(metadata)
		}
		return &unstructured.Unstructured{Object: fields}
	}
	c := reflect.New(reflect.TypeOf(o).Elem())
	c.Elem().Set(reflect.ValueOf(o).Elem())
	return c.Interface().(Object)
}

// The methods below make our kinds runtime.Objects, as those of k8s.io/api are, so that Kubernetes' clients and
// servers can handle them. They walk the type instead of being generated: a new field is copied without a step
// that an edit might forget.

func (c *Cluster) DeepCopyObject() runtime.Object                  { return copyOf(c) }
func (p *ClusterTaintPolicy) DeepCopyObject() runtime.Object       { return copyOf(p) }
func (p *PropagationPolicy) DeepCopyObject() runtime.Object        { return copyOf(p) }
func (p *ClusterPropagationPolicy) DeepCopyObject() runtime.Object { return copyOf(p) }
func (p *OverridePolicy) DeepCopyObject() runtime.Object           { return copyOf(p) }
func (p *ClusterOverridePolicy) DeepCopyObject() runtime.Object    { return copyOf(p) }
func (q *FederatedResourceQuota) DeepCopyObject() runtime.Object   { return copyOf(q) }
func (b *ResourceBinding) DeepCopyObject() runtime.Object          { return copyOf(b) }
func (b *ClusterResourceBinding) DeepCopyObject() runtime.Object   { return copyOf(b) }
func (w *Work) DeepCopyObject() runtime.Object                     { return copyOf(w) }
func (r *WorkloadRebalancer) DeepCopyObject() runtime.Object       { return copyOf(r) }
func (b *EvictionBudget) DeepCopyObject() runtime.Object           { return copyOf(b) }
func (b *ClusterEvictionBudget) DeepCopyObject() runtime.Object    { return copyOf(b) }
func (g *Governor) DeepCopyObject() runtime.Object                 { return copyOf(g) }
func (p *FailoverPreview) DeepCopyObject() runtime.Object          { return copyOf(p) }
func (l *List[T]) DeepCopyObject() runtime.Object                  { return copyOf(l) }

func copyOf[T any](o *T) *T { return deepCopy(reflect.ValueOf(o)).Interface().(*T) }

func deepCopy(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	if shares(v.Type()) {
		part(c)
	}
	return c
}

// part has a value that is a copy of another share nothing more with that.
func part(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			if shares(v.Type().Elem()) {
				part(c.Elem())
			}
			v.Set(c)
		}
	case reflect.Struct:
		for _, i := range sharing(v.Type()) {
			part(v.Field(i))
		}
	case reflect.Slice:
		partSlice(v)
	case reflect.Map:
		partMap(v)
	}
}

func partSlice(v reflect.Value) {
	if v.IsNil() {
		return
	}
	c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(c, v)
	if shares(v.Type().Elem()) {
		for i := range c.Len() {
			part(c.Index(i))
		}
	}
	v.Set(c)
}

func partMap(v reflect.Value) {
	if v.IsNil() {
		return
	}
	c, deep := reflect.MakeMapWithSize(v.Type(), v.Len()), shares(v.Type().Elem())
	for it := v.MapRange(); it.Next(); {
		if deep {
			c.SetMapIndex(it.Key(), deepCopy(it.Value()))
		} else {
			c.SetMapIndex(it.Key(), it.Value())
		}
	}
	v.Set(c)
}

// shares reports whether values of a type have something in common with what they were assigned from.
func shares(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return true
	case reflect.Struct:
		return len(sharing(t)) > 0
	default:
		return false
	}
}

// sharingOf are the sharing fields of each type of struct that was asked for.
var sharingOf sync.Map

// sharing are the fields of a struct that share something. What is unexported (of a Quantity, of a Time) is not written to by
// anyone but its own type, which replaces it.
func sharing(t reflect.Type) []int {
	if known, asked := sharingOf.Load(t); asked {
		return known.([]int)
	}
	var fields []int
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && shares(f.Type) {
			fields = append(fields, i)
		}
	}
	sharingOf.Store(t, fields)
	return fields
}

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
