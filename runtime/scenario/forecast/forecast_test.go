package forecast_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
)

const dump = `apiVersion: v1
kind: List
items:
- apiVersion: cluster.karmada.io/v1alpha1
  kind: Cluster
  metadata: {name: m1}
  spec: {syncMode: Push}
  status: {resourceSummary: {allocatable: {cpu: "8"}, allocated: {cpu: "3"}}}
- apiVersion: work.karmada.io/v1alpha2
  kind: ResourceBinding
  metadata:
    {name: web-deployment, namespace: shop, annotations: {propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: web}}
  spec:
    resource: {apiVersion: apps/v1, kind: Deployment, name: web, namespace: shop}
    replicas: 2
    replicaRequirements: {resourceRequest: {cpu: "1"}}
    clusters: [{name: m1, replicas: 2}]
  status: {aggregatedStatus: [{clusterName: m1, applied: true, health: Healthy, status: {replicas: 2, readyReplicas: 2, availableReplicas: 2}}]}
`

func decoded(t *testing.T, text string) []manifest.Document {
	t.Helper()
	documents, problems := manifest.NewDecoder(manifest.FleetKinds()).Decode("dump.yaml", []byte(text))
	require.Empty(t, problems)
	return documents
}

// What copies take of a cluster is in what it reports: figures count it once, whether the profile reserves capacity or not.
func TestWhatCopiesTakeIsCountedOnce(t *testing.T) {
	for profile, reported := range map[string]int64{"leeward": 1, "karmada": 3} {
		f, err := forecast.Prepare(&scenario.Scenario{Objects: decoded(t, dump)}, profile, nil, 0)
		require.NoError(t, err)
		c := f.Objects[0].Object.(*api.Cluster)
		cpu := c.Status.ResourceSummary.Allocated[corev1.ResourceCPU]
		require.Equal(t, reported, cpu.Value(), "what the scheduler sees in %s", profile)
		_, others := forecast.CapacityOf(f.Others(c))
		cpu = others[corev1.ResourceCPU]
		require.EqualValues(t, 1, cpu.Value(), profile)
	}
}

func TestQuantitiesAreReadable(t *testing.T) {
	for units, want := range map[int64]string{250: "250m", 9500: "9500m", 48_000: "48", 149_250: "149.25", -12_500: "-12.5"} {
		require.Equal(t, want, forecast.Quantity(corev1.ResourceCPU, units))
	}
}

// A policy for resources of which a dump has the bindings alone would change nothing, and a prediction would say so.
func TestAPolicyNeedsItsResources(t *testing.T) {
	policy := func(name, selector string) string {
		return "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name + ", namespace: shop}\nspec: {resourceSelectors: [" + selector + "], placement: {}}\n"
	}
	const all, others = "{apiVersion: apps/v1, kind: Deployment}", "{apiVersion: apps/v1, kind: StatefulSet}"
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}\n"
	fleet := decoded(t, dump)
	err := forecast.Claims(fleet, decoded(t, policy("new", all)))
	require.EqualError(t, err, "dump.yaml:3: PropagationPolicy shop/new: selects resources of which the fleet has the bindings alone (1): read them, too (kubectl get deployments -A -o yaml)")
	require.ErrorContains(t, forecast.Claims(fleet, decoded(t, policy("web", others))), "shop/web", "which has the binding")
	require.NoError(t, forecast.Claims(fleet, decoded(t, policy("new", others))))
	require.NoError(t, forecast.Claims(append(fleet, decoded(t, web)...), decoded(t, policy("new", all))))
	require.NoError(t, forecast.Claims(scenario.FleetOf([]api.Object{fleet[0].Object, fleet[1].Object}, "server").Objects, decoded(t, policy("new", all))), "a server lists what it can")
}
