package karmada

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/election"
)

// dies has the process be dead from now on, as with kill -9: its Lease runs out.
func (a *actor) dies() {
	a.faults.mu.Lock()
	defer a.faults.mu.Unlock()
	a.faults.dead = true
}

const madeOnce = `"message":"ready to act when this daemon leads"`

// followers are a leader of short Leases, and a standby whose machines follow it.
func (s *stage) followers(change ...func(*Config, *faults)) (leader, standby *actor) {
	s.t.Helper()
	short := func(c *Config, _ *faults) {
		c.Act.Timing = election.Timing{LeaseDuration: time.Second, RenewDeadline: 900 * time.Millisecond, RetryPeriod: 50 * time.Millisecond}
	}
	leader = s.acts(opted, append(change, short)...).leads()
	standby = s.acts(opted, short)
	standby.eventually(func(d *deciding) bool { return d.follows() && d.settled })
	return leader, standby
}

// eventually waits until something is so between two rounds of the machines.
func (a *actor) eventually(so func(*deciding) bool) {
	a.stage.t.Helper()
	require.Eventually(a.stage.t, func() (is bool) {
		a.look(func(d *deciding) { is = so(d) })
		return is
	}, 20*time.Second, time.Millisecond, "%s", &a.log)
}

// agrees waits until the machines have all workloads where the server has them, and nothing to write of them.
func (a *actor) agrees() {
	a.stage.t.Helper()
	a.eventually(func(d *deciding) bool {
		for _, name := range a.stage.bound {
			ours := d.twin.world.Store().Binding(messages.NameBinding("shop", name+"-deployment"))
			var words []string
			for _, c := range ours.Spec.Clusters {
				words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
			}
			for _, k := range ours.Spec.GracefulEvictionTasks {
				words = append(words, "-"+k.FromCluster)
			}
			if strings.Join(words, " ") != a.stage.is(name) {
				return false
			}
		}
		return len(d.acting.ahead.of) == 0 && len(d.acting.touched) == 0
	})
}

// TestAStandbyFollowsAndWritesNothing: when the leader is stopped after a failover, the standby leads with the machines that it has, and has
// nothing to write or to tell.
func TestAStandbyFollowsAndWritesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web", "db")
	first, second := s.followers()
	s.until("m1:2 m2:2")
	s.silent["m3"] = true
	s.taint("m2", "failed")
	s.until("m1:2 m3:2 -m2")
	second.agrees()
	s.heals("m3")
	s.until("m1:2 m3:2")
	second.agrees()
	first.stop()
	told := len(s.told())
	second.leads().rounds()
	require.Equal(t, "m1:2 m3:2; m1:2 m3:2", s.String())
	require.Zero(t, second.faults.count(), "%v", second.faults.writes)
	require.NotContains(t, second.log.String(), "eviction started")
	s.taint("m2")
	s.taint("m3", "failed")
	s.until("m1:2 m2:2")
	second.stop()
	require.Contains(t, second.log.String(), "eviction started")
	require.Equal(t, 1, strings.Count(second.log.String(), madeOnce), "the machines are not made again: %s", &second.log)
	require.Greater(t, len(s.told()), told)
}

// TestAStandbyWritesWhatItsMachinesDecidedAfterTheLeaderDied, once it leads. Where the last write of the leader arrives late, that counts.
func TestAStandbyWritesWhatItsMachinesDecidedAfterTheLeaderDied(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		s := newStageAmong(t, []string{"m1", "m2", "m3", "m4"}, opted, "web")
		first, second := s.followers()
		s.until("m1:2 m2:2")
		second.agrees()
		first.dies()
		s.taint("m2", "failed")
		second.eventually(func(d *deciding) bool { return d.acting.lease != nil || len(d.acting.ahead.of) == 1 })
		want := "m1:2 m3:2"
		if late {
			want = "m1:2 m4:2"
			s.server.Change(userAgent, ofBinding+"web-deployment", func(o *unstructured.Unstructured) {
				require.NoError(t, unstructured.SetNestedSlice(o.Object, []any{map[string]any{"name": "m1", "replicas": int64(2)}, map[string]any{"name": "m4", "replicas": int64(2)}}, "spec", "clusters"))
			})
		}
		second.leads()
		s.until(want)
		second.stop()
		require.Equal(t, 1, strings.Count(second.log.String(), madeOnce), &second.log)
		if !late {
			require.Equal(t, 1, strings.Count(second.log.String(), `"message":"eviction started"`), "it is told once, when it leads: %s", &second.log)
		}
		first.kill()
		require.NoError(t, <-first.ended)
	}
}

// readsOnly has a server refuse what a daemon writes, but for its Lease.
func readsOnly(_ *Config, f *faults) {
	f.refuses = func(int) *http.Response {
		return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody, Header: http.Header{}}
	}
}

// TestWhatTheLeaderDoesNotWriteIsDecidedAgain by the machines of a standby, from what the server has.
func TestWhatTheLeaderDoesNotWriteIsDecidedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	first, second := s.followers(readsOnly)
	s.taint("m2", "failed")
	web := messages.NameBinding("shop", "web-deployment")
	var since time.Time
	isAhead := func(d *deciding) (is bool) {
		since, is = d.acting.ahead.of[web]
		return is && len(d.acting.unsaid[web]) > 0
	}
	second.eventually(isAhead)
	before := since
	s.clock.Add(writesWithin)
	second.eventually(func(d *deciding) bool { return isAhead(d) && since.After(before) })
	require.Zero(t, second.faults.count(), "%v", second.faults.writes)
	first.stop()
	second.leads()
	s.until("m1:2 m3:2")
	second.stop()
}

// TestTheGovernorOfAStandbyCountsWhatTheLeaderPermitted, and not what its own machines would.
func TestTheGovernorOfAStandbyCountsWhatTheLeaderPermitted(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	s.server.Put(governorPath, textOf(t, object(api.LeewardGroupVersion, "Governor", "", api.GovernorName, map[string]any{})))
	_, second := s.followers(readsOnly)
	s.taint("m2", "failed")
	second.eventually(func(d *deciding) bool { return len(d.twin.world.Store().Governor().Permits) > 0 })
	permits := []any{map[string]any{"priority": int64(7), "moved": []any{map[string]any{"from": "2026-11-28T18:00:00.000000Z", "count": int64(3)}}}}
	s.server.Change(userAgent, governorPath, func(o *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedSlice(o.Object, permits, "status", "permits"))
	})
	second.eventually(func(d *deciding) bool {
		permits := d.twin.world.Store().Governor().Permits
		return d.follows() && len(permits) == 1 && permits[0].Moved[0].Count == 3
	})
}

// TestWhatAStandbyHasToSayIsBounded: of each binding the newest.
func TestWhatAStandbyHasToSayIsBounded(t *testing.T) {
	u := unsaid{}
	for n := range mostTold + 10 {
		u.keep(&heard{fact: &messages.EvictionStarted{Binding: messages.BindingName(fmt.Sprint(n))}})
	}
	require.Len(t, u, mostTold)
	for n := range mostOfOne + 10 {
		u.keep(&heard{at: start.Add(time.Duration(n)), fact: &messages.EvictionStarted{Binding: "0"}})
	}
	require.Len(t, u["0"], mostOfOne)
	all := u.all()
	require.Len(t, all, mostTold-1+mostOfOne)
	require.Equal(t, start.Add(mostOfOne+9), all[len(all)-1].at)
}
