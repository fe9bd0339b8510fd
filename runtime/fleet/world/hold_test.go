package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

var ofApp = messages.HoldScope{Binding: "default/app00000-deployment"}

func holds(w *world.World) (reasons []string) {
	for _, h := range w.Store().Governor().Holds {
		reasons = append(reasons, h.Reason)
	}
	return reasons
}

func TestAHoldIsAnAnnotationUntilItIsLifted(t *testing.T) {
	w := small(t, true)
	cluster := w.Store().List("Cluster")[0].GetName()
	onCluster := messages.HoldScope{Cluster: messages.ClusterName(cluster)}
	require.NoError(t, w.Hold(ofApp, &api.Hold{Reason: "migration", Until: &metav1.Time{Time: world.Start.Add(time.Hour)}}))
	require.NoError(t, w.Hold(onCluster, &api.Hold{Reason: "rack"}))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	require.Equal(t, []string{"rack", "migration"}, holds(w))
	annotations := w.Store().Binding(ofApp.Binding).Meta.Annotations
	require.Equal(t, "migration", annotations[api.AnnotationHold])
	require.Equal(t, "2026-01-01T01:00:00Z", annotations[api.AnnotationHoldUntil])

	require.NoError(t, w.Hold(onCluster, nil))
	require.NoError(t, w.Settle(world.Start.Add(2*time.Second)))
	require.Equal(t, []string{"migration"}, holds(w))
	require.Empty(t, w.Store().Cluster(onCluster.Cluster).Annotations)
}

func TestNoHoldIsPlacedOnWhatDoesNotExist(t *testing.T) {
	w := small(t, true)
	hold := &api.Hold{Reason: "migration"}
	require.EqualError(t, w.Hold(messages.HoldScope{Binding: "default/gone"}, hold), "hold evictions of ResourceBinding default/gone: there is no such object")
	require.EqualError(t, w.Hold(messages.HoldScope{Cluster: "gone"}, hold), "hold evictions of Cluster gone: there is no such object")
	require.EqualError(t, w.Release("default/gone", "hurry"), "release ResourceBinding default/gone: there is no such object")
	require.ErrorContains(t, w.Hold(ofApp, &api.Hold{}), "must say why")
}

func TestAHoldGoesWithItsObject(t *testing.T) {
	w := small(t, true)
	require.NoError(t, w.Hold(ofApp, &api.Hold{Reason: "migration"}))
	require.NoError(t, w.Release(ofApp.Binding, "hurry"))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	require.Len(t, w.Store().Governor().Releases, 1)
	require.True(t, w.Delete(appKey))
	require.NoError(t, w.Settle(world.Start.Add(2*time.Second)))
	require.Empty(t, holds(w))
	require.Empty(t, w.Store().Governor().Releases)
}

func TestWhatUsersTakeBackAsTheEngineDiesIsOver(t *testing.T) {
	w := small(t, true)
	require.NoError(t, w.Hold(messages.HoldScope{}, &api.Hold{Reason: "network"}))
	require.NoError(t, w.Hold(ofApp, &api.Hold{Reason: "migration"}))
	require.NoError(t, w.Release(ofApp.Binding, "hurry"))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	require.Equal(t, []string{"network", "migration"}, holds(w))
	require.NoError(t, w.Hold(messages.HoldScope{}, nil))
	require.NoError(t, w.Hold(ofApp, nil))
	require.NoError(t, w.Release(ofApp.Binding, ""))
	require.NoError(t, w.Crash(0))
	require.Equal(t, []string{"network", "migration"}, holds(w), "the governor has not heard it")
	w.Revive()
	require.NoError(t, w.Settle(world.Start.Add(2*time.Second)))
	require.Empty(t, holds(w))
	require.Empty(t, w.Store().Governor().Releases)
}

func TestAPauseGoesWithTheGovernor(t *testing.T) {
	w := small(t, true)
	require.NoError(t, w.Hold(messages.HoldScope{}, &api.Hold{Reason: "network"}))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	require.Equal(t, []string{"network"}, holds(w))
	require.True(t, w.Delete(store.GovernorKey))
	require.NoError(t, w.Settle(world.Start.Add(2*time.Second)))
	require.Empty(t, holds(w))
}

// A dump has the status, which is where the engine goes on; what people apply has none.
func TestTheStatusOfAGovernorIsTheEngines(t *testing.T) {
	w := small(t, true)
	require.NoError(t, w.Hold(ofApp, &api.Hold{Reason: "migration"}))
	require.NoError(t, w.Settle(world.Start.Add(time.Second)))
	wish := &api.Governor{TypeMeta: metav1.TypeMeta{APIVersion: api.LeewardGroupVersion, Kind: "Governor"}, ObjectMeta: metav1.ObjectMeta{Name: "fleet"}}
	wish.Spec.Pause = &api.Hold{Reason: "network"}
	require.NoError(t, w.Apply(wish))
	require.NoError(t, w.Settle(world.Start.Add(2*time.Second)))
	require.Equal(t, []string{"network", "migration"}, holds(w))

	other := small(t, true)
	require.NoError(t, other.Apply(api.Copy(w.Store().Get(store.GovernorKey))))
	require.NoError(t, other.Settle(world.Start.Add(time.Second)))
	require.Equal(t, []string{"network", "migration"}, holds(other))
}
