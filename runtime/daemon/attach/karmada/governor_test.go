package karmada

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// governor is that of the server.
func (s *stage) governor() *api.Governor {
	g := &api.Governor{}
	require.NoError(s.t, json.Unmarshal([]byte(textOf(s.t, s.server.Get(governorPath).Object)), g))
	return g
}

var governorPath = pathOf(store.GovernorKey)

// TestAGovernorThatIsServedRemembers: what it counted survives a restart, and its pause holds evictions.
func TestAGovernorThatIsServedRemembers(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	s.server.Put(governorPath, textOf(t, object(api.LeewardGroupVersion, "Governor", "", api.GovernorName, map[string]any{
		"spec": map[string]any{"pause": map[string]any{"reason": "release day"}},
	})))
	first := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.taint("m2", "failed")
	require.Eventually(t, func() bool { return strings.Contains(first.log.String(), "release day") }, 20*time.Second, time.Millisecond, "%s", &first.log)
	require.Contains(t, s.is("web"), "m1:2 m2:2")
	s.server.Change("kubectl", governorPath, func(o *unstructured.Unstructured) { unstructured.RemoveNestedField(o.Object, "spec", "pause") })
	s.until("m1:2 m3:2")
	looks := 0
	require.Eventually(t, func() bool {
		if looks++; looks%100 == 1 { // time must not run away: permits are forgotten
			s.clock.Add(governorPeriod)
		}
		return len(s.governor().Status.Permits) > 0
	}, 20*time.Second, time.Millisecond)
	require.Equal(t, "leeward", s.governor().Status.Profile)
	first.stop()
	second := s.acts(opted).leads()
	var remembers []api.PermitCount
	second.look(func(d *deciding) { remembers = d.twin.world.Store().Governor().Permits })
	require.Equal(t, s.governor().Status.Permits, remembers)
}

// TestABudgetThatIsServedHolds: of two workloads of two replicas, one may move.
func TestABudgetThatIsServedHolds(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web", "db")
	o := object(api.LeewardGroupVersion, "EvictionBudget", "shop", "slow", map[string]any{"spec": map[string]any{"maxMoved": map[string]any{"replicas": 2, "windowSeconds": 3600}}})
	s.server.Put(pathOf(keyOf(o)), textOf(t, o))
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.taint("m2", "failed")
	moved := func() (n int) {
		s.karmada()
		for _, name := range s.bound {
			n += strings.Count(s.is(name), "m3")
		}
		return n
	}
	require.Eventually(t, func() bool {
		return moved() == 1 && strings.Contains(a.log.String(), "eviction blocked")
	}, 20*time.Second, time.Millisecond, "%s", s)
	s.clock.Add(59 * time.Minute)
	a.rounds()
	require.Equal(t, 1, moved())
	s.clock.Add(time.Minute)
	s.until("m1:2 m3:2")
}
