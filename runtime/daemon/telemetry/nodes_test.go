package telemetry

import (
	"fmt"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// withNodes measures an engine that has nodes, as many to a zone.
func withNodes(t *testing.T, zones, each int) *Metrics {
	t.Helper()
	e, err := engine.Open(engine.Config{Resources: engine.Tables(catalog.OfNodes...), Clock: clock.NewMock()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	for i := range zones * each {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{corev1.LabelTopologyZone: fmt.Sprint("z", i%zones)}}}
		if i >= zones {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		}
		require.NoError(t, e.Commit(engine.Create(engine.Key(catalog.Nodes.Name(), "", n.Name), n)))
	}
	m := New(Config{Clock: clock.NewMock()})
	m.Watch(e, nil)
	return m
}

func TestNodesAreMeasuredByZone(t *testing.T) {
	m := withNodes(t, 2, 3)
	m.HearNodes(start, &messages.ZoneStateChanged{Zone: "z0", State: "PartialDisruption"})
	m.HearNodes(start, &messages.ZoneStateChanged{Zone: "gone", State: "Normal"})
	for i := range 3 {
		m.HearNodes(start, &messages.PodEvictionScheduled{Pod: messages.PodName(fmt.Sprint("d/", i)), Node: "n0"})
	}
	m.HearNodes(start, &messages.PodEvictionCancelled{Pod: "d/1"})
	m.HearNodes(start.Add(30*time.Second), &messages.PodEvicted{Pod: "d/0", Node: "n0", Deadline: start})
	f := &fixture{t: t, Metrics: m}
	require.EqualValues(t, 2, f.value("nodes/True/z0"))
	require.EqualValues(t, 1, f.value("nodes/Unknown/z1"))
	require.EqualValues(t, 1, f.value("zone_state/PartialDisruption/z0"))
	require.EqualValues(t, 0, f.value("zone_state/Normal/z0"))
	count, err := testutil.GatherAndCount(m.Gatherer(), "leeward_zone_state")
	require.NoError(t, err)
	require.Equal(t, 3, count, "no node is in the other zone")
	require.EqualValues(t, 1, f.value("pod_evictions_scheduled/z0"))
	require.EqualValues(t, 1, f.value("pod_evictions_total/z0"))
	require.EqualValues(t, 30, f.metric("pod_eviction_lateness_seconds").GetHistogram().GetSampleSum())
	m.ForgetNodes()
	require.EqualValues(t, 0, f.value("pod_evictions_scheduled/z0"))
}

func TestZonesBeyondTheMostAreMeasuredTogether(t *testing.T) {
	m := withNodes(t, mostZones+50, 1)
	count := func(name string) int {
		n, err := testutil.GatherAndCount(m.Gatherer(), name)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, mostZones+1, count("leeward_nodes"))
	for i := range mostZones + 50 {
		m.HearNodes(start, &messages.PodEvicted{Pod: "d/p", Node: messages.NodeName(fmt.Sprint("n", i)), Deadline: start})
	}
	require.LessOrEqual(t, count("leeward_pod_evictions_total"), mostZones+1)
}
