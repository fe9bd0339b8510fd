package placement_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

var (
	duplicated = &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Duplicated}
	byWeight   = &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted}
	aggregated = &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Aggregated}
	dynamic    = &api.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
		WeightPreference: &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas},
	}
)

// cluster has capacity for so many pods and no other limit.
func cluster(name string, pods int64) *messages.ClusterView {
	return &messages.ClusterView{Name: messages.ClusterName(name), Resources: &api.ResourceSummary{
		Allocatable: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI)},
	}}
}

func in(region string, v *messages.ClusterView) *messages.ClusterView {
	v.Region = region
	return v
}

func clusters(pods int64, names ...string) []*messages.ClusterView {
	views := make([]*messages.ClusterView, len(names))
	for i, name := range names {
		views[i] = cluster(name, pods)
	}
	return views
}

func fleetOf(views ...*messages.ClusterView) *placement.Fleet {
	f := placement.NewFleet()
	for _, v := range views {
		f.Put(v)
	}
	return f
}

func plannerOver(views ...*messages.ClusterView) *placement.Planner {
	return plannerOf(fleetOf(views...))
}

func plannerOf(f *placement.Fleet) *placement.Planner {
	return placement.NewPlanner(f, &messages.Settings{}, 0)
}

func spread(field api.SpreadField, least, most int) api.SpreadConstraint {
	return api.SpreadConstraint{SpreadByField: field, MinGroups: least, MaxGroups: most}
}

func spreading(s *api.ReplicaSchedulingStrategy, constraints ...api.SpreadConstraint) *api.Placement {
	return &api.Placement{ReplicaScheduling: s, SpreadConstraints: constraints}
}

// refusal is why a cluster does not fit; empty: it does.
type refusal struct {
	cluster messages.ClusterName
	reason  string
}

// refusals judge every cluster by the term that is tried first.
func refusals(p *placement.Planner, r *placement.Request) (all []refusal) {
	for _, c := range p.Explain(noon, r).Terms[0].Clusters {
		all = append(all, refusal{c.Cluster, c.Refused})
	}
	return all
}

func workload(p *api.Placement, replicas int32, previous ...api.TargetCluster) *placement.Request {
	return &placement.Request{Placement: p, Workload: true, Replicas: replicas, Previous: previous}
}

func on(name string, replicas int32) api.TargetCluster {
	return api.TargetCluster{Name: name, Replicas: replicas}
}

func list(targets ...api.TargetCluster) []api.TargetCluster { return targets }

func evicting(r *placement.Request, names ...messages.ClusterName) *placement.Request {
	r.Evicting = names
	return r
}

func outgoing(r *placement.Request, names ...messages.ClusterName) *placement.Request {
	r.Leaving = names
	return r
}

func fresh(r *placement.Request) *placement.Request {
	r.Fresh = true
	return r
}

