package kubeapi

import (
	"fmt"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

func TestMoreDefinitionsAndObjectsThanMayBeAreRefused(t *testing.T) {
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	rules := customRules{e, customBounds{definitions: 2, definitionBytes: 1 << 20, objects: 3, all: 5}}
	add := func(r *catalog.Resource, n int) {
		for i := range n {
			o := untypedOf(r.Kind, fmt.Sprintf("o-%d", i))
			require.NoError(t, e.Commit(engine.Create(engine.Key(r.Name(), "default", o.GetName()), o)))
		}
	}
	create := func(kind schema.GroupVersionKind, plural string, o *apiextensions.CustomResourceDefinition) error {
		a := admission.NewAttributesRecord(o, nil, kind, "default", "new", kind.GroupVersion().WithResource(plural), "", admission.Create, nil, false, nil)
		return rules.Validate(t.Context(), a, nil)
	}
	topics := catalog.Custom(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Topic"})
	others := catalog.Custom(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "TopicSet"})

	definition := &apiextensions.CustomResourceDefinition{Spec: apiextensions.CustomResourceDefinitionSpec{Group: "example.com"}}
	add(catalog.Definitions, 1)
	require.NoError(t, create(catalog.Definitions.Kind, catalog.Definitions.Plural, definition))
	require.NoError(t, e.Commit(engine.Create(engine.Key(catalog.Definitions.Name(), "", "last"), untypedOf(catalog.Definitions.Kind, "last"))))
	require.ErrorContains(t, create(catalog.Definitions.Kind, catalog.Definitions.Plural, definition), "there are 2 definitions")

	add(topics, 2)
	require.NoError(t, create(topics.Kind, "topics", nil))
	add(others, 1)
	require.NoError(t, create(topics.Kind, "topics", nil), "the others do not count")
	require.NoError(t, create(others.Kind, "topicsets", nil))
	require.NoError(t, e.Commit(engine.Create(engine.Key(topics.Name(), "other", "third"), untypedOf(topics.Kind, "third"))))
	require.ErrorContains(t, create(topics.Kind, "topics", nil), "3 objects of the kind Topic.example.com")
	require.NoError(t, create(others.Kind, "topicsets", nil))
	require.NoError(t, e.Commit(engine.Create(engine.Key(others.Name(), "other", "last"), untypedOf(others.Kind, "last"))))
	require.ErrorContains(t, create(others.Kind, "topicsets", nil), "5 objects of custom kinds")
}

func untypedOf(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetName(name)
	return o
}
