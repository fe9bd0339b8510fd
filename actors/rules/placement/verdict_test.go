package placement_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

func serving(complete metav1.ConditionStatus, kinds ...string) *messages.ClusterView {
	v := cluster("a", 9)
	served := api.APIEnablement{GroupVersion: "apps/v1"}
	for _, kind := range kinds {
		served.Resources = append(served.Resources, api.APIResource{Kind: kind})
	}
	v.APIs = []api.APIEnablement{{GroupVersion: "batch/v1", Resources: []api.APIResource{{Kind: "Deployment"}}}, served}
	v.Conditions = []metav1.Condition{{Type: api.ConditionCompleteAPIEnablements, Status: complete}}
	return v
}

func taintedBy(taints ...string) *messages.ClusterView {
	v := cluster("a", 9)
	for _, text := range taints {
		v.Taints = append(v.Taints, tainting(text))
	}
	return v
}

func cooling(r *placement.Request, names ...messages.ClusterName) *placement.Request {
	r.Cooling = names
	return r
}

func busy(r *placement.Request, names ...messages.ClusterName) *placement.Request {
	for _, name := range names {
		r.Busy = append(r.Busy, placement.BusyCluster{Cluster: name, Most: "2"})
	}
	return r
}

func untold(r *placement.Request, names ...string) *placement.Request {
	r.Untold = names
	return r
}

func TestTargetsMayNeedTheirAPI(t *testing.T) {
	for name, c := range map[string]struct {
		complete metav1.ConditionStatus
		want     string
	}{
		"a complete list takes away what runs":         {metav1.ConditionTrue, "cluster(s) did not have the API resource"},
		"a list that may lack some takes nothing away": {metav1.ConditionFalse, ""},
		"nor does one of which nothing is known":       {metav1.ConditionUnknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := placement.NewPlanner(fleetOf(serving(c.complete)), &messages.Settings{TargetsNeedTheirAPI: true}, 0)
			r := workload(nil, 1, on("a", 1))
			r.APIVersion, r.Kind = "apps/v1", "Deployment"
			require.Equal(t, []refusal{{"a", c.want}}, refusals(p, r))
		})
	}
}

// Of several groups the one that may start it soon says more than the first.
func TestWhatIsOnlyBusyIsSaidFirst(t *testing.T) {
	s := messages.Settings{MaxStartingPerCluster: 2}
	p := placement.NewPlanner(fleetOf(cluster("a", 9), cluster("b", 9)), &s, 1)
	d := p.Plan(noon, busy(workload(&api.Placement{ClusterAffinities: []api.ClusterAffinityTerm{
		{AffinityName: "gone", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"x"}}},
		{AffinityName: "busy", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"b"}}},
		{AffinityName: "gone too", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"y"}}},
	}}, 1), "b"))
	require.Equal(t, "0/2 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint, "+
		"1 cluster(s) was starting as many evicted workloads as its limit allows (2).", d.Message)
}

