package replay_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// factsOf replays a file of one scenario, and returns its facts whatever their order in an instant.
func factsOf(t *testing.T, text string) (facts []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	scenarios, _, problems := scenario.Find(file)
	require.Empty(t, problems)
	run, err := replay.Play(scenarios[0], replay.Options{Seed: 1})
	require.NoError(t, err)
	for i := range run.Events {
		line, err := journal.AppendJSON(nil, run.Start, &run.Events[i])
		require.NoError(t, err)
		facts = append(facts, string(line))
	}
	slices.Sort(facts)
	return facts
}

const regionEU = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided}}
---
apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: lines}
spec:
  duration: 30m
  fleet: [{name: "eu-{1..2}", region: eu, startup: 20s}, {name: us-1, region: us, startup: 20s}]
  timeline:
`

func TestTheOrderOfLinesOfOneInstantDecidesNothingOfAnOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	lines := []string{
		"  - {at: 5m, outage: {cluster: {region: eu}, kind: network, for: 5m}}",
		"  - {at: 5m, outage: {cluster: eu-2, kind: power, for: 5m}}",
		"  - {at: 5m, health: {cluster: \"*\", status: Unhealthy}}",
		"  - {at: 5m, health: {cluster: eu-1, status: Healthy, binding: web}}",
		"  - {at: 10m, outage: {cluster: eu-2, kind: network, for: 2m}}",
		"  - {at: 10m, scale: {workload: web, replicas: 9}}",
	}
	want := factsOf(t, regionEU+strings.Join(lines, "\n"))
	require.Contains(t, strings.Join(want, "\n"), `"outage":"power"`)
	actorstest.EveryWay(func(choose actorstest.Choose) {
		order := actorstest.Interleave(choose, actorstest.Alone(slices.Clone(lines)...)...)
		require.Equal(t, want, factsOf(t, regionEU+strings.Join(order, "\n")))
	})
}
