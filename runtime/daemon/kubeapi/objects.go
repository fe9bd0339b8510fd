package kubeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	flowcontrolrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// objects serves one kind.
type objects struct {
	*registry.Store
	kind *kind
}

var (
	_ rest.StandardStorage    = objects{}
	_ rest.ShortNamesProvider = objects{}
	_ rest.CategoriesProvider = objects{}
)

// ShortNames are what people may write for the resource.
func (o objects) ShortNames() []string { return o.kind.short }

// Categories are the groups of resources that "kubectl get" knows by one word.
func (o objects) Categories() []string {
	switch {
	case strings.HasSuffix(o.kind.Kind.Group, "karmada.io"):
		return []string{"karmada-io"}
	case slices.Contains([]string{"apps", "batch"}, o.kind.Kind.Group), slices.Contains([]string{"pods", "services", "horizontalpodautoscalers"}, o.kind.Plural):
		return []string{"all"}
	default:
		return nil
	}
}

// status serves the status of the objects of one kind.
type status struct{ store *registry.Store }

var (
	_ rest.Patcher             = status{}
	_ rest.ResetFieldsStrategy = status{}
	_ rest.TableConvertor      = status{}
)

func (s status) New() runtime.Object { return s.store.New() }

// Destroy leaves everything to the store.
func (s status) Destroy() {}

func (s status) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

func (s status) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateNew rest.ValidateObjectFunc,
	validate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, info, validateNew, validate, false, options)
}

func (s status) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.ResetFieldsStrategy.GetResetFields()
}

func (s status) ConvertToTable(ctx context.Context, o, options runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, o, options)
}

// keeper makes what serves each kind.
type keeper struct {
	admitting
	engine *engine.Engine
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	limits *limits
	// counts hears how many objects there are of each kind, by which lists take seats.
	counts flowcontrolrequest.StorageObjectCountTracker
}

// countsEvery is how often it hears. Source: kube-apiserver.
const countsEvery = time.Minute

// serve returns what serves a kind, by its path.
func (k *keeper) serve(kind *kind) (map[string]rest.Storage, error) {
	writing := strategy{ObjectTyper: k.scheme, NameGenerator: names.SimpleNameGenerator, kind: kind, admitting: &k.admitting}
	deleting := rest.RESTDeleteStrategy(writing)
	if kind.Resource == catalog.Pods {
		deleting = podStrategy{writing}
	}
	store := &registry.Store{
		NewFunc:                   kind.newObject,
		NewListFunc:               kind.newList,
		DefaultQualifiedResource:  kind.Name(),
		SingularQualifiedResource: kind.singular(),
		CreateStrategy:            writing,
		UpdateStrategy:            writing,
		DeleteStrategy:            deleting,
		ResetFieldsStrategy:       writing,
		TableConvertor:            printer{kind, k.clock},
	}
	k.admitNodesAndPods(kind, store)
	if kind.lives > 0 {
		store.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return uint64(kind.lives / time.Second), nil }
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: k.options(kind), AttrFunc: attributes}); err != nil {
		return nil, fmt.Errorf("serve %s: %w", kind.Plural, err)
	}
	served := map[string]rest.Storage{kind.Plural: objects{store, kind}}
	if kind.Resource == catalog.Pods {
		served[kind.Plural+"/eviction"] = eviction{store, k}
	}
	if workload, _ := counted(kind.New()); workload != nil {
		served[kind.Plural+"/scale"] = scale{objects{store, kind}, printer{scaleKind, k.clock}}
	}
	if kind.has("Status") {
		observing := *store
		observing.UpdateStrategy, observing.ResetFieldsStrategy = statusStrategy{writing}, statusStrategy{writing}
		served[kind.Plural+"/status"] = status{&observing}
	}
	return served, nil
}

// options tell Kubernetes' registry where a kind is kept.
func (k *keeper) options(kind *kind) generic.RESTOptions {
	kept := k.storage(kind.Resource)
	kept.fresh = func() engine.Object { return kind.New() }
	options := k.optionsOf(kept, kind.Name(), k.codecs.LegacyCodec(kind.version()))
	options.Decorator = kept.decorate
	return options
}

// decorate has Kubernetes' registry keep objects here.
func (s *tableStorage) decorate(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error),
	func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	return s, func() {}, nil
}

// storage is where the objects of a resource are kept.
func (k *keeper) storage(r *catalog.Resource) *tableStorage {
	return &tableStorage{engine: k.engine, table: k.engine.Table(r.Name()), prefix: engine.Prefix(r.Name()), clock: k.clock, limits: k.limits}
}

func (k *keeper) optionsOf(kept *tableStorage, resource schema.GroupResource, codec runtime.Codec) generic.RESTOptions {
	return generic.RESTOptions{
		ResourcePrefix:            strings.TrimSuffix(kept.prefix, "/"),
		DeleteCollectionWorkers:   1,
		EnableGarbageCollection:   true,
		CountMetricPollPeriod:     countsEvery,
		StorageObjectCountTracker: k.counts,
		StorageConfig:             &storagebackend.ConfigForResource{Config: storagebackend.Config{Codec: codec}, GroupResource: resource},
	}
}

// all returns what is served of every kind, by version and path.
func (k *keeper) all() (map[schema.GroupVersion]map[string]rest.Storage, error) {
	served := map[schema.GroupVersion]map[string]rest.Storage{}
	for _, kind := range kindsIn(k.engine) {
		storages, err := k.serve(kind)
		if err != nil {
			return nil, err
		}
		for path, s := range storages { // order-free: each has its own place
			place(served, kind.version(), path, s)
		}
	}
	return served, nil
}

func place(served map[schema.GroupVersion]map[string]rest.Storage, gv schema.GroupVersion, path string, s rest.Storage) {
	if served[gv] == nil {
		served[gv] = map[string]rest.Storage{}
	}
	served[gv][path] = s
}
