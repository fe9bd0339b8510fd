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

func TestNothingReturnsToWhereItIsToleratedNoLonger(t *testing.T) {
	failing := cluster("a", 9)
	failing.Taints = []corev1.Taint{{Key: "failed", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: noon}}}
	tolerant := &api.Placement{ClusterTolerations: []corev1.Toleration{{Key: "failed", TolerationSeconds: new(int64(30))}}}
	planner := placement.NewPlanner(fleetOf(failing), &messages.Settings{}, 0)
	for name, c := range map[string]struct {
		returns bool
		after   time.Duration
		want    bool
	}{
		"tolerated so far":          {true, 30*time.Second - 1, true},
		"tolerated no longer":       {true, 30 * time.Second, false},
		"what is new does not mind": {false, 30 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := workload(tolerant, 1)
			r.Return = c.returns
			require.Equal(t, c.want, planner.Takes(noon.Add(c.after), r, on("a", 1)))
		})
	}
}

func TestTakes(t *testing.T) {
	tainted := cluster("tainted", 9)
	tainted.Taints = []corev1.Taint{{Key: "down", Effect: corev1.TaintEffectNoExecute}}
	f := placement.NewFleet()
	for _, v := range []*messages.ClusterView{cluster("small", 2), tainted, cluster("left", 9)} {
		f.Put(v)
	}
	planner := placement.NewPlanner(f, &messages.Settings{}, 0)
	for name, c := range map[string]struct {
		more api.TargetCluster
		want bool
	}{
		"as many as there is capacity for":   {api.TargetCluster{Name: "small", Replicas: 2}, true},
		"one too many":                       {api.TargetCluster{Name: "small", Replicas: 3}, false},
		"a taint that is not tolerated":      {api.TargetCluster{Name: "tainted", Replicas: 1}, false},
		"a cluster with an eviction":         {api.TargetCluster{Name: "left", Replicas: 1}, false},
		"a cluster that there is not":        {api.TargetCluster{Name: "gone", Replicas: 1}, false},
		"a copy without replicas of its own": {api.TargetCluster{Name: "small"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := workload(spreading(dynamic), 4)
			r.Evicting = []messages.ClusterName{"left"}
			require.Equal(t, c.want, planner.Takes(noon, r, c.more))
		})
	}
}
