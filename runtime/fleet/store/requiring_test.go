package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func TestWhatRequiresABindingIsListedInOrder(t *testing.T) {
	f := newFleet(t)
	on := []api.TargetCluster{{Name: "member1"}}
	needed := func(by messages.BindingName, clusters []api.TargetCluster) {
		f.apply(&messages.RequirementChanged{Binding: web, By: by, Clusters: clusters})
	}
	needed("shop/b", on)
	needed("all", on)
	needed("shop/a", on)
	require.Equal(t, []api.BindingSnapshot{
		{Name: "all", Clusters: on}, {Namespace: "shop", Name: "a", Clusters: on}, {Namespace: "shop", Name: "b", Clusters: on},
	}, f.Binding(web).Spec.RequiredBy)

	f.requireNoChange(webKey, &messages.RequirementChanged{Binding: web, By: "shop/a", Clusters: on})
	f.requireNoChange(webKey, &messages.RequirementChanged{Binding: web, By: "shop/unknown"})
	needed("shop/b", nil)
	needed("all", nil)
	needed("shop/a", append(on, api.TargetCluster{Name: "member2"}))
	require.Equal(t, []api.BindingSnapshot{{Namespace: "shop", Name: "a", Clusters: []api.TargetCluster{{Name: "member1"}, {Name: "member2"}}}}, f.Binding(web).Spec.RequiredBy)
	needed("shop/a", nil)
	require.Nil(t, f.Binding(web).Spec.RequiredBy)
}
