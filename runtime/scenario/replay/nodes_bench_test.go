package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/storm"
)

// BenchmarkReplayNodes replays the loss of one of three zones with all invariants on: a third of the nodes stop after ten minutes, and the
// pods of Deployments of 100 each tolerate that for five more.
func BenchmarkReplayNodes(b *testing.B) {
	for _, size := range []struct{ nodes, pods int }{{500, 15_000}, {5000, 150_000}} {
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", size.nodes, size.pods), func(b *testing.B) {
			if size.nodes > 500 && testing.Short() {
				b.Skip("takes ten seconds")
			}
			s := zoneLost(b, size.nodes, size.pods)
			defer storm.CollectRarely(storm.MemoryThere())() // as leeward replay does
			for b.Loop() {
				run, err := replay.Play(s, replay.Options{})
				require.NoError(b, err)
				require.True(b, run.Passed, "%v", run.Expectations)
			}
		})
	}
}

func zoneLost(b *testing.B, nodes, pods int) *scenario.Scenario {
	const each = 100
	third := nodes / 3
	var file strings.Builder
	fmt.Fprintf(&file, zoneLostHead, third, third, nodes-2*third, third, pods, pods/4)
	for i := range pods / each {
		fmt.Fprintf(&file, zoneLostWorkload, i, each)
	}
	scenarios, problems := scenario.Source{}.Decode("zone-lost.yaml", []byte(file.String()))
	require.Empty(b, problems)
	return scenarios[0]
}

const zoneLostHead = `
apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: zone-lost}
spec:
  duration: 20m
  config: {nodeEvictionRate: 1000}
  nodes:
  - {name: "a-{1..%d}", zone: a}
  - {name: "b-{1..%d}", zone: b}
  - {name: "c-{1..%d}", zone: c}
  timeline:
  - {at: 10m, outage: {node: "a-{1..%d}", kind: kubelet}}
  expect:
  - {total: {event: {kind: PodBound}, min: %d}}
  - {total: {event: {kind: PodEvicted}, min: %d}}
`

const zoneLostWorkload = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app-%05[1]d, namespace: default}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: app-%05[1]d}}
  template:
    metadata: {labels: {app: app-%05[1]d}}
    spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 100m, memory: 256Mi}}}]}
`