func TestPlanSelects(t *testing.T) {
	regions := []*messages.ClusterView{
		in("r1", cluster("a", 9)), in("r1", cluster("b", 9)), in("r2", cluster("c", 9)), in("r2", cluster("d", 9)),
	}
	tests := []struct {
		name    string
		views   []*messages.ClusterView
		request *placement.Request
		want    []api.TargetCluster
		reason  string
		message string
	}{
		{
			name:  "no constraint takes every cluster",
			views: clusters(0, "c", "a", "b"), request: workload(spreading(duplicated), 2),
			want: list(on("a", 2), on("b", 2), on("c", 2)),
		},
		{
			name:  "the present cluster stays, then names decide",
			views: clusters(9, "a", "b", "c", "d"), request: workload(spreading(duplicated, spread("cluster", 2, 2)), 2, on("d", 2)),
			want: list(on("a", 2), on("d", 2)),
		},
		{
			name:  "more room is better than an earlier name",
			views: []*messages.ClusterView{cluster("a", 5), cluster("b", 7)}, request: workload(spreading(nil, spread("cluster", 1, 1)), 2),
			want: list(on("b", 2)),
		},
		{
			name:  "a constraint without field or label means clusters",
			views: clusters(9, "a", "b"), request: workload(spreading(nil, spread("", 1, 1)), 2),
			want: list(on("a", 2)),
		},
		{
			name:  "too few clusters",
			views: clusters(9, "a", "b"), request: workload(spreading(duplicated, spread("cluster", 3, 3)), 2),
			reason: api.ReasonSchedulerError, message: "spread constraint cluster asks for 3 clusters, 2 fit",
		},
		{
			name:  "maxGroups left at zero allows no cluster, as in Karmada",
			views: clusters(9, "a", "b"), request: workload(spreading(duplicated, spread("cluster", 1, 0)), 2),
			reason: api.ReasonSchedulerError, message: "spread constraint cluster allows no cluster: its maxGroups is 0",
		},
		{
			name:  "the last chosen gives way to one with more room",
			views: []*messages.ClusterView{cluster("m1", 39), cluster("m2", 29), cluster("m3", 60)},
			request: workload(spreading(dynamic, spread("cluster", 2, 2)), 80,
				on("m1", 1), on("m2", 1)),
			want: list(on("m1", 32), on("m3", 48)),
		},
		{
			name:  "no choice has room enough",
			views: []*messages.ClusterView{cluster("m1", 39), cluster("m2", 29), cluster("m3", 60)},
			request: workload(spreading(dynamic, spread("cluster", 2, 2)), 200,
				on("m1", 1), on("m2", 1)),
			reason: api.ReasonSchedulerError, message: "no 2 clusters have capacity for 200 replicas",
		},
		{
			name:  "static weights ignore spread constraints",
			views: clusters(0, "a", "b"), request: workload(spreading(byWeight, spread("cluster", 1, 1)), 4),
			want: list(on("a", 2), on("b", 2)),
		},
		{
			name:  "the best of each region, then the next best",
			views: regions, request: workload(spreading(duplicated, spread("region", 2, 2), spread("cluster", 2, 3)), 2, on("d", 2)),
			want: list(on("a", 2), on("b", 2), on("d", 2)),
		},
		{
			name:  "more regions than clusters allowed: all the same one of each, as in Karmada",
			views: regions, request: workload(spreading(duplicated, spread("region", 2, 2), spread("cluster", 1, 1)), 2),
			want: list(on("a", 2), on("c", 2)),
		},
		{
			name:  "one region, the one with more clusters that can take it",
			views: append([]*messages.ClusterView{in("r2", cluster("e", 9))}, regions...), request: workload(spreading(nil, spread("region", 1, 1), spread("cluster", 1, 2)), 2),
			want: list(on("c", 2), on("d", 2)),
		},
		{
			name:  "too few regions",
			views: regions[:2], request: workload(spreading(duplicated, spread("region", 2, 2), spread("cluster", 2, 3)), 2),
			reason: api.ReasonSchedulerError, message: "spread constraint region asks for 2 regions, 1 fit",
		},
		{
			name:  "too few clusters in any two regions",
			views: regions, request: workload(spreading(duplicated, spread("region", 1, 2), spread("cluster", 5, 5)), 2),
			reason: api.ReasonSchedulerError, message: "no 1 to 2 regions have 5 clusters that fit",
		},
		{
			name:  "zones alone are not supported, as in Karmada",
			views: []*messages.ClusterView{{Name: "a", Zones: []string{"z"}}}, request: workload(spreading(duplicated, spread("zone", 1, 1)), 2),
			reason: api.ReasonSchedulerError, message: "the spread constraints name neither cluster nor region",
		},
		{
			name:  "nor are labels",
			views: clusters(9, "a"), request: workload(spreading(duplicated, api.SpreadConstraint{SpreadByLabel: "rack", MinGroups: 1, MaxGroups: 1}), 2),
			reason: api.ReasonSchedulerError, message: "the spread constraints name neither cluster nor region",
		},
		{
			name:  "providers are only asked for, not spread over",
			views: []*messages.ClusterView{{Name: "a", Provider: "p"}, {Name: "b"}}, request: workload(spreading(duplicated, spread("provider", 1, 1), spread("cluster", 1, 1)), 2),
			want: list(on("a", 2)),
		},
		{
			name:  "no cluster at all",
			views: nil, request: workload(spreading(duplicated), 2),
			reason: api.ReasonNoClusterFit, message: "0/0 clusters are available: no cluster exists.",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := plannerOver(test.views...).Plan(noon, test.request)
			require.Equal(t, placement.Decision{Targets: test.want, Reason: test.reason, Message: test.message}, d)
		})
	}
}

