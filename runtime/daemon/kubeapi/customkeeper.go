package kubeapi

import (
	"fmt"

	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// customKeeper tells Kubernetes' server of custom kinds where definitions are kept, and the objects of the kinds that they define.
type customKeeper struct{ *keeper }

var _ generic.RESTOptionsGetter = customKeeper{}

// definitionCodec writes definitions as they are stored.
var definitionCodec = extensions.Codecs.LegacyCodec(v1.SchemeGroupVersion)

// GetRESTOptions says where a resource is kept, of which there must be a definition.
func (k customKeeper) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	if resource == catalog.Definitions.Name() {
		return k.keepUntyped(catalog.Definitions, resource, definitionCodec), nil
	}
	r := definedAs(k.engine, resource)
	if r == nil {
		return generic.RESTOptions{}, fmt.Errorf("nothing defines %s", resource)
	}
	return k.keepUntyped(r, resource, unstructured.UnstructuredJSONScheme), nil
}

// keepUntyped has objects kept without a Go type, as the codec of the options, which Kubernetes' server may wrap, writes them.
func (k customKeeper) keepUntyped(r *catalog.Resource, resource schema.GroupResource, codec runtime.Codec) generic.RESTOptions {
	kept := k.storage(r)
	options := k.optionsOf(kept, resource, codec)
	options.Decorator = func(c *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error),
		empty func() runtime.Object, _ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		kept.codec, kept.fresh = c.Codec, func() engine.Object { return empty().(engine.Object) }
		return kept, func() {}, nil
	}
	return options
}

// definedAs returns the custom kind of a resource, or nil where there is no definition of it.
func definedAs(e *engine.Engine, resource schema.GroupResource) *catalog.Resource {
	o, _ := e.Table(catalog.Definitions.Name()).Get(engine.Key(catalog.Definitions.Name(), "", resource.String()))
	if stored, is := o.(*unstructured.Unstructured); is {
		return catalog.Defined(stored)
	}
	return nil
}

// definedKind returns a custom kind, or nil where there is no definition of it.
func definedKind(e *engine.Engine, kind schema.GroupKind) *catalog.Resource {
	for _, r := range defined(e) {
		if r.Kind.GroupKind() == kind {
			return r
		}
	}
	return nil
}

// defined returns all custom kinds.
func defined(e *engine.Engine) (all []*catalog.Resource) {
	for _, o := range e.Table(catalog.Definitions.Name()).Snapshot().Under(engine.Prefix(catalog.Definitions.Name()), "") {
		if stored, is := o.(*unstructured.Unstructured); is {
			all = append(all, catalog.Defined(stored))
		}
	}
	return all
}
