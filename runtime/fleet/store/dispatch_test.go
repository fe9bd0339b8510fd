package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func TestClustersThatDispatchingWaitsForAreStoredByName(t *testing.T) {
	f := newFleet(t)
	f.apply(&messages.DispatchSuspended{Binding: web, Cluster: "member2"})
	f.apply(&messages.DispatchSuspended{Binding: web, Cluster: "member1"})
	require.Equal(t, []string{"member1", "member2"}, f.Binding(web).Status.DispatchSuspended)
	f.requireNoChange(webKey, &messages.DispatchSuspended{Binding: web, Cluster: "member1"})

	f.apply(&messages.DispatchResumed{Binding: web, Cluster: "member1"})
	require.Equal(t, []string{"member2"}, f.Binding(web).Status.DispatchSuspended)
	f.requireNoChange(webKey, &messages.DispatchResumed{Binding: web, Cluster: "member1"})
}