func TestExplain(t *testing.T) {
	tolerating := func(key string) *api.Placement {
		return &api.Placement{ClusterTolerations: []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}}
	}
	named := func(names ...string) *api.Placement {
		return &api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: names}}
	}
	deployment := func(previous ...api.TargetCluster) *placement.Request {
		r := workload(nil, 1, previous...)
		r.APIVersion, r.Kind = "apps/v1", "Deployment"
		return r
	}
	deleting := cluster("a", 9)
	deleting.Deleting = true
	invalid := &api.Placement{ClusterAffinity: &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Near"}},
	}}}
	tests := []struct {
		name    string
		view    *messages.ClusterView
		request *placement.Request
		want    string
	}{
		{"it fits", cluster("a", 0), workload(nil, 1), ""},
		{"being deleted", deleting, workload(nil, 1, on("a", 1)), "cluster(s) is being deleted"},
		{"not selected", cluster("a", 9), workload(named("b"), 1), "cluster(s) did not match the placement cluster affinity constraint: not among the names"},
		{"not selected any longer", cluster("a", 9), workload(named("b"), 1, on("a", 1)), "cluster(s) did not match the placement cluster affinity constraint: not among the names"},
		{"an invalid selector selects nothing", cluster("a", 9), workload(invalid, 1), "cluster(s) did not match the placement cluster affinity constraint: its selector is invalid"},
		{"no provider", cluster("a", 9), workload(spreading(nil, spread("provider", 1, 1), spread("region", 1, 1)), 1), "cluster(s) did not have provider property"},
		{"no region", cluster("a", 9), workload(spreading(nil, spread("region", 1, 1), spread("provider", 1, 1)), 1), "cluster(s) did not have region property"},
		{"no zones", cluster("a", 9), workload(spreading(nil, spread("zone", 1, 1)), 1), "cluster(s) did not have zones property"},

		{"nothing known of its APIs", cluster("a", 9), deployment(), ""},
		{"the API is served", serving(metav1.ConditionTrue, "StatefulSet", "Deployment"), deployment(), ""},
		{"the API is not served", serving(metav1.ConditionTrue, "StatefulSet"), deployment(), "cluster(s) did not have the API resource"},
		{"the API is not served any longer, and what runs stays", serving(metav1.ConditionTrue), deployment(on("a", 1)), ""},
		{"but gives nothing either", serving(metav1.ConditionFalse), deployment(), "cluster(s) did not have the API resource"},

		{"leaving it", cluster("a", 9), evicting(workload(nil, 1), "a"), "cluster(s) is in the process of eviction"},
		{"left a short time ago", cluster("a", 9), cooling(workload(nil, 1), "a"), "cluster(s) was evicted from recently because the application failed"},
		{"to be left", cluster("a", 9), outgoing(workload(nil, 1), "a"), "cluster(s) was being drained or evicted from"},
		{"busy with others", cluster("a", 9), busy(workload(nil, 1), "a"), "cluster(s) was starting as many evicted workloads as its limit allows (2)"},
		{"told nothing", cluster("a", 9), untold(workload(nil, 1), "a"), "cluster(s) had dispatching suspended"},
		{"told nothing, but it runs there", cluster("a", 9), untold(workload(nil, 1, on("a", 1)), "a"), ""},
		{"busy with others, but it runs there", cluster("a", 9), busy(workload(nil, 1, on("a", 1)), "a"), ""},
		{"being left, and a short time ago before that", cluster("a", 9), cooling(evicting(workload(nil, 1), "a"), "a"), "cluster(s) is in the process of eviction"},
		{"leaving it, still there", cluster("a", 9), evicting(workload(nil, 1, on("a", 1)), "a"), "cluster(s) is in the process of eviction"},

		{"an untolerated taint", taintedBy("x=v:NoSchedule"), workload(nil, 1), "cluster(s) had untolerated taint {x=v:NoSchedule}"},
		{"the second taint untolerated", taintedBy("x:NoSchedule", "y:NoExecute"), workload(tolerating("x"), 1), "cluster(s) had untolerated taint {y:NoExecute}"},
		{"a taint that only asks", taintedBy("x:PreferNoSchedule"), workload(nil, 1), ""},
		{"tolerated", taintedBy("x:NoExecute"), workload(tolerating("x"), 1), ""},
		{"who is there stays despite taints", taintedBy("x:NoExecute"), workload(nil, 1, on("a", 1)), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			planner := plannerOver(test.view)
			require.Equal(t, []refusal{{"a", test.want}}, refusals(planner, test.request))
			require.Equal(t, test.want == "", planner.Plan(noon, test.request).Reason != api.ReasonNoClusterFit)
		})
	}
}

func TestExplainSpeaksOfTheTermInUse(t *testing.T) {
	p := &api.Placement{ClusterAffinities: []api.ClusterAffinityTerm{
		{AffinityName: "first", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"a"}}},
		{AffinityName: "second", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"b"}}},
	}}
	planner := plannerOver(clusters(9, "a", "b")...)
	const off = "cluster(s) did not match the placement cluster affinity constraint: not among the names"
	r := workload(p, 1)
	require.Equal(t, []refusal{{"a", ""}, {"b", off}}, refusals(planner, r))
	r.Affinity = "second"
	require.Equal(t, []refusal{{"a", off}, {"b", ""}}, refusals(planner, r))
}

