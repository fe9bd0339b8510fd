package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

var appKey = api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "app00000"}

// small returns a settled world of three clusters, with a policy for all Deployments if wanted.
func small(t *testing.T, claimed bool) *world.World {
	t.Helper()
	settings, problems := config.Resolve("leeward", nil)
	require.Empty(t, problems)
	w := world.New(world.Config{Settings: settings, Seed: 1, Order: kernel.Seeded})
	t.Cleanup(w.Close)
	for i := range 3 {
		require.NoError(t, w.Apply(fleet{}.cluster(i)))
	}
	if claimed {
		require.NoError(t, w.Apply(spreadPolicy()))
	}
	require.NoError(t, w.Apply(deployment(0)))
	require.NoError(t, w.Settle(world.Start))
	return w
}

func TestADeletedWorkloadLeavesNothingBehind(t *testing.T) {
	w := small(t, true)
	require.NotNil(t, w.Store().Binding("default/app00000-deployment"))
	require.True(t, w.Delete(appKey))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	require.Nil(t, w.Store().Binding("default/app00000-deployment"))
	require.Nil(t, w.Store().Get(appKey))
	require.False(t, w.Delete(appKey))
}

func TestAWorkloadThatIsDeletedAndMadeAgainImmediatelyRuns(t *testing.T) {
	w := small(t, true)
	require.True(t, w.Delete(appKey))
	require.NoError(t, w.Apply(deployment(0)))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	b := w.Store().Binding("default/app00000-deployment")
	require.NotNil(t, b)
	require.Len(t, b.Spec.Clusters, 2)
	require.NoError(t, w.Scale(appKey, 6))
	require.NoError(t, w.Settle(world.Start.Add(2*time.Second)))
	require.Equal(t, int32(6), w.Store().Binding("default/app00000-deployment").Spec.Replicas)
}

func TestABindingThatIsDeletedIsCreatedAgainOfItsResource(t *testing.T) {
	w := small(t, true)
	key := api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "app00000-deployment"}
	before := w.Store().Binding("default/app00000-deployment").Spec.Clusters
	require.True(t, w.Delete(key))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	b := w.Store().Binding("default/app00000-deployment")
	require.NotNil(t, b)
	require.Equal(t, before, b.Spec.Clusters)
	require.NoError(t, w.Scale(appKey, 6))
	require.NoError(t, w.Settle(world.Start.Add(2*time.Second)))
	require.Equal(t, int32(6), w.Store().Binding("default/app00000-deployment").Spec.Replicas)
}

func TestAnUnclaimedWorkloadCanGoAndComeBack(t *testing.T) {
	w := small(t, false)
	require.True(t, w.Delete(appKey))
	require.NoError(t, w.Apply(deployment(0)))
	require.NoError(t, w.Apply(spreadPolicy()))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	require.Len(t, w.Store().Binding("default/app00000-deployment").Spec.Clusters, 2)
}

// TestABindingThatIsAppliedInPlaceOfOneThatEndsStays has the manifest come in the instant in which the workload is deleted, and in a
// later one: both leave the same, and the machine goes on with what is stored.
func TestABindingThatIsAppliedInPlaceOfOneThatEndsStays(t *testing.T) {
	key := api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "app00000-deployment"}
	for _, later := range []bool{false, true} {
		w := small(t, true)
		own := api.Copy(w.Store().Get(key)).(*api.ResourceBinding)
		own.Spec.Clusters = own.Spec.Clusters[:1]
		own.Annotations = nil
		require.True(t, w.Delete(appKey))
		if later {
			require.NoError(t, w.Settle(world.Start))
			require.Nil(t, w.Store().Binding("default/app00000-deployment"))
		}
		require.NoError(t, w.Apply(own))
		require.NoError(t, w.Settle(world.Start.Add(time.Second)))
		b := w.Store().Binding("default/app00000-deployment")
		require.NotNil(t, b)
		require.Equal(t, own.Spec.Clusters, b.Spec.Clusters)
		require.True(t, w.Delete(key))
		require.NoError(t, w.Settle(world.Start.Add(2*time.Second)))
		require.Nil(t, w.Store().Binding("default/app00000-deployment"), "its machine hears of its end")
	}
}

func TestADeletedClusterIsEvictedFromAndDisappears(t *testing.T) {
	w := small(t, true)
	gone := w.Store().Binding("default/app00000-deployment").Spec.Clusters[0].Name
	require.True(t, w.Delete(api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: gone}))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	require.Nil(t, w.Store().Get(api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: gone}))
	for _, c := range w.Store().Binding("default/app00000-deployment").Spec.Clusters {
		require.NotEqual(t, gone, c.Name)
	}
}

func TestARestartChangesNothing(t *testing.T) {
	w := small(t, true)
	before := w.Store().Objects()
	w.Restart()
	require.NoError(t, w.Settle(world.Start))
	after := w.Store().Objects()
	require.Len(t, after, len(before))
	for i := range before {
		was, is := api.Copy(before[i]), api.Copy(after[i])
		was.SetResourceVersion("")
		is.SetResourceVersion("")
		require.Equal(t, was, is)
	}
}
