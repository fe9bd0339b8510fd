package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

func TestReplicasThatWaitAreStoredUntilTheyAreGivenUp(t *testing.T) {
	f := newFleet(t)
	two := []api.UnschedulableReplicas{{ClusterName: "member1", Replicas: 2, Since: metav1.NewMicroTime(start)}}
	wait := &messages.UnschedulableChanged{Binding: web, Cluster: "member1", Replicas: 2, Waiting: two}
	f.apply(wait)
	require.Equal(t, two, f.Binding(web).Status.Unschedulable)
	f.requireNoChange(webKey, wait)

	before := f.Binding(web).Meta.Generation
	lowered := &messages.BindingDescheduled{Binding: web, Cluster: "member1", Clusters: targets("member2")}
	f.apply(lowered)
	require.Empty(t, f.Binding(web).Status.Unschedulable)
	require.Equal(t, targets("member2"), f.Binding(web).Spec.Clusters)
	require.Equal(t, before+1, f.Binding(web).Meta.Generation)
	f.requireNoChange(webKey, lowered)
}