func TestPlanDivides(t *testing.T) {
	static := &api.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
		WeightPreference: &api.WeightPreference{StaticWeightList: []api.StaticClusterWeight{
			{TargetCluster: api.ClusterAffinity{ClusterNames: []string{"m1"}}, Weight: 1},
			{TargetCluster: api.ClusterAffinity{ClusterNames: []string{"m2"}}, Weight: 1},
			{TargetCluster: api.ClusterAffinity{ClusterNames: []string{"m2"}}, Weight: 2},
			{TargetCluster: api.ClusterAffinity{FieldSelector: &api.FieldSelector{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "invalid"}}}}, Weight: 99},
		}},
	}
	three := []*messages.ClusterView{cluster("m1", 4), cluster("m2", 8), cluster("m3", 12)}
	tests := []struct {
		name    string
		request *placement.Request
		want    []api.TargetCluster
		message string
	}{
		{"by the highest weight that applies; the unlisted gets nothing", workload(spreading(static), 3), list(on("m1", 1), on("m2", 2)), ""},
		{"a lost cluster's share goes to the others, capacity or not", evicting(workload(spreading(static), 30, on("m2", 20)), "m1"), list(on("m2", 30)), ""},
		{"by free capacity", workload(spreading(dynamic), 6), list(on("m1", 1), on("m2", 2), on("m3", 3)), ""},
		{"growing", workload(spreading(dynamic), 18, on("m1", 2), on("m2", 4), on("m3", 6)), list(on("m1", 3), on("m2", 6), on("m3", 9)), ""},
		{"shrinking", workload(spreading(dynamic), 6, on("m1", 2), on("m2", 4), on("m3", 6)), list(on("m1", 1), on("m2", 2), on("m3", 3)), ""},
		{"a target that fits no longer does not count", evicting(workload(spreading(dynamic), 6, on("m1", 2), on("m2", 4)), "m1"), list(on("m2", 5), on("m3", 1)), ""},
		{"onto as few as possible", workload(spreading(aggregated), 15), list(on("m2", 6), on("m3", 9)), ""},
		{"present ones first", workload(spreading(aggregated), 6, on("m1", 3)), list(on("m1", 6)), ""},
		{"afresh, wherever it is", fresh(workload(spreading(aggregated), 6, on("m1", 3))), list(on("m3", 6)), ""},
		{"too little room", workload(spreading(dynamic), 30), nil, "6 of 30 replicas exceed the capacity of the 3 chosen cluster(s)"},
		{"no replicas, no targets", workload(spreading(duplicated), 0), nil, ""},
		{"no replicas any more", workload(spreading(dynamic), 0, on("m1", 3)), nil, ""},
		{"no replicas wanted afresh", workload(spreading(static), 0), nil, ""},
		{"what has no replicas goes everywhere", &placement.Request{Placement: spreading(dynamic)}, list(on("m1", 0), on("m2", 0), on("m3", 0)), ""},
		{"and does not ask for room", &placement.Request{Placement: spreading(dynamic, spread("cluster", 2, 2)), Requirements: requesting(1)}, list(on("m1", 0), on("m2", 0)), ""},
		{"nothing asked for is everywhere", &placement.Request{Workload: true, Replicas: 1}, list(on("m1", 1), on("m2", 1), on("m3", 1)), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := plannerOver(three...).Plan(noon, test.request)
			require.Equal(t, test.want, d.Targets, d.Message)
			require.Equal(t, test.message, d.Message)
			require.Equal(t, test.message != "", d.Reason == api.ReasonUnschedulable)
			require.False(t, d.Clears())
		})
	}
}

