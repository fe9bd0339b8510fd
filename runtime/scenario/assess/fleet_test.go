package assess

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
)

// read is the fleet that a text of manifests, or of a scenario, describes.
func read(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	source := scenario.Source{Read: func(string) ([]byte, error) { return []byte(text), nil }}
	s, problems := source.Fleet([]string{"fleet.yaml"})
	require.Empty(t, problems)
	return s
}

// taintPolicy evicts from clusters that are not Ready.
const taintPolicy = `
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: not-ready}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: not-ready, effect: NoExecute}]
---`

// cluster is the manifest of a cluster with some cpu.
func cluster(name, region string, cpu int) string {
	return fmt.Sprintf(`
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: %s}
spec: {syncMode: Push, region: %q}
status:
  conditions: [{type: Ready, status: "True", reason: ClusterReady, message: ready, lastTransitionTime: "2025-12-31T12:00:00Z"}]
  resourceSummary: {allocatable: {cpu: "%d", pods: "100000"}, allocated: {}}
---`, name, region, cpu)
}

// deployment is the manifest of a workload of one-cpu replicas, with its policy of which placement is the body.
func deployment(namespace, name string, replicas int, placement string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: %[1]s, name: %[2]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec: {containers: [{name: app, image: app, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {namespace: %[1]s, name: %[2]s}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: %[2]s}]
  placement: %[4]s
---`, namespace, name, replicas, placement)
}

// divided places replicas by available capacity, on so many clusters.
func divided(clusters int) string {
	return fmt.Sprintf(`{spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: %d}], replicaScheduling: `+
		`{replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}}`, clusters)
}

// large is a fleet of clusters in ten regions, with workloads of three replicas that share a policy.
func large(clusters, workloads int) string {
	var text strings.Builder
	text.WriteString(taintPolicy)
	for i := range clusters {
		text.WriteString(cluster(fmt.Sprintf("member%03d", i), fmt.Sprintf("region%d", i%10), 3*workloads*2/clusters+10))
	}
	for i := range workloads {
		fmt.Fprintf(&text, "\napiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: team%d, name: app%05d}\n"+
			"spec: {replicas: 3, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: "+
			"[{name: app, image: app, resources: {requests: {cpu: \"1\"}}}]}}}\n---", i%20, i)
	}
	text.WriteString("\napiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n" +
		"  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n  placement: " + divided(2) + "\n")
	return text.String()
}
