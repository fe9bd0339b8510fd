package governor_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/governor"
	"leeward/messages"
)

// workers are settings with so many workers at a rate.
func workers(n int, rate float64) messages.Settings {
	return messages.Settings{EvictionWorkers: n, ResourceEvictionRate: rate}
}

func request(binding messages.BindingName) *messages.RequestEviction {
	return &messages.RequestEviction{Binding: binding, Cluster: "m1", Since: actorstest.Start}
}

func urgent(binding messages.BindingName, priority int32, since time.Duration) *messages.RequestEviction {
	r := request(binding)
	r.Priority, r.Since = priority, r.Since.Add(since)
	return r
}

func requests(n int) []messages.ToGovernor {
	list := make([]messages.ToGovernor, n)
	for i := range list {
		list[i] = request(messages.BindingName(fmt.Sprintf("b%03d", i)))
	}
	return list
}

// permits are who may go in this step, as "binding/cluster", in the order of the permits.
func permits(n *actorstest.Network) []string {
	list := []string{}
	for _, m := range n.Mail() {
		list = append(list, m.To.Name+"/"+string(m.Message.(*messages.EvictionPermitted).Cluster))
	}
	return list
}

func TestPermitsGoByPriorityThenWaitThenName(t *testing.T) {
	second := urgent("c", 0, 0)
	second.Cluster = "m2"
	want := []string{"z/m1", "y/m1", "b/m1", "c/m1", "c/m2"}
	ways := 0
	actorstest.EveryWay(func(choose actorstest.Choose) {
		d := actorstest.Drive(t, governor.New(workers(0, 0)))
		arrivals := actorstest.Interleave(choose, actorstest.Alone[messages.ToGovernor](
			urgent("z", 9, time.Hour), urgent("y", 0, -time.Hour), urgent("b", 0, 0), urgent("c", 0, 0), second)...)
		require.Equal(t, want, permits(d.Tell(arrivals...)))
		ways++
	})
	require.Equal(t, 120, ways)
}

func TestPermitsMayGoByArrivalAlone(t *testing.T) {
	s := workers(0, 0)
	s.EvictionOrder = messages.EvictByArrival
	d := actorstest.Drive(t, governor.New(s))
	require.Equal(t, []string{"y/m1", "b/m1", "z/m1"}, permits(d.Tell(urgent("z", 9, 0), urgent("y", 0, -time.Hour), urgent("b", 0, 0))))
}

func TestWithoutWorkersThereIsNoPacing(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(0, 0.5)))
	require.Len(t, permits(d.Tell(requests(100)...)), 100)
	d.Sleeps()
}

func TestPacing(t *testing.T) {
	for name, c := range map[string]struct {
		settings messages.Settings
		// after is what was permitted of 1000 requests at an instant.
		after map[time.Duration]int
	}{
		"three workers at one in two seconds make 1.5 a second": {workers(3, 0.5), map[time.Duration]int{
			0: 3, 2*time.Second - 1: 3, 2 * time.Second: 6, time.Minute: 93,
		}},
		"one worker at a hundred a second": {workers(1, 100), map[time.Duration]int{
			0: 1, 10*time.Millisecond - 1: 1, 10 * time.Millisecond: 2, time.Second: 101,
		}},
		"rate zero is one per worker and half an hour": {workers(3, 0), map[time.Duration]int{
			0: 3, 30*time.Minute - 1: 3, 30 * time.Minute: 6,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for after, want := range c.after {
				d := actorstest.Drive(t, governor.New(c.settings))
				count := len(permits(d.Tell(requests(1000)...)))
				count += len(permits(d.Advance(after)))
				require.Equal(t, want, count, "after %s", after)
			}
		})
	}
}

func TestWorkersThatRestedServeImmediately(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(2, 1)))
	require.Equal(t, []string{"a/m1"}, permits(d.Tell(request("a"))))
	d.Sleeps()
	d.Advance(500 * time.Millisecond)
	require.Equal(t, []string{"b/m1"}, permits(d.Tell(request("b"))))
	d.Tell(request("c")).Quiet().WakesIn(500 * time.Millisecond)
	d.Tell(request("d")).Quiet()
	require.Equal(t, []string{"c/m1"}, permits(d.Advance(500*time.Millisecond)))
	d.WakesIn(500 * time.Millisecond)
	require.Equal(t, []string{"d/m1"}, permits(d.Advance(time.Hour)))
}

