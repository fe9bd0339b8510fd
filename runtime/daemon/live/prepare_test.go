package live

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
)

// What happens between the making of machines in advance and their lead is news to them, or, where it may be a decision, the reason to
// make others.
func TestMachinesThatWereMadeInAdvanceLeadUnlessOthersHaveDecidedSince(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(f *fixture)
		leads   bool
		want    string
	}{
		"nothing": {func(*fixture) {}, true, "m1:2"},
		"a user scales": {func(f *fixture) {
			f.write(deployment(3, "nginx:1"))
		}, true, "m1:3"},
		"an agent reports": {func(f *fixture) {
			edit(f, member("m2"), func(c *api.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse })
		}, true, "m1:2"},
		"a cluster joins": {func(f *fixture) {
			f.write(member("m3"))
		}, true, "m1:2"},
		"a cluster is tainted": {func(f *fixture) {
			edit(f, member("m2"), func(c *api.Cluster) {
				c.Spec.Taints = []corev1.Taint{{Key: "full", Effect: corev1.TaintEffectNoSchedule}}
			})
		}, false, "m1:2"},
		"a leader taints one, which a policy asks for": {func(f *fixture) {
			f.apply(taintPolicy(corev1.TaintEffectNoExecute))
			edit(f, member("m1"), func(c *api.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse })
			require.NoError(t, f.step())
			require.NotEmpty(t, get(f, member("m1")).Spec.Taints)
		}, false, "m2:2 leaves m1"},
		"a leader scales a copy": {func(f *fixture) {
			f.apply(deployment(4, "nginx:1"))
		}, false, "m1:4"},
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			p, err := Prepare(t.Context(), f.configOn(f.engine))
			require.NoError(t, err)
			c.happens(f)
			f.Close()
			next, err := p.Lead(t.Context(), 0)
			require.NoError(t, err)
			require.Equal(t, c.leads, next != nil)
			if f.Fleet = next; next == nil {
				f.open()
			}
			require.NoError(t, f.step())
			require.Equal(t, c.want, placed(f))
		})
	}
}

// Machines that are made in advance say nothing, for they may not come to lead, and then all of it: an eviction that was due.
func TestWhatMachinesDoInAdvanceIsToldOnceTheyLead(t *testing.T) {
	f := newFixture(t)
	f.apply(member("m1"), member("m2"), tolerant(60), deployment(2, "nginx:1"))
	f.serves("m1", 2)
	edit(f, member("m1"), func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "failed", Effect: corev1.TaintEffectNoExecute}}
	})
	require.NoError(t, f.step())
	f.Close() // the leader
	f.clock.Add(2 * time.Minute)

	var evictions []messages.BindingName
	f.heard = func(_ time.Time, fact messages.Fact, _ journal.Phrase) {
		if e, is := fact.(*messages.EvictionStarted); is {
			evictions = append(evictions, e.Binding)
		}
	}
	p, err := Prepare(t.Context(), f.configOn(f.engine))
	require.NoError(t, err)
	require.Empty(t, evictions)
	require.Equal(t, "m1:2", placed(f), "nothing is committed")
	f.Fleet, err = p.Lead(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, evictions, 1)
	require.NoError(t, f.step())
	require.Equal(t, "m2:2 leaves m1", placed(f))
}

func TestMachinesThatAreNotMadeInTimeAreGivenUp(t *testing.T) {
	f := running(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Prepare(ctx, f.configOn(f.engine))
	require.ErrorIs(t, err, context.Canceled)
}
