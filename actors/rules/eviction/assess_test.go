package eviction_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/eviction"
	"leeward/messages/api"
)

var now = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)

const timeout = 10 * time.Minute

// task returns a task that was created an age ago.
func task(age time.Duration, change ...func(*api.GracefulEvictionTask)) *api.GracefulEvictionTask {
	t := &api.GracefulEvictionTask{FromCluster: "member1", PurgeMode: api.PurgeGracefully, CreationTimestamp: &metav1.Time{Time: now.Add(-age)}}
	for _, c := range change {
		c(t)
	}
	return t
}

func isNew(t *api.GracefulEvictionTask)      { t.CreationTimestamp = nil }
func directly(t *api.GracefulEvictionTask)   { t.PurgeMode = api.PurgeDirectly }
func kept(t *api.GracefulEvictionTask)       { t.SuppressDeletion = new(true) }
func letGo(t *api.GracefulEvictionTask)      { t.SuppressDeletion = new(false) }
func halfMinute(t *api.GracefulEvictionTask) { t.GracePeriodSeconds = new(int32(30)) }

func TestAssess(t *testing.T) {
	standing := eviction.Handover{Timeout: timeout, Scheduled: true}
	healthy := eviction.Handover{Timeout: timeout, Scheduled: true, Healthy: true}
	unscheduled := eviction.Handover{Timeout: timeout, Healthy: true}
	in := func(d time.Duration) time.Time { return now.Add(d) }
	never := time.Time{}
	for _, c := range []struct {
		name    string
		task    *api.GracefulEvictionTask
		h       eviction.Handover
		why     eviction.Why
		drop    bool
		recheck time.Time
	}{
		{"19.3/1 new: keep, recheck 10 m", task(0, isNew), standing, eviction.New, false, in(timeout)},
		{"19.3/2 empty result and scheduled: dropped", task(time.Minute), healthy, eviction.Replaced, true, never},
		{"19.3/3 empty result and not scheduled: keep, 9 m", task(time.Minute), unscheduled, eviction.Waiting, false, in(9 * time.Minute)},
		{"19.3/4 grace 30 s at 1 m: dropped", task(time.Minute, halfMinute), standing, eviction.Timeout, true, never},
		{"19.3/5 suppress true: keep, no recheck", task(time.Minute, kept), healthy, eviction.Suppressed, false, never},
		{"19.3/6 suppress false: dropped", task(time.Minute, letGo), standing, eviction.Unsuppressed, true, never},
		{"19.3/7 health Unknown: keep", task(time.Minute), standing, eviction.Waiting, false, in(9 * time.Minute)},
		{"19.3/8 Healthy and scheduled: dropped", task(time.Minute), healthy, eviction.Replaced, true, never},
		{"19.3/9 Healthy and not scheduled: keep", task(time.Minute), unscheduled, eviction.Waiting, false, in(9 * time.Minute)},
		{"19.3/10 Directly, no status: keep", task(time.Minute, directly), standing, eviction.Waiting, false, in(9 * time.Minute)},
		{"a new one with a grace of its own", task(0, isNew, halfMinute), healthy, eviction.New, false, in(30 * time.Second)},
		{"a new one that is suppressed is still new", task(0, isNew, kept), healthy, eviction.New, false, in(timeout)},
		{"suppressed beyond its timeout", task(time.Hour, kept), standing, eviction.Suppressed, false, never},
		{"a nanosecond before the timeout", task(timeout - 1), standing, eviction.Waiting, false, in(1)},
		{"at the timeout", task(timeout), standing, eviction.Timeout, true, never},
		{"beyond the timeout, not even scheduled", task(time.Hour), unscheduled, eviction.Timeout, true, never},
		{"timed out and healthy: the health is told", task(time.Hour), healthy, eviction.Replaced, true, never},
		{"no wait", task(0), eviction.Handover{Scheduled: true}, eviction.Timeout, true, never},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := eviction.Assess(c.task, now, c.h)
			require.Equal(t, eviction.Assessment{Why: c.why, Recheck: c.recheck}, got, got.Why.String())
			require.Equal(t, c.drop, got.Drop())
		})
	}
}

