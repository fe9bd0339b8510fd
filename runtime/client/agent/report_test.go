package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

var errRefused = errors.New("no")

func TestHealth(t *testing.T) {
	const ready = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, generation: 2}, status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}}"
	for name, c := range map[string]struct {
		object string
		want   api.ResourceHealth
	}{
		"a Deployment that serves":                   {"{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}", api.Healthy},
		"one whose status is old":                    {"{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 3}, spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2}}", api.Unhealthy},
		"a kind without a status":                    {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", api.Healthy},
		"a custom kind that is Ready":                {ready, api.Healthy},
		"one whose status is of an older generation": {strings.Replace(ready, "generation: 2", "generation: 3", 1), api.Unhealthy},
		"one that is not Ready":                      {strings.Replace(ready, "'True'", "'False'", 1), api.Unhealthy},
		"one that has failed":                        {strings.Replace(ready, "type: Ready", "type: Stalled", 1), api.Unhealthy},
		"what is being deleted":                      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}", api.Unhealthy},
		"a status that makes no sense":               {"{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, status: {conditions: 3}}", api.Unknown},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, healthOf(object(t, c.object))) })
	}
}

func TestAReportSaysWhatCameOfEachManifest(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 5, time.UTC)
	w := workWith()
	w.Status.Conditions = []metav1.Condition{{Type: "Theirs", Status: metav1.ConditionTrue}}
	web := object(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1, updatedReplicas: 2, availableReplicas: 1}}")
	s := reportOf(w, []copied{
		{identifier: api.ResourceIdentifier{Name: "web"}, live: web, unschedulable: 1}, {identifier: api.ResourceIdentifier{Name: "a"}}, {identifier: api.ResourceIdentifier{Name: "b"}, err: errRefused},
	}, nil, now)
	applied := meta.FindStatusCondition(s.Conditions, api.ConditionApplied)
	require.Equal(t, "Failed to apply all manifests (2/3): no", applied.Message)
	require.Equal(t, metav1.ConditionFalse, applied.Status)
	require.EqualValues(t, 3, applied.ObservedGeneration)
	require.NotNil(t, meta.FindStatusCondition(s.Conditions, "Theirs"))
	require.Equal(t, []api.ResourceHealth{api.Unhealthy, api.Unhealthy, api.Unknown},
		[]api.ResourceHealth{s.ManifestStatuses[0].Health, s.ManifestStatuses[1].Health, s.ManifestStatuses[2].Health})
	require.JSONEq(t, `{"observedGeneration":1,"updatedReplicas":2,"availableReplicas":1,"unschedulableReplicas":1}`, string(s.ManifestStatuses[0].Status.Raw))
	require.NotContains(t, web.Object["status"], "unschedulableReplicas", "the object is the member's")

	w.Status = s
	s = reportOf(w, nil, errRefused, now)
	require.Equal(t, "no", meta.FindStatusCondition(s.Conditions, api.ConditionApplied).Message)
	require.Equal(t, w.Status.ManifestStatuses, s.ManifestStatuses, "what was applied is still to be pruned")

	yes := true
	w.Spec.SuspendDispatching = &yes
	w.Generation = 4
	web.Object["status"] = map[string]any{"observedGeneration": int64(1), "updatedReplicas": int64(2), "availableReplicas": int64(0)}
	s = reportOf(w, []copied{{identifier: w.Status.ManifestStatuses[0].Identifier, live: web}, {identifier: api.ResourceIdentifier{Name: "never-applied"}}}, nil, now)
	require.JSONEq(t, `{"observedGeneration":1,"updatedReplicas":2,"availableReplicas":0}`, string(s.ManifestStatuses[0].Status.Raw), "how a copy is, is reported nevertheless")
	require.Equal(t, w.Status.ManifestStatuses[1].Identifier, s.ManifestStatuses[1].Identifier, "what the member had is still to be pruned")
	require.Len(t, s.ManifestStatuses, 3)
	require.Equal(t, api.Unhealthy, s.ManifestStatuses[2].Health)
	require.EqualValues(t, 3, meta.FindStatusCondition(s.Conditions, api.ConditionApplied).ObservedGeneration)
	require.True(t, meta.IsStatusConditionFalse(s.Conditions, conditionDispatching))
	w.Status, w.Spec.SuspendDispatching = s, nil
	s = reportOf(w, nil, nil, now)
	require.True(t, meta.IsStatusConditionTrue(s.Conditions, conditionDispatching))
}

func TestAReportIsBounded(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	of := func(size int) copied {
		o := object(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}")
		o.Object["status"] = map[string]any{"text": strings.Repeat("x", size)}
		return copied{live: o}
	}
	s := reportOf(workWith(), []copied{of(largestStatus), of(largestStatus - 100), of(largestStatus - 100), of(largestStatus - 100), of(largestStatus - 100), of(10)}, nil, now)
	require.Nil(t, s.ManifestStatuses[0].Status, "one that is too large")
	require.NotNil(t, s.ManifestStatuses[1].Status)
	require.NotNil(t, s.ManifestStatuses[3].Status)
	require.Nil(t, s.ManifestStatuses[4].Status, "those that are too large together")
	require.Equal(t, api.Healthy, s.ManifestStatuses[4].Health)
	s = reportOf(workWith(), nil, errors.New(strings.Repeat("x", 100_000)), now)
	require.Len(t, meta.FindStatusCondition(s.Conditions, api.ConditionApplied).Message, longestMessage)
}
