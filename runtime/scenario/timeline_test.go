package scenario_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
)

// instants returns when the steps of a timeline fire.
func instants(s *scenario.Scenario) string {
	at := make([]string, len(s.Timeline))
	for i := range s.Timeline {
		at[i] = span.String(s.Timeline[i].At)
	}
	return strings.Join(at, " ")
}

func TestWhenStepsFire(t *testing.T) {
	for written, want := range map[string]string{
		"  timeline: [{at: 0, restart: true}]":                                       "0s",
		"  timeline: [{every: 5m, until: 10m, restart: true}]":                       "0s 5m 10m",
		"  timeline: [{every: 5m, until: 9m59s, restart: true}]":                     "0s 5m",
		"  timeline: [{every: 5m, from: 2m, until: 12m, restart: true}]":             "2m 7m 12m",
		"  timeline: [{every: 5m, from: 2m, until: 2m, restart: true}]":              "2m",
		"  duration: 20s\n  timeline: [{every: 10s, restart: true}]":                 "0s 10s 20s",
		"  duration: 20s\n  timeline: [{every: 10s, until: 12s, restart: true}]":     "0s 10s",
		"  duration: 1d\n  timeline: [{every: 0.5d, from: 1h, restart: true}]":       "1h 13h",
		"  timeline: [{at: 2s, restart: true}, {every: 1s, until: 2s, restart: {}}]": "0s 1s 2s 2s",
	} {
		require.Equal(t, want, instants(read(t, written+"\n")), written)
	}
}

func TestAMillionStepsAreEnough(t *testing.T) {
	require.Len(t, read(t, "  timeline: [{every: 1s, until: 999999s, restart: true}]\n").Timeline, 1_000_000)
	_, problems := world("  timeline: [{every: 1s, until: 999998s, restart: true}, {every: 1s, until: 1s, restart: true}]\n").decode("s.yaml")
	require.EqualError(t, problems, "s.yaml:6: Scenario s: spec.timeline[1]: fires 2 times; a timeline has at most 1000000 steps")
}

func TestAnchorsAndMergesAreYAMLsOwn(t *testing.T) {
	s := read(t, `  timeline:
  - &down {at: 1m, condition: &ready {cluster: us-1, type: Ready, status: "False"}}
  - *down
  - {at: 2m, condition: {<<: *ready, status: "True"}}
`)
	require.Equal(t, "1m 1m 2m", instants(s))
	require.Equal(t, &scenario.Condition{Target: scenario.Target{Clusters: []messages.ClusterName{"us-1"}}, Type: "Ready", Status: "True"}, s.Timeline[2].Action)
	require.Equal(t, "s.yaml:7", s.Timeline[1].Source(), "an alias stands where its anchor does")
}

func TestScenariosMayBeItemsOfAList(t *testing.T) {
	f := files{"s.yaml": `apiVersion: v1
kind: List
items:
- apiVersion: leeward.dev/v1alpha1
  kind: Scenario
  metadata: {name: s}
  spec:
    fleet: [{name: a}]
    config: {evictionWorkers: 2}
    timeline:
    - {at: 1m, restart: true}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: c}
`}
	scenarios, problems := f.decode("s.yaml")
	require.Empty(t, problems)
	require.Equal(t, "s.yaml:9", scenarios[0].Config[0].Source)
	require.Equal(t, "s.yaml:11", scenarios[0].Timeline[0].Source())
	require.Equal(t, []string{"ConfigMap default/c", "Cluster a"}, keys(scenarios[0].Objects))

	f["s.yaml"] = strings.Replace(f["s.yaml"], "restart: true", "cordon: {cluster: b}", 1)
	_, problems = f.decode("s.yaml")
	require.EqualError(t, problems, `s.yaml:11: Scenario s: items[0].spec.timeline[0].cordon.cluster: there is no cluster "b"; there is a`)
}

