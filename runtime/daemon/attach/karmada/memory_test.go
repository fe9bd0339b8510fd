package karmada

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// rememberedBinding is a binding with all that Leeward keeps of one for itself.
func rememberedBinding() *store.Binding {
	at := func(s int) metav1.MicroTime {
		return metav1.MicroTime{Time: start.Add(time.Duration(s)*time.Second + 250*time.Millisecond)}
	}
	returns, since := at(600), at(-7)
	return store.AsBinding(&api.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
		Spec: api.BindingSpec{
			Clusters: []api.TargetCluster{{Name: "m1", Replicas: 2}},
			Failover: &api.FailoverBehavior{Application: &api.ApplicationFailover{}},
			GracefulEvictionTasks: []api.GracefulEvictionTask{{
				FromCluster: "m2", Handover: "Gradual", ReplacedBy: []api.TargetCluster{{Name: "m1", Replicas: 2}}, FromAffinity: "a",
				CreationTimestamp: &metav1.Time{Time: at(1).Time},
			}},
		},
		Status: api.BindingStatus{
			LastScheduledTime: &metav1.Time{Time: at(1).Time}, SchedulerObservedAffinityName: "b", ReturnAt: &returns,
			Home:            []api.PreferredShare{{TargetCluster: api.TargetCluster{Name: "m2", Replicas: 2}}},
			Shrinking:       &api.Shrinking{Reason: "Failback", Since: at(2), Clusters: []api.TargetCluster{{Name: "m1", Replicas: 1}}},
			FailoverHistory: []api.FailoverRecord{{FromCluster: "m2", Reason: "TaintUntolerated", StartTime: at(1)}},
			AggregatedStatus: []api.AggregatedStatusItem{
				{ClusterName: "m1", Health: api.Unhealthy, UnhealthySince: &since}, {ClusterName: "m2", Health: api.Healthy},
			},
		},
	})
}

// served is what an API server keeps of a binding, and of its status, without what is Leeward's own.
func served(t *testing.T, b *store.Binding, status bool) *store.Binding {
	t.Helper()
	o := &api.ResourceBinding{ObjectMeta: *b.Meta, Spec: *b.Spec}
	o.Annotations = map[string]string{api.AnnotationState: memoryOf(b, true)}
	o.Spec.GracefulEvictionTasks = nil
	for i := range b.Spec.GracefulEvictionTasks {
		o.Spec.GracefulEvictionTasks = append(o.Spec.GracefulEvictionTasks, *wireTask(&b.Spec.GracefulEvictionTasks[i]))
	}
	for _, item := range b.Status.AggregatedStatus {
		o.Status.AggregatedStatus = append(o.Status.AggregatedStatus, api.AggregatedStatusItem{ClusterName: item.ClusterName, Health: item.Health})
	}
	if status {
		o.Status.LastScheduledTime, o.Status.SchedulerObservedAffinityName = wholeSeconds(b.Status.LastScheduledTime), b.Status.SchedulerObservedAffinityName
	}
	text, err := json.Marshal(o)
	require.NoError(t, err)
	again := &api.ResourceBinding{}
	require.NoError(t, json.Unmarshal(text, again))
	return store.AsBinding(again)
}

func TestARestartRemembersWhatKarmadaHasNoFieldFor(t *testing.T) {
	ours := rememberedBinding()
	for _, status := range []bool{true, false} { // it may have been killed before it wrote the status
		b := served(t, ours, status)
		require.NoError(t, remember(b))
		require.Equal(t, memoryOf(ours, true), memoryOf(b, true))
		require.True(t, ours.Spec.GracefulEvictionTasks[0].CreationTimestamp.Time.Equal(b.Spec.GracefulEvictionTasks[0].CreationTimestamp.Time))
		require.Equal(t, !status, meta.IsStatusConditionTrue(b.Status.Conditions, api.ConditionScheduled))
		require.Equal(t, "b", b.Status.SchedulerObservedAffinityName)
	}
}

// TestWhatAnotherSchedulerHasDecidedSinceIsNotUndone: Karmada's scheduler placed the binding while Leeward did not run.
func TestWhatAnotherSchedulerHasDecidedSinceIsNotUndone(t *testing.T) {
	b := served(t, rememberedBinding(), true)
	b.Status.LastScheduledTime = &metav1.Time{Time: start.Add(time.Hour)}
	require.NoError(t, remember(b))
	require.Nil(t, b.Status.Home)
	require.Nil(t, b.Status.ReturnAt)
	require.Nil(t, b.Status.Shrinking)
	require.NotEmpty(t, b.Status.FailoverHistory)
	require.Equal(t, start.Add(time.Hour), b.Status.LastScheduledTime.UTC())
}

func TestAMemoryThatCannotBeReadIsNone(t *testing.T) {
	b := served(t, rememberedBinding(), true)
	b.Meta.Annotations[api.AnnotationState] = "{"
	require.Error(t, remember(b))
	require.Nil(t, b.Status.Home)
	b.Meta.Annotations = nil
	require.NoError(t, remember(b))
}

func TestABindingWithNothingToRememberHasNoAnnotation(t *testing.T) {
	require.Empty(t, memoryOf(store.AsBinding(&api.ResourceBinding{}), true))
}
