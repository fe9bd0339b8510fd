package zone_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/rules/nodelife"
	"leeward/actors/zone"
	"leeward/messages"
)

var apiServer = messages.Address{Kind: messages.KindAPIServer}

// rules are those of the probed controllers: a node a second, looked at every 100 ms.
func rules() zone.Rules {
	return zone.Rules{Rate: 1, Poll: 100 * time.Millisecond, Epoch: actorstest.Start, Sticky: true}
}

func queued(nodes ...messages.NodeName) (ms []messages.ToZone) {
	for _, n := range nodes {
		ms = append(ms, &messages.NodeQueued{Node: n, Since: actorstest.Start})
	}
	return ms
}

// tainted lets time pass, and returns the seconds since the start at which nodes were tainted.
func tainted(d *actorstest.Driver[messages.ToZone], until float64) (seconds []float64) {
	for at := d.Now(); d.Now().Sub(actorstest.Start).Seconds() < until; at = d.Now() {
		d.Approach(50 * time.Millisecond)
		for range actorstest.MailTo(d.Mail(), apiServer) {
			seconds = append(seconds, at.Sub(actorstest.Start).Seconds())
		}
	}
	return seconds
}

// TestDisruptedZonesAreTaintedAtTheirRates has what was seen of Kubernetes with rate 1, secondary rate 0.5 and threshold 5.
func TestDisruptedZonesAreTaintedAtTheirRates(t *testing.T) {
	limits := nodelife.Limits{Rate: 1, SecondaryRate: 0.5, LargeCluster: 5, Threshold: 0.55}
	for name, c := range map[string]struct {
		count nodelife.Count
		want  []float64
	}{
		"6 nodes, 4 not ready":   {nodelife.Count{Ready: 2, NotReady: 4}, []float64{0, 2, 4, 6}},
		"5 nodes, 4 not ready":   {nodelife.Count{Ready: 1, NotReady: 4}, nil},
		"3 nodes, 2 not ready":   {nodelife.Count{Ready: 1, NotReady: 2}, []float64{0, 1}},
		"4 nodes, all not ready": {nodelife.Count{NotReady: 4}, []float64{0, 1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", rules()))
			rate := limits.RateOf(nodelife.StateOf(c.count, limits.Threshold), c.count.Size())
			d.Post(messages.Address{Name: "the machine"}, &messages.ZoneRateSet{Rate: rate})
			for _, m := range queued([]messages.NodeName{"a", "b", "c", "d"}[:c.count.NotReady]...) {
				d.Post(messages.Address{Name: "the machine"}, m)
			}
			require.Equal(t, c.want, tainted(d, 10))
		})
	}
}

func TestNodesGoInTheOrderOfTimeThenName(t *testing.T) {
	d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", rules()))
	late := &messages.NodeQueued{Node: "a", Since: actorstest.Start.Add(time.Millisecond)}
	d.Tell(append([]messages.ToZone{late}, queued("c", "b", "d", "b")...)...).Told(apiServer, &messages.TaintNode{Node: "b"})
	d.Advance(time.Second).Told(apiServer, &messages.TaintNode{Node: "c"})
	d.Tell(&messages.NodeDequeued{Node: "d"})
	d.Advance(time.Second).Told(apiServer, &messages.TaintNode{Node: "a"}).Sleeps()
}

// TestANodeThatLeftUsesUpAToken before all others, unless it returns or the controllers restart.
func TestANodeThatLeftUsesUpAToken(t *testing.T) {
	left := func() *actorstest.Driver[messages.ToZone] {
		r := rules()
		r.Shuffled, r.Seed = true, 7
		d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", r))
		d.Tell(queued("first")...)
		d.Advance(500 * time.Millisecond)
		d.Tell(append(queued("a", "b", "c"), &messages.NodeLeft{Node: "b"}, &messages.NodeLeft{Node: "unknown"})...)
		return d
	}
	d := left()
	d.Advance(500*time.Millisecond).Told(apiServer, &messages.TaintNode{Node: "b"})
	require.Len(t, actorstest.MailTo(d.Advance(time.Second).Mail(), apiServer), 1)
	require.Len(t, actorstest.MailTo(d.Advance(time.Second).Sleeps().Mail(), apiServer), 1)

	for _, returns := range [][]messages.ToZone{{&messages.NodeDequeued{Node: "b"}}, {&messages.ControllersRestarted{}}} {
		d = left()
		d.Tell(returns...)
		for range 3 {
			require.NotContains(t, actorstest.MailTo(d.Mail(), apiServer), &messages.TaintNode{Node: "b"})
			d.Advance(time.Second)
		}
		d.Sleeps()
	}
	d = left()
	d.Tell(&messages.NodeQueued{Node: "b", Since: actorstest.Start.Add(time.Hour)})
	require.Len(t, tainted(d, 60), 3, "it is one of those that wait again")
}

// TestPollsCountFromARestart and so much later as the zone is behind.
func TestPollsCountFromARestart(t *testing.T) {
	r := rules()
	r.Behind = 30 * time.Millisecond
	d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", r))
	d.Advance(250 * time.Millisecond)
	d.Tell(append(queued("a", "b"), &messages.ControllersRestarted{})...).Quiet().WakesIn(30 * time.Millisecond)
	d.Advance(30*time.Millisecond).Told(apiServer, &messages.TaintNode{Node: "a"}).WakesIn(time.Second)
}

