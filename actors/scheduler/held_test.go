package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func TestWhatUsersHoldDoesNotReturn(t *testing.T) {
	for name, of := range map[string]messages.HoldScope{
		"with all":           {},
		"with its cluster":   {Cluster: "m2"},
		"a workload by name": {Binding: "web"},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
			d.Tell(&messages.ReturnsHeld{HoldScope: of, Held: true}).Quiet()
			word := abroad("web", homeFirst(), returnDue)
			d.Tell(word).Told(bindingAt("web"), kept(word))
			d.Tell(&messages.ReturnsHeld{HoldScope: messages.HoldScope{Cluster: "m1"}, Held: true}).Quiet()
			require.Len(t, d.Tell(&messages.ReturnsHeld{HoldScope: of}).Mail(), 1)
		})
	}
}
