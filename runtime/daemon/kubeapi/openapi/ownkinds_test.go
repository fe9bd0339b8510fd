package openapi

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

var update = flag.Bool("update", false, "rewrite the definitions that are made of the types")

const example = "../../../client/install/kinds.yaml"

const heading = `# The kinds of Leeward that have an effect beside a Karmada (docs/attach.md), for its API server. Made of Leeward's own types by
# go test ./runtime/daemon/kubeapi/openapi -update
`

// ownKinds are the resources that are installed, with an empty object of each.
var ownKinds = []struct {
	resource string
	sample   any
}{{"EvictionBudget", &api.EvictionBudget{}}, {"ClusterEvictionBudget", &api.ClusterEvictionBudget{}}, {"Governor", &api.Governor{}}}

// definitionOf is the CustomResourceDefinition of a kind, with a structural schema.
func definitionOf(t *testing.T, kind string, sample any) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	r := catalog.Of(api.Key{APIVersion: api.LeewardGroupVersion, Kind: kind})
	require.NotNil(t, r)
	all := describe(sample)
	root := all[ours+kind].Schema
	expand(&root, all)
	root.Properties["metadata"] = spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	text, err := json.Marshal(root)
	require.NoError(t, err)
	schema := &apiextensionsv1.JSONSchemaProps{}
	require.NoError(t, json.Unmarshal(text, schema))
	scope := apiextensionsv1.NamespaceScoped
	if r.ClusterScoped {
		scope = apiextensionsv1.ClusterScoped
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: r.Name().String()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: r.Kind.Group, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: r.Plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: r.Kind.Version, Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

// expand puts what a schema refers to in its place: a CustomResourceDefinition has no references.
func expand(s *spec.Schema, all map[string]common.OpenAPIDefinition) {
	if name := strings.TrimPrefix(s.Ref.String(), "#/definitions/"); name != "" {
		for canonical, d := range all { // order-free: one has that name
			if FriendlyName(canonical) == name {
				said := s.Description
				*s = d.Schema
				if s.Description = said; said == "" {
					s.Description = d.Schema.Description
				}
			}
		}
	}
	for key := range s.Extensions { // order-free: each by itself
		if strings.HasPrefix(key, "x-kubernetes-patch-") {
			delete(s.Extensions, key)
		}
	}
	if s.Format == "int-or-string" {
		s.Type, s.Format = nil, ""
		s.AddExtension("x-kubernetes-int-or-string", true)
	}
	s.Default = nil
	properties := map[string]spec.Schema{}
	for name, p := range s.Properties { // order-free: each by itself
		expand(&p, all)
		properties[name] = p
	}
	if len(properties) > 0 {
		s.Properties = properties
	}
	if s.Items != nil {
		items := *s.Items.Schema
		expand(&items, all)
		s.Items = &spec.SchemaOrArray{Schema: &items}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		values := *s.AdditionalProperties.Schema
		expand(&values, all)
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &values}
	}
}

// TestTheKindsForOtherServersAreThoseOfTheTypes: an API server takes them, and keeps every field of an object.
func TestTheKindsForOtherServersAreThoseOfTheTypes(t *testing.T) {
	text, next := heading, ""
	for _, k := range ownKinds {
		d := definitionOf(t, k.resource, k.sample)
		in := &apiextensions.CustomResourceDefinition{}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(d)
		require.NoError(t, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d.DeepCopy(), in, nil))
		in.Status.StoredVersions = []string{d.Spec.Versions[0].Name}
		require.Empty(t, validation.ValidateCustomResourceDefinition(t.Context(), in))
		schema := in.Spec.Validation
		require.NotNil(t, schema, "of one version it is that of all")
		structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
		require.NoError(t, err)
		require.Empty(t, pruning.PruneWithOptions(filled(t, k.sample), structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}))
		data, err := yaml.Marshal(map[string]any{"apiVersion": d.APIVersion, "kind": d.Kind, "metadata": map[string]any{"name": d.Name}, "spec": d.Spec})
		require.NoError(t, err)
		text, next = text+next+string(data), "---\n"
	}
	if *update {
		require.NoError(t, os.WriteFile(example, []byte(text), 0o600))
	}
	written, err := os.ReadFile(example)
	require.NoError(t, err)
	require.Equal(t, text, string(written), "run: go test ./runtime/daemon/kubeapi/openapi -update")
}

// filled is an object that has every field of its type.
func filled(t *testing.T, sample any) map[string]any {
	t.Helper()
	o := reflect.New(reflect.TypeOf(sample).Elem())
	fill(o.Elem())
	text, err := json.Marshal(o.Interface())
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

// fill gives a value, and all that it is made of, one that is not zero.
func fill(v reflect.Value) {
	switch at := time.Unix(1, 0); v.Interface().(type) {
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.Time{Time: at}))
		return
	case metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.MicroTime{Time: at}))
		return
	case metav1.ObjectMeta, metav1.TypeMeta: // which every kind has
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	default:
		if v.CanInt() {
			v.SetInt(1)
		}
	}
}
