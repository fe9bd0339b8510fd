package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/etcd/etcdtest"
)

// slowly lets ten workers evict twice a second, so that a storm lasts while people act.
const slowly = "--resource-eviction-rate=2"

// TestWhoeverStopsAStormStopsIt acts in the middle of one, on a daemon in a process of its own.
func TestWhoeverStopsAStormStopsIt(t *testing.T) {
	t.Parallel() // it waits
	c := newCrowd(t, 1500, 10)
	restart := c.inFolder(slowly)
	c.await("placed", func() bool { return len(c.placed) == c.fleet.Bindings })
	c.taint(noExecute)
	c.awaitEvicted(20)

	nothing := func(after int64, replicas int32) {
		t.Helper()
		c.settles(replicas)
		require.Zero(t, c.evictedAfter(after), "%d in all", c.evictedSoFar())
	}
	goesOn := func() {
		t.Helper()
		c.awaitEvicted(c.evictedSoFar() + 20)
	}
	paused := c.pause("the network is rebuilt")
	nothing(paused, 4)
	c.kill()
	restart()
	nothing(paused, 5)
	c.resume()
	goesOn()
	nothing(c.hold("its rack is moved"), 6)
	c.release()
	goesOn()
	c.kill() // while it goes on
	restart()
	goesOn()
	c.taint()
	c.settles(7)
	before := c.evictedSoFar()
	c.settles(8)
	require.Equal(t, before, c.evictedSoFar(), "nothing is tainted")
}

// TestAStandbyKeepsToAPauseInAStorm has the leader killed while evictions are paused.
func TestAStandbyKeepsToAPauseInAStorm(t *testing.T) {
	t.Parallel() // it waits
	c := newCrowd(t, 600, 10)
	leader := c.inEtcd(etcdtest.Start(t), slowly)
	c.await("placed", func() bool { return len(c.placed) == c.fleet.Bindings })
	c.taint(noExecute)
	c.awaitEvicted(20)
	paused := c.pause("the network is rebuilt")
	require.NoError(t, leader.stop())
	c.daemon.log.await(t, `"message":"this daemon leads"`)
	c.settles(4)
	require.Zero(t, c.evictedAfter(paused))
	c.resume()
	c.awaitEvicted(c.evictedSoFar() + 20)
}

// BenchmarkAStormAtItsPace is the figure of docs/performance.md: one cluster of a large fleet fails at the default pace, and people
// pause in the middle of it.
func BenchmarkAStormAtItsPace(b *testing.B) {
	for _, clusters := range []int{20, 200} {
		b.Run(fmt.Sprintf("100000/%d", clusters), func(b *testing.B) {
			for b.Loop() {
				c := newCrowd(b, 100_000, clusters)
				c.inFolder()
				c.storm(b)
			}
		})
	}
	b.Run("100000/20/etcd", func(b *testing.B) {
		for b.Loop() {
			c := newCrowd(b, 100_000, 20)
			c.inEtcd(etcdtest.StartDurable(b))
			c.storm(b)
		}
	})
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
	b.ReportMetric(c.longest.Seconds(), "s-longest-gap")
	b.ReportMetric(0, "ns/op")
}
