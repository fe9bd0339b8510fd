package shrink

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
)

// large is a scenario of many workloads, a third of whose clusters are tainted, with an expectation that fails.
func large(t *testing.T, expect string) *scenario.Scenario {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, `apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: large}
spec:
  fleet: [{name: "m{001..020}", startup: {min: 5s, max: 60s}}]
  timeline:
  - {at: 5m, taint: {cluster: "m{001..007}", taints: ["x:NoExecute"]}}
  expect:
  - {at: 1m, binding: {name: Deployment/ns-1/app-001, healthy: true}}
  - %s
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    spreadConstraints: [{spreadByField: cluster, minGroups: 2, maxGroups: 2}]
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}
`, expect)
	for i := range 60 {
		fmt.Fprintf(&text, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app-%03d, namespace: ns-%d}
spec: {replicas: 3, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 100m}}}]}}}
`, i, i%10)
	}
	file := filepath.Join(t.TempDir(), "large.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	return find(t, file)[0]
}

// Whatever a failure is about, what it does not depend on is gone after a few tries, and each of them is cheap from then on.
func TestALargeFleetBecomesASmallOneInFewTries(t *testing.T) {
	for expect, want := range map[string]string{
		"{at: 10m, binding: {name: Deployment/ns-7/app-007, clusters: [m019]}}": "2 manifests, 3 clusters, 1 step, 1 expectation",
		"{within: {after: 5m, for: 5m}, event: {kind: EvictionCancelled}}":      "2 manifests, 2 clusters, 1 step, 1 expectation",
		"{total: {event: {kind: EvictionStarted}, max: 3}}":                     "2 manifests, 5 clusters, 1 step, 1 expectation",
	} {
		t.Run(expect, func(t *testing.T) {
			s := large(t, expect)
			r, err := Shrink(context.Background(), Config{Source: scenario.Disk, Scenario: s, Seed: 1, Most: 400})
			require.NoError(t, err)
			require.Equal(t, Size{Manifests: 61, Clusters: 20, Steps: 1, Expectations: 2}, r.Before)
			require.Equal(t, want, r.After.String(), "in %d tries", r.Tries)
			require.False(t, r.Bounded)
			small, run := play(t, r)
			require.Equal(t, 1, run.Failures())
			require.Len(t, small.Expect, 1)
		})
	}
}
