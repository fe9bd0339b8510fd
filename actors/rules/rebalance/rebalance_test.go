package rebalance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/rebalance"
	"leeward/messages/api"
)

var now = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(-d)} }

func TestAsOf(t *testing.T) {
	r := &api.WorkloadRebalancer{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: *ago(time.Hour)}}
	require.Equal(t, now.Add(-time.Hour), rebalance.AsOf(r, now, false), "K38: as of its creation, however often it is applied")
	require.Equal(t, now, rebalance.AsOf(r, now, true))
}

func TestDone(t *testing.T) {
	web, db := api.RebalancedReference{Kind: "Deployment", Name: "web"}, api.RebalancedReference{Kind: "Deployment", Name: "db"}
	first := api.RebalancedReference{Kind: "Deployment", Name: "first"}
	before := &api.WorkloadRebalancerStatus{ObservedWorkloads: []api.ObservedWorkload{
		{Workload: first, Result: rebalance.Successful},
		{Workload: db, Result: rebalance.Failed, Reason: rebalance.NotFound}, {Workload: web, Result: rebalance.Successful},
	}}
	for _, c := range []struct {
		name     string
		workload api.RebalancedReference
		repeats  bool
		done     bool
	}{
		{"what succeeded is done", web, false, true},
		{"and so is the first of all", first, false, true},
		{"what failed is tried again", db, false, false},
		{"what is new is asked", api.RebalancedReference{Kind: "Job", Name: "web"}, false, false},
		{"where it repeats nothing is done", web, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.done, rebalance.Done(before, c.workload, c.repeats) != nil)
		})
	}
}

func TestAsks(t *testing.T) {
	for _, c := range []struct {
		name  string
		asked *metav1.Time
		want  bool
	}{
		{"nobody asked before", nil, true},
		{"somebody asked before that", ago(time.Second), true},
		{"somebody asked the same", ago(0), false},
		{"somebody asked since", ago(-time.Second), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, rebalance.Asks(&api.BindingSpec{RescheduleTriggeredAt: c.asked}, now))
		})
	}
}

func TestARebalancerIsFinishedWhenAllAreAnswered(t *testing.T) {
	s := &api.WorkloadRebalancerStatus{ObservedWorkloads: []api.ObservedWorkload{{}, {}, {Result: rebalance.Successful}}}
	rebalance.Finish(s, now)
	require.Nil(t, s.FinishTime)
	published := s.ObservedWorkloads
	rebalance.Answer(s, 1, "Unschedulable", now)
	require.Empty(t, published[1], "who was given the status keeps it as it was")
	require.True(t, rebalance.Awaited(&s.ObservedWorkloads[0]))
	require.Nil(t, s.FinishTime)
	rebalance.Answer(s, 0, "", now)
	require.Equal(t, now, s.FinishTime.Time)
	require.Equal(t, []api.ObservedWorkload{
		{Result: rebalance.Successful}, {Result: rebalance.Failed, Reason: "Unschedulable"}, {Result: rebalance.Successful},
	}, s.ObservedWorkloads)
}

func TestExpires(t *testing.T) {
	for _, c := range []struct {
		name     string
		ttl      *int32
		finished *metav1.Time
		want     time.Time
	}{
		{"so long after it finished", new(int32(90)), ago(time.Minute), now.Add(30 * time.Second)},
		{"at once", new(int32(0)), ago(0), now},
		{"never without a TTL", nil, ago(time.Minute), time.Time{}},
		{"not before it finished", new(int32(90)), nil, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &api.WorkloadRebalancer{
				Spec: api.WorkloadRebalancerSpec{TTLSecondsAfterFinished: c.ttl}, Status: api.WorkloadRebalancerStatus{FinishTime: c.finished},
			}
			require.Equal(t, c.want, rebalance.Expires(r))
		})
	}
}
