package attach

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
)

// zonedCluster is a cluster of some nodes in one zone, with a pod on each, where evictions begin node by node: one in ten seconds.
func zonedCluster(t *testing.T, nodes int) *cluster {
	c := newCluster(t)
	c.queue.decider.zones = newZones(&c.settings, func(f messages.Fact) { c.kinds = append(c.kinds, f.Kind()) })
	for n := range nodes {
		name := fmt.Sprintf("n%d", n)
		c.runs("on-"+name, 0, func(p *corev1.Pod) { p.Spec.NodeName = name })
		c.taintNode(name)
	}
	return c
}

// taintNode gives one node its taints.
func (c *cluster) taintNode(name string, keys ...string) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: "a", "other": "x"}}}
	for _, key := range keys {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: c.now}})
	}
	n = leanNode(n)
	c.queue.decider.zones.see(messages.NodeName(name), n)
	var pods []*corev1.Pod
	for _, p := range c.all() {
		if p.Spec.NodeName == name {
			pods = append(pods, p)
		}
	}
	c.queue.decider.setNode(messages.NodeName(name), n.Spec.Taints, pods)
}

func TestEvictionsBeginNodeByNodeInAZone(t *testing.T) {
	c := zonedCluster(t, 10)
	c.runs("also-on-n1", 15, func(p *corev1.Pod) { p.Spec.NodeName = "n1" })
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		c.taintNode(name, "k")
	}
	c.until(5)
	require.Equal(t, 3, c.queue.decider.zones.waiting())
	c.taintNode("n3") // its turn never comes
	c.until(30)
	require.Equal(t, []string{
		"0s patch d/on-n1", "0s delete d/on-n1", "10s patch d/on-n2", "10s delete d/on-n2", "15s patch d/also-on-n1", "15s delete d/also-on-n1", "20s patch d/on-n4", "20s delete d/on-n4",
	}, c.writes, "what has begun goes on")
	require.Zero(t, c.queue.decider.zones.waiting())
	require.NotContains(t, c.kinds, "ZoneStateChanged")
}

func TestEvictionsStopWhereAZoneIsDisrupted(t *testing.T) {
	c := zonedCluster(t, 10)
	for n := range 6 {
		c.taintNode(fmt.Sprintf("n%d", n), "k")
	}
	c.until(3600)
	require.Empty(t, c.writes, "6 of 10 nodes are ill")
	require.Equal(t, []string{"ZoneStateChanged"}, c.kinds)
	c.taintNode("n5")
	c.until(3615)
	require.Equal(t, []string{"1h0m10s patch d/on-n0", "1h0m10s delete d/on-n0"}, c.writes)
	require.Equal(t, 4, c.queue.decider.zones.waiting())
	for n := range 5 {
		c.taintNode(fmt.Sprintf("n%d", n))
	}
	c.until(3700)
	require.Len(t, c.writes, 2)
	require.Zero(t, c.queue.decider.zones.waiting())
	_, found := c.queue.decider.zones.next(c.now)
	require.False(t, found)
}

// TestARestartGoesOnWithTheNodesThatHaveBegun without their turn.
func TestARestartGoesOnWithTheNodesThatHaveBegun(t *testing.T) {
	c := zonedCluster(t, 10)
	c.runs("later", 20, func(p *corev1.Pod) { p.Spec.NodeName = "n1" })
	c.taintNode("n1", "k")
	c.taintNode("n2", "k")
	c.until(1)
	c.restart()
	c.queue.decider.zones = newZones(&c.settings, func(messages.Fact) {})
	taints := []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: start}}}
	for n := range 10 {
		c.queue.decider.zones.see(messages.NodeName(fmt.Sprintf("n%d", n)), &corev1.Node{})
	}
	c.queue.decider.setNode("n1", taints, []*corev1.Pod{c.pods["d/later"], c.pods["d/on-n1"]})
	require.True(t, c.queue.decider.zones.begun["n1"])
	c.until(30)
	require.Contains(t, c.writes, (20*time.Second).String()+" delete d/later")
}
