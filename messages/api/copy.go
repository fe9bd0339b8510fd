package api

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Copy returns a deep copy of an object: nothing that can be written to is shared. Times keep their
// full precision.
func Copy(o Object) Object {
	if known, ok := o.(runtime.Object); ok {
		return known.DeepCopyObject().(Object)
	}
	return deepCopy(reflect.ValueOf(o)).Interface().(Object)
}

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
