package karmada

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/runtime/fleet/election"
)

// dies has the process be dead from now on, as with kill -9: its Lease runs out.
func (a *actor) dies() {
	a.faults.mu.Lock()
	defer a.faults.mu.Unlock()
	a.faults.dead = true
}

// awaits lets time pass until something is logged.
func (a *actor) awaits(what string) {
	a.stage.t.Helper()
	require.Eventually(a.stage.t, func() bool {
		a.stage.clock.Add(10 * time.Millisecond)
		return strings.Contains(a.log.String(), what)
	}, 20*time.Second, time.Millisecond, "%s: %s", what, &a.log)
}

const madeAhead = "machines are made in advance"

// TestAStandbyMakesItsMachinesBeforeItLeads and decides with them, unless the leader has decided after all.
func TestAStandbyMakesItsMachinesBeforeItLeads(t *testing.T) {
	t.Parallel()
	for _, decides := range []bool{false, true} {
		s := newStage(t, opted, "web")
		short := func(c *Config, _ *faults) {
			c.Act.Timing = election.Timing{LeaseDuration: time.Second, RenewDeadline: 900 * time.Millisecond, RetryPeriod: 50 * time.Millisecond}
		}
		first := s.acts(opted, short).leads()
		s.until("m1:2 m2:2")
		second := s.acts(opted, short)
		require.Eventually(t, second.standby.Load, 20*time.Second, time.Millisecond)
		first.dies()
		s.taint("m2", "failed")
		second.awaits(madeAhead)
		require.False(t, second.began.Load())
		if decides { // the last write of the leader arrives late
			s.server.Change(userAgent, ofBinding+"web-deployment", func(o *unstructured.Unstructured) {
				require.NoError(t, unstructured.SetNestedSlice(o.Object, []any{map[string]any{"name": "m1", "replicas": int64(2)}, map[string]any{"name": "m3", "replicas": int64(2)}}, "spec", "clusters"))
			})
			require.Eventually(t, func() bool {
				i := second.inbox.Load()
				i.mu.Lock()
				defer i.mu.Unlock()
				return len(i.order) > 0
			}, 20*time.Second, time.Millisecond)
		}
		second.leads()
		s.until("m1:2 m3:2")
		require.Equal(t, decides, strings.Contains(second.log.String(), "are given up"), &second.log)
		second.stop()
		first.kill()
		require.NoError(t, <-first.ended)
	}
}

// TestAStandbyGivesItsMachinesUp where the leader was only late.
func TestAStandbyGivesItsMachinesUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	first := s.acts(opted).leads()
	second := s.acts(opted)
	require.Eventually(t, second.standby.Load, 20*time.Second, time.Millisecond)
	second.late(second.inbox.Load(), true)
	second.late(second.inbox.Load(), false)
	require.Nil(t, second.ahead.take())
	first.stop()
	second.leads()
	s.taint("m2", "failed")
	s.until("m1:2 m3:2")
	second.stop()
}
