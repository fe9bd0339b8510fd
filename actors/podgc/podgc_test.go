package podgc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/podgc"
	"leeward/messages"
)

var serverAt = messages.Address{Kind: messages.KindAPIServer}

func stranded(pod messages.PodName, node messages.NodeName, cause messages.GarbageCause) *messages.PodStranded {
	return &messages.PodStranded{Pod: pod, UID: "u", Node: node, Cause: cause}
}

// collector is a driven collector, with what it asked for: at which second, which pod.
type collector struct {
	*actorstest.Driver[messages.ToPodGC]
	asked map[messages.PodName]float64
}

func drive(t *testing.T, period time.Duration) *collector {
	t.Helper()
	return &collector{
		Driver: actorstest.Drive(t, podgc.New(podgc.Rules{Period: period, Epoch: actorstest.Start})), asked: map[messages.PodName]float64{},
	}
}

func (c *collector) tell(ms ...messages.ToPodGC) {
	c.Tell(ms...)
	c.note()
}

func (c *collector) note() {
	for _, m := range actorstest.MailTo(c.Mail(), serverAt) {
		c.asked[m.(*messages.CollectPod).Pod] = c.Now().Sub(actorstest.Start).Seconds()
	}
}

// until lets time pass to a second after the start, a quarter of one at a time.
func (c *collector) until(second float64) {
	for c.Now().Before(actorstest.Start.Add(time.Duration(second * float64(time.Second)))) {
		c.Advance(250 * time.Millisecond)
		c.note()
	}
}

// Measured on a real kube-controller-manager: of a node that was deleted, all pods are collected together, two checks after the one that finds
// it missing.
func TestThePodsOfAMissingNodeAreCollectedAfterItsQuarantine(t *testing.T) {
	for _, way := range []struct {
		period      time.Duration
		first, late float64
	}{{20 * time.Second, 60, 60}, {0, 43, 43}} {
		c := drive(t, way.period)
		c.until(3)
		c.tell(stranded("d/a", "n1", messages.NodeMissing), stranded("d/b", "n1", messages.NodeMissing))
		c.until(30)
		c.tell(stranded("d/late", "n1", messages.NodeMissing), stranded("d/other", "n2", messages.NodeMissing))
		c.until(200)
		other := map[time.Duration]float64{0: 70, 20 * time.Second: 80}[way.period]
		require.Equal(t, map[messages.PodName]float64{"d/a": way.first, "d/b": way.first, "d/late": way.late, "d/other": other}, c.asked)
	}
}

func TestAPodOnANodeOutOfServiceHasNoQuarantine(t *testing.T) {
	for period, want := range map[time.Duration]float64{20 * time.Second: 20, 0: 3} {
		c := drive(t, period)
		c.until(3)
		c.tell(stranded("d/a", "n1", messages.NodeOutOfService))
		c.until(100)
		require.Equal(t, map[messages.PodName]float64{"d/a": want}, c.asked)
	}
}

func TestANodeThatComesBackHasAnotherQuarantine(t *testing.T) {
	c := drive(t, 0)
	c.tell(stranded("d/a", "n1", messages.NodeMissing))
	c.until(30)
	c.tell(stranded("d/a", "n1", ""))
	c.until(35)
	c.tell(stranded("d/a", "n1", messages.NodeMissing))
	c.until(100)
	require.Equal(t, map[messages.PodName]float64{"d/a": 75}, c.asked)
}

func TestAPodIsAskedForOnce(t *testing.T) {
	for _, period := range []time.Duration{0, 20 * time.Second} {
		c := drive(t, period)
		c.tell(stranded("d/a", "n1", messages.NodeOutOfService))
		c.until(40)
		c.Sleeps()
	}
}
