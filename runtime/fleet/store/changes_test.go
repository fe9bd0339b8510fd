package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

func TestChangesAreToldOnceInOrder(t *testing.T) {
	s := newFleet(t).Store
	require.Empty(t, s.Changed(), "nobody had asked for them yet")
	s.Track()
	s.Put(cluster("member2"))
	require.Equal(t, []api.Key{store.ClusterKey("member2")}, s.Changed())
	s.Apply(start, &messages.LabelsChanged{Cluster: "member2", Labels: map[string]string{"a": "b"}})
	s.Apply(start, &messages.LabelsChanged{Cluster: "member1", Labels: map[string]string{"a": "b"}})
	s.Apply(start.Add(time.Second), &messages.LabelsChanged{Cluster: "member1", Labels: map[string]string{"a": "c"}})
	require.Equal(t, []api.Key{store.ClusterKey("member1"), store.ClusterKey("member2")}, s.Changed())
	require.Empty(t, s.Changed())
	s.Delete(store.ClusterKey("member1"))
	s.Delete(store.ClusterKey("nobody"))
	require.Equal(t, []api.Key{store.ClusterKey("member1")}, s.Changed())
}
