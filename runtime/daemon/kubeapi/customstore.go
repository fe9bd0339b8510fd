package kubeapi

import (
	"context"
	"fmt"

	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// untypedStrategy takes an untyped object as the server itself writes it: with other owners or finalizers.
type untypedStrategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	namespaced bool
}

func (s untypedStrategy) NamespaceScoped() bool                                          { return s.namespaced }
func (untypedStrategy) AllowCreateOnUpdate(context.Context) bool                         { return false }
func (untypedStrategy) AllowUnconditionalUpdate(context.Context) bool                    { return false }
func (untypedStrategy) Canonicalize(runtime.Object)                                      {}
func (untypedStrategy) PrepareForCreate(context.Context, runtime.Object)                 {}
func (untypedStrategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}
func (untypedStrategy) Validate(context.Context, runtime.Object) field.ErrorList         { return nil }
func (untypedStrategy) WarningsOnCreate(context.Context, runtime.Object) []string        { return nil }
func (untypedStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
func (untypedStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// untyped returns what deletes and updates the objects of a resource without a Go type for the server itself, whatever versions of
// them are served.
func (k *keeper) untyped(r *catalog.Resource) (rest.StandardStorage, error) {
	resource := schema.GroupResource{Group: r.Kind.Group, Resource: r.Plural}
	writing := untypedStrategy{crdserverscheme.NewUnstructuredObjectTyper(), names.SimpleNameGenerator, !r.ClusterScoped}
	store := &registry.Store{
		NewFunc: func() runtime.Object {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(r.Kind)
			return o
		},
		NewListFunc:               func() runtime.Object { return &unstructured.UnstructuredList{} },
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: resource,
		CreateStrategy:            writing,
		UpdateStrategy:            writing,
		DeleteStrategy:            writing,
		TableConvertor:            rest.NewDefaultTableConvertor(resource),
	}
	kept := k.storage(r)
	kept.fresh = func() engine.Object { return store.NewFunc().(engine.Object) }
	options := k.optionsOf(kept, resource, unstructured.UnstructuredJSONScheme)
	options.CountMetricPollPeriod = 0 // what clients use counts them
	options.Decorator = kept.decorate
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: attributes}); err != nil {
		return nil, fmt.Errorf("keep %s: %w", resource, err)
	}
	if r != catalog.Definitions {
		return store, nil
	}
	deletes, err := customresourcedefinition.NewREST(extensions.Scheme, customKeeper{k})
	if err != nil {
		return nil, fmt.Errorf("keep %s: %w", resource, err)
	}
	return definitionStore{store, deletes}, nil
}

// definitionStore deletes a definition with the objects of its kind.
type definitionStore struct {
	rest.StandardStorage
	deletes rest.GracefulDeleter
}

func (s definitionStore) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return s.deletes.Delete(ctx, name, validate, options)
}