// TestTaintsWaitBehindALongPass: the first for long, and each later one for a while, as long as it goes on.
func TestTaintsWaitBehindALongPass(t *testing.T) {
	r := rules()
	r.Rate, r.Poll = 10, 50*time.Millisecond
	d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", r))
	d.Tell(&messages.ZoneSlowed{})
	require.Len(t, d.Tell(queued("a", "b", "c", "d", "e")...).Mail(), 1, "the first request waits for none")
	require.Equal(t, []float64{2.5, 2.7}, tainted(d, 2.8))
	d.Tell(&messages.ZoneSlowed{Over: true})
	require.Equal(t, []float64{2.9, 3}, tainted(d, 4))
}

// TestChanceSaysWhichNodeIsNext of those that wait, and every order comes.
func TestChanceSaysWhichNodeIsNext(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(200) {
		r := rules()
		r.Shuffled, r.Seed = true, seed
		d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", r))
		d.Tell(queued("a", "b", "c")...)
		var order string
		for range 3 {
			for _, m := range actorstest.MailTo(d.Mail(), apiServer) {
				order += string(m.(*messages.TaintNode).Node)
			}
			d.Advance(time.Second)
		}
		orders[order] = true
	}
	require.Len(t, orders, 6)
}

// TestARateOfOneSticksAtZero in Kubernetes, after a full disruption; not in Leeward, and not with another rate.
func TestARateOfOneSticksAtZero(t *testing.T) {
	for _, c := range []struct {
		rate   float64
		sticky bool
		want   int
	}{{1, true, 0}, {1, false, 1}, {2, true, 1}} {
		r := rules()
		r.Sticky = c.sticky
		d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", r))
		d.Tell(&messages.ZoneRateSet{})
		d.Tell(queued("a")...).QuietFor(time.Hour)
		d.Tell(&messages.ZoneRateSet{Rate: c.rate})
		require.Len(t, tainted(d, 3602), c.want)
	}
}

// TestARateOfZeroTaintsOneNode, for the first bucket is full.
func TestARateOfZeroTaintsOneNode(t *testing.T) {
	r := rules()
	r.Rate = 0
	d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", r))
	require.Len(t, d.Tell(queued("a", "b")...).Mail(), 1)
	d.QuietFor(time.Hour).Sleeps()
}

// TestTheQueueIsLookedAtFromTimeToTime, or whenever there is a token.
func TestTheQueueIsLookedAtFromTimeToTime(t *testing.T) {
	for poll, want := range map[time.Duration]time.Duration{100 * time.Millisecond: 70 * time.Millisecond, 0: 0} {
		r := rules()
		r.Poll = poll
		d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", r))
		d.QuietFor(30 * time.Millisecond)
		d.Tell(queued("a")...)
		if want > 0 {
			d.Quiet().WakesIn(want)
			d.Advance(want)
		}
		d.Told(apiServer, &messages.TaintNode{Node: "a"})
	}
}

// TestARestartedZoneHasANewLimiter: its bucket is full, and a rate that stuck at zero is free.
func TestARestartedZoneHasANewLimiter(t *testing.T) {
	d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", rules()))
	d.Tell(queued("a")...)
	d.Tell(&messages.ZoneRateSet{})
	d.Tell(queued("b", "c")...).QuietFor(time.Hour)
	d.Tell(&messages.ZoneRateSet{Rate: 1}, &messages.ControllersRestarted{}).Told(apiServer, &messages.TaintNode{Node: "b"}).WakesIn(time.Second)
}

// TestControllersThatAreDownTaintNothing until they are back: then the zone goes on at its rate, and no node gets its taint sooner for that.
func TestControllersThatAreDownTaintNothing(t *testing.T) {
	d := actorstest.Drive[messages.ToZone](t, zone.New("a", rules()))
	d.Tell(append(queued("n1", "n2", "n3"), &messages.ControllersStopped{})...)
	require.Empty(t, tainted(d, 5))
	d.Tell(&messages.ControllersStopped{Over: true}).Told(apiServer, &messages.TaintNode{Node: "n1"})
	require.Equal(t, []float64{6, 7}, tainted(d, 10))
	d.Tell(append(queued("n4", "n5"), &messages.ControllersStopped{}, &messages.ControllersStopped{Over: true})...).Told(apiServer, &messages.TaintNode{Node: "n4"})
	require.Equal(t, []float64{11}, tainted(d, 15), "the bucket is no fuller than before")
}

// TestOneLookTaintsSeveralNodes where tokens come as fast as the controller writes; at a rate that is slower each waits for the next look.
func TestOneLookTaintsSeveralNodes(t *testing.T) {
	for rate, gap := range map[float64]time.Duration{100: 10 * time.Millisecond, 1000: 10 * time.Millisecond, 50: 100 * time.Millisecond} {
		r := rules()
		r.Rate, r.Write = rate, 10*time.Millisecond
		d := actorstest.Drive[messages.ToZone](t, zone.New("r/a", r))
		d.Tell(queued("a", "b", "c")...).Told(apiServer, &messages.TaintNode{Node: "a"}).WakesIn(gap)
		d.Advance(gap).Told(apiServer, &messages.TaintNode{Node: "b"}).WakesIn(gap)
		d.Tell(&messages.ZoneRateSet{}).QuietFor(time.Hour)
	}
}
