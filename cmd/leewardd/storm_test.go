package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/etcd/etcdtest"
)

// slowly lets ten workers evict twice a second, so that a storm lasts while people act.
const slowly = "--resource-eviction-rate=2"

// TestAUserWhoStopsAStormStopsIt acts in the middle of one, on a daemon in a process of its own.
func TestAUserWhoStopsAStormStopsIt(t *testing.T) {
	t.Parallel() // it waits
	c := newCrowd(t, 1500, 10)
	c.isStopped(c.inFolder(slowly), 20, func(float64, string) {})
}

// TestAStandbyKeepsToAPauseInAStorm has the leader killed while evictions are paused.
func TestAStandbyKeepsToAPauseInAStorm(t *testing.T) {
	t.Parallel() // it waits
	c := newCrowd(t, 600, 10)
	leader, _ := c.inEtcd(etcdtest.Start(t), slowly)
	c.begins(20)
	paused := c.pause("the network is rebuilt")
	c.succeed(leader.stop)
	c.nothing(paused, 4)
	c.resume()
	c.goesOn(20)
}

// TestAStandbyTakesOverInTheMiddleOfAStorm has the leader killed while evictions go on.
func TestAStandbyTakesOverInTheMiddleOfAStorm(t *testing.T) {
	t.Parallel() // it waits
	c := newCrowd(t, 600, 10)
	leader, _ := c.inEtcd(etcdtest.Start(t), slowly)
	c.isTakenOver(leader.stop, 20, func(float64, string) {})
}

// TestAPauseThatNoLeaderHearsOfHolds has people pause when the leader was killed and no standby has taken over.
func TestAPauseThatNoLeaderHearsOfHolds(t *testing.T) {
	t.Parallel() // it waits
	c := newCrowd(t, 600, 10)
	leader, _ := c.inEtcd(etcdtest.Start(t), slowly)
	c.begins(20)
	require.NoError(t, leader.stop())
	c.nothing(c.pause("the network is rebuilt"), 4)
	c.resume()
	c.goesOn(20)
}

// BenchmarkAStormAtItsPace has the figures of docs/performance.md: one cluster of a large fleet fails at the default pace, and people
// pause in the middle of it.
func BenchmarkAStormAtItsPace(b *testing.B) {
	workloads, fleets := 100_000, []int{20, 200}
	if testing.Short() {
		workloads, fleets = 2_000, fleets[:1]
	}
	for _, clusters := range fleets {
		b.Run(fmt.Sprintf("folder/%d", clusters), func(b *testing.B) {
			for b.Loop() {
				c := newCrowd(b, workloads, clusters)
				c.inFolder()
				c.storm(b)
			}
		})
		b.Run(fmt.Sprintf("etcd/%d", clusters), func(b *testing.B) {
			for b.Loop() {
				c := newCrowd(b, workloads, clusters)
				c.inEtcd(etcdtest.StartDurable(b))
				c.storm(b)
			}
		})
	}
}

// BenchmarkAStormIsStopped is TestAUserWhoStopsAStormStopsIt, and TestAStandbyTakesOverInTheMiddleOfAStorm, of a large fleet at the
// default pace.
func BenchmarkAStormIsStopped(b *testing.B) {
	if testing.Short() {
		b.Skip("takes minutes")
	}
	const some = 500
	b.Run("people", func(b *testing.B) {
		for b.Loop() {
			c := newCrowd(b, 100_000, 20)
			c.isStopped(c.inFolder(), some, b.ReportMetric)
			c.ends(b)
		}
	})
	for _, ends := range []os.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		b.Run("standby/leader "+ends.String(), func(b *testing.B) {
			for b.Loop() {
				c := newCrowd(b, 100_000, 20)
				_, leader := c.inEtcd(etcdtest.StartDurable(b))
				c.isTakenOver(func() error { return leader.Signal(ends) }, some, b.ReportMetric)
				c.ends(b)
			}
		})
	}
}

