package kubeapi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// webhookConfigurations say by which webhooks a Karmada reads custom kinds. Karmada's agent does not start before it has listed them. The
// daemon asks no webhooks, and so takes none: the list is empty, and no verb writes it.
var webhookConfigurations = &kind{
	&catalog.Resource{
		Kind:   schema.FromAPIVersionAndKind(api.ConfigGroupVersion, "ResourceInterpreterWebhookConfiguration"),
		Plural: "resourceinterpreterwebhookconfigurations", ClusterScoped: true,
		New: func() api.Object { return &api.ResourceInterpreterWebhookConfiguration{} },
	},
	look{list: &api.List[api.ResourceInterpreterWebhookConfiguration]{}, columns: onlyAge},
}

// customizations is the resource in whose table webhook configurations are looked for.
var customizations = schema.GroupResource{Group: webhookConfigurations.Kind.Group, Resource: "resourceinterpretercustomizations"}

// readOnly serves a kind that clients only read.
type readOnly struct {
	store *registry.Store
	kind  *kind
}

var (
	_ rest.Getter               = readOnly{}
	_ rest.Lister               = readOnly{}
	_ rest.Watcher              = readOnly{}
	_ rest.Scoper               = readOnly{}
	_ rest.SingularNameProvider = readOnly{}
	_ rest.ShortNamesProvider   = readOnly{}
)

func (r readOnly) New() runtime.Object     { return r.store.New() }
func (r readOnly) NewList() runtime.Object { return r.store.NewList() }
func (r readOnly) NamespaceScoped() bool   { return !r.kind.ClusterScoped }
func (r readOnly) GetSingularName() string { return r.kind.singular().Resource }

// ShortNames are what people may write for the resource.
func (r readOnly) ShortNames() []string { return r.kind.short }

// Destroy has nothing to give back.
func (readOnly) Destroy() {}

func (r readOnly) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

func (r readOnly) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	return r.store.List(ctx, options)
}

func (r readOnly) Watch(ctx context.Context, options *internalversion.ListOptions) (watch.Interface, error) {
	return r.store.Watch(ctx, options)
}

func (r readOnly) ConvertToTable(ctx context.Context, o, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, o, options)
}

// webhooks serves webhook configurations from where none is: a prefix below which the table of customizations has no object.
func (k *keeper) webhooks() (rest.Storage, error) {
	kind := webhookConfigurations
	writing := strategy{ObjectTyper: k.scheme, NameGenerator: names.SimpleNameGenerator, kind: kind, admitting: &k.admitting}
	store := &registry.Store{
		NewFunc: kind.newObject, NewListFunc: kind.newList, DefaultQualifiedResource: kind.Name(), SingularQualifiedResource: kind.singular(),
		CreateStrategy: writing, UpdateStrategy: writing, DeleteStrategy: writing, TableConvertor: printer{kind, k.clock},
	}
	kept := &tableStorage{
		engine: k.engine, table: k.engine.Table(customizations), prefix: engine.Prefix(kind.Name()), clock: k.clock, limits: k.limits,
		fresh: func() engine.Object { return kind.New() },
	}
	options := k.optionsOf(kept, kind.Name(), k.codecs.LegacyCodec(kind.version()))
	options.Decorator, options.CountMetricPollPeriod = kept.decorate, 0
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: attributes}); err != nil {
		return nil, fmt.Errorf("serve %s: %w", kind.Plural, err)
	}
	return readOnly{store, kind}, nil
}
