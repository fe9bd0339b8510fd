package apiclient_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/apiclient"
	"leeward/messages"
)

func evictionOf(pod messages.PodName) messages.Address {
	return messages.Address{Kind: messages.KindPodEviction, Name: string(pod)}
}

func ask(pod messages.PodName) *messages.RequestAsked {
	return &messages.RequestAsked{Pod: pod, Verb: messages.VerbGet, Attempt: 1}
}

func served(why string) *messages.RequestServed {
	return &messages.RequestServed{Verb: messages.VerbGet, Attempt: 1, Error: why}
}

func TestABurstIsServedAndThenTheRate(t *testing.T) {
	d := actorstest.Drive(t, apiclient.New(apiclient.Limits{QPS: 2, Burst: 2}))
	n := d.Tell(ask("d"), ask("c"), ask("b"), ask("a"))
	n.Told(evictionOf("a"), served("")).Told(evictionOf("b"), served(""))
	require.Len(t, n.Mail(), 2)
	n.WakesIn(500 * time.Millisecond)
	d.Advance(500*time.Millisecond).Told(evictionOf("c"), served(""))
	d.Tell(ask("0")).Quiet().WakesIn(500 * time.Millisecond)
	d.Advance(500*time.Millisecond).Told(evictionOf("d"), served(""))
	d.Advance(500*time.Millisecond).Told(evictionOf("0"), served("")).Sleeps()
	d.QuietFor(time.Hour)
	require.Len(t, d.Tell(ask("a"), ask("b"), ask("c")).Mail(), 2, "a rest fills the bucket, and no more")
}

// TestAWithdrawnRequestNeedsNoToken: the next request is served in its place, and later attempts of its pod stay.
func TestAWithdrawnRequestNeedsNoToken(t *testing.T) {
	d := actorstest.Drive(t, apiclient.New(apiclient.Limits{QPS: 2, Burst: 1}))
	again := &messages.RequestAsked{Pod: "b", Verb: messages.VerbGet, Attempt: 2}
	require.Len(t, d.Tell(ask("a"), ask("b"), ask("c"), again).Told(evictionOf("a"), served("")).Mail(), 1)
	d.Tell(&messages.RequestWithdrawn{Pod: "b", Attempt: 1}, &messages.RequestWithdrawn{Pod: "a", Attempt: 1}).Quiet().WakesIn(500 * time.Millisecond)
	d.Advance(500*time.Millisecond).Told(evictionOf("b"), &messages.RequestServed{Verb: messages.VerbGet, Attempt: 2})
	d.Tell(&messages.RequestWithdrawn{Pod: "c", Attempt: 1}, ask("d")).Quiet()
	require.Len(t, d.Advance(500*time.Millisecond).Told(evictionOf("d"), served("")).Sleeps().Mail(), 1)
	d.Advance(time.Hour)
	require.Empty(t, d.Tell(&messages.RequestWithdrawn{Pod: "e", Attempt: 1}, ask("e")).Sleeps().Mail(), "the order within an instant does not matter")
	d.Tell(ask("e")).Told(evictionOf("e"), served(""))
}

// TestEventsTakeTokensOneAtATime: the Event of an eviction is written before its first request, the next Event after all that waits then.
func TestEventsTakeTokensOneAtATime(t *testing.T) {
	begins := func(pod messages.PodName) *messages.RequestAsked {
		m := ask(pod)
		m.Event = true
		return m
	}
	d := actorstest.Drive(t, apiclient.New(apiclient.Limits{QPS: 2, Burst: 2}))
	require.Len(t, d.Tell(begins("a"), begins("b"), begins("c")).Told(evictionOf("a"), served("")).Mail(), 1, "the Event of a has the other token")
	d.Advance(500*time.Millisecond).Told(evictionOf("b"), served(""))
	d.Tell(ask("d")).Quiet()
	d.Advance(500*time.Millisecond).Told(evictionOf("c"), served(""))
	d.QuietFor(500*time.Millisecond - 1)
	require.Empty(t, d.Advance(1).Mail(), "the Event of b has waited behind c, but not behind d")
	d.Advance(500*time.Millisecond).Told(evictionOf("d"), served(""))
	d.Advance(500 * time.Millisecond).Sleeps()
	require.Len(t, actorstest.Drive(t, apiclient.New(apiclient.Limits{})).Tell(begins("a"), begins("b")).Sleeps().Mail(), 2)
}

func TestWithoutALimitNothingWaits(t *testing.T) {
	d := actorstest.Drive(t, apiclient.New(apiclient.Limits{}))
	require.Len(t, d.Tell(ask("a"), ask("b"), ask("c")).Sleeps().Mail(), 3)
}

func TestRefusedRequestsSayWhyUntilThatEnds(t *testing.T) {
	d := actorstest.Drive(t, apiclient.New(apiclient.Limits{}))
	d.Tell(&messages.RequestsRefused{Verb: messages.VerbGet, Error: "etcd is down"}, ask("a")).Told(evictionOf("a"), served("etcd is down"))
	d.Tell(&messages.RequestsRefused{Verb: messages.VerbGet}, ask("a")).Told(evictionOf("a"), served(""))
}

// TestExtremeLimitsDoNotWrap: a rate or a burst beyond what time can count serves the first request, and never more than it may.
func TestExtremeLimitsDoNotWrap(t *testing.T) {
	for name, c := range map[string]struct {
		limits apiclient.Limits
		want   int
	}{
		"a rate next to zero":         {apiclient.Limits{QPS: math.SmallestNonzeroFloat64, Burst: 1}, 1},
		"a rate of one in a lifetime": {apiclient.Limits{QPS: 1e-12}, 1},
		"an enormous burst":           {apiclient.Limits{QPS: 1, Burst: math.MaxInt}, 3},
		"an enormous rate":            {apiclient.Limits{QPS: math.MaxFloat64, Burst: 1}, 3},
		"a negative burst is one":     {apiclient.Limits{QPS: 1, Burst: -5}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := actorstest.Drive(t, apiclient.New(c.limits))
			n := d.Tell(ask("a"), ask("b"), ask("c"))
			require.Len(t, n.Mail(), c.want)
			n.QuietFor(500 * time.Millisecond)
		})
	}
}
