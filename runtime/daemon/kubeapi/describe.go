package kubeapi

import (
	"slices"
	"strings"

	"github.com/emicklei/go-restful/v3"
	crdbuilder "k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	described "leeward/runtime/daemon/kubeapi/openapi"
)

// describe has the server publish what it speaks, in OpenAPI 2 and 3. Server-side apply merges by it, too.
func describe(c *server.Config, scheme *runtime.Scheme) {
	definitions := described.Definitions(spoken(scheme)...)
	namer := openapi.NewDefinitionNamer(scheme)
	named := func(name string) (string, spec.Extensions) {
		return namer.GetDefinitionName(described.FriendlyName(name))
	}
	referring := func(to string) common.ReferenceCallback {
		return func(name string) spec.Ref {
			friendly, _ := named(name)
			return spec.MustCreateRef(to + common.EscapeJsonPointer(friendly))
		}
	}
	c.OpenAPIConfig = server.DefaultOpenAPIConfig(definitions, namer)
	c.OpenAPIConfig.GetDefinitionName, c.OpenAPIConfig.Definitions = named, definitions(referring("#/definitions/"))
	c.OpenAPIConfig.Info.Title = "Leeward"
	c.OpenAPIV3Config = server.DefaultOpenAPIV3Config(definitions, namer)
	c.OpenAPIV3Config.GetDefinitionName, c.OpenAPIV3Config.Definitions = named, definitions(referring("#/components/schemas/"))
	c.OpenAPIV3Config.Info.Title = "Leeward"
	c.OpenAPIConfig.PostProcessSpec, c.OpenAPIV3Config.PostProcessSpec = mergedOnly2, mergedOnly3
}

// publishVersion2 serves OpenAPI 2, which is made when a client asks for it first: that takes longer than all else of a start, and only
// clients from before Kubernetes 1.24 ask.
func publishVersion2(h *server.APIServerHandler, c *common.Config, custom *customKinds) {
	made := cached.Once(cached.Func(func() (*spec.Swagger, string, error) {
		s, err := swaggerOfRoutes(h.GoRestfulContainer.RegisteredWebServices(), c)
		if err != nil {
			return nil, "", err
		}
		definitions, err := custom.describe2()
		if err != nil {
			return nil, "", err
		}
		s, err = crdbuilder.MergeSpecs(s, definitions)
		return s, "made once", err
	}))
	handler.NewOpenAPIServiceLazy(custom.version2(made)).RegisterOpenAPIVersionedService("/openapi/v2", h.NonGoRestfulMux)
}

// swaggerOfRoutes is what OpenAPI 2 says of what is served.
func swaggerOfRoutes(served []*restful.WebService, c *common.Config) (*spec.Swagger, error) {
	s, err := builder.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices(served), c)
	if err != nil {
		return nil, err
	}
	s.Definitions = handler.PruneDefaults(s.Definitions)
	return s, nil
}

// mergedOnly2 and mergedOnly3 do not offer strategic patches of kinds that are not Kubernetes' own, though they are taken:
// none of their lists has a merge key, and kubectl, which does not know the kinds by itself, cannot work out what such a
// patch makes of an object ("apply --dry-run=client").
func mergedOnly2(s *spec.Swagger) (*spec.Swagger, error) {
	for path, item := range s.Paths.Paths { // order-free: each is changed alone
		if item.Patch != nil && ofFleets(path) {
			strategic := func(kind string) bool { return kind == string(types.StrategicMergePatchType) }
			item.Patch.Consumes = slices.DeleteFunc(slices.Clone(item.Patch.Consumes), strategic) // the server's routes have the original
		}
	}
	return s, nil
}

func mergedOnly3(s *spec3.OpenAPI) (*spec3.OpenAPI, error) {
	for path, item := range s.Paths.Paths { // order-free: each is changed alone
		if item.Patch != nil && ofFleets(path) {
			delete(item.Patch.RequestBody.Content, string(types.StrategicMergePatchType))
		}
	}
	return s, nil
}

// ofFleets reports whether a path is of a group that is not Kubernetes' own.
func ofFleets(path string) bool {
	group, _, _ := strings.Cut(strings.TrimPrefix(path, "/apis/"), "/")
	return fleetGroup(group)
}

// spoken returns an object of each type that the server reads or writes.
func spoken(scheme *runtime.Scheme) []any {
	objects := []any{&metav1.APIGroup{}, &metav1.APIGroupList{}, &metav1.APIResourceList{}, &metav1.APIVersions{},
		&metav1.Status{}, &metav1.Patch{}, &metav1.DeleteOptions{}, &metav1.WatchEvent{}, &version.Info{}}
	for gvk := range scheme.AllKnownTypes() { // order-free: each is described under its own name
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		if o, err := scheme.New(gvk); err == nil {
			objects = append(objects, o)
		}
	}
	return objects
}
