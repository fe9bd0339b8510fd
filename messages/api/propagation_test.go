package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

func TestSuspensionOfDispatching(t *testing.T) {
	for name, c := range map[string]struct {
		suspension *api.Suspension
		suspended  bool
	}{
		"none":                      {nil, false},
		"one that says nothing":     {&api.Suspension{}, false},
		"of scheduling alone":       {&api.Suspension{Scheduling: new(true)}, false},
		"everywhere":                {&api.Suspension{Dispatching: new(true)}, true},
		"everywhere, and lifted":    {&api.Suspension{Dispatching: new(false)}, false},
		"on this and another":       {&api.Suspension{DispatchingOnClusters: &api.SuspensionClusters{ClusterNames: []string{"m0", "m1"}}}, true},
		"on another":                {&api.Suspension{DispatchingOnClusters: &api.SuspensionClusters{ClusterNames: []string{"m2"}}}, false},
		"on no cluster in the list": {&api.Suspension{DispatchingOnClusters: &api.SuspensionClusters{}}, false},
	} {
		require.Equal(t, c.suspended, c.suspension.Dispatch("m1"), name)
	}
}
