package kubeapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdbuilder "k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// ofDefinitions is what serves definitions themselves.
func (k *customKinds) ofDefinitions() ([]*restful.WebService, error) {
	for _, served := range k.Handler.GoRestfulContainer.RegisteredWebServices() {
		if served.RootPath() == "/"+definitionsPath {
			return []*restful.WebService{served}, nil
		}
	}
	return nil, fmt.Errorf("/%s is not served", definitionsPath)
}

// describe3 returns what OpenAPI 3 says of definitions themselves.
func (k *customKinds) describe3() (*spec3.OpenAPI, string, error) {
	served, err := k.ofDefinitions()
	if err != nil {
		return nil, "", err
	}
	s, err := builder3.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices(served), k.described3)
	return s, "made once", err
}

// describe2 returns what OpenAPI 2 says of definitions themselves.
func (k *customKinds) describe2() (*spec.Swagger, error) {
	served, err := k.ofDefinitions()
	if err != nil {
		return nil, err
	}
	return swaggerOfRoutes(served, k.described2)
}

// version2 adds to OpenAPI 2 what definitions add, as they are when a client asks. What one adds is made once for each change of it.
func (k *customKinds) version2(builtIn cached.Value[*spec.Swagger]) cached.Value[*spec.Swagger] {
	made := map[string]cached.Result[*spec.Swagger]{}
	return cached.Transform(func(all []*v1.CustomResourceDefinition, version string, err error) (*spec.Swagger, string, error) {
		rest, _, failed := builtIn.Get()
		if err := errors.Join(err, failed); err != nil {
			return nil, "", err
		}
		now, added := make(map[string]cached.Result[*spec.Swagger], len(all)), make([]*spec.Swagger, 0, len(all))
		for _, d := range all {
			one := made[d.Name]
			if one.Etag != versionOf(d) {
				one.Etag = versionOf(d)
				one.Value, one.Err = swaggerOf(d)
			}
			if now[d.Name] = one; one.Err == nil { // of one without a schema that can be told, nothing is
				added = append(added, one.Value)
			}
		}
		made = now
		merged, err := crdbuilder.MergeSpecs(rest, added...)
		return merged, version, err
	}, cached.Func(k.served))
}

// served are the definitions whose kinds are served, in order, and a text that differs when one of them does.
func (k *customKinds) served() ([]*v1.CustomResourceDefinition, string, error) {
	all, err := k.known.Lister().List(labels.Everything())
	all = slices.DeleteFunc(all, func(d *v1.CustomResourceDefinition) bool { return !apihelpers.IsCRDConditionTrue(d, v1.Established) })
	slices.SortFunc(all, func(a, b *v1.CustomResourceDefinition) int { return cmp.Compare(a.Name, b.Name) })
	var version strings.Builder
	for _, d := range all {
		version.WriteString(versionOf(d) + " ")
	}
	return all, version.String(), err
}

func versionOf(d *v1.CustomResourceDefinition) string { return fmt.Sprint(d.UID, "/", d.Generation) }

// swaggerOf is what a definition adds to OpenAPI 2.
func swaggerOf(d *v1.CustomResourceDefinition) (*spec.Swagger, error) {
	var all []*spec.Swagger
	for _, v := range d.Spec.Versions {
		if !v.Served {
			continue
		}
		s, err := crdbuilder.BuildOpenAPIV2(d, v.Name, crdbuilder.Options{V2: true, IncludeSelectableFields: true})
		if err != nil {
			return nil, err
		}
		s.Definitions = handler.PruneDefaults(s.Definitions) // those of the rest are, too, and what is alike is merged
		all = append(all, s)
	}
	return crdbuilder.MergeSpecs(&spec.Swagger{}, all...)
}
