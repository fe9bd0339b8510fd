package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func suspended(m *messages.PlaceBinding) *messages.PlaceBinding {
	next := again(m, "m1:2")
	next.Suspended, next.Replicas = true, 3
	return next
}

func TestASuspendedBindingHoldsItsCapacityAndIsNotDecidedOn(t *testing.T) {
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

func untold(m *messages.PlaceBinding, clusters ...string) *messages.PlaceBinding {
	m.Untold = &api.SuspensionClusters{ClusterNames: clusters}
	return m
}

func TestWhatIsToldNothingTakesNothing(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "3"), cluster("m2", "9"))
	told := decided(t, d.Tell(untold(ask("web", 2, aggregated()), "m2")), "web")
	require.Equal(t, targets("m1:2"), told.Targets)

	d = drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "9"))
	word := untold(leaving(again(ask("web", 3, twoOfThree()), "m1:3", "m2:2"), "m1"), "m2")
	require.Equal(t, []messages.ClusterName{"m1"}, decided(t, d.Tell(word), "web").Held, "m2 would run one more")
	word = untold(leaving(again(ask("web", 2, anyOne()), "m1:2", "m2:2"), "m1"), "m2")
	require.Equal(t, []messages.ClusterName{"m1"}, decided(t, d.Tell(word), "web").Leaving, "m2 keeps what it has")
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
