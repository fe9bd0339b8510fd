package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

func typed[O any](t *testing.T, text string) *O {
	t.Helper()
	o := new(O)
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object(t, text).Object, o))
	return o
}

func node(t *testing.T, name, more string) *corev1.Node {
	t.Helper()
	return leanNode(typed[corev1.Node](t, "{apiVersion: v1, kind: Node, metadata: {name: "+name+"}, "+more+"}"))
}

func pod(t *testing.T, more string) *podShare {
	t.Helper()
	return shareOf(typed[corev1.Pod](t, "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, "+more+"}"))
}

func TestTheCapacityOfACluster(t *testing.T) {
	const has = "status: {allocatable: {cpu: '4', memory: 8Gi, pods: '110'}, conditions: [{type: Ready, status: 'True'}]}"
	nodes := []*corev1.Node{
		node(t, "n1", has), node(t, "n2", has),
		node(t, "cordoned", "spec: {unschedulable: true}, "+has),
		node(t, "broken", "status: {allocatable: {cpu: '4'}, conditions: [{type: Ready, status: Unknown}]}"),
	}
	const asks = "containers: [{name: a, resources: {requests: {cpu: 500m}}}, {name: b, resources: {requests: {cpu: 250m, memory: 1Gi}}}]"
	pods := []*podShare{
		pod(t, "spec: {nodeName: n1, "+asks+"}"),
		pod(t, "spec: {nodeName: n1, "+asks+"}"),
		pod(t, "spec: {nodeName: n1, "+asks+"}, status: {phase: Succeeded}"),
		pod(t, "spec: {nodeName: cordoned, "+asks+"}"),
		pod(t, "spec: {"+asks+"}"),
	}
	grades := []api.ResourceModel{
		{Grade: 0}, {Grade: 1, Ranges: []api.ResourceModelRange{{Name: corev1.ResourceCPU, Min: resource.MustParse("3")}}},
		{Grade: 2, Ranges: []api.ResourceModelRange{{Name: corev1.ResourceCPU, Min: resource.MustParse("100")}}},
	}
	summary, r := capacityOf(nodes, pods, grades)
	require.Equal(t, &api.NodeSummary{TotalNum: 4, ReadyNum: 3}, summary)
	require.Equal(t, []int64{8000, 16 << 30, 220}, amounts(r.Allocatable))
	require.Equal(t, []int64{1500, 2 << 30, 2}, amounts(r.Allocated), "pods that ended, and those on nodes that do not count, take nothing of it")
	require.Equal(t, []int64{750, 1 << 30, 1}, amounts(r.Allocating))
	require.Equal(t, []api.AllocatableModeling{{Grade: 0, Count: 1}, {Grade: 1, Count: 1}, {Grade: 2}}, r.AllocatableModelings, "n1 has 2.5 of 4 free")
	_, r = capacityOf(nil, nil, nil)
	require.Empty(t, r.Allocatable)
	require.Nil(t, r.AllocatableModelings)
}

func amounts(l corev1.ResourceList) []int64 {
	return []int64{l.Cpu().MilliValue(), l.Memory().Value(), l.Pods().Value()}
}

func TestAPodThatNoNodeTakesIsOfItsWorkload(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)
	const waits = "status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, lastTransitionTime: '2026-01-01T00:00:50Z'}]}"
	p := shareOf(typed[corev1.Pod](t, "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {pod-template-hash: 5f}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5f, controller: true}]}, spec: {containers: []}, "+waits+"}"))
	require.Equal(t, []string{"Deployment/shop/web"}, indexByWorkload(p))
	require.True(t, p.unschedulable(now))
	require.False(t, p.unschedulable(now.Add(-time.Second)), "not for long enough")
	p.node = "n1"
	require.False(t, p.unschedulable(now))

	p = shareOf(typed[corev1.Pod](t, "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}]}, spec: {containers: []}}"))
	require.Equal(t, []string{"ReplicaSet/shop/web"}, indexByWorkload(p))
	require.False(t, p.unschedulable(now))
}

func TestAClusterIsWhereItsNodesAre(t *testing.T) {
	in := func(region, zone string) *corev1.Node {
		return leanNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelTopologyRegion: region, corev1.LabelTopologyZone: zone, "other": "x"}}})
	}
	require.Equal(t, &api.NodeTopology{Region: "eu", Zones: []string{"a", "b"}}, topologyOf([]*corev1.Node{in("eu", "b"), in("", "a"), in("eu", "b")}))
	require.Equal(t, &api.NodeTopology{Zones: []string{"a"}}, topologyOf([]*corev1.Node{in("eu", "a"), in("us", "a")}), "of two regions it is in neither")
	require.Equal(t, &api.NodeTopology{}, topologyOf([]*corev1.Node{in("", "")}))
	many := make([]*corev1.Node, mostZones+1)
	for i := range many {
		many[i] = in("eu", fmt.Sprintf("z%03d", i))
	}
	require.Len(t, topologyOf(many).Zones, mostZones)

	sum := &summary{nodes: &api.NodeSummary{TotalNum: 1}, topology: &api.NodeTopology{}}
	at := func(before *api.NodeTopology) *api.NodeTopology {
		c := &api.Cluster{Status: api.ClusterStatus{NodeTopology: before}}
		return statusOf(c, healthy, nil, sum, time.Time{}).NodeTopology
	}
	eu := &api.NodeTopology{Region: "eu"}
	require.Nil(t, at(nil), "nothing says")
	require.Equal(t, sum.topology, at(eu))
	sum.nodes.TotalNum = 0
	require.Equal(t, eu, at(eu), "it has no nodes for now")
}
