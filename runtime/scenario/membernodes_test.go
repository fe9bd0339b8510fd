package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/runtime/scenario"
)

func TestAClusterOfAFleetHasNodes(t *testing.T) {
	scenarios, problems := files{"s.yaml": head + `  fleet:
  - {name: 'x{1..2}', region: eu, nodes: [{name: 'n{1..2}', zone: a, startup: 5s, capacity: cpu=2}, {name: m, region: us}]}
  - {name: z}
  timeline:
  - {at: 1s, cordon: {node: "x1/n*"}}
  - {at: 2s, cordon: {node: {region: us}}}
  expect:
  - {at: 3s, pods: {node: x2/m, all: 0}}
`}.decode("s.yaml")
	require.Empty(t, problems)
	s := scenarios[0]
	require.False(t, s.OfNodes)
	require.Len(t, s.MemberNodes, 2)
	require.True(t, s.Members["x1"].ByPods)
	require.False(t, s.Members["z"].ByPods)
	var names []string
	for _, n := range s.MemberNodes["x2"].Nodes {
		names = append(names, n.Name+" "+n.Labels[corev1.LabelTopologyRegion])
	}
	require.Equal(t, []string{"n1 eu", "n2 eu", "m us"}, names)
	require.Contains(t, s.MemberNodes["x2"].Kubelets, messages.NodeName("n1"))
	require.Equal(t, nodeNames("x1/n1 x1/n2"), s.Timeline[0].Action.(*scenario.Cordon).Target)
	require.Equal(t, nodeNames("x1/m x2/m"), s.Timeline[1].Action.(*scenario.Cordon).Target)
}

func TestProblemsOfNodesOfClusters(t *testing.T) {
	for spec, want := range map[string]string{
		"[{name: 'n{1..'}]":                `fleet[0].nodes[0].name: "n{1.." does not close its brace`,
		"[{name: k}, {name: k}]":           `fleet[0].nodes[1].name: node "x/k" is defined already`,
		"[{name: k, taints: ['a:Nope']}]":  `"a:Nope": invalid taint effect: Nope, unsupported taint effect`,
		"[{name: N_N}]":                    `fleet[0].nodes[0]: metadata.name: Invalid value: "N_N"`,
		"[{name: k}], capacity: {cpu: 1}":  `fleet[0].capacity: is said by the nodes of the cluster`,
		"[{name: k}], allocated: {cpu: 1}": `fleet[0].allocated: is said by the nodes of the cluster`,
		"[{name: k}], startup: 1s":         `fleet[0].startup: is said by the nodes of the cluster`,
		"[{name: 'n{1..4000}'}, {name: 'm{1..4000}'}, {name: 'o{1..4000}'}]":                                                    `fleet[0].nodes[2]: makes more than 10000 nodes`,
		"[{name: k}]}]\n  nodes: [{name: m":                                                                                     `is of no cluster: a fleet whose clusters have nodes has no others`,
		"[{name: k}]}]\n  timeline: [{at: 1s, rebootNodes: {cluster: x}":                                                        `rebootNodes is for clusters without nodes: end an outage of the nodes of x`,
		"[{name: k}]}]\n  timeline: [{at: 1s, cordon: {node: k}":                                                                `there is no node "k"; there is x/k`,
		"[{name: k}]}]\n  timeline: [{at: 1s, refuse: {request: delete, error: internalError}":                                  `refuse goes with nodes, not with a fleet of clusters`,
		"[{name: k}]}]\n  expect: [{at: 1s, pod: {name: web-0, ready: true}":                                                    `want CLUSTER/POD or CLUSTER/NAMESPACE/POD, of a cluster that has nodes`,
		"[{name: k}]}, {name: v, nodes: [{name: k}]}]\n  timeline: [{at: 1s, scale: {workload: deploy/nginx, replicas: 300000}": `asks for 600000 pods, which makes 600000: a scenario has at most 500000`,
	} {
		t.Run(spec, func(t *testing.T) {
			scenarios, problems := files{"s.yaml": head + "  fleet: [{name: x, nodes: " + spec + "}]\n---\n" + deployment}.decode("s.yaml")
			require.Empty(t, scenarios)
			require.ErrorContains(t, problems, want)
		})
	}
}