// TestScaledToZeroKeepsNothing: a workload that must run no replicas needs no handover.
func TestScaledToZeroKeepsNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		task *api.GracefulEvictionTask
		h    eviction.Handover
		why  eviction.Why
	}{
		{"the last copy goes", task(time.Minute), eviction.Handover{Scheduled: true, Healthy: true}, eviction.ScaledToZero},
		{"what takes over need not serve", task(time.Minute), eviction.Handover{Scheduled: true}, eviction.ScaledToZero},
		{"the scheduler has yet to see it", task(time.Minute), eviction.Handover{}, eviction.Waiting},
		{"not even scheduled in time", task(timeout), eviction.Handover{}, eviction.ScaledToZero},
		{"a person keeps the copy", task(time.Hour, kept), eviction.Handover{Scheduled: true}, eviction.Suppressed},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.h.Timeout, c.h.KeepLastCopy, c.h.ScaledToZero = timeout, true, true
			require.Equal(t, c.why.String(), eviction.Assess(c.task, now, c.h).Why.String())
		})
	}
}

func TestTheLastCopyIsKept(t *testing.T) {
	for _, c := range []struct {
		name string
		task *api.GracefulEvictionTask
		h    eviction.Handover
		why  eviction.Why
	}{
		{"K1: timed out, nothing elsewhere", task(timeout), eviction.Handover{Scheduled: true}, eviction.LastCopy},
		{"K1: an empty result is no handover", task(time.Minute), eviction.Handover{Scheduled: true, Healthy: true}, eviction.LastCopy},
		{"timed out, a healthy copy elsewhere", task(timeout), eviction.Handover{HealthyElsewhere: true}, eviction.Timeout},
		{"handed over", task(time.Minute), eviction.Handover{Scheduled: true, Healthy: true, HealthyElsewhere: true}, eviction.Replaced},
		{"neither done nor timed out", task(time.Minute), eviction.Handover{HealthyElsewhere: true}, eviction.Waiting},
		{"a person may let go of the last copy", task(timeout, letGo), eviction.Handover{}, eviction.Unsuppressed},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.h.Timeout, c.h.KeepLastCopy = timeout, true
			got := eviction.Assess(c.task, now, c.h)
			require.Equal(t, c.why, got.Why, got.Why.String())
			require.Equal(t, c.why > eviction.LastCopy, got.Drop())
			require.Equal(t, c.why == eviction.Waiting, !got.Recheck.IsZero(), "only a waiting task is looked at again by itself")
		})
	}
}

// TestRecheckIsWhenTheOutcomeChanges walks every task over time: before its recheck it stays as it is,
// at its recheck it does not.
func TestRecheckIsWhenTheOutcomeChanges(t *testing.T) {
	for _, h := range []eviction.Handover{{Timeout: timeout}, {Timeout: timeout, Scheduled: true}, {Timeout: timeout, KeepLastCopy: true}} {
		for _, c := range []*api.GracefulEvictionTask{task(0), task(time.Minute), task(0, halfMinute), task(0, directly)} {
			first := eviction.Assess(c, now, h)
			require.Equal(t, first, eviction.Assess(c, first.Recheck.Add(-1), h))
			require.NotEqual(t, first.Why, eviction.Assess(c, first.Recheck, h).Why)
		}
	}
}

func TestWhyReadsAsInTranscripts(t *testing.T) {
	var words []string
	for w := eviction.New; w <= eviction.ScaledToZero; w++ {
		words = append(words, w.String())
	}
	require.Equal(t, []string{"new", "suppressed", "waiting", "last copy", "unsuppressed", "timeout", "healthy", "scaled to zero"}, words)
}
