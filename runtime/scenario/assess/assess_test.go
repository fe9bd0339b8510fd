package assess

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// assessed is the assessment of a fleet, and its text.
func assessed(t *testing.T, text string, edit ...func(*Config)) (*Assessment, string) {
	t.Helper()
	c := Config{Fleet: read(t, text), Seed: 1, Outage: messages.OutagePower, Startup: 30 * time.Second}
	for _, e := range edit {
		e(&c)
	}
	a, err := Run(context.Background(), c)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, WriteText(&out, a, true))
	return a, out.String()
}

// of is the outcome of a contingency.
func of(t *testing.T, a *Assessment, name string) *Outcome {
	t.Helper()
	for _, o := range a.Contingencies {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("no contingency %q", name)
	return nil
}

// three are clusters in two regions.
var three = taintPolicy + cluster("eu-1", "eu", 10) + cluster("eu-2", "eu", 10) + cluster("us-1", "us", 10)

func TestALossThatIsSurvivedTellsWhatMovesAndForHowLongReplicasAreMissing(t *testing.T) {
	a, text := assessed(t, three+deployment("shop", "web", 4, divided(2)))
	lost := 0
	for _, name := range []string{"cluster eu-1", "cluster eu-2", "cluster us-1"} {
		o := of(t, a, name)
		if o.Lost.Workloads == 0 {
			require.False(t, o.Changes(), name)
			continue
		}
		lost++
		require.Equal(t, Count{1, 2}, o.Lost, name)
		require.Equal(t, Count{1, 2}, o.Evicted, name)
		require.Equal(t, Count{1, 2}, o.Rescheduled, name)
		require.Equal(t, 0.5, o.Lowest, name)
		require.NotNil(t, o.AvailableAfter, name)
		require.Greater(t, time.Duration(*o.AvailableAfter), 30*time.Second, "the copy starts after the failure was noticed")
		require.False(t, o.Hurts(), name)
		require.Equal(t, []Share{{"shop", 1, 0, 0.5}}, o.Groups)
	}
	require.Equal(t, 2, lost)
	require.Contains(t, text, "spread over more than one region")
}

func TestTooLittleCapacityIsTold(t *testing.T) {
	a, text := assessed(t, three+deployment("shop", "web", 24, divided(3)))
	o := of(t, a, "region eu")
	require.Equal(t, Count{1, 14}, o.Unschedulable)
	require.Equal(t, Count{1, 14}, o.Unavailable)
	require.Nil(t, o.AvailableAfter)
	require.Equal(t, a.Contingencies[0], o, "it is the worst")
	require.Contains(t, text, "losing region eu leaves 14 cpu too little: us-1 full")
	require.Contains(t, text, "predicted:   shop/web-deployment  14 replicas, unschedulable: ")
}

func TestWorkloadsThatNothingEvictsAreTold(t *testing.T) {
	a, text := assessed(t, strings.TrimPrefix(three, taintPolicy)+deployment("shop", "web", 4, divided(2)))
	o := of(t, a, a.Contingencies[0].Name)
	require.Equal(t, Stays, o.Troubles[0].Kind)
	require.Zero(t, o.Evicted)
	require.Contains(t, text, "no policy reacts to that")
	require.Contains(t, text, "1 workload is affected: shop/web-deployment")
}

func TestATolerationWithoutAnEndIsToldWithItsLine(t *testing.T) {
	placement := strings.Replace(divided(1), "{", "{clusterTolerations: [{key: not-ready, operator: Exists}], ", 1)
	a, text := assessed(t, three+deployment("shop", "web", 4, placement))
	require.Equal(t, Tolerates, a.Contingencies[0].Troubles[0].Kind)
	require.Regexp(t, `give the toleration tolerationSeconds, or drop it \(policy shop/web, fleet.yaml:\d+\)`, text)
	require.Contains(t, text, "shop/web-deployment tolerates not-ready:NoExecute without an end")
}

func TestAQuotaThatIsTooLowIsTold(t *testing.T) {
	text, err := os.ReadFile("../../../scenarios/simulation/no-share-returns-while-replicas-wait.yaml")
	require.NoError(t, err)
	_, out := assessed(t, string(text))
	require.Contains(t, out, "raise the quota, or lower what workloads request")
	require.NotContains(t, out, "add capacity")
}

func TestAFleetThatIsNotAtRestSaysSo(t *testing.T) {
	text, err := os.ReadFile("../../../scenarios/simulation/an-unhealthy-copy-does-not-hide-a-taint.yaml")
	require.NoError(t, err)
	a, out := assessed(t, string(text))
	require.Equal(t, 1, a.Fleet.Moving)
	require.Contains(t, out, "1 workload is evicted before anything fails, and the fleet is not at rest")
}

func TestAWorkloadOnOneClusterIsToldWithItsMaxGroups(t *testing.T) {
	a, text := assessed(t, three+deployment("shop", "web", 4, divided(1)))
	require.Equal(t, 1, a.Contingencies[0].Down)
	require.Zero(t, a.Contingencies[0].Lowest)
	require.Regexp(t, `raise maxGroups 1 by cluster, or all replicas fail together \(policy shop/web, fleet.yaml:\d+\)`, text)
}

func TestOnlyASpreadConstraintThatRefusesShouldBeLowered(t *testing.T) {
	const spread, divide = "spreadConstraints: [{spreadByField: region, minGroups: %d, maxGroups: 2}, {spreadByField: cluster, minGroups: 2, maxGroups: 2}]", "replicaScheduling: {replicaSchedulingType: Divided, " +
		"replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}"
	for placement, changes := range map[string][]string{
		"{" + fmt.Sprintf(spread, 2) + ", " + divide + "}":                                                {"lower minGroups 2 by cluster, or allow more", "lower minGroups 2 by region, or allow more"},
		"{clusterAffinity: {clusterNames: [eu-1, us-1]}, " + fmt.Sprintf(spread, 1) + ", " + divide + "}": {"lower minGroups 2 by cluster, or allow more"},
		"{clusterAffinity: {clusterNames: [eu-1]}, " + divide + "}":                                       {"widen the placement: the clusters that remain do not fit"},
	} {
		a, text := assessed(t, three+deployment("shop", "web", 4, placement))
		var told []string
		for _, at := range a.Advice {
			if strings.HasPrefix(at.Change, "lower") || strings.HasPrefix(at.Change, "widen") {
				told = append(told, at.Change)
			}
		}
		require.Equal(t, changes, told, text)
	}
	_, text := assessed(t, three+deployment("shop", "web", 4, "{clusterAffinity: {clusterNames: [eu-1, eu-2]}, spreadConstraints: [{spreadByField: cluster, minGroups: 2, maxGroups: 2}], "+divide+"}"))
	require.Contains(t, text, "widen the placement", "of the region, which has no other")
	require.Contains(t, text, "lower minGroups 2 by cluster", "of one of both")
	require.False(t, short("0/2 clusters are available: 2 cluster(s) did not have the API resource"))
}

func TestEvidenceIsAboutItsWorkloadAndWhatLastsComesFirst(t *testing.T) {
	first := "{clusterAffinities: [{affinityName: a, clusterNames: [eu-1]}, {affinityName: b, clusterNames: [us-1]}]}"
	text := taintPolicy
	for _, name := range []string{"a", "b", "c"} {
		text += deployment("shop", name, 1, first)
	}
	a, out := assessed(t, cluster("eu-1", "eu", 100)+cluster("eu-2", "eu", 100)+cluster("us-1", "us", 100)+text+deployment("shop", "stuck", 1, "{clusterAffinity: {clusterNames: [eu-1]}}"))
	require.Contains(t, out, "losing cluster eu-1 takes all replicas of shop/a-deployment, for 1m10s\n")
	require.Contains(t, out, "losing cluster eu-1 takes all replicas of shop/stuck-deployment, for as long as the outage lasts\n")
	for i, change := range []string{"spread over more than one cluster", "spread over more than one region", "widen the placement"} {
		require.Contains(t, a.Advice[i].Change, change, out)
		require.Contains(t, a.Advice[i].Evidence[0], "stuck", out)
	}
	require.Contains(t, out, "1 replica, unschedulable: ")
}

func TestAClusterOfWhichMoreIsRequestedThanItHasOverflows(t *testing.T) {
	a, text := assessed(t, three+deployment("shop", "web", 12, `{spreadConstraints: [{spreadByField: region, maxGroups: 1, minGroups: 1}, {spreadByField: cluster, maxGroups: 1, minGroups: 1}]}`))
	require.NotEmpty(t, a.Contingencies[0].Overflows, text)
	require.Contains(t, text, "overflows: 12 of 10 cpu requested")
}

func TestABreakerThatStopsEvictionsIsTold(t *testing.T) {
	four := three + cluster("us-2", "us", 100)
	a, text := assessed(t, strings.ReplaceAll(four, `"us"`, `"eu"`)+cluster("asia-1", "asia", 100)+deployment("shop", "web", 8, divided(5)))
	o := of(t, a, "region eu")
	require.NotEmpty(t, o.Breakers)
	require.Equal(t, Blocked, o.Troubles[0].Kind)
	require.Contains(t, text, "raise unhealthyClusterThreshold 0.55, or have more clusters: evictions stop while so many are unhealthy")
}

func TestAResourceWithoutReplicasIsUnavailableWhereNoClusterHasIt(t *testing.T) {
	config := `
apiVersion: v1
kind: ConfigMap
metadata: {namespace: shop, name: settings}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {namespace: shop, name: settings}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  placement: {clusterAffinity: {clusterNames: [us-1]}}
---`
	a, text := assessed(t, three+config)
	o := of(t, a, "cluster us-1")
	require.Equal(t, Count{1, 0}, o.Unavailable, text)
	require.Zero(t, of(t, a, "cluster eu-1").Unavailable)
}

func TestWorkloadsAreGroupedByALabel(t *testing.T) {
	gold := strings.Replace(deployment("shop", "web", 4, divided(2)), "name: web}", "name: web, labels: {tier: gold}}", 1)
	a, _ := assessed(t, three+gold+deployment("shop", "cart", 2, divided(2)), func(c *Config) { c.By = "tier" })
	var groups []string
	for _, s := range of(t, a, "region eu").Groups {
		groups = append(groups, s.Group)
		require.Equal(t, 1, s.Workloads)
	}
	require.Equal(t, []string{"", "gold"}, groups)
	require.Equal(t, "tier", a.By)
}

func TestADumpIsAssessedAsTheManifestsThatItIsOf(t *testing.T) {
	text, err := os.ReadFile("../../../docs/examples/fleet.yaml")
	require.NoError(t, err)
	original := read(t, string(text))
	run, err := replay.Play(original, replay.Options{Seed: 1, Until: time.Hour})
	require.NoError(t, err)
	dump := &scenario.Scenario{}
	for _, o := range run.Objects {
		switch o.(type) {
		case *api.Cluster, *api.ClusterTaintPolicy, *api.ResourceBinding:
			dump.Objects = append(dump.Objects, manifest.Document{Object: o})
		}
	}
	of := func(s *scenario.Scenario) []*Outcome {
		a, err := Run(context.Background(), Config{Fleet: s, Seed: 1, Outage: messages.OutagePower, Startup: 20 * time.Second})
		require.NoError(t, err)
		return a.Contingencies
	}
	require.Equal(t, of(original), of(dump))
}

func TestCopiesThatWereUnhealthyBeforeAreNoConsequence(t *testing.T) {
	ill := `
apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: ill}
spec:
  description: A cluster on which copies are unhealthy.
  fleet: [{name: eu-1, health: Unhealthy}, {name: us-1}]
---` + taintPolicy + deployment("shop", "web", 2, `{clusterAffinity: {clusterNames: [eu-1]}}`)
	a, _ := assessed(t, ill)
	require.Zero(t, of(t, a, "cluster eu-1").Unavailable)
	require.Zero(t, of(t, a, "cluster us-1").Lost)
}

func TestTheSameSeedGivesTheSameBytesHoweverManyRunTogether(t *testing.T) {
	text := large(10, 60)
	encoded := func(jobs int) string {
		a, _ := assessed(t, text, func(c *Config) { c.Jobs, c.Pairs = jobs, true })
		all, err := json.Marshal(a)
		require.NoError(t, err)
		return string(all)
	}
	require.Equal(t, encoded(1), encoded(4))
}

func TestFilesAndTheFleetAreNotChanged(t *testing.T) {
	c := Config{Fleet: read(t, large(10, 60)), Seed: 1, Outage: messages.OutagePower}
	f, _, err := settle(context.Background(), &c)
	require.NoError(t, err)
	encoded := func() string {
		all, err := json.Marshal([]any{f.objects, c.Fleet.Objects, f.clusters})
		require.NoError(t, err)
		return string(all)
	}
	before := encoded()
	all := contingencies(f.clusters, true)
	for i := range all {
		_, err := f.try(context.Background(), &all[i])
		require.NoError(t, err)
	}
	require.Equal(t, before, encoded())
}

func TestContingenciesAreThePartsThatLeaveAFleet(t *testing.T) {
	at := func(name, region, provider string, zones ...string) *api.Cluster {
		c := &api.Cluster{}
		c.Name, c.Spec.Region, c.Spec.Provider, c.Spec.Zones = name, region, provider, zones
		return c
	}
	clusters := []*api.Cluster{at("a", "eu", "p", "1"), at("b", "eu", "p", "2"), at("c", "us", "p", "1"), at("d", "", "p", "1", "2")}
	names := func(pairs bool) (names []string) {
		for _, c := range contingencies(clusters, pairs) {
			names = append(names, c.Name)
		}
		return names
	}
	single := []string{"cluster a", "cluster b", "cluster c", "cluster d", "region eu", "region us", "zone eu/1", "zone eu/2", "zone us/1"}
	require.Equal(t, single, names(false), "the only provider is none, and who is in two zones outlives each")
	require.Equal(t, append(single, "clusters a and b", "clusters a and c", "clusters a and d", "clusters b and c", "clusters b and d", "clusters c and d",
		"regions eu and us", "zones eu/1 and eu/2", "zones eu/1 and us/1", "zones eu/2 and us/1"), names(true))
}

func TestAFleetThatCannotBeAssessedIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		deployment("shop", "web", 1, divided(1)):                          "holds no Cluster",
		strings.Replace(three, `{key: not-ready`, `{key: "not ready"`, 1): "fleet.yaml",
	} {
		_, err := Run(context.Background(), Config{Fleet: read(t, text), Outage: messages.OutagePower})
		var invalid *Invalid
		require.ErrorAs(t, err, &invalid)
		require.ErrorContains(t, err, want)
	}
}

