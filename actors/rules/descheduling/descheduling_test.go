package descheduling_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/descheduling"
	"leeward/messages/api"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// waits are replicas of a cluster that wait since so long after noon.
func waits(cluster string, replicas int32, since time.Duration) api.UnschedulableReplicas {
	return api.UnschedulableReplicas{ClusterName: cluster, Replicas: replicas, Since: metav1.NewMicroTime(noon.Add(since))}
}

func list(all ...api.UnschedulableReplicas) []api.UnschedulableReplicas { return all }

func TestConcerns(t *testing.T) {
	deployment := api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment"}
	dynamic := &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas}
	static := &api.WeightPreference{StaticWeightList: []api.StaticClusterWeight{{Weight: 1}}}
	for _, c := range []struct {
		name     string
		resource api.ObjectReference
		strategy *api.ReplicaSchedulingStrategy
		want     bool
	}{
		{"a Deployment divided by free capacity", deployment, &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted, WeightPreference: dynamic}, true},
		{"a Deployment on as few clusters as will do", deployment, &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Aggregated}, true},
		{"static weights look at no capacity", deployment, &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted, WeightPreference: static}, false},
		{"no weights are equal weights", deployment, &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted}, false},
		{"every cluster has all replicas", deployment, &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Duplicated}, false},
		{"no strategy duplicates", deployment, nil, false},
		{"a StatefulSet", api.ObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet"}, &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Aggregated}, false},
		{"somebody else's Deployment", api.ObjectReference{APIVersion: "example.io/v1", Kind: "Deployment"}, &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Aggregated}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, descheduling.Concerns(&c.resource, &api.Placement{ReplicaScheduling: c.strategy}))
		})
	}
	require.False(t, descheduling.Concerns(&deployment, nil), "what has no placement")
}

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		name    string
		waiting []api.UnschedulableReplicas
		says    int32
		want    []api.UnschedulableReplicas
	}{
		{"the first", nil, 2, list(waits("m1", 2, time.Minute))},
		{"as many as before", list(waits("m1", 2, 0)), 2, list(waits("m1", 2, 0))},
		{"one more waits from now on", list(waits("m1", 2, 0)), 3, list(waits("m1", 2, 0), waits("m1", 1, time.Minute))},
		{"one less: it waited longest", list(waits("m1", 2, 0), waits("m1", 1, time.Second)), 2, list(waits("m1", 1, 0), waits("m1", 1, time.Second))},
		{"three less", list(waits("m1", 2, 0), waits("m1", 2, time.Second)), 1, list(waits("m1", 1, time.Second))},
		{"none", list(waits("m1", 2, 0), waits("m1", 2, time.Second)), 0, list()},
		{"other clusters' stay", list(waits("m2", 2, 0)), 0, list(waits("m2", 2, 0))},
		{"of one instant they stand by name", list(waits("m2", 2, time.Minute)), 1, list(waits("m1", 1, time.Minute), waits("m2", 2, time.Minute))},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := descheduling.Counted(c.waiting, "m1", c.says, noon.Add(time.Minute))
			require.Equal(t, append([]api.UnschedulableReplicas{}, c.want...), got)
			require.Equal(t, c.says, descheduling.Of(got, "m1"))
		})
	}
}

func TestSweep(t *testing.T) {
	for _, c := range []struct {
		name            string
		since, interval time.Duration
		want            time.Duration
	}{
		{"at the sweep that comes when the threshold is over", time.Minute, 2 * time.Minute, 6 * time.Minute},
		{"at the next one", time.Minute + 1, 2 * time.Minute, 8 * time.Minute},
		{"without an interval exactly then", 17 * time.Second, 0, 5*time.Minute + 17*time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, noon.Add(c.want), descheduling.Sweep(noon.Add(c.since), 5*time.Minute, c.interval))
		})
	}
}

func TestLowered(t *testing.T) {
	require.EqualValues(t, 2, descheduling.Lowered(4, 2, 2))
	require.EqualValues(t, 3, descheduling.Lowered(4, 3, 2), "not below what serves")
	require.EqualValues(t, 1, descheduling.Lowered(1, 2, 1), "a share that was lowered since stays")
	require.EqualValues(t, 0, descheduling.Lowered(2, 0, 2))
}