func TestAWorkerThatGetsFreeWaitsForTheRequestsOfItsInstant(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(1, 1)))
	d.Tell(request("a"), request("y"))
	d.Approach(time.Second)
	require.Equal(t, []string{"z/m1"}, permits(d.Tell(urgent("z", 9, time.Second))))
	require.Equal(t, []string{"y/m1"}, permits(d.Advance(time.Second)))
}

func TestAWithdrawnRequestIsNotServed(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(1, 1)))
	d.Tell(requests(9)...)
	for _, i := range []int{1, 4, 7} {
		name := messages.BindingName(fmt.Sprintf("b%03d", i))
		d.Tell(&messages.WithdrawRequest{Binding: name, Cluster: "m1"}, &messages.WithdrawRequest{Binding: name, Cluster: "m2"}).Quiet()
	}
	require.Equal(t, []string{"b002/m1", "b003/m1", "b005/m1", "b006/m1", "b008/m1"}, permits(d.Advance(time.Minute)))
	d.Sleeps()
}

func TestAWithdrawalOfTheLastRequestLetsTheGovernorSleep(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(1, 1)))
	d.Tell(requests(2)...).WakesIn(time.Second)
	d.Tell(&messages.WithdrawRequest{Binding: "b001", Cluster: "m1"}).Sleeps()
}

func TestAnotherRequestForTheSameClusterTakesThePlaceOfTheFirst(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(0, 0)))
	require.Equal(t, []string{"b/m1", "a/m1"}, permits(d.Tell(request("a"), request("b"), urgent("b", 5, 0))))
}

func TestAnotherRateHoldsImmediately(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(1, 0)))
	d.Tell(requests(3)...).WakesIn(30 * time.Minute)
	d.Advance(time.Second)
	require.Empty(t, permits(d.Tell(&messages.SettingsChanged{Settings: workers(1, 0.5)})))
	d.WakesIn(time.Second)
	require.Equal(t, []string{"b001/m1"}, permits(d.Advance(time.Second)))
	require.Len(t, permits(d.Tell(&messages.SettingsChanged{Settings: workers(0, 0.5)})), 1, "no workers, no pacing")
}

func TestAnotherNumberOfWorkersGivesNoPermitTwice(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(3, 1)))
	d.Tell(request("a"))
	d.Advance(100 * time.Millisecond)
	d.Tell(request("b"))
	d.Advance(100 * time.Millisecond)
	d.Tell(request("c"))
	d.Tell(&messages.SettingsChanged{Settings: workers(1, 1)})
	d.Tell(request("d")).Quiet().WakesIn(time.Second)
	require.Equal(t, []string{"d/m1"}, permits(d.Tell(&messages.SettingsChanged{Settings: workers(2, 1)})), "the new one is free")
}

func TestTheQueueKeepsItsOrderUnderAnySequence(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(0, 0)))
	var batch []messages.ToGovernor
	var want []string
	for i := range 200 {
		name := messages.BindingName(fmt.Sprintf("b%03d", i*83%200))
		batch = append(batch, urgent(name, int32(i%7), 0))
		if i%3 == 0 {
			batch = append(batch, &messages.WithdrawRequest{Binding: name, Cluster: "m1"})
			continue
		}
		want = append(want, fmt.Sprintf("%d %s/m1", 9-i%7, name))
	}
	slices.Sort(want)
	for i, served := range permits(d.Tell(batch...)) {
		require.Equal(t, want[i][2:], served)
	}
}

func TestAStrangeMessageIsABrokenInvariant(t *testing.T) {
	require.PanicsWithValue(t, "governor: unknown message <nil>", func() {
		governor.New(workers(1, 1)).Receive(actorstest.Start, nil, &actors.Outbox{})
	})
}

func TestClusterResourceBindingsHaveWorkersOfTheirOwn(t *testing.T) {
	d := actorstest.Drive(t, governor.New(workers(1, 1)))
	require.Equal(t, []string{"a/m1", "ns/a/m1"}, permits(d.Tell(request("a"), request("b"), request("ns/a"))))
	d.WakesIn(time.Second)
	d.Advance(500 * time.Millisecond)
	d.Tell(request("ns/b")).Quiet().WakesIn(500 * time.Millisecond)
	require.Equal(t, []string{"b/m1", "ns/b/m1"}, permits(d.Advance(500*time.Millisecond)))
	d.Sleeps()
	d.Tell(request("c")).WakesIn(time.Second)
}