func TestWhatAnAssessmentNamesIsBounded(t *testing.T) {
	var clusters []*api.Cluster
	for i := range 400 {
		c := &api.Cluster{}
		c.Name = fmt.Sprint(i)
		clusters = append(clusters, c)
	}
	require.Greater(t, len(contingencies(clusters, true)), mostContingencies)
	var text strings.Builder
	for i := range 400 {
		text.WriteString(cluster(fmt.Sprintf("c%d", i), "", 1))
	}
	_, err := Run(context.Background(), Config{Fleet: read(t, text.String()), Outage: messages.OutagePower, Pairs: true})
	require.ErrorContains(t, err, "80200 contingencies are more than 50000: omit pairs")

	o := &Outcome{Troubles: make([]Trouble, mostTroubles+7)}
	o.cut()
	require.Len(t, o.Troubles, mostTroubles)
	require.Equal(t, 7, o.Unnamed)
	o.cut()
	require.Equal(t, 7, o.Unnamed)
}

func TestThirtyPoliciesWithOneFaultAreOneChange(t *testing.T) {
	var text strings.Builder
	for i := range 30 {
		text.WriteString(deployment("shop", fmt.Sprintf("web%02d", i), 1, divided(1)))
	}
	a, _ := assessed(t, three+text.String())
	i := slices.IndexFunc(a.Advice, func(at Advice) bool { return strings.HasPrefix(at.Change, "raise maxGroups 1 by cluster") })
	require.GreaterOrEqual(t, i, 0)
	require.Len(t, a.Advice[i].Workloads, 30)
	require.Len(t, a.Advice[i].Where, mostPlaces)
	require.Len(t, a.Advice[i].Evidence, mostEvidence)
	var short bytes.Buffer
	require.NoError(t, WriteText(&short, a, false))
	require.Contains(t, short.String(), "; and 17 more)")
}

func TestAFleetWhoseClustersHaveNodesIsRefused(t *testing.T) {
	all, _, problems := scenario.Find("../../../scenarios/tiers/a-rack-a-zone-a-cluster-a-region.yaml")
	require.Empty(t, problems)
	_, err := Run(context.Background(), Config{Fleet: all[0], Outage: messages.OutagePower})
	require.ErrorContains(t, err, "clusters have nodes of their own")
}

func TestAnAssessmentThatIsInterruptedEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	c := Config{Fleet: read(t, large(10, 20)), Outage: messages.OutagePower, Jobs: 2, Progress: func(done, _ int) {
		if done == 2 {
			stop()
		}
	}}
	_, err := Run(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
}
