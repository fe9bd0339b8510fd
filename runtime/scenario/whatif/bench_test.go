package whatif

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/manifest"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

// large is the text of a fleet of 100 clusters in ten regions with so many workloads.
func large(workloads int) []byte {
	var text strings.Builder
	text.WriteString("apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterTaintPolicy\nmetadata: {name: not-ready}\nspec:\n" +
		"  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: [\"True\"]}]\n  taints: [{key: not-ready, effect: NoExecute}]\n---\n")
	for i := range 100 {
		fmt.Fprintf(&text, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: member%03d}\nspec: {syncMode: Push, region: region%d}\nstatus:\n"+
			"  conditions: [{type: Ready, status: \"True\", reason: ClusterReady, message: ready, lastTransitionTime: \"2025-12-31T12:00:00Z\"}]\n"+
			"  resourceSummary: {allocatable: {cpu: \"%d\", pods: \"1000000\"}, allocated: {}}\n---\n", i, i%10, workloads*6/100+10)
	}
	for i := range workloads {
		fmt.Fprintf(&text, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: team%d, name: app%06d}\nspec: {replicas: 3, selector: {matchLabels: {app: a}}, "+
			"template: {metadata: {labels: {app: a}}, spec: {containers: [{name: app, image: app, resources: {requests: {cpu: \"1\"}}}]}}}\n---\n", i%20, i)
	}
	text.WriteString("apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n" +
		"  placement: {spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 2}], replicaScheduling: {replicaSchedulingType: Divided, " +
		"replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}}\n")
	return []byte(text.String())
}

// BenchmarkWhatIf loses one of 100 clusters. Read is the reading of the manifests, predict the prediction, and replay the baseline: one
// replay of the fleet and its outage from the same manifests, of which nothing is concluded.
func BenchmarkWhatIf(b *testing.B) {
	for _, workloads := range []int{10_000, 100_000} {
		if testing.Short() && workloads > 10_000 {
			continue
		}
		text := large(workloads)
		source := scenario.Source{Read: func(string) ([]byte, error) { return text, nil }}
		var fleet *scenario.Scenario
		b.Run(fmt.Sprintf("%d/read", workloads), func(b *testing.B) {
			for b.Loop() {
				var problems manifest.Problems
				fleet, problems = source.Fleet([]string{"fleet.yaml"})
				require.Empty(b, problems)
			}
		})
		var baseline float64
		b.Run(fmt.Sprintf("%d/replay", workloads), func(b *testing.B) {
			for b.Loop() {
				lost := &scenario.Outage{Target: scenario.Target{Clusters: []messages.ClusterName{"member001"}}, Kind: messages.OutagePower}
				s := *fleet
				s.Timeline = []scenario.Step{{At: forecast.Lead, Action: lost}}
				_, err := replay.Play(&s, replay.Options{Seed: 1, Unwatched: true, Until: forecast.Lead + forecast.Horizon})
				require.NoError(b, err)
			}
			baseline = b.Elapsed().Seconds() / float64(b.N)
		})
		b.Run(fmt.Sprintf("%d/predict", workloads), func(b *testing.B) {
			for b.Loop() {
				c := asked(b, "lose cluster=member001")
				c.Fleet = fleet
				p, err := Run(context.Background(), c)
				require.NoError(b, err)
				require.NotEmpty(b, p.Evictions)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/baseline, "x-replay")
		})
	}
}
