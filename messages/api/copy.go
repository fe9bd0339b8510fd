package api

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Copy returns a deep copy of an object: nothing that can be written to is shared. Times keep their
// full precision.
func Copy(o Object) Object { return o.DeepCopyObject().(Object) }

// Shallow returns a copy of an object whose own fields may be set. What they point to is shared.
func Shallow(o Object) Object {
	c := reflect.New(reflect.TypeOf(o).Elem())
	c.Elem().Set(reflect.ValueOf(o).Elem())
	return c.Interface().(Object)
}

// The methods below make our kinds runtime.Objects, as those of k8s.io/api are, so that Kubernetes' clients and
// servers can handle them. They walk the type instead of being generated: a new field is copied without a step
// that somebody might forget.

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
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(deepCopy(v.Elem()))
		return c
	case reflect.Struct:
		return copyStruct(v)
	case reflect.Slice:
		return copySlice(v)
	case reflect.Map:
		return copyMap(v)
	default:
		return v
	}
}

// copyStruct copies field by field. What is unexported (of a Quantity, of a Time) is not written to by
// anyone but its own type, which replaces it.
func copyStruct(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			c.Field(i).Set(deepCopy(v.Field(i)))
		}
	}
	return c
}

func copySlice(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		c.Index(i).Set(deepCopy(v.Index(i)))
	}
	return c
}

func copyMap(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	c := reflect.MakeMapWithSize(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		c.SetMapIndex(it.Key(), deepCopy(it.Value()))
	}
	return c
}
