package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func suspended(m *messages.PlaceBinding) *messages.PlaceBinding {
	next := again(m, "m1:2")
	next.Suspended, next.Replicas = true, 3
	return next
}

func TestASuspendedBindingHoldsItsRoomAndIsNotDecidedOn(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "3"))
	web := ask("web", 2, aggregated())
	d.Tell(web)
	held := suspended(web)
	d.Tell(held).Quiet()
	d.Tell(cluster("m1", "3", "down")).Quiet()
	d.Tell(cluster("m1", "3")).Quiet()
	n := d.Tell(ask("api", 2, aggregated()))
	require.Equal(t, messages.PlacementFailed, decided(t, n, "api").Outcome, "web has the room")
	again := *held
	again.Suspended = false
	require.Equal(t, targets("m1:3"), decided(t, d.Tell(&again), "web").Targets)
}

func TestWhoIsSuspendedWaitsForNothing(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "1"))
	web := ask("web", 2, aggregated())
	d.Tell(web)
	waits := *web
	waits.Suspended = true
	d.Tell(&waits)
	d.Tell(status("m1", "9")).Quiet()
}

func TestWhoIsSuspendedDoesNotReturn(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"))
	word := abroad("web", homeFirst(), returnDue)
	word.Suspended = true
	d.Tell(word, status("m1", "8")).Quiet()
}