func TestPlanRefusesUnknownStrategies(t *testing.T) {
	tests := []struct {
		strategy api.ReplicaSchedulingStrategy
		message  string
	}{
		{api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided}, `replicaScheduling Divided with preference "" is not supported`},
		{api.ReplicaSchedulingStrategy{ReplicaSchedulingType: "Tripled"}, `replicaScheduling Tripled with preference "" is not supported`},
		{
			api.ReplicaSchedulingStrategy{ReplicaSchedulingType: "Tripled", ReplicaDivisionPreference: api.Weighted},
			`replicaScheduling Tripled with preference "Weighted" is not supported`,
		},
	}
	for _, test := range tests {
		d := plannerOver(clusters(9, "a")...).Plan(noon, workload(spreading(&test.strategy), 2))
		require.Equal(t, placement.Decision{Reason: api.ReasonSchedulerError, Message: test.message}, d)
	}
}

func TestPlanOverflowsTierByTier(t *testing.T) {
	term := api.ClusterAffinityTerm{
		AffinityName:    "own",
		ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"own1", "own2"}},
		OverflowAffinities: []api.OverflowAffinity{
			{AffinityName: "rented", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"own2", "cloud1"}}},
			{AffinityName: "dear", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"cloud2"}}},
		},
	}
	views := []*messages.ClusterView{cluster("cloud1", 50), cluster("cloud2", 5), cluster("own1", 4), cluster("own2", 8)}
	tests := []struct {
		name     string
		strategy *api.ReplicaSchedulingStrategy
		request  *placement.Request
		want     []api.TargetCluster
		reason   string
	}{
		{"the own clusters are enough", dynamic, workload(nil, 6), list(on("own1", 2), on("own2", 4)), ""},
		{"the rest goes to the next tier", dynamic, workload(nil, 20), list(on("cloud1", 8), on("own1", 4), on("own2", 8)), ""},
		{"and on to the last", dynamic, workload(nil, 64), list(on("cloud1", 50), on("cloud2", 2), on("own1", 4), on("own2", 8)), ""},
		{"all tiers are full", dynamic, workload(nil, 68), nil, api.ReasonUnschedulable},
		{"aggregated within each tier", aggregated, workload(nil, 14), list(on("cloud1", 2), on("own1", 4), on("own2", 8)), ""},
		{"shrinking leaves the last tier first", dynamic, workload(nil, 6, on("cloud1", 8), on("own1", 4), on("own2", 2)), list(on("own1", 4), on("own2", 2)), ""},
		{"what has no replicas does not overflow", dynamic, &placement.Request{}, list(on("own1", 0), on("own2", 0)), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.request.Placement = &api.Placement{ReplicaScheduling: test.strategy, ClusterAffinities: []api.ClusterAffinityTerm{term}}
			d := plannerOver(views...).Plan(noon, test.request)
			require.Equal(t, test.reason, d.Reason, d.Message)
			require.Equal(t, test.want, d.Targets)
			if d.Reason == "" {
				require.Equal(t, "own", d.Affinity)
			}
		})
	}
}

