package rehearsal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/rehearsal"
	"leeward/runtime/fleet/store"
)

// staying is a binding on some clusters that tolerates "failed" for so many seconds.
func staying(seconds int64, clusters ...string) *store.Binding {
	b := &api.ResourceBinding{}
	b.Spec.Placement = &api.Placement{ClusterTolerations: []corev1.Toleration{{
		Key: "failed", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
	}}}
	for _, c := range clusters {
		b.Spec.Clusters = append(b.Spec.Clusters, api.TargetCluster{Name: c})
	}
	return store.AsBinding(b)
}

func tainted(keys ...string) *api.Cluster {
	c := &api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "m1"}}
	for _, k := range keys {
		c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{Key: k, Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: now}})
	}
	return c
}

func drained() *api.Cluster {
	c := tainted()
	c.Annotations = map[string]string{api.AnnotationDrain: ""}
	return c
}

func TestDeparturesAreOfThoseWhoHaveToLeaveSooner(t *testing.T) {
	claimed := staying(300, "m1")
	claimed.Spec.Placement = nil
	fleet := []*store.Binding{staying(300, "m1", "m2"), staying(300, "m2"), staying(60, "m1"), claimed}
	cases := []struct {
		name          string
		before, after *api.Cluster
		leaves        []time.Duration
	}{
		{"a new taint, by their tolerations", tainted(), tainted("failed"), []time.Duration{time.Minute, 5 * time.Minute}},
		{"a taint that nobody tolerates", tainted("failed"), tainted("failed", "gone"), []time.Duration{0, 0}},
		{"a drain", tainted(), drained(), []time.Duration{0, 0}},
		{"the end of a drain", drained(), tainted(), nil},
		{"a taint that stays as it is", tainted("failed"), tainted("failed"), nil},
		{"a taint of those who have to leave anyhow", tainted("gone"), tainted("gone", "failed"), nil},
	}
	evicting := &messages.Settings{Failover: true, EnableTaintManager: true, EnableNoExecuteTaintEviction: true}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var leaves []time.Duration
			for _, at := range rehearsal.Departures(slices.Values(fleet), c.before, c.after, evicting, now) {
				leaves = append(leaves, at.Sub(now))
			}
			require.Equal(t, c.leaves, leaves)
			require.Empty(t, rehearsal.Departures(slices.Values(fleet), c.before, c.after, &messages.Settings{}, now), "where taints evict nobody")
		})
	}
}

func TestAnOutlineSaysWhoWouldHaveToLeaveWhen(t *testing.T) {
	require.Nil(t, rehearsal.Outline(nil, now))
	require.Equal(t, []string{
		"preview: an eviction of 2 bindings would be due, the first in 1m0s, the last in 5m0s",
		"preview: in a fleet of this size, create a FailoverPreview to see what is evicted, and where to",
	}, rehearsal.Outline([]time.Time{now.Add(time.Minute), now.Add(5 * time.Minute)}, now))
}

func TestAWorkloadThatRemainsLacksNothing(t *testing.T) {
	require.Equal(t, "shop/web-deployment: no cluster fits", (&rehearsal.Trouble{Workload: "shop/web-deployment", Reason: "no cluster fits"}).String())
	require.Equal(t, "shop/web-deployment 1 replica: no cluster fits", (&rehearsal.Trouble{Workload: "shop/web-deployment", Missing: 1, Reason: "no cluster fits"}).String())
}
