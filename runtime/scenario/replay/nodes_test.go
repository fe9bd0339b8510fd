package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

const agents = `
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: i}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: static, annotations: {kubernetes.io/config.mirror: x}}
spec: {nodeName: n1, terminationGracePeriodSeconds: 1, containers: [{name: c, image: i}], tolerations: [{operator: Exists}]}
---
apiVersion: v1
kind: Pod
metadata: {name: old, creationTimestamp: "2025-12-31T00:00:00Z"}
spec: {nodeName: n1, terminationGracePeriodSeconds: 1, containers: [{name: c, image: i}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
`

// nodesOf reads a scenario with the nodes n1 and n2.
func nodesOf(t *testing.T, spec string) *scenario.Scenario {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.yaml")
	head := "apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  nodes: [{name: n1, zone: a, labels: {pool: x}}, {name: n2, zone: b}]\n"
	require.NoError(t, os.WriteFile(file, []byte(head+spec+agents), 0o600))
	scenarios, _, problems := scenario.Find(file)
	require.Empty(t, problems)
	return scenarios[0]
}

// Each step does to nodes what it says, in both profiles and whatever the order of messages.
func TestStepsOnNodes(t *testing.T) {
	const node = "object: {apiVersion: v1, kind: Node, metadata: {name: n1"
	for about, spec := range map[string]string{
		"what there was goes on": `
  expect:
  - {at: 0, pod: {name: old, phase: Running, node: n1, ready: true}}
  - {never: true, event: {kind: PodBound, pod: old}}
  - {never: true, event: {kind: NodeTaintAdded}}
  - {at: 10s, pods: {of: ds/agent, node: n1, running: 1}}
  - {at: 10s, pods: {of: web, running: 2, ready: 2}}
  - {at: 10s, pods: {all: 6}}`,
		"a taint evicts, and goes": `
  timeline:
  - {at: 10s, taint: {node: n1, taints: ["k=v:NoExecute"]}}
  - {at: 20s, untaint: {node: n1, taints: [k]}}
  expect:
  - {at: 10s, taint: {node: n1, key: k, value: v, effect: NoExecute}}
  - {at: 10s, event: {kind: PodEvicted, pod: old, node: n1}}
  - {at: 10s, pod: {name: old, evicted: true, terminating: true}}
  - {at: 15s, pod: {name: old, present: false}}
  - {at: 15s, pod: {name: static, phase: Running, evicted: false}}
  - {at: 15s, pods: {of: web, node: n2, running: 2}}
  - {at: 20s, taint: {node: n1, key: k, present: false}}`,
		"cordon and uncordon": `
  timeline:
  - {at: 10s, cordon: {node: [n1, n2]}}
  - {at: 11s, scale: {workload: web, replicas: 3}}
  - {at: 20s, uncordon: {node: n2}}
  expect:
  - {at: 10s, taint: {node: n2, key: node.kubernetes.io/unschedulable, effect: NoSchedule}}
  - {at: 15s, pods: {of: web, running: 2, pending: 1, unschedulable: 1}}
  - {at: 20s, taint: {node: n2, key: node.kubernetes.io/unschedulable, present: false}}
  - {at: 25s, pods: {of: web, running: 3}}
  - {at: 25s, ` + node + `}, spec: {unschedulable: true}}}`,
		"a drain spares daemons and mirror pods": `
  timeline: [{at: 10s, drain: {node: n1, ignoreDaemonsets: true, force: true}}]
  expect:
  - {at: 20s, pod: {name: old, present: false}}
  - {at: 20s, pod: {name: static, phase: Running}}
  - {at: 20s, pods: {of: ds/agent, running: 2}}
  - {at: 20s, pods: {of: web, node: n2, running: 2}}
  - {never: true, event: {kind: PodEvicted}}`,
		"labels": `
  timeline: [{at: 10s, label: {node: n1, labels: {pool: null, disk: ssd}}}]
  expect: [{at: 10s, ` + node + `, labels: {pool: null, disk: ssd, topology.kubernetes.io/zone: a}}}}]`,
		"a condition, and its toggle": `
  timeline:
  - {at: 10s, condition: {node: n1, type: MemoryPressure, status: "True"}}
  - {at: 10s, condition: {node: n1, type: MemoryPressure, toggle: true}}
  - {at: 20s, condition: {node: n1, type: MemoryPressure, toggle: true}}
  - {at: 30s, condition: {node: n1, type: New, toggle: true}}
  expect:
  - {total: {event: {kind: NodeTaintAdded, node: n1}, exact: 2}}
  - {at: 15s, taint: {node: n1, key: node.kubernetes.io/memory-pressure, present: false}}
  - {at: 20s, taint: {node: n1, key: node.kubernetes.io/memory-pressure, effect: NoSchedule}}
  - {at: 30s, ` + node + `}, status: {conditions: [{type: New, status: "True"}]}}}`,
		"outages that overlap": `
  timeline:
  - {at: 10s, outage: {node: n1, kind: kubelet, for: 2m}}
  - {at: 20s, outage: {node: "*", kind: kubelet, for: 3m}}
  expect:
  - {at: 10s, event: {kind: KubeletStopped, node: n1}}
  - {total: {event: {kind: KubeletStopped}, exact: 2}}
  - {at: 200s, event: {kind: KubeletReturned, node: n1}}
  - {total: {event: {kind: KubeletReturned}, exact: 2}}
  - {within: {after: 1m, for: 30s}, taint: {node: n1, key: node.kubernetes.io/unreachable}}
  - {at: 210s, taint: {node: n1, key: node.kubernetes.io/unreachable, present: false}}`,
		"nodes and owners come and go": `
  timeline:
  - {at: 10s, delete: {kind: DaemonSet, name: agent}}
  - {at: 20s, apply: {apiVersion: v1, kind: Node, metadata: {name: n3}}}
  - {at: 30s, delete: {kind: Node, name: n2}}
  - {at: 40s, delete: {kind: Pod, name: old}}
  expect:
  - {at: 15s, pods: {of: ds/agent, all: 0}}
  - {at: 20s, event: {kind: NodeRegistered, node: n3}}
  - {at: 30s, event: {kind: NodeDeleted, node: n2}}
  - {at: 45s, pod: {name: old, present: false}}`,
		"the controllers restart": `
  timeline: [{at: 10s, restart: true}]
  expect: [{at: 10s, event: {kind: Restarted}}, {at: 20s, pods: {of: web, running: 2}}, {never: true, event: {kind: PodEvicted}}]`,
	} {
		for _, profile := range []string{"kubernetes", "leeward"} {
			for seed := range uint64(3) {
				run, err := replay.Play(nodesOf(t, strings.TrimPrefix(spec, "\n")), replay.Options{Seed: seed, Profile: profile})
				require.NoError(t, err, about)
				for _, e := range run.Expectations {
					require.True(t, e.Passed, "%s, %s, seed %d: %s: %s", about, profile, seed, e.Text, e.Reason)
				}
			}
		}
	}
}

