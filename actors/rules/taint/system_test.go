package taint_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
)

func TestSystemTaintsFollowReady(t *testing.T) {
	for _, c := range []struct {
		name   string
		ready  metav1.ConditionStatus
		known  bool
		add    string
		remove []string
	}{
		{"False: not-ready", metav1.ConditionFalse, true, api.TaintNotReady, []string{api.TaintUnreachable}},
		{"Unknown: unreachable", metav1.ConditionUnknown, true, api.TaintUnreachable, []string{api.TaintNotReady}},
		{"True: neither", metav1.ConditionTrue, true, "", []string{api.TaintNotReady, api.TaintUnreachable}},
		{"never reported: not-ready, and nothing goes", "", false, api.TaintNotReady, nil},
		{"no status at all: nothing", "", true, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := taint.System(c.ready, c.known)
			require.Equal(t, c.add, s.Add)
			require.Equal(t, c.remove, s.Remove)
			if c.known && c.ready == "" {
				require.Zero(t, s)
			} else {
				require.Equal(t, noSchedule, s.Effect)
			}
		})
	}
}

func TestSwapIsOneChangeAndKeepsWhatIsThere(t *testing.T) {
	old := &metav1.Time{Time: now.Add(-time.Hour)}
	reachable := corev1.Taint{Key: api.TaintUnreachable, Effect: noSchedule, TimeAdded: old}
	ready := corev1.Taint{Key: api.TaintNotReady, Value: "by hand", Effect: noSchedule, TimeAdded: old}
	mine := corev1.Taint{Key: "mine", Effect: noSchedule}
	fresh := corev1.Taint{Key: api.TaintNotReady, Effect: noSchedule, TimeAdded: &metav1.Time{Time: now}}
	for _, c := range []struct {
		name    string
		ready   metav1.ConditionStatus
		before  []corev1.Taint
		after   []corev1.Taint
		changed bool
	}{
		{"measured a11: unreachable gives way to not-ready", metav1.ConditionFalse, taints{reachable, mine}, taints{mine, fresh}, true},
		{"measured a11: both go when Ready is True", metav1.ConditionTrue, taints{mine, reachable, ready}, taints{mine}, true},
		{"one that is there keeps value and timeAdded", metav1.ConditionFalse, taints{ready}, taints{ready}, false},
		{"the opposite goes though nothing comes", metav1.ConditionFalse, taints{ready, reachable}, taints{ready}, true},
		{"nothing to do", metav1.ConditionTrue, taints{mine}, taints{mine}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, changed := taint.System(c.ready, true).Apply(c.before, now)
			require.Equal(t, c.after, after)
			require.Equal(t, c.changed, changed)
		})
	}
}

func TestLegacyTwinsComeAfterTheTimeout(t *testing.T) {
	const timeout = 5 * time.Minute
	comes := taint.Swap{Effect: noExecute, Add: api.TaintNotReady, Remove: []string{api.TaintUnreachable}}
	silent := taint.Swap{Effect: noExecute, Add: api.TaintUnreachable, Remove: []string{api.TaintNotReady}}
	goes := taint.Swap{Effect: noExecute, Remove: []string{api.TaintNotReady, api.TaintUnreachable}}
	for _, c := range []struct {
		name    string
		ready   metav1.ConditionStatus
		timeout time.Duration
		after   time.Duration
		want    taint.Swap
		due     time.Time
	}{
		{"False for less", metav1.ConditionFalse, timeout, timeout - 1, taint.Swap{}, now.Add(timeout)},
		{"False for five minutes", metav1.ConditionFalse, timeout, timeout, comes, time.Time{}},
		{"Unknown for less", metav1.ConditionUnknown, timeout, 0, taint.Swap{}, now.Add(timeout)},
		{"Unknown for longer", metav1.ConditionUnknown, timeout, timeout + 1, silent, time.Time{}},
		{"True goes at once", metav1.ConditionTrue, timeout, 0, goes, time.Time{}},
		{"no status", "", timeout, timeout, taint.Swap{}, time.Time{}},
		{"switched off", metav1.ConditionFalse, 0, timeout, taint.Swap{}, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, due := taint.Legacy(c.ready, now, c.timeout, now.Add(c.after))
			require.Equal(t, c.want, s)
			require.Equal(t, c.due, due)
		})
	}
}

func TestADrainedClusterTakesNothingNewAndIsEvictedFrom(t *testing.T) {
	add := func(effect corev1.TaintEffect, key string) taint.Swap { return taint.Swap{Effect: effect, Add: key} }
	remove := func(effect corev1.TaintEffect, key string) taint.Swap {
		return taint.Swap{Effect: effect, Remove: []string{key}}
	}
	const noSchedule, noExecute = corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute
	require.Equal(t, []taint.Swap{add(noSchedule, api.TaintUnschedulable), add(noExecute, api.TaintDraining)}, taint.Draining(true))
	require.Equal(t, []taint.Swap{remove(noSchedule, api.TaintUnschedulable), remove(noExecute, api.TaintDraining)}, taint.Draining(false))
}

func TestNextRelist(t *testing.T) {
	const period = 10 * time.Second
	for _, c := range []struct {
		name   string
		period time.Duration
		after  time.Duration
		want   time.Duration
	}{
		{"measured c07: a change at 3 s is seen at 10 s", period, 3 * time.Second, 10 * time.Second},
		{"at the taint", period, 0, 10 * time.Second},
		{"just before a look", period, 20*time.Second - 1, 20 * time.Second},
		{"at a look: the next one", period, 20 * time.Second, 30 * time.Second},
		{"before the taint: when it comes", period, -time.Second, 0},
		{"without a period: at once", 0, 3 * time.Second, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, now.Add(c.want), taint.NextRelist(now, c.period, now.Add(c.after)))
		})
	}
}