func TestScenariosMayBeJSON(t *testing.T) {
	f := files{"s.json": `{
  "apiVersion": "leeward.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"},
  "spec": {
    "fleet": [{"name": "a"}],
    "timeline": [{"at": "1m", "condition": {"cluster": "a", "type": "Ready", "status": "False"}}],
    "expect": [{"at": "1m", "taint": {"cluster": "b", "key": "x"}}]
  }
}`}
	_, problems := f.decode("s.json")
	require.EqualError(t, problems, `s.json:6: Scenario s: spec.expect[0].taint.cluster: there is no cluster "b"; there is a`)
}

func TestIncludesAreSortedAndMayLieElsewhere(t *testing.T) {
	cm := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
	}
	f := files{
		"a/b/s.yaml":     head + "  include: [../fleet/*.yaml, one.yaml, ../fleet/x.yaml]\n",
		"a/fleet/z.yaml": cm("z"), "a/fleet/x.yaml": cm("x"), "a/b/one.yaml": cm("one"), "a/b/two.yaml": cm("two"),
	}
	scenarios, problems := f.decode("a/b/s.yaml")
	require.Empty(t, problems)
	require.Equal(t, []string{"ConfigMap default/x", "ConfigMap default/z", "ConfigMap default/one"}, keys(scenarios[0].Objects))
	require.Equal(t, "a/fleet/x.yaml", scenarios[0].Objects[0].Place.File)
}

func TestObjectsAreWhereTheAPIServerPutsThem(t *testing.T) {
	f := files{"s.yaml": head + "  fleet: [{name: a}]\n---\n" + deployment + `---
apiVersion: v1
kind: Namespace
metadata: {name: shop, namespace: nonsense}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: p}
spec: {taints: [{key: a, effect: NoSchedule}]}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
`}
	scenarios, problems := f.decode("s.yaml")
	require.Empty(t, problems)
	require.Equal(t, []string{"Deployment default/nginx", "Namespace shop", "ClusterTaintPolicy p", "Widget default/w", "Cluster a"}, keys(scenarios[0].Objects))
}

func TestClustersOfAFleetShareNothing(t *testing.T) {
	f := files{"s.yaml": head + "  fleet: [{name: 'a{1..2}', labels: {x: z}, zones: [q], taints: ['a:NoExecute'], allocated: {cpu: 1}}]\n"}
	scenarios, _ := f.decode("s.yaml")
	one, two := scenarios[0].Objects[0].Object.(*api.Cluster), scenarios[0].Objects[1].Object.(*api.Cluster)
	one.Labels["x"], one.Spec.Zones[0], one.Spec.Taints[0].Key = "changed", "changed", "changed"
	one.Status.Conditions[0].Reason = "changed"
	delete(one.Status.ResourceSummary.Allocated, "cpu")
	delete(one.Status.ResourceSummary.Allocatable, "cpu")
	require.Equal(t, "z", two.Labels["x"])
	require.Equal(t, "q", two.Spec.Zones[0])
	require.Equal(t, "a", two.Spec.Taints[0].Key)
	require.Equal(t, "ClusterReady", two.Status.Conditions[0].Reason)
	require.Equal(t, "1", two.Status.ResourceSummary.Allocated.Cpu().String())
	require.Equal(t, "1k", two.Status.ResourceSummary.Allocatable.Cpu().String())
}

// What a step or an entry with a slip would have defined is not missed elsewhere.
func TestASlipBringsNoFurtherProblems(t *testing.T) {
	for spec, want := range map[string]string{
		"  fleet: [{name: x, colour: red}]\n  timeline: [{at: 1s, cordon: {cluster: x}}]\n": `s.yaml:5: Scenario s: spec.fleet[0].colour: unknown field`,
		"  fleet: [{name: 'x{'}]\n  timeline: [{at: 1s, cordon: {cluster: x1}}]\n":          `s.yaml:5: Scenario s: spec.fleet[0].name: "x{" does not close its brace`,
		`  timeline:
  - {at: 1s, apply: {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: x}, spec: {colour: red}}}
  - {at: 2s, cordon: {cluster: x}}
`: `s.yaml:6: Scenario s: spec.timeline[0].apply.spec.colour: unknown field`,
	} {
		_, problems := files{"s.yaml": head + spec}.decode("s.yaml")
		require.EqualError(t, problems, want)
	}
}