func TestStepsThatNodesCannotTake(t *testing.T) {
	for spec, want := range map[string]string{
		"  timeline: [{at: 1s, delete: {kind: Node, name: n1}}, {at: 2s, cordon: {node: 'n*'}}]":                                      "s.yaml:6: at 2s: there is no node n1 any more",
		"  timeline: [{at: 1s, delete: {kind: Pod, name: old}}, {at: 9s, delete: {kind: Pod, name: old}}]":                            "there is no such object",
		"  timeline: [{at: 1s, apply: {apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [{key: k, effect: Nope}]}}}]": "metadata.taints[0].effect",
	} {
		_, err := replay.Play(nodesOf(t, spec), replay.Options{Seed: 1})
		var invalid *world.Invalid
		require.ErrorAs(t, err, &invalid, spec)
		require.ErrorContains(t, err, want)
	}
}

// What became of nodes and pods is among the objects of a run, which a run in another order must have, too.
func TestARunTellsItsNodesAndPods(t *testing.T) {
	run, err := replay.Play(nodesOf(t, "  timeline: [{at: 10s, cordon: {node: n1}}]\n"), replay.Options{Seed: 1})
	require.NoError(t, err)
	kinds := map[string]int{}
	for _, o := range run.All() {
		kinds[o.GetObjectKind().GroupVersionKind().Kind]++
		if n, is := o.(*corev1.Node); is {
			require.Equal(t, n.Name == "n1", n.Spec.Unschedulable)
		}
	}
	require.Equal(t, map[string]int{"Node": 2, "Pod": 6, "Deployment": 1, "DaemonSet": 1}, kinds)
}