func TestPlanTriesTermsInOrder(t *testing.T) {
	term := func(name string, names ...string) api.ClusterAffinityTerm {
		return api.ClusterAffinityTerm{AffinityName: name, ClusterAffinity: api.ClusterAffinity{ClusterNames: names}}
	}
	small, gone, large := term("small", "s"), term("gone", "nowhere"), term("large", "l")
	views := []*messages.ClusterView{cluster("l", 100), cluster("s", 2)}
	tests := []struct {
		name     string
		terms    []api.ClusterAffinityTerm
		observed string
		replicas int32
		fresh    bool
		want     string // the term, or the reason
		clears   bool
	}{
		{"the first that will do", []api.ClusterAffinityTerm{small, large}, "", 2, false, "small", false},
		{"the second if the first has no room", []api.ClusterAffinityTerm{small, large}, "", 3, false, "large", false},
		{"the second if nothing fits the first", []api.ClusterAffinityTerm{gone, large}, "", 3, false, "large", false},
		{"never back to one before the one in use", []api.ClusterAffinityTerm{small, large}, "large", 2, false, "large", false},
		{"unless everything is decided afresh", []api.ClusterAffinityTerm{small, large}, "large", 2, true, "small", false},
		{"from the first if the one in use is gone", []api.ClusterAffinityTerm{small, large}, "other", 2, false, "small", false},
		{"from the one in use on, in order", []api.ClusterAffinityTerm{large, small, gone, term("also large", "l")}, "small", 3, false, "also large", false},
		{"not even back to one that would do when all from the one in use on fail", []api.ClusterAffinityTerm{large, small}, "small", 3, false, api.ReasonUnschedulable, false},
		{"of those tried the first error counts, not that of the first term", []api.ClusterAffinityTerm{small, gone, term("also small", "s")}, "gone", 3, false, api.ReasonNoClusterFit, true},
		{"nor that of the last", []api.ClusterAffinityTerm{gone, small, term("gone, too", "nowhere")}, "small", 3, false, api.ReasonUnschedulable, false},
		{"all fail, the first for want of a cluster: the old result is void", []api.ClusterAffinityTerm{gone, small}, "", 3, false, api.ReasonNoClusterFit, true},
		{"all fail, the first for want of room: the old result stays", []api.ClusterAffinityTerm{small, gone}, "", 3, false, api.ReasonUnschedulable, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := workload(&api.Placement{ReplicaScheduling: dynamic, ClusterAffinities: test.terms}, test.replicas)
			r.Affinity, r.Fresh = test.observed, test.fresh
			d := plannerOver(views...).Plan(noon, r)
			if d.Reason != "" {
				require.Equal(t, test.want, d.Reason)
				require.Equal(t, test.observed, d.Affinity, "the term in use stays on record")
			} else {
				require.Equal(t, test.want, d.Affinity)
			}
			require.Equal(t, test.clears, d.Clears())
		})
	}
}

func TestPlanAllocatesOnlyItsResult(t *testing.T) {
	for name, p := range strategies() {
		if name == "nothing fits" {
			continue
		}
		planner := plannerOver(tenthTainted(200)...)
		r := benchmarked(name)
		r.Placement = p
		planner.Plan(noon, r)
		require.LessOrEqual(t, testing.AllocsPerRun(20, func() { planner.Plan(noon, r) }), 1.0, name)
	}
}

func TestDecisionsAreTheCallersOwn(t *testing.T) {
	planner := plannerOver(clusters(9, "a", "b", "c")...)
	first := planner.Plan(noon, workload(spreading(dynamic), 6))
	planner.Plan(noon, workload(spreading(dynamic), 3))
	require.Equal(t, list(on("a", 2), on("b", 2), on("c", 2)), first.Targets)
	first.Targets[0].Name = "scribbled"
	require.Equal(t, "a", planner.Plan(noon, workload(spreading(dynamic), 3)).Targets[0].Name)
}

func TestPlanFollowsTheFleet(t *testing.T) {
	fleet := fleetOf(clusters(9, "b", "c")...)
	planner := placement.NewPlanner(fleet, &messages.Settings{}, 0)
	gold := &api.Placement{ClusterAffinity: &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}}}
	places := func() (names []string) {
		for _, target := range planner.Plan(noon, workload(gold, 1)).Targets {
			names = append(names, target.Name)
		}
		return names
	}
	labelled := func(name, tier string) *messages.ClusterView {
		v := cluster(name, 9)
		v.Labels = map[string]string{"tier": tier}
		return v
	}
	require.Empty(t, places())
	fleet.Put(labelled("c", "gold"))
	require.Equal(t, []string{"c"}, places(), "a label appears")
	fleet.Put(labelled("a", "gold"))
	require.Equal(t, []string{"a", "c"}, places(), "a cluster joins before the others")
	tainted := labelled("a", "gold")
	tainted.Taints = []corev1.Taint{{Key: "failed", Effect: corev1.TaintEffectNoExecute}}
	fleet.Put(tainted)
	require.Equal(t, []string{"c"}, places(), "a taint appears")
	fleet.Put(labelled("a", "gold"))
	require.Equal(t, []string{"a", "c"}, places(), "and goes")
	fleet.Drop("b")
	fleet.Drop("unheard-of")
	require.Equal(t, []string{"a", "c"}, places(), "a cluster leaves, the others move up")
	leaving := labelled("c", "gold")
	leaving.Deleting = true
	fleet.Put(leaving)
	require.Equal(t, []string{"a"}, places(), "a cluster is about to leave")
	for i := range 40 {
		fleet.Put(labelled("a", []string{"iron", "gold"}[i%2]))
	}
	require.Equal(t, []string{"a"}, places(), "labels flap")
	require.Equal(t, 2, fleet.Len())
	require.True(t, fleet.Has("a"))
	require.True(t, fleet.Has("c"))
	require.False(t, fleet.Has("b"))
}

