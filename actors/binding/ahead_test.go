package binding

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func TestToReadAheadChangesNothing(t *testing.T) {
	for _, b := range []*Binding{
		New("default/new", &messages.Settings{}),
		{view: view{
			targets: []target{{cluster: "m1", replicas: 2}}, copies: []copyState{{cluster: "m1", replicas: 2, ready: 1}},
			handover: handover{tasks: []task{{GracefulEvictionTask: api.GracefulEvictionTask{FromCluster: "m2"}}}},
		}},
	} {
		before := *b
		b.ReadAhead()
		require.Equal(t, before, *b)
	}
}
