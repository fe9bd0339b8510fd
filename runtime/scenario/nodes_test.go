package scenario_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
)

const nodes = "  nodes: [{name: 'a-{1..3}', zone: a, region: eu}, {name: 'b-{1..2}', zone: b, labels: {pool: spot}}]\n"

const daemonSet = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: agent, image: agent}]}}
`

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: web}]}\n"

// nodeWorld is a scenario with five nodes, two Deployments or the like, a DaemonSet and a pod.
func nodeWorld(spec string) files {
	return files{
		"s.yaml":    head + nodes + spec + "---\n" + strings.Join([]string{deployment, statefulSet, daemonSet, pod}, "---\n"),
		"late.yaml": "apiVersion: v1\nkind: Node\nmetadata: {name: late}\n",
	}
}

func readNodes(t *testing.T, spec string) *scenario.Scenario {
	t.Helper()
	scenarios, problems := nodeWorld(spec).decode("s.yaml")
	require.Empty(t, problems)
	require.Len(t, scenarios, 1)
	require.True(t, scenarios[0].OfNodes)
	return scenarios[0]
}

func nodeNames(list string) scenario.Target {
	var all []messages.NodeName
	for _, name := range strings.Fields(list) {
		all = append(all, messages.NodeName(name))
	}
	return scenario.Target{Nodes: all}
}

func TestEntriesMakeNodes(t *testing.T) {
	scenarios, problems := files{"s.yaml": head + `  nodes:
  - name: big
    region: eu
    zone: a
    labels: {pool: gpu}
    taints: ["dedicated=gpu:NoSchedule"]
    capacity: cpu=4, memory=8Gi,nvidia.com/gpu=2
    startup: {min: 1s, max: 3s}
    leasePeriod: 5s
    conditions: {Ready: Unknown, DiskPressure: "", NetworkUnavailable: "True"}
  - {name: "n{1..2}", capacity: {cpu: 500m}}
