package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

func TestTheCountsOfACopyGoAlongAsItReportedThem(t *testing.T) {
	policy := toleratingUnhealthy(0, api.PurgeDirectly)
	policy.Failover.Application.StatePreservation = &api.StatePreservation{Rules: []api.StatePreservationRule{
		{AliasLabelName: "served", JSONPath: "{.readyReplicas}"}, {AliasLabelName: "asked", JSONPath: "{.replicas}"},
	}}
	b := placed(t, settings(stateful), policy, "m1:2")
	task := starts(b.tell(report("m1", api.Unhealthy, 1, 1)))[0].Task
	require.Equal(t, map[string]string{"served": "1", "asked": "2"}, task.PreservedLabelState)
}

// TestARestartKnowsThatAFreshPlacementWasAskedFor shows a workload that people asked to place again just before the engine ended.
func TestARestartKnowsThatAFreshPlacementWasAskedFor(t *testing.T) {
	b := drive(t, settings())
	m := stored(duplicated(), b.Now())
	m.Spec.RescheduleTriggeredAt = &metav1.Time{Time: b.Now().Add(time.Second)}
	b.tell(m)
	require.Equal(t, b.Now().Add(time.Second), b.asked.RescheduleAt)
}