// begins has the cluster fail, and returns when some workloads were evicted.
func (c *crowd) begins(some int) {
	c.t.Helper()
	c.await("placed", func() bool { return len(c.placed) == c.fleet.Bindings })
	c.settles(3)
	c.taint(noExecute)
	c.awaitEvicted(some)
}

// goesOn waits until some more are evicted.
func (c *crowd) goesOn(some int) {
	c.t.Helper()
	c.awaitEvicted(c.evictedSoFar() + some)
}

// nothing requires that nothing was evicted after a version.
func (c *crowd) nothing(after int64, replicas int32) {
	c.t.Helper()
	c.settles(replicas)
	require.Zero(c.t, c.evictedAfter(after), "%d in all", c.evictedSoFar())
}

// succeed ends the leader, and waits until the standby leads.
func (c *crowd) succeed(end func() error) {
	c.t.Helper()
	require.NoError(c.t, end())
	c.daemon.log.await(c.t, `"message":"this daemon leads"`)
}

// isStopped has people stop a storm again and again, each time after some evictions, and reports how long it takes until what they
// ask for holds, and until evictions go on where they do.
func (c *crowd) isStopped(restart func(), some int, report func(float64, string)) {
	c.t.Helper()
	takes := func(what string, do func()) {
		c.t.Helper()
		began := time.Now()
		do()
		report(time.Since(began).Seconds(), "s-"+what)
	}
	var held int64
	c.begins(some)
	takes("pause", func() { held = c.pause("the network is rebuilt") })
	c.nothing(held, 4)
	c.kill()
	restart()
	c.nothing(held, 5)
	takes("resume", func() { c.resume(); c.goesOn(1) })
	c.goesOn(some)
	takes("hold", func() { held = c.hold("its rack is moved") })
	c.nothing(held, 6)
	takes("release", func() { c.release(); c.goesOn(1) })
	c.goesOn(some)
	c.kill() // while it goes on
	takes("restart", func() { restart(); c.goesOn(1) })
	c.goesOn(some)
	takes("untaint", func() { c.taint(); c.settles(7) })
	before := c.evictedSoFar()
	c.settles(8)
	require.Equal(c.t, before, c.evictedSoFar(), "nothing is tainted")
}

// isTakenOver has the leader end in the middle of a storm, and people pause what the standby goes on with.
func (c *crowd) isTakenOver(end func() error, some int, report func(float64, string)) {
	c.t.Helper()
	c.begins(some)
	began := time.Now()
	c.succeed(end)
	report(time.Since(began).Seconds(), "s-leads")
	c.goesOn(1)
	report(time.Since(began).Seconds(), "s-evicts")
	c.goesOn(some)
	began = time.Now()
	paused := c.pause("the network is rebuilt")
	report(time.Since(began).Seconds(), "s-pause")
	c.nothing(paused, 4)
	c.resume()
	c.goesOn(some)
}

// storm has the cluster fail, pauses after a fifth of its workloads, and reports how that went.
func (c *crowd) storm(b *testing.B) {
	b.Helper()
	const spread = 2
	affected := c.fleet.Bindings * spread / c.fleet.Clusters
	c.await("placed", func() bool { return len(c.placed) == c.fleet.Bindings })
	c.settles(4)
	began := time.Now()
	c.taint(noExecute)
	c.awaitEvicted(affected / 5)
	b.ReportMetric(c.first.Sub(began).Seconds(), "s-first")
	asked := time.Now()
	paused := c.pause("the network is rebuilt")
	b.ReportMetric(time.Since(asked).Seconds(), "s-pause")
	c.settles(5)
	b.ReportMetric(float64(c.evictedAfter(paused)), "evicted-after-pause")
	before, resumed := c.evictedSoFar(), time.Now()
	c.resume()
	c.awaitEvicted(affected * 9 / 10)
	b.ReportMetric(float64(affected*9/10-before)/time.Since(resumed).Seconds(), "evictions/s")
	c.ends(b)
}

// ends reports the longest gap.
func (c *crowd) ends(b *testing.B) {
	b.Helper()
	b.ReportMetric(c.longest.Seconds(), "s-longest-gap")
	b.ReportMetric(0, "ns/op")
}
