package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// BenchmarkReplay replays a mass failover with all invariants on: workloads on two of 100 clusters each, of which 30 are tainted
// after five minutes, and copies that take 5 to 60 s to start, each another time. "x-linear" is how many times as long one
// workload takes as in a fleet of 1 000.
func BenchmarkReplay(b *testing.B) {
	small := massFailover(b, 1000)
	for _, workloads := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("workloads=%d", workloads), func(b *testing.B) {
			if workloads > 10_000 && testing.Short() {
				b.Skip("takes a minute")
			}
			large := massFailover(b, workloads)
			each := func(s *scenario.Scenario, n int) float64 { return float64(timed(b, s)) / float64(n) }
			for b.Loop() {
				b.ReportMetric(each(large, workloads)/each(small, 1000), "x-linear")
			}
		})
	}
}

// timed is how long it takes to replay a scenario.
func timed(b *testing.B, s *scenario.Scenario) time.Duration {
	before := time.Now()
	run, err := replay.Play(s, replay.Options{})
	require.NoError(b, err)
	require.True(b, run.Passed)
	return time.Since(before)
}

func massFailover(b *testing.B, workloads int) *scenario.Scenario {
	var file strings.Builder
	file.WriteString(massFailoverHead)
	for i := range workloads {
		fmt.Fprintf(&file, massFailoverWorkload, i, i%50)
	}
	scenarios, problems := scenario.Source{}.Decode("mass-failover.yaml", []byte(file.String()))
	require.Empty(b, problems)
	return scenarios[0]
}

const massFailoverHead = `
apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: mass-failover}
spec:
  fleet:
  - {name: "m{001..100}", startup: {min: 5s, max: 60s}}
  timeline:
  - {at: 5m, taint: {cluster: "m{001..030}", taints: ["failed:NoExecute"]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    spreadConstraints: [{spreadByField: cluster, minGroups: 2, maxGroups: 2}]
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference: {dynamicWeight: AvailableReplicas}
`

const massFailoverWorkload = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app-%05d, namespace: team-%d}
spec:
  replicas: 3
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 100m}}}]}
`