func TestPlanFollowsWhereClustersAre(t *testing.T) {
	is := func(change func(v *messages.ClusterView)) *messages.ClusterView {
		v := cluster("a", 9)
		v.Region, v.Provider, v.Zones = "r1", "p1", []string{"z1"}
		change(v)
		return v
	}
	for key, moved := range map[string]*messages.ClusterView{
		"region":   is(func(v *messages.ClusterView) { v.Region = "new" }),
		"provider": is(func(v *messages.ClusterView) { v.Provider = "new" }),
		"zone":     is(func(v *messages.ClusterView) { v.Zones = []string{"new"} }),
	} {
		t.Run(key, func(t *testing.T) {
			fleet := fleetOf(is(func(*messages.ClusterView) {}))
			planner := plannerOf(fleet)
			request := workload(&api.Placement{ClusterAffinity: &api.ClusterAffinity{FieldSelector: &api.FieldSelector{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{"new"}}},
			}}}, 1)
			require.Empty(t, planner.Plan(noon, request).Targets)
			fleet.Put(moved)
			require.Equal(t, list(on("a", 1)), planner.Plan(noon, request).Targets)
		})
	}
}

// TestARequestIsForgotten: what is asked of a planner does not depend on what it was asked before.
func TestARequestIsForgotten(t *testing.T) {
	planner := plannerOver(clusters(9, "a", "b")...)
	before := evicting(workload(spreading(duplicated), 1), "a")
	ask := map[string]func(){
		"Plan":    func() { planner.Plan(noon, before) },
		"Explain": func() { planner.Explain(noon, before) },
		"Takes":   func() { planner.Takes(noon, before, on("b", 1)) },
	}
	for name, other := range ask {
		t.Run(name, func(t *testing.T) {
			other()
			require.Equal(t, list(on("a", 1), on("b", 1)), planner.Plan(noon, workload(spreading(duplicated), 1)).Targets)
		})
	}
}

func TestPlanTimeDoesNotMatterUnlessDeadlinesAreHonoured(t *testing.T) {
	seconds := int64(30)
	failing := cluster("a", 9)
	failing.Taints = []corev1.Taint{{Key: "failed", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: noon}}}
	tolerant := &api.Placement{ClusterTolerations: []corev1.Toleration{{Key: "failed", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds}}}
	tests := []struct {
		name    string
		honours bool
		after   time.Duration
		request *placement.Request
		want    []api.TargetCluster
		message string
	}{
		{"tolerated so far", true, 30*time.Second - 1, workload(tolerant, 1), list(on("a", 1)), ""},
		{"tolerated no longer", true, 30 * time.Second, workload(tolerant, 1), nil, "0/1 clusters are available: 1 cluster(s) had a taint {failed:NoExecute} whose toleration has expired."},
		{"which Karmada does not look at", false, time.Hour, workload(tolerant, 1), list(on("a", 1)), ""},
		{"who is there leaves by eviction, not by placement", true, time.Hour, workload(tolerant, 1, on("a", 1)), list(on("a", 1)), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			planner := placement.NewPlanner(fleetOf(failing), &messages.Settings{PlacementHonoursDeadlines: test.honours}, 0)
			d := planner.Plan(noon.Add(test.after), test.request)
			require.Equal(t, test.want, d.Targets)
			require.Equal(t, test.message, d.Message)
		})
	}
}

func TestPlanManyPlacements(t *testing.T) {
	planner := plannerOver(clusters(9, "a", "b")...)
	lasting := &api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: []string{"b"}}}
	for range 5000 {
		passing := &api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: []string{"a"}}}
		require.Equal(t, list(on("a", 1)), planner.Plan(noon, workload(passing, 1)).Targets)
		require.Equal(t, list(on("b", 1)), planner.Plan(noon, workload(lasting, 1)).Targets)
	}
}
