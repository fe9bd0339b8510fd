package api_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

func TestTargetsAreEqualByWhatTheySay(t *testing.T) {
	head := func(replicas int32) *api.TargetComponents {
		return &api.TargetComponents{{Name: "head", Replicas: replicas}}
	}
	for _, c := range []struct {
		name string
		a, b api.TargetCluster
		want bool
	}{
		{"neither has components", api.TargetCluster{Name: "m", Replicas: 2}, api.TargetCluster{Name: "m", Replicas: 2}, true},
		{"another name", api.TargetCluster{Name: "m"}, api.TargetCluster{Name: "n"}, false},
		{"other replicas", api.TargetCluster{Name: "m", Replicas: 2}, api.TargetCluster{Name: "m", Replicas: 3}, false},
		{"the same components twice", api.TargetCluster{Components: head(1)}, api.TargetCluster{Components: head(1)}, true},
		{"other components", api.TargetCluster{Components: head(1)}, api.TargetCluster{Components: head(2)}, false},
		{"only one has components", api.TargetCluster{Components: head(1)}, api.TargetCluster{}, false},
		{"an empty list is none", api.TargetCluster{Components: &api.TargetComponents{}}, api.TargetCluster{}, true},
	} {
		require.Equal(t, c.want, c.a.Equal(c.b), c.name)
		require.Equal(t, c.want, c.b.Equal(c.a), c.name)
	}
}

func TestPodsOfATarget(t *testing.T) {
	require.Equal(t, int32(3), api.TargetCluster{Replicas: 3}.Pods())
	require.Equal(t, int32(5), api.TargetCluster{Components: &api.TargetComponents{{Name: "a", Replicas: 1}, {Name: "b", Replicas: 4}}}.Pods())
	require.Equal(t, int32(math.MaxInt32), (&api.TargetComponents{{Replicas: math.MaxInt32}, {Replicas: math.MaxInt32}}).Pods())
}

func TestATargetIsFoundByItsCluster(t *testing.T) {
	targets := []api.TargetCluster{{Name: "m1", Replicas: 2}, {Name: "m2"}}
	require.Equal(t, 1, api.FindTarget(targets, "m2"))
	require.Equal(t, -1, api.FindTarget(targets, "m3"))
	require.Equal(t, int32(2), api.ReplicasOn(targets, "m1"))
	require.Zero(t, api.ReplicasOn(targets, "m3"))
}
