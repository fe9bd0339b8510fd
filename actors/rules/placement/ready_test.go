package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

func ready(status metav1.ConditionStatus, v *messages.ClusterView) *messages.ClusterView {
	v.Conditions = append(v.Conditions, metav1.Condition{Type: api.ConditionReady, Status: status})
	return v
}

func cordoned(v *messages.ClusterView) *messages.ClusterView {
	v.Taints = append(v.Taints, corev1.Taint{Key: api.TaintUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	return v
}

func tolerating(p *api.Placement, keys ...string) *api.Placement {
	for _, key := range keys {
		p.ClusterTolerations = append(p.ClusterTolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
	return p
}

func TestScaleUpNeedsReady(t *testing.T) {
	failed := []*messages.ClusterView{ready("False", cluster("a", 9)), ready("True", cluster("b", 9))}
	tests := []struct {
		name    string
		views   []*messages.ClusterView
		request *placement.Request
		want    []api.TargetCluster
		message string
	}{
		{
			name:  "a cluster that is not ready keeps what it has and takes nothing more",
			views: failed, request: workload(spreading(dynamic), 8, on("a", 2), on("b", 2)),
			want: list(on("a", 2), on("b", 6)),
		},
		{
			name:  "nobody knows whether it is ready",
			views: []*messages.ClusterView{ready("Unknown", cluster("a", 9)), cluster("b", 9)}, request: workload(spreading(aggregated), 8, on("a", 2)),
			want: list(on("a", 2), on("b", 6)),
		},
		{
			name:  "why there is no room is said",
			views: failed[:1], request: workload(spreading(dynamic), 8, on("a", 2)),
			message: "6 of 8 replicas exceed the capacity of the 1 chosen cluster(s), of which 1 may take no more",
		},
		{
			name:  "a cordoned cluster takes nothing more, either",
			views: []*messages.ClusterView{cordoned(cluster("a", 9)), cluster("b", 9)}, request: workload(spreading(dynamic), 8, on("a", 2), on("b", 2)),
			want: list(on("a", 2), on("b", 6)),
		},
		{
			name:  "a fresh placement leaves it no more than it has",
			views: failed, request: fresh(workload(spreading(dynamic), 10, on("a", 2), on("b", 2))),
			want: list(on("a", 2), on("b", 8)),
		},
		{
			name:  "what tolerates the failure may grow there",
			views: failed, request: workload(tolerating(spreading(dynamic), api.TaintNotReady, api.TaintUnreachable), 8, on("a", 2), on("b", 2)),
			want: list(on("a", 4), on("b", 4)),
		},
		{
			name:  "what is new does not come, though nobody tainted the cluster",
			views: failed, request: workload(spreading(duplicated), 2),
			want: list(on("b", 2)),
		},
		{
			name:  "and is told why",
			views: failed[:1], request: workload(spreading(duplicated), 2),
			message: "0/1 clusters are available: 1 cluster(s) is not ready.",
		},
		{
			name:  "it shrinks as any other",
			views: failed, request: workload(spreading(dynamic), 2, on("a", 2), on("b", 2)),
			want: list(on("a", 1), on("b", 1)),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := placement.NewPlanner(fleetOf(test.views...), &messages.Settings{ScaleUpNeedsReady: true}, 0).Plan(noon, test.request)
			require.Equal(t, test.message, d.Message)
			require.Equal(t, test.want, d.Targets)
		})
	}
	d := plannerOver(failed...).Plan(noon, workload(spreading(dynamic), 8, on("a", 2), on("b", 2)))
	require.Equal(t, list(on("a", 4), on("b", 4)), d.Targets, "in Karmada")
}

func TestFullClustersTakeNoMore(t *testing.T) {
	full := func(r *placement.Request, clusters ...messages.ClusterName) *placement.Request {
		r.Full = clusters
		return r
	}
	p := plannerOver(cluster("a", 9), cluster("b", 9))
	d := p.Plan(noon, full(workload(spreading(dynamic), 8, on("a", 2)), "a"))
	require.Equal(t, list(on("a", 2), on("b", 6)), d.Targets, "it keeps what it has")
	d = p.Plan(noon, full(workload(spreading(aggregated), 4), "a", "gone"))
	require.Equal(t, list(on("b", 4)), d.Targets)
	d = p.Plan(noon, workload(spreading(aggregated), 4))
	require.Equal(t, list(on("a", 4)), d.Targets, "it is one request's word")
}

func TestExplainOfAClusterThatIsReadyNamesNoTaint(t *testing.T) {
	all := refusals(placement.NewPlanner(fleetOf(ready("False", cluster("a", 9))), &messages.Settings{}, 0), workload(nil, 1))
	require.Equal(t, []refusal{{"a", ""}}, all)
}
