package catalog_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

func TestEachKindIsListedOnceWithItsType(t *testing.T) {
	seen := map[string]bool{}
	for i := range catalog.All {
		r := &catalog.All[i]
		require.False(t, seen[r.Name().String()], r.Plural)
		seen[r.Name().String()] = true
		require.Equal(t, r.Kind.Kind, reflect.TypeOf(r.New()).Elem().Name())
		require.Equal(t, strings.ToLower(r.Plural), r.Plural)
		require.Same(t, r, catalog.Of(r.Key("a", "b")))
		require.NotSame(t, r.New(), r.New())
	}
	require.Nil(t, catalog.Of(api.Key{APIVersion: "v2", Kind: "Cluster"}))
}

func TestEachNameIsThatOfItsResource(t *testing.T) {
	for plural, r := range map[string]*catalog.Resource{
		"namespaces": catalog.Namespaces, "events": catalog.Events, "secrets": catalog.Secrets, "leases": catalog.Leases, "clusters": catalog.Clusters, "governors": catalog.Governors,
		"resourcebindings": catalog.Bindings, "clusterresourcebindings": catalog.ClusterBindings, "works": catalog.Works,
	} {
		require.Equal(t, plural, r.Plural)
	}
}
