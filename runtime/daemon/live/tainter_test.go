package live

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

func TestTheMachinesKeepWhoSetATaint(t *testing.T) {
	f := running(t)
	alice := api.TaintCause{
		Key: api.TaintUnschedulable, Effect: corev1.TaintEffectNoSchedule, By: api.TaintCauseUser, User: "alice", At: metav1.Time{Time: start},
	}
	edit(f, member("m1"), func(c *api.Cluster) { // as the API server writes a cordon
		c.Spec.Taints = []corev1.Taint{{Key: alice.Key, Effect: alice.Effect}}
		c.Status.TaintCauses = []api.TaintCause{alice}
	})
	require.NoError(t, f.step())
	require.Contains(t, f.events(member("m1")), "TaintClusterSucceed: m1 tainted cluster.karmada.io/unschedulable:NoSchedule: by user alice")
	f.restart()
	require.Equal(t, []api.TaintCause{alice}, get(f, member("m1")).Status.TaintCauses)
}
