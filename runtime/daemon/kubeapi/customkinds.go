package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapiv3"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// definitionsPath is the part of the API that definitions of custom kinds are in.
const definitionsPath = "apis/apiextensions.k8s.io/v1"

// discovered is the check that discovery has all kinds that are defined.
const discovered = "poststarthook/start-apiextensions-controllers"

// customKinds serves CustomResourceDefinitions and the objects of the kinds that they define. It is Kubernetes' own server for them, over
// our storage, and the last that a request is delegated to.
type customKinds struct {
	*server.GenericAPIServer
	known informers.CustomResourceDefinitionInformer
	// described2 and described3 say how definitions themselves are described.
	described2 *common.Config
	described3 *common.OpenAPIV3Config
	// complete is closed when all definitions that were stored at the start are known.
	complete chan struct{}
}

// MuxAndDiscoveryCompleteSignals tells when what is not found does not exist.
func (k *customKinds) MuxAndDiscoveryCompleteSignals() map[string]<-chan struct{} {
	return map[string]<-chan struct{}{"custom-kinds-known": k.complete}
}

// UnprotectedHandler answers about custom kinds once all that are stored are known: a client that is told to come again waits for seconds.
func (k *customKinds) UnprotectedHandler() http.Handler {
	answers := k.GenericAPIServer.UnprotectedHandler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/"+definitionsPath+"/") {
			select {
			case <-k.complete:
			case <-r.Context().Done():
			}
		}
		answers.ServeHTTP(w, r)
	})
}

// HealthzChecks are none that fail while a server begins: publish adds them otherwise.
func (k *customKinds) HealthzChecks() []healthz.HealthChecker { return nil }

// newCustomKinds makes the server that custom kinds are delegated to, of the parts of the one that delegates.
func newCustomKinds(delegates *server.Config, keeps customKeeper) (*customKinds, error) {
	c := extensions.Config{GenericConfig: &server.RecommendedConfig{Config: *delegates}}
	own := &c.GenericConfig.Config
	own.Serializer = extensions.Codecs
	own.RESTOptionsGetter, c.ExtraConfig.CRDRESTOptionsGetter = keeps, keeps
	own.BuildHandlerChainFunc = func(served http.Handler, _ *server.Config) http.Handler { return served } // requests come through another's
	own.PostStartHooks = map[string]server.PostStartHookConfigEntry{}
	own.DisabledPostStartHooks = sets.NewString("crd-informer-synced") // it ends the process where the server stops before; publish has another
	own.ReadyzChecks = nil
	enabled := serverstorage.NewResourceConfig()
	enabled.EnableVersions(v1.SchemeGroupVersion)
	own.MergedResourceConfig = enabled
	own.OpenAPIConfig, own.SkipOpenAPIInstallation = nil, true
	namer := openapi.NewDefinitionNamer(extensions.Scheme)
	own.OpenAPIV3Config = server.DefaultOpenAPIV3Config(generated.GetOpenAPIDefinitions, namer)
	c.ExtraConfig.MasterCount = 1
	unknown := notfoundhandler.New(extensions.Codecs, filters.NoMuxAndDiscoveryIncompleteKey) // asks clients to come again where it is not complete
	served, err := c.Complete().New(server.NewEmptyDelegateWithCustomHandler(unknown))
	if err != nil {
		return nil, fmt.Errorf("serve custom kinds: %w", err)
	}
	return &customKinds{
		GenericAPIServer: served.GenericAPIServer, known: served.Informers.Apiextensions().V1().CustomResourceDefinitions(),
		described2: server.DefaultOpenAPIConfig(generated.GetOpenAPIDefinitions, namer), described3: own.OpenAPIV3Config, complete: make(chan struct{}),
	}, nil
}

// publish has the server that delegates tell clients of custom kinds: in its list of groups, and in OpenAPI 3, which it publishes itself, as OpenAPI 2.
func (k *customKinds) publish(s *server.GenericAPIServer) error {
	groups := &customGroups{listed: s.DiscoveryGroupManager, known: k.known.Lister(), names: map[string]bool{}}
	heard, err := k.known.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { groups.renew() },
		UpdateFunc: func(any, any) { groups.renew() },
		DeleteFunc: func(any) { groups.renew() },
	})
	if err != nil {
		return fmt.Errorf("follow the definitions of custom kinds: %w", err)
	}
	for _, c := range k.GenericAPIServer.HealthzChecks() {
		if c.Name() != discovered {
			continue
		}
		if err := s.AddBootSequenceHealthChecks(c); err != nil {
			return fmt.Errorf("wait for the discovery of custom kinds: %w", err)
		}
	}
	schemas := openapiv3.NewController(k.known)
	return s.AddPostStartHook("custom-kinds", func(hook server.PostStartHookContext) error {
		service := s.OpenAPIV3VersionedService
		service.UpdateGroupVersionLazy(definitionsPath, cached.Once(cached.Func(k.describe3)))
		go schemas.Run(service, hook.Done())
		if cache.WaitFor(hook, "definitions of custom kinds", heard.HasSyncedChecker()) {
			close(k.complete)
		}
		return nil
	})
}

// customGroups keeps the groups of custom kinds in a list of groups.
type customGroups struct {
	mu     sync.Mutex
	listed discovery.GroupManager
	known  listers.CustomResourceDefinitionLister
	names  map[string]bool
}

func (g *customGroups) renew() {
	g.mu.Lock()
	defer g.mu.Unlock()
	all, err := g.known.List(labels.Everything())
	if err != nil { // cannot be: it lists what it has
		panic(fmt.Sprintf("kubeapi: list definitions: %v", err))
	}
	versions := map[string][]string{}
	for _, d := range all {
		for _, v := range d.Spec.Versions {
			if v.Served && apihelpers.IsCRDConditionTrue(d, v1.Established) && !slices.Contains(versions[d.Spec.Group], v.Name) {
				versions[d.Spec.Group] = append(versions[d.Spec.Group], v.Name)
			}
		}
	}
	for name := range g.names { // order-free: each is removed alone
		if versions[name] == nil {
			g.listed.RemoveGroup(name)
			delete(g.names, name)
		}
	}
	for name, of := range versions { // order-free: clients sort groups
		g.listed.AddGroup(groupOf(name, of))
		g.names[name] = true
	}
}

// groupOf is a group with its versions, the best one first.
func groupOf(name string, versions []string) metav1.APIGroup {
	slices.SortFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	group := metav1.APIGroup{Name: name}
	for _, v := range versions {
		gv := schema.GroupVersion{Group: name, Version: v}
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v})
	}
	group.PreferredVersion = group.Versions[0]
	return group
}

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
