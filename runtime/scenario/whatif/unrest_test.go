package whatif

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario"
)

// dump is a fleet as kubectl shows it in the middle of an outage: a is being evicted from m1, which was tainted at noon, and b tolerates
// that taint for three hours.
const dump = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
spec: {syncMode: Push, taints: [{key: bad, effect: NoExecute, timeAdded: "2026-01-01T12:00:00Z"}]}
status: {conditions: [{type: Ready, status: "True", reason: R, message: M, lastTransitionTime: "2026-01-01T11:00:00Z"}], resourceSummary: {allocatable: {pods: "100"}}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m2}
spec: {syncMode: Push}
status: {conditions: [{type: Ready, status: "True", reason: R, message: M, lastTransitionTime: "2026-01-01T11:00:00Z"}], resourceSummary: {allocatable: {pods: "100"}}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m3}
spec: {syncMode: Push}
status: {conditions: [{type: Ready, status: "True", reason: R, message: M, lastTransitionTime: "2026-01-01T11:00:00Z"}], resourceSummary: {allocatable: {pods: "100"}}}
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {namespace: shop, name: a-deployment, uid: u1, resourceVersion: "7", generation: 2, labels: {tier: front}}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: a, uid: d1}
  replicas: 2
  clusters: [{name: m2, replicas: 2}]
  placement: {spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}
  gracefulEvictionTasks: [{fromCluster: m1, replicas: 2, reason: TaintUntolerated, producer: TaintManager, creationTimestamp: "2026-01-01T12:00:00Z", clustersBeforeFailover: [m1]}]
status:
  aggregatedStatus: [{clusterName: m1, health: Healthy, applied: true, status: {readyReplicas: 2, replicas: 2}}]
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {namespace: shop, name: b-deployment, uid: u2, resourceVersion: "8", generation: 1}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: b, uid: d2}
  replicas: 1
  clusters: [{name: m1, replicas: 1}]
  placement:
    clusterTolerations: [{key: bad, operator: Exists, effect: NoExecute, tolerationSeconds: 10800}]
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
status:
  aggregatedStatus: [{clusterName: m1, health: Healthy, applied: true, status: {readyReplicas: 1, replicas: 1}}]
`

// unrest is a prediction about that fleet.
func unrest(t *testing.T, changes ...string) *Prediction {
	t.Helper()
	source := scenario.Source{Read: func(string) ([]byte, error) { return []byte(dump), nil }}
	fleet, problems := source.Fleet([]string{"dump.yaml"})
	require.Empty(t, problems)
	c := asked(t, changes...)
	c.Fleet = fleet
	p, err := Run(context.Background(), c)
	require.NoError(t, err)
	return p
}

// What is due without the changes is no consequence of them: b is evicted from m1 in any case, two hours after the prediction begins.
func TestAFleetThatIsNotAtRest(t *testing.T) {
	p := unrest(t, "taint m3=full:NoSchedule")
	require.Empty(t, p.Evictions, "the eviction from m1 is none of it")

	p = unrest(t, "drain m2")
	var told []string
	for _, e := range p.Evictions {
		told = append(told, time.Duration(e.At).String()+" "+e.String())
	}
	require.Equal(t, []string{"0s shop/a-deployment evicted from m2 (2 replicas) to m3 (2): taint leeward.dev/draining:NoExecute; by system; the cluster is being drained; not tolerated"}, told)
	require.Equal(t, []Move{{"shop/a-deployment", []api.TargetCluster{{Name: "m2", Replicas: 2}}, []api.TargetCluster{{Name: "m3", Replicas: 2}}}}, p.Placements[:1])

	p = unrest(t, "lose m1@3h")
	require.Empty(t, p.Evictions, "b is on another cluster by then, and a was before")
	require.False(t, p.Changed)

	p = unrest(t, "lose m1@1h")
	require.Equal(t, []messages.BindingName{"shop/b-deployment"}, p.Down, "b is not available until its toleration ends")
}

func TestGroupsOfAPredictionByLabel(t *testing.T) {
	c := asked(t, "drain eu-1")
	labelled := func(name, tier string) {
		for _, d := range c.Fleet.Objects {
			if d.Object.GetName() == name && d.Object.GetObjectKind().GroupVersionKind().Kind == "Deployment" {
				d.Object.SetLabels(map[string]string{"tier": tier})
			}
		}
	}
	labelled("web", "front")
	labelled("cart", "front")
	c.By = "label:tier"
	p, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, []Group{{Group: "", Evictions: 1, Replicas: 9}, {Group: "front", Evictions: 1, Replicas: 4}}, p.Groups, "data/report has no such label")
	var text strings.Builder
	require.NoError(t, WriteText(&text, p, false))
	require.Contains(t, text.String(), "BY LABEL tier")
	require.Contains(t, text.String(), "predicted: -")
}

func TestWhatADumpGroupsByALabelOfItsBindings(t *testing.T) {
	source := scenario.Source{Read: func(string) ([]byte, error) { return []byte(dump), nil }}
	fleet, problems := source.Fleet([]string{"dump.yaml"})
	require.Empty(t, problems)
	c := asked(t, "drain m2")
	c.Fleet, c.By = fleet, "label:tier"
	p, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, "front", p.Groups[0].Group, "a dump has no Deployments")
}

func TestSamplesVaryTheSeedAndSaySo(t *testing.T) {
	c := asked(t, "lose eu-1")
	c.Startup, c.Samples = 0, 5
	for name, b := range c.Fleet.Members {
		b.StartupMin, b.StartupMax = time.Second, 5*time.Minute
		c.Fleet.Members[name] = b
	}
	p, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, 5, p.Samples.Seeds)
	require.Zero(t, p.Samples.Never)
	require.Less(t, *p.Samples.Median, *p.Samples.Worst)
	require.GreaterOrEqual(t, *p.Samples.Worst, *p.AvailableAfter)
	var each []time.Duration
	for seed := range uint64(5) {
		c.Seed, c.Samples = 1+seed, 1
		one, err := Run(context.Background(), c)
		require.NoError(t, err)
		each = append(each, time.Duration(*one.AvailableAfter))
		require.Nil(t, one.Samples)
	}
	require.Contains(t, each, time.Duration(*p.Samples.Median))
	require.Contains(t, each, time.Duration(*p.Samples.Worst))
}
