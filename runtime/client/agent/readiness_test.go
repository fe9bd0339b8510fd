package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

func TestReadyChangesOnceProbesFoundItForAThreshold(t *testing.T) {
	var r readiness
	at := func(seconds int) time.Time { return time.Date(2026, 1, 1, 0, 0, seconds, 0, time.UTC) }
	limits := thresholds{failure: 30 * time.Second, success: 10 * time.Second}
	for _, step := range []struct {
		second int
		found  probe
		want   probe
	}{
		{0, healthy, healthy}, // the first counts immediately
		{10, unreachable, healthy},
		{39, unhealthy, healthy}, // another reason is the same status
		{40, unreachable, unreachable},
		{41, unhealthy, unhealthy}, // of the same status, the newest reason
		{42, healthy, unhealthy},
		{50, unreachable, unreachable}, // it was healthy too short
		{52, healthy, unreachable},
		{61, healthy, unreachable},
		{62, healthy, healthy},
	} {
		r.observe(at(step.second), step.found, limits)
		require.Equal(t, step.want, r.current, "after %d s", step.second)
	}
}

func TestAReplicaRenewsTheLeaseThatItHolds(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	leaseOf := func(holder string, renewed time.Time) *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &metav1.MicroTime{Time: renewed}}}
	}
	alone := renewal{alone: "m1", lease: leaseOf("another", now)}
	require.True(t, alone.mayRenew(now), "the only one needs no one's leave")

	h := renewal{identity: "a", takeover: 30 * time.Second, lease: leaseOf("a", now)}
	require.True(t, h.mayRenew(now))
	h.lease = leaseOf("", now)
	require.True(t, h.mayRenew(now), "one that was released")
	h.lease = leaseOf("b", now.Add(-time.Hour))
	require.False(t, h.mayRenew(now), "the clocks of replicas need not agree")
	require.False(t, h.mayRenew(now.Add(29*time.Second)))
	h.lease = leaseOf("b", now)
	require.False(t, h.mayRenew(now.Add(30*time.Second)), "it was renewed meanwhile")
	require.False(t, h.mayRenew(now.Add(59*time.Second)))
	require.True(t, h.mayRenew(now.Add(60*time.Second)))
	require.Equal(t, "a", ptr.Deref(h.renewed(now).Spec.HolderIdentity, ""))
	require.Equal(t, "m1", ptr.Deref(alone.renewed(now).Spec.HolderIdentity, ""))
}

func TestAnAgentThatBeginsAgainKeepsToTheThreshold(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	was := &api.ClusterStatus{Conditions: []metav1.Condition{healthy.condition(now)}}
	r := reported(was)
	r.observe(now, unreachable, thresholds{failure: time.Minute})
	require.Equal(t, healthy, r.current)
	r.observe(now.Add(time.Minute), unreachable, thresholds{failure: time.Minute})
	require.Equal(t, unreachable, r.current)

	was.Conditions = []metav1.Condition{unreachable.condition(now)}
	r = reported(was)
	r.observe(now, healthy, thresholds{success: time.Minute})
	require.Equal(t, healthy, r.current, "the first probe counts")
}
