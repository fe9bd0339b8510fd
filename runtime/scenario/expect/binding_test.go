package expect_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/expect"
)

// webBinding runs on m1 (2 replicas, healthy) and m3 (3 replicas, unhealthy, 1 of them serving) and
// evicting from m2, where 2 replicas serve.
func webBinding() *api.ResourceBinding {
	return &api.ResourceBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-deployment"},
		Spec: api.BindingSpec{
			Clusters:              []api.TargetCluster{{Name: "m1", Replicas: 2}, {Name: "m3", Replicas: 3}},
			GracefulEvictionTasks: []api.GracefulEvictionTask{{FromCluster: "m2", Reason: "TaintUntolerated", Producer: "TaintManager"}},
		},
		Status: api.BindingStatus{
			SchedulerObservedAffinityName: "eu",
			Conditions:                    []metav1.Condition{{Type: "Scheduled", Status: "False", Reason: "NoClusterFit", Message: "0/3"}},
			AggregatedStatus: []api.AggregatedStatusItem{
				{ClusterName: "m1", Health: api.Healthy, ReadyReplicas: 2},
				{ClusterName: "m3", Health: api.Unhealthy, ReadyReplicas: 1},
				{ClusterName: "m2", Health: api.Healthy, ReadyReplicas: 2},
			},
		},
	}
}

// serve says how many replicas of webBinding serve on a cluster.
func serve(on messages.ClusterName, replicas int32) *messages.AvailabilityChanged {
	return &messages.AvailabilityChanged{Binding: "shop/web-deployment", Cluster: on, Available: replicas}
}

func TestBindings(t *testing.T) {
	for name, c := range map[string]struct {
		want   expect.Want
		reason string
	}{
		"the clusters in any order":            {want: expect.Clusters{{"m3", 3}, {"m1", 2}}},
		"the clusters alone":                   {want: expect.Clusters{{"m1", -1}, {"m3", -1}}},
		"another number of replicas":           {expect.Clusters{{"m1", 2}, {"m3", 2}}, "it runs on m1=2, m3=3"},
		"a cluster too few":                    {expect.Clusters{{"m1", 2}}, "it runs on m1=2, m3=3"},
		"no cluster at all":                    {expect.Clusters{}, "it runs on m1=2, m3=3"},
		"the tasks by cluster":                 {want: expect.Tasks{expect.TaskFrom("m2")}},
		"the tasks by field":                   {want: expect.Tasks{{"producer": "TaintManager"}}},
		"no task":                              {expect.Tasks{}, "it evicting from m2"},
		"another task":                         {expect.Tasks{expect.TaskFrom("m1")}, "it evicting from m2"},
		"a task too many":                      {expect.Tasks{expect.TaskFrom("m1"), expect.TaskFrom("m2")}, "it evicting from m2"},
		"a task with another field":            {expect.Tasks{{"fromCluster": "m2", "reason": "R"}}, `it has the eviction tasks [{"fromCluster":"m2","producer":"TaintManager","reason":"TaintUntolerated"}]`},
		"healthy":                              {expect.Healthy(true), "it has copies: m1 Healthy, m3 Unhealthy"},
		"not healthy":                          {want: expect.Healthy(false)},
		"a condition by status":                {want: expect.Conditions{{Type: "Scheduled", Status: "False"}}},
		"a condition by reason":                {want: expect.Conditions{{Type: "Scheduled", Reason: "NoClusterFit"}}},
		"a condition with another reason":      {expect.Conditions{{Type: "Scheduled", Reason: "Success"}}, "it has Scheduled=False (NoClusterFit: 0/3)"},
		"a condition that is not set":          {expect.Conditions{{Type: "FullyApplied", Status: "True"}}, "it has no FullyApplied"},
		"the affinity group":                   {want: expect.Affinity("eu")},
		"another affinity group":               {expect.Affinity("us"), "it uses the affinity group eu"},
		"the number of clusters":               {want: expect.Number{Of: expect.ClusterCount, Bounds: expect.Exactly(2)}},
		"the sum of replicas":                  {want: expect.Number{Of: expect.Replicas, Bounds: expect.Exactly(5)}},
		"too few replicas":                     {expect.Number{Of: expect.Replicas, Bounds: expect.Bounds{Min: 6, Max: expect.Unbounded}}, "it has 5 replicas"},
		"replicas that serve, wherever":        {want: expect.Number{Of: expect.Available, Bounds: expect.Exactly(3)}},
		"too few replicas that serve":          {expect.Number{Of: expect.Available, Bounds: expect.Bounds{Min: 4, Max: 9}}, "it has 3 available replicas"},
		"too many replicas that serve":         {expect.Number{Of: expect.Available, Bounds: expect.Bounds{Max: 2}}, "it has 3 available replicas"},
		"replicas that are reported":           {want: expect.Number{Of: expect.Reported, Bounds: expect.Exactly(5)}},
		"too few replicas that are reported":   {expect.Number{Of: expect.Reported, Bounds: expect.Exactly(6)}, "it has 5 reported replicas"},
		"a number of clusters that it has not": {expect.Number{Of: expect.ClusterCount, Bounds: expect.Exactly(3)}, "it has 2 clusters"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &expect.Binding{Name: "shop/web-deployment", Wants: []expect.Want{c.want}}
			r := play(t, expect.Expectation{Mode: expect.Always, Until: span.Max, Subject: b})
			r.store.Put(webBinding())
			r.at(0, serve("m1", 9), serve("m3", 4), serve("m1", 2), serve("m2", 1), serve("m3", 0))
			got := r.end(s)[0]
			require.Equal(t, c.reason, got.Reason)
			require.Equal(t, c.reason == "", got.Passed)
		})
	}
}

func TestEverythingWrongIsTold(t *testing.T) {
	b := &expect.Binding{Name: "shop/web-deployment", Wants: []expect.Want{
		expect.Clusters{}, expect.Affinity("eu"), expect.Healthy(true),
	}}
	r := play(t, expect.Expectation{Subject: b}, expect.Expectation{Mode: expect.Never, Until: span.Max, Subject: &expect.Binding{
		Name: "shop/web-deployment", Wants: []expect.Want{expect.Affinity("eu"), expect.Healthy(false)},
	}})
	r.put(webBinding())
	results := r.end(s)
	require.Equal(t, "it runs on m1=2, m3=3; has copies: m1 Healthy, m3 Unhealthy", results[0].Reason)
	require.Equal(t, "it did: it uses the affinity group eu; has copies: m1 Healthy, m3 Unhealthy", results[1].Reason)
}

func TestWhatIsNotThere(t *testing.T) {
	r := play(t,
		expect.Expectation{Subject: &expect.Binding{Name: "shop/db", Wants: []expect.Want{expect.Healthy(true)}}},
		expect.Expectation{Subject: &expect.Taint{Cluster: "m9", Key: "down"}},
		expect.Expectation{Subject: object(map[string]any{})},
		expect.Expectation{Mode: expect.Never, Until: span.Max, Subject: object(map[string]any{})},
	)
	r.at(0)
	results := r.end(s)
	require.Equal(t, "there is no such binding", results[0].Reason)
	require.Equal(t, "there is no cluster m9", results[1].Reason)
	require.Equal(t, "there is no Cluster m1", results[2].Reason)
	require.True(t, results[3].Passed)
}