func TestDiagnosisCountsReasonsInStableOrder(t *testing.T) {
	views := clusters(9, "a", "b", "c", "d", "e", "f")
	views[0].Taints = []corev1.Taint{tainting("x:NoSchedule")}
	views[1].Taints = []corev1.Taint{tainting("y=1:NoExecute")}
	views[2].Taints = []corev1.Taint{tainting("x:NoSchedule")}
	views[4].Deleting = true
	r := evicting(workload(&api.Placement{ClusterAffinity: &api.ClusterAffinity{ExcludeClusters: []string{"d"}}}, 1), "f")
	d := plannerOver(views...).Plan(noon, r)
	require.True(t, d.Clears())
	require.Equal(t, "0/6 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint, "+
		"1 cluster(s) had untolerated taint {y=1:NoExecute}, 1 cluster(s) is in the process of eviction, "+
		"2 cluster(s) had untolerated taint {x:NoSchedule}.", d.Message)
}

func TestADeletedClusterKeepsWhatItsTaintWillEvict(t *testing.T) {
	deleting := cluster("a", 9)
	deleting.Deleting = true
	deleting.Taints = []corev1.Taint{tainting(api.TaintTerminating + ":NoExecute")}
	evicts := messages.Settings{Failover: true, EnableTaintManager: true, EnableNoExecuteTaintEviction: true, TaintTerminatingClusters: true}
	leaves := evicts
	leaves.TaintTerminatingClusters = false
	withTolerations := &api.Placement{ClusterTolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}
	for _, c := range []struct {
		name      string
		settings  messages.Settings
		placement *api.Placement
		before    []string
		want      string
	}{
		{"it will be evicted", evicts, &api.Placement{}, []string{"a"}, ""},
		{"it did not run there", evicts, &api.Placement{}, nil, "cluster(s) is being deleted"},
		{"it tolerates the taint for good", evicts, withTolerations, []string{"a"}, "cluster(s) is being deleted"},
		{"nothing evicts it", leaves, &api.Placement{}, []string{"a"}, "cluster(s) is being deleted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fleet := placement.NewFleet()
			fleet.Put(deleting)
			r := workload(c.placement, 1)
			for _, name := range c.before {
				r.Previous = append(r.Previous, api.TargetCluster{Name: name, Replicas: 1})
			}
			require.Equal(t, c.want, refusals(placement.NewPlanner(fleet, &c.settings, 1), r)[0].reason)
		})
	}
}

func TestRejectionsAreInOrder(t *testing.T) {
	deleting := cluster("b", 9)
	deleting.Deleting = true
	hour := 0 // at which the last taint was set: causes do not tell
	tainted := func(name, key string) *messages.ClusterView {
		v := cluster(name, 9)
		hour++
		v.Taints = []corev1.Taint{tainting(key + ":NoSchedule")}
		v.Taints[0].TimeAdded = &metav1.Time{Time: noon.Add(time.Duration(hour) * time.Hour)}
		return v
	}
	planner := plannerOver(tainted("e", "x"), tainted("d", "y"), tainted("c", "x"), deleting, cluster("a", 9))
	want := []messages.Rejection{
		{Reason: "cluster(s) had untolerated taint {x:NoSchedule}", Clusters: []messages.ClusterName{"c", "e"}},
		{Reason: "cluster(s) had untolerated taint {y:NoSchedule}", Clusters: []messages.ClusterName{"d"}},
		{Reason: "cluster(s) is being deleted", Clusters: []messages.ClusterName{"b"}},
	}
	d := planner.Plan(noon, workload(spreading(dynamic), 10))
	require.Equal(t, api.ReasonUnschedulable, d.Reason)
	require.Equal(t, want, d.Rejections, "a does fit, but has no room")
	require.Nil(t, planner.Plan(noon, workload(spreading(dynamic), 9)).Rejections, "nobody asks where it went well")

	d = planner.Plan(noon, evicting(workload(nil, 1), "a"))
	require.Equal(t, "0/5 clusters are available: 1 cluster(s) had untolerated taint {y:NoSchedule}, 1 cluster(s) is in the process of eviction, 2 cluster(s) had untolerated taint {x:NoSchedule}.", d.Message)
	require.Len(t, d.Rejections, 4)
}
