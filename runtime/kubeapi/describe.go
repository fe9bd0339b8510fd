package kubeapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	described "leeward/runtime/kubeapi/openapi"
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