---
apiVersion: v1
kind: Node
metadata: {name: given}
status: {allocatable: {pods: 7}, conditions: [{type: Ready, status: "False"}]}
`}.decode("s.yaml")
	require.Empty(t, problems)
	s := scenarios[0]
	require.Equal(t, []string{"Node given", "Node big", "Node n1", "Node n2"}, keys(s.Objects))
	node := func(i int) *corev1.Node { return s.Objects[i].Object.(*corev1.Node) }
	told := func(n *corev1.Node) string {
		var words []string
		for _, c := range n.Status.Conditions {
			words = append(words, fmt.Sprintf("%s=%s", c.Type, c.Status))
		}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "pods", "nvidia.com/gpu"} {
			if amount, ok := n.Status.Allocatable[name]; ok {
				words = append(words, fmt.Sprintf("%s %s", name, amount.String()))
			}
		}
		return strings.Join(words, ", ")
	}
	const working = "MemoryPressure=False, DiskPressure=False, PIDPressure=False, Ready=True"
	require.Equal(t, "MemoryPressure=False, PIDPressure=False, NetworkUnavailable=True, Ready=Unknown, cpu 4, memory 8Gi, pods 110, nvidia.com/gpu 2", told(node(1)))
	require.Equal(t, working+", cpu 500m, memory 128Gi, pods 110", told(node(2)))
	require.Equal(t, "Ready=False, pods 7", told(node(0)), "what a manifest says is not changed")
	require.Equal(t, map[string]string{
		"pool": "gpu", "kubernetes.io/hostname": "big", "topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": "a",
	}, node(1).Labels)
	require.Equal(t, []corev1.Taint{{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}, node(1).Spec.Taints)
	require.Equal(t, map[messages.NodeName]messages.KubeletBehaviour{"big": {StartupMin: time.Second, StartupMax: 3 * time.Second, LeasePeriod: 5 * time.Second}}, s.Kubelets)
	node(2).Labels["x"], node(2).Status.Capacity["cpu"] = "y", node(1).Status.Capacity["cpu"]
	require.NotContains(t, node(3).Labels, "x", "nodes of one entry share nothing")
	cpu := node(3).Status.Capacity["cpu"]
	require.Equal(t, "500m", cpu.String())
}

// nodeActions are actions on nodes as they are written, and as they are read.
func nodeActions() map[string]scenario.Action {
	gold := "gold"
	return map[string]scenario.Action{
		`condition: {node: a-1, type: MemoryPressure, status: "True"}`: &scenario.Condition{Target: nodeNames("a-1"), Type: "MemoryPressure", Status: "True"},
		`cordon: {node: "a-{2..3}"}`:                                   &scenario.Cordon{Target: nodeNames("a-2 a-3")},
		`uncordon: {node: {zone: b}}`:                                  &scenario.Cordon{Target: nodeNames("b-1 b-2"), Off: true},
		`drain: {node: a-1, ignoreDaemonsets: true, deleteEmptydirData: true, force: true, disableEviction: true, gracePeriod: 3s, timeout: 5m, skipWaitForDeleteTimeout: 20s}`: &scenario.Drain{Target: nodeNames("a-1"), Options: messages.DrainOptions{
			IgnoreDaemonSets: true, DeleteEmptyDirData: true, Force: true, DisableEviction: true, GracePeriodSeconds: new(int64(3)), Timeout: 5 * time.Minute, SkipWaitForDelete: 20 * time.Second,
		}},
		`drain: {node: ["*-2", b-2]}`:                                            &scenario.Drain{Target: nodeNames("a-2 b-2")},
		`label: {node: {labels: {pool: spot}}, labels: {pool: gold}}`:            &scenario.Label{Target: nodeNames("b-1 b-2"), Labels: map[string]*string{"pool": &gold}},
		`refuse: {request: delete, error: etcd is down, for: 25m}`:               &scenario.Refuse{Request: "delete", Error: "etcd is down", For: 25 * time.Minute},
		`outage: {node: {region: eu}, kind: kubelet, for: 25m}`:                  &scenario.Outage{Target: nodeNames("a-1 a-2 a-3"), Kind: "kubelet", For: 25 * time.Minute},
		`scale: {workload: sts/db -n shop, replicas: 3}`:                         &scenario.Scale{Workload: api.Key{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "shop", Name: "db"}, Replicas: 3},
		`delete: {kind: Node, name: b-1}`:                                        &scenario.Delete{Object: api.Key{APIVersion: "v1", Kind: "Node", Name: "b-1"}},
		`delete: {kind: Pod, name: web}`:                                         &scenario.Delete{Object: api.Key{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web"}},
		`condition: {node: [a-1, b-1, a-1], type: Ready, toggle: true}`:          &scenario.Condition{Target: nodeNames("a-1 b-1"), Type: "Ready", Toggle: true},
		`condition: {node: b-2, type: DiskPressure, status: Unknown, reason: x}`: &scenario.Condition{Target: nodeNames("b-2"), Type: "DiskPressure", Status: "Unknown", Reason: "x"},
	}
}

func TestActionsOnNodes(t *testing.T) {
	for written, want := range nodeActions() {
		s := readNodes(t, "  timeline: [{at: 5s, "+written+"}]\n")
		require.Equal(t, want, s.Timeline[0].Action, written)
	}
	s := readNodes(t, "  timeline: [{at: 1s, taint: {node: a-1, taints: ['k=v:NoExecute']}}, {at: 2s, untaint: {node: a-1, taints: [k]}}, {at: 3s, outage: {node: a-1, kind: kubelet, for: 2s}}]\n")
	require.Equal(t, []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute}}, s.Timeline[0].Action.(*scenario.Taint).Changes.Add)
	require.Equal(t, []corev1.Taint{{Key: "k"}}, s.Timeline[1].Action.(*scenario.Taint).Changes.Remove)
	require.Equal(t, &scenario.Outage{Target: nodeNames("a-1"), Kind: "kubelet", Over: true}, s.Timeline[3].Action, "an outage has an end")
	require.Equal(t, 5*time.Second, s.Timeline[3].At)
}

func TestLateNodesJoinPatternsWhenTheyAreThere(t *testing.T) {
	s := readNodes(t, "  timeline: [{at: 1s, cordon: {node: '*'}}, {at: 2s, apply: {file: late.yaml}}, {at: 3s, cordon: {node: '{late,a-1}'}}]\n")
	require.Equal(t, nodeNames("a-1 a-2 a-3 b-1 b-2"), s.Timeline[0].Action.(*scenario.Cordon).Target)
	require.Equal(t, nodeNames("late a-1"), s.Timeline[2].Action.(*scenario.Cordon).Target)
}

// nodeExpectations are expectations on nodes and pods as they are written, and as they are told.
func nodeExpectations() map[string]string {
	return map[string]string{
		`at: 0, taint: {node: a-1, key: k, effect: NoExecute}`:                                            "at 0s: node a-1 has the taint k:NoExecute",
		`at: 0, taint: {node: a-1, key: k, present: false}`:                                               "at 0s: node a-1 has no taint k",
		`at: 0, pod: {name: web, phase: Running, node: a-1, ready: true, evicted: false}`:                 "at 0s: pod default/web is Running, on a-1, ready, not evicted",
		`at: 0, pod: {name: shop/db-0, node: "", terminating: true, unschedulable: untolerated}`:          `at 0s: pod shop/db-0 is not bound, terminating, unschedulable with "untolerated"`,
		`at: 0, pod: {name: web, present: false}`:                                                         "at 0s: there is no pod default/web",
		`at: 0, pod: {name: web, present: true}`:                                                          "at 0s: there is a pod default/web",
		`at: 0, pods: {of: nginx, running: {min: 2}, pending: 0}`:                                         "at 0s: pods of deployment/default/nginx: at least 2 running, 0 pending",
		`at: 0, pods: {of: ds/agent, namespace: kube-system, node: {zone: b}, all: 2}`:                    "at 0s: pods of daemonset/kube-system/agent in kube-system on b-1, b-2: 2 in all",
		`always: true, pods: {node: "*", evicted: {max: 1}, terminating: {max: 1}}`:                       "always: pods on a-1, a-2, a-3, b-1, b-2: at most 1 evicted, at most 1 terminating",
		`at: 0, pods: {ready: 1, unschedulable: 2}`:                                                       "at 0s: pods: 1 ready, 2 unschedulable",
		`never: true, event: {kind: PodEvicted, pod: web, node: a-1}`:                                     `never: event PodEvicted with {"node":"a-1","pod":"default/web"}`,
		`at: 0, anyOf: [{pod: {name: web, phase: Failed}}, {pod: {name: web, present: false}}]`:           "at 0s: pod default/web is Failed, or there is no pod default/web",
		`at: 0, object: {apiVersion: v1, kind: Node, metadata: {name: a-1}, spec: {unschedulable: true}}`: `at 0s: Node a-1 matches {"metadata":{"name":"a-1"},"spec":{"unschedulable":true}}`,
	}
}

func TestExpectationsOnNodes(t *testing.T) {
	for written, want := range nodeExpectations() {
		s := readNodes(t, "  expect: [{"+written+"}]\n")
		require.Equal(t, want+" (s.yaml:6)", s.Expect[0].String(), written)
	}
	s := readNodes(t, "  expect: [{at: 0, pods: {of: nginx, running: 1}}]\n")
	require.Equal(t, &expect.Pods{
		Of: messages.NameOwner("Deployment", "default", "nginx"), Wants: []expect.PodNumber{{Of: expect.RunningPods, Bounds: expect.Exactly(1)}},
	}, s.Expect[0].Subject)
}

func TestTheSchemaAcceptsNodes(t *testing.T) {
	s := schema(t)
	for written := range nodeActions() {
		require.NoError(t, conforms(t, s, nodeWorld("  timeline: [{at: 5s, " + written + "}]\n")["s.yaml"]), written)
	}
	for written := range nodeExpectations() {
		require.NoError(t, conforms(t, s, nodeWorld("  expect: [{" + written + "}]\n")["s.yaml"]), written)
	}
	for _, spec := range []string{
		"  timeline: [{at: 1s, cordon: {node: a-1, cluster: b}}]\n",
		"  timeline: [{at: 1s, cordon: {}}]\n",
		"  expect: [{at: 1s, taint: {key: k}}]\n",
		"  expect: [{at: 1s, pod: {phase: Running}}]\n",
	} {
		require.Error(t, conforms(t, s, nodeWorld(spec)["s.yaml"]), spec)
	}
}

func TestProblemsOfNodes(t *testing.T) {
	for spec, want := range map[string]string{
		"  nodes: [{zone: a}]":                                                                         `5: Scenario s: spec.nodes[0].name: required`,
		"  nodes: [{name: 'a{1..'}]":                                                                   `5: Scenario s: spec.nodes[0].name: "a{1.." does not close its brace`,
		"  nodes: [{name: x, zones: [a]}]":                                                             `5: Scenario s: spec.nodes[0].zones: unknown field; did you mean zone?`,
		"  nodes: [{name: x}, {name: x}]":                                                              `5: Scenario s: spec.nodes[1].name: node "x" is defined already`,
		"  nodes: [{name: x, capacity: 4}]":                                                            `5: Scenario s: spec.nodes[0].capacity: 4: want amounts such as cpu=4,memory=8Gi,pods=110, or a mapping`,
		"  nodes: [{name: x, capacity: 'cpu=4,memory'}]":                                               `5: Scenario s: spec.nodes[0].capacity: "cpu=4,memory": want amounts such as cpu=4,memory=8Gi,pods=110, not "memory"`,
		"  nodes: [{name: x, capacity: 'cpu=lots'}]":                                                   `5: Scenario s: spec.nodes[0].capacity: "cpu=lots": cpu: "lots" is no amount, such as 4, 500m or 8Gi`,
		"  nodes: [{name: x, capacity: 'cpu=4,cpu=5'}]":                                                `5: Scenario s: spec.nodes[0].capacity: "cpu=4,cpu=5": sets cpu twice`,
		"  nodes: [{name: x, capacity: 'cpu=-4'}]":                                                     `5: Scenario s: spec.nodes[0].capacity: "cpu=-4": cpu must not be negative`,
		"  nodes: [{name: x, capacity: {cpu: -4, memory: -1}}]":                                        `5: Scenario s: spec.nodes[0].capacity: cpu must not be negative`,
		"  nodes: [{name: x, taints: ['a:Nope']}]":                                                     `5: Scenario s: spec.nodes[0].taints[0]: "a:Nope": invalid taint effect: Nope, unsupported taint effect`,
		"  nodes: [{name: x, leasePeriod: often}]":                                                     `5: Scenario s: spec.nodes[0].leasePeriod: "often": must be a duration such as 90s, 5m30s, 2h or 1d`,
		"  nodes: [{name: x}]\n  fleet: [{name: c}]":                                                   `4: Scenario s: spec: has clusters and nodes: want one of the two, a fleet of clusters or the nodes of one cluster`,
		"  nodes: [{name: 'a{1..10000}'}, {name: b}]":                                                  `5: Scenario s: spec.nodes[1]: makes more than 10000 nodes`,
		"  timeline: [{at: 1s, cordon: {}}]":                                                           `6: Scenario s: spec.timeline[0].cordon: want cluster or node`,
		"  timeline: [{at: 1s, cordon: {node: a-1, cluster: b}}]":                                      `6: Scenario s: spec.timeline[0].cordon: want cluster or node`,
		"  timeline: [{at: 1s, cordon: {cluster: a-1}}]":                                               `6: Scenario s: spec.timeline[0].cordon.cluster: there is no cluster "a-1"; there is none at all`,
		"  timeline: [{at: 1s, cordon: {node: c-1}}]":                                                  `6: Scenario s: spec.timeline[0].cordon.node: there is no node "c-1"; there is a-1, a-2, a-3, b-1, b-2`,
		"  timeline: [{at: 1s, cordon: {node: 'c*'}}]":                                                 `6: Scenario s: spec.timeline[0].cordon.node: no node matches "c*"`,
		"  timeline: [{at: 1s, cordon: {node: {zone: c}}}]":                                            `6: Scenario s: spec.timeline[0].cordon.node: no node is selected`,
		"  timeline: [{at: 1s, cordon: {node: []}}]":                                                   `6: Scenario s: spec.timeline[0].cordon.node: names no node`,
		"  timeline: [{at: 1s, cordon: {node: late}}, {at: 2s, apply: {file: late.yaml}}]":             `6: Scenario s: spec.timeline[0].cordon.node: node "late" is applied later`,
		"  timeline: [{at: 1s, taint: {node: a-1, taints: ['k:Nope']}}]":                               `6: Scenario s: spec.timeline[0].taint.taints: invalid taint effect: Nope, unsupported taint effect`,
		"  timeline: [{at: 1s, outage: {node: a-1, kind: power}}]":                                     `6: Scenario s: spec.timeline[0].outage.kind: want kubelet for nodes, not "power"`,
		"  timeline: [{at: 1s, condition: {node: a-1, type: Ready, status: 'False', observed: true}}]": `6: Scenario s: spec.timeline[0].condition.observed: goes with cluster: nodes are not probed`,
		"  timeline: [{at: 1s, delete: {kind: Node, name: c-1}}]":                                      `6: Scenario s: spec.timeline[0].delete: there is no Node c-1`,
		"  timeline: [{at: 1s, condition: {node: a-1, type: Ready, status: ''}}]":                      `6: Scenario s: spec.timeline[0].condition.status: want True, False or Unknown: a kubelet takes back no condition`,
		"  timeline: [{at: 1s, drain: {node: a-1, gracePeriod: 1500ms}}]":                              `6: Scenario s: spec.timeline[0].drain.gracePeriod: want whole seconds`,
		"  timeline: [{at: 1s, drain: {node: a-1, podSelector: 'a in'}}]":                              `6: Scenario s: spec.timeline[0].drain.podSelector: unable to parse requirement: found '' expected: '('`,
		"  timeline: [{at: 1s, drain: {node: a-1, deadline: 5m}}]":                                     `6: Scenario s: spec.timeline[0].drain.deadline: goes with cluster`,
		"  timeline: [{at: 1s, config: {nodeEvictionRate: 1}}]":                                        `6: Scenario s: spec.timeline: config goes with a fleet of clusters, not with nodes`,
		"  timeline: [{at: 1s, crash: {after: 2}}]":                                                    `6: Scenario s: spec.timeline: crash.after goes with a fleet of clusters, not with nodes`,
		"  timeline: [{at: 1s, clock: {ahead: 1s}}]":                                                   `6: Scenario s: spec.timeline: clock goes with a fleet of clusters, not with nodes`,
		"  timeline: [{at: 1s, pause: {reason: x}}]":                                                   `6: Scenario s: spec.timeline: pause or hold goes with a fleet of clusters, not with nodes`,
		"  timeline: [{at: 1s, refuse: {request: list, error: x}}]":                                    `6: Scenario s: spec.timeline[0].refuse.request: want one of get, patch, delete, evict, not "list"`,
		"  timeline: [{at: 1s, refuse: {request: get, error: ''}}]":                                    `6: Scenario s: spec.timeline[0].refuse.error: required`,
		"  timeline: [{at: 1s, refuse: {request: get, error: x, for: 0s}}]":                            `6: Scenario s: spec.timeline[0].refuse.for: must be more than 0`,
		"  expect: [{at: 1s, taint: {key: k}}]":                                                        `6: Scenario s: spec.expect[0].taint: want cluster or node`,
		"  expect: [{at: 1s, taint: {key: k, node: c-1}}]":                                             `6: Scenario s: spec.expect[0].taint.node: there is no node "c-1"; there is a-1, a-2, a-3, b-1, b-2`,
		"  expect: [{at: 1s, pod: {name: web}}]":                                                       `6: Scenario s: spec.expect[0].pod: expects nothing of the pod`,
		"  expect: [{at: 1s, pod: {name: web, present: false, phase: Failed}}]":                        `6: Scenario s: spec.expect[0].pod: expects something of a pod that must not be there`,
		"  expect: [{at: 1s, pod: {name: other, ready: true}}]":                                        `6: Scenario s: spec.expect[0].pod.name: there is no pod "other", and nothing that would make it`,
		"  expect: [{at: 1s, pod: {name: db-0, ready: true}}]":                                         `6: Scenario s: spec.expect[0].pod.name: there is no pod "db-0", and nothing that would make it`,
		"  expect: [{at: 1s, pod: {name: web, phase: Gone}}]":                                          `6: Scenario s: spec.expect[0].pod.phase: want one of Pending, Running, Succeeded, Failed, Unknown, not "Gone"`,
		"  expect: [{at: 1s, pod: {name: web, node: c-1}}]":                                            `6: Scenario s: spec.expect[0].pod.node: there is no node "c-1"; there is a-1, a-2, a-3, b-1, b-2`,
		"  expect: [{at: 1s, pods: {of: nginx}}]":                                                      `6: Scenario s: spec.expect[0].pods: want one of all, running, ready, pending, unschedulable, evicted, terminating`,
		"  expect: [{at: 1s, pods: {of: Pod/web, all: 1}}]":                                            `6: Scenario s: spec.expect[0].pods.of: Pod default/web keeps up no pods: want a Deployment, a ReplicaSet, a StatefulSet, a DaemonSet, a Job`,
		"  expect: [{at: 1s, pods: {of: other, all: 1}}]":                                              `6: Scenario s: spec.expect[0].pods.of: there is no Deployment other`,
		"  expect: [{at: 1s, pods: {node: c-1, all: 1}}]":                                              `6: Scenario s: spec.expect[0].pods.node: there is no node "c-1"; there is a-1, a-2, a-3, b-1, b-2`,
		"  expect: [{at: 1s, pods: {all: -1}}]":                                                        `6: Scenario s: spec.expect[0].pods.all: -1: must not be negative`,
		"  expect: [{never: true, event: {kind: PodEvicted, node: c-1}}]":                              `6: Scenario s: spec.expect[0].event.node: there is no node "c-1"; there is a-1, a-2, a-3, b-1, b-2`,
		"  expect: [{at: 1s, object: {apiVersion: v1, kind: Node, metadata: {name: c-1}}}]":            `6: Scenario s: spec.expect[0].object.metadata.name: there is no node "c-1"; there is a-1, a-2, a-3, b-1, b-2`,
	} {
		t.Run(spec, func(t *testing.T) {
			f := nodeWorld(spec + "\n")
			if strings.HasPrefix(spec, "  nodes") {
				f["s.yaml"] = head + spec + "\n"
			}
			scenarios, problems := f.decode("s.yaml")
			require.Empty(t, scenarios)
			require.EqualError(t, problems, "s.yaml:"+want)
		})
	}
}

// A slip of the pen must not fill memory, wherever it is made.
func TestTooManyNodesAndPods(t *testing.T) {
	machineSet := "apiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\nmetadata: {name: workers}\nspec: {replicas: 9996}\n"
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: sums}\nspec: {parallelism: 1, completions: 600000, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n"
	many := strings.Replace(deployment, "replicas: 4", "replicas: 2000000000", 1)
	for about, test := range map[string]struct{ spec, documents, want string }{
		"a Deployment":       {"", many, `s.yaml:7: Deployment nginx: asks for 2000000000 pods, which makes 2000000000: a scenario has at most 500000`},
		"a Job":              {"", job, `s.yaml:7: Job sums: asks for 600000 pods, which makes 600000: a scenario has at most 500000`},
		"machines":           {"", machineSet, `s.yaml:7: MachineSet workers: asks for 9996 nodes, which makes 10001: a scenario has at most 10000`},
		"a scale":            {"  timeline: [{at: 1s, scale: {workload: nginx, replicas: 499999}}, {at: 2s, scale: {workload: nginx, replicas: 1}}, {at: 3s, scale: {workload: sts/db -n shop, replicas: 2}}]\n", deployment + "---\n" + statefulSet, `s.yaml:6: Scenario s: spec.timeline: StatefulSet shop/db asks for 2 pods, which makes 500001: a scenario has at most 500000`},
		"machines by scale":  {"  timeline: [{at: 1s, scale: {workload: MachineSet/workers, replicas: 99999}}]\n", strings.Replace(machineSet, "9996", "1", 1), `s.yaml:6: Scenario s: spec.timeline: MachineSet default/workers asks for 99999 nodes, which makes 100004: a scenario has at most 10000`},
		"an apply":           {"  timeline: [{every: 1s, until: 9s, apply: {file: many.yaml}}]\n", deployment, `s.yaml:6: Scenario s: spec.timeline: Deployment default/nginx asks for 2000000000 pods, which makes 2000000000: a scenario has at most 500000`},
		"nodes of manifests": {"  nodes: [{name: 'x{1..10000}'}]\n", "apiVersion: v1\nkind: Node\nmetadata: {name: one}\n", `s.yaml:5: Scenario s: spec.nodes[0]: makes more than 10000 nodes`},
		"nodes of files":     {"  nodes: [{name: 'x{1..9999}'}]\n  timeline: [{at: 1s, apply: [{file: late.yaml}, {file: one.yaml}]}]\n", deployment, `s.yaml:4: Scenario s: spec: has 10001 nodes: a scenario has at most 10000`},
		"daemons":            {"  nodes: [{name: 'x{1..9999}'}]\n", manyDaemons(51), `s.yaml:357: DaemonSet kube-system/agent-50: asks for 9999 pods, which makes 509949: a scenario has at most 500000`},
	} {
		spec := test.spec
		if !strings.Contains(spec, "  nodes:") {
			spec = nodes + spec
		}
		_, problems := files{"s.yaml": head + spec + "---\n" + test.documents, "many.yaml": many, "late.yaml": nodeWorld("")["late.yaml"], "one.yaml": strings.Replace(nodeWorld("")["late.yaml"], "late", "one", 1)}.decode("s.yaml")
		require.EqualError(t, problems, test.want, about)
	}
	s := readNodes(t, "  timeline: [{every: 1s, until: 1000s, scale: {workload: nginx, replicas: 400000}}]\n")
	require.Len(t, s.Timeline, 1001, "the same pods are not counted again")
}

// manyDaemons is so many DaemonSets.
func manyDaemons(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.Replace(daemonSet, "name: agent,", fmt.Sprintf("name: agent-%d,", i), 1)
	}
	return strings.Join(all, "---\n")
}
