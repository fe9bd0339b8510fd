package live

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
)

// beside makes the machines of a standby, on the leader's own engine.
func (f *fixture) beside() *Standby {
	f.t.Helper()
	s, err := Follow(f.t.Context(), f.configOn(f.engine))
	require.NoError(f.t, err)
	return s
}

// succeeds has a standby lead in the place of the fleet, which was killed.
func (f *fixture) succeeds(s *Standby) {
	f.t.Helper()
	f.Close()
	next, err := s.Lead(f.t.Context(), 0)
	require.NoError(f.t, err)
	require.NotNil(f.t, next, "the machines are as the store is")
	f.Fleet = next
	require.NoError(f.t, f.step())
}

// What users, agents and a leader have done since machines began to follow, these know, and lead.
func TestAStandbyKnowsWhatHasHappened(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(f *fixture)
		want    string
	}{
		"nothing":         {func(*fixture) {}, "m1:2"},
		"a user scales":   {func(f *fixture) { f.write(deployment(3, "nginx:1")) }, "m1:3"},
		"a cluster joins": {func(f *fixture) { f.write(member("m3")) }, "m1:2"},
		"an agent reports": {func(f *fixture) {
			edit(f, member("m2"), func(c *api.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse })
		}, "m1:2"},
		"a user taints a cluster": {func(f *fixture) {
			edit(f, member("m2"), func(c *api.Cluster) {
				c.Spec.Taints = []corev1.Taint{{Key: "full", Effect: corev1.TaintEffectNoSchedule}}
			})
		}, "m1:2"},
		"a leader taints one, which a policy asks for": {func(f *fixture) {
			f.apply(taintPolicy(corev1.TaintEffectNoExecute))
			edit(f, member("m1"), func(c *api.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse })
			require.NoError(t, f.step())
			require.NotEmpty(t, get(f, member("m1")).Spec.Taints)
		}, "m2:2 leaves m1"},
		"a leader scales a copy":   {func(f *fixture) { f.apply(deployment(4, "nginx:1")) }, "m1:4"},
		"a leader ends a workload": {func(f *fixture) { f.remove(deployment(2, "nginx:1")) }, "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			s := f.beside()
			c.happens(f)
			f.succeeds(s)
			require.Equal(t, c.want, placed(f))
		})
	}
}

// A leader that was killed before it wrote what machines decide leaves that to the standby, which waits for it while the leader may
// only be slow. Where it decides otherwise, that counts.
func TestAStandbyWritesWhatTheLeaderOwed(t *testing.T) {
	f := newFixture(t)
	f.apply(member("m1"), member("m2"), tolerant(60), deployment(2, "nginx:1"))
	f.serves("m1", 2)
	edit(f, member("m1"), func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "failed", Effect: corev1.TaintEffectNoExecute}}
	})
	require.NoError(t, f.step())
	s := f.beside()
	f.clock.Add(time.Minute)
	require.NoError(t, s.fleet.step(t.Context()))
	require.Equal(t, "m1:2", placed(f), "nothing is committed")
	require.Contains(t, s.fleet.following.ahead, api.KeyOf(get(f, binding())))

	require.NoError(t, f.step()) // the leader was only slow
	require.NoError(t, s.fleet.step(t.Context()))
	require.Empty(t, s.fleet.following.ahead)
	require.Empty(t, s.fleet.following.unsaid)

	f.clock.Add(writesWithin)
	edit(f, member("m2"), func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "failed", Effect: corev1.TaintEffectNoExecute}}
	})
	require.NoError(t, s.fleet.step(t.Context()))
	f.succeeds(s)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.EqualValues(t, "Scheduled", get(f, binding()).Status.Evictions[1].State)
}

// A standby that taints a cluster a second later than the leader did yields: after a while, or as soon as it is to lead.
func TestAStandbyThatIsLaterThanTheLeaderYields(t *testing.T) {
	for name, waits := range map[string]time.Duration{"in time": agreesWithin + time.Second, "as it is to lead": 0} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			f.apply(taintPolicy(corev1.TaintEffectNoExecute))
			s := f.beside()
			edit(f, member("m1"), func(c *api.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse })
			require.NoError(t, f.step())
			tainted := get(f, member("m1"))
			f.clock.Add(time.Second)
			require.NoError(t, s.fleet.step(t.Context()))
			require.Len(t, s.fleet.following.disputed, 1)
			f.clock.Add(waits)
			require.NoError(t, s.fleet.step(t.Context()))
			require.Equal(t, waits > 0, len(s.fleet.following.disputed) == 0)
			f.succeeds(s)
			require.Equal(t, tainted.Spec.Taints, get(f, member("m1")).Spec.Taints)
			require.Equal(t, tainted.ResourceVersion, get(f, member("m1")).ResourceVersion)
			require.Equal(t, tainted.Spec.Taints, f.world.Store().Cluster("m1").Spec.Taints)
			require.Equal(t, "m2:2 leaves m1", placed(f))
			f.serves("m2", 2)
			f.lets("m1")
			require.Equal(t, "m2:2", placed(f), "its bindings hear of the cluster, and it of them")
		})
	}
}

// Machines of a standby that have decided otherwise than the leader for too long are made again: of a policy after seconds, of a binding once the
// leader had all the time to write it.
func TestAStandbyThatIsAtOddsWithTheLeaderIsMadeAgain(t *testing.T) {
	f := running(t)
	f.apply(taintPolicy(corev1.TaintEffectNoSchedule))
	s := f.beside()
	defer s.Close()
	edit(f, taintPolicy(corev1.TaintEffectNoSchedule), func(p *api.ClusterTaintPolicy) { p.Status.TaintedClusters = 7 }) // as a leader of another version might
	require.NoError(t, s.fleet.step(t.Context()))
	require.Len(t, s.fleet.following.disputed, 1)
	f.clock.Add(agreesWithin + time.Second)
	require.ErrorIs(t, s.fleet.step(t.Context()), ErrBehind)

	again := f.beside()
	require.NoError(t, again.fleet.step(t.Context()))
	f.Close()
	f.clock.Add(writesWithin)
	edit(f, member("m1"), func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "failed", Effect: corev1.TaintEffectNoExecute}}
	})
	require.NoError(t, again.fleet.step(t.Context()))
	f.clock.Add(writesWithin + time.Second)
	require.ErrorIs(t, again.fleet.step(t.Context()), ErrBehind, "no leader writes anything")
	again.Close()
	f.open()
}

// Machines that follow say nothing, for the leader does, and what it did not say once they lead: an eviction that was due.
func TestWhatTheLeaderDidNotSayIsToldByTheStandby(t *testing.T) {
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
	p, err := Follow(t.Context(), f.configOn(f.engine))
	require.NoError(t, err)
	require.Empty(t, evictions)
	require.Equal(t, "m1:2", placed(f), "nothing is committed")
	f.Fleet, err = p.Lead(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, evictions, 1)
	require.NoError(t, f.step())
	require.Equal(t, "m2:2 leaves m1", placed(f))
}

func TestMachinesOfAStandbyAreGivenUpWhileTheyAreMade(t *testing.T) {
	f := running(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Follow(ctx, f.configOn(f.engine))
	require.ErrorIs(t, err, context.Canceled)
}

// A standby tells of an eviction once, and why: of one that was due after the leader was killed, of one that the leader committed and told of,
// and of one that it committed and did not tell of.
func TestAStandbyTellsOfEachEvictionOnce(t *testing.T) {
	for name, leads := range map[string]func(f *fixture){
		"the standby alone decides it": func(*fixture) {},
		"the leader tells of it":       func(f *fixture) { require.NoError(t, f.step()) },
		"the leader does not tell of it": func(f *fixture) {
			require.NoError(t, f.step())
			events := f.engine.Table(catalog.Events.Name())
			for _, o := range events.Snapshot().Under("", "") {
				if e := o.(*corev1.Event); e.Reason == "EvictionStarted" {
					f.remove(e)
				}
			}
			require.Zero(t, f.told("EvictionStarted"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.apply(member("m1"), member("m2"), tolerant(60), deployment(2, "nginx:1"))
			f.serves("m1", 2)
			putTaints(f, "m1", failed)
			f.record = &recorder{}
			s := f.beside()
			f.clock.Add(time.Minute)
			leads(f)
			require.NoError(t, s.fleet.step(t.Context()))
			f.succeeds(s)
			require.Equal(t, "m2:2 leaves m1", placed(f))
			require.Equal(t, []string{"EvictionStarted"}, f.record.evictions())
			require.Equal(t, 1, f.told("EvictionStarted"), f.events(binding()))
			for _, e := range f.events(binding()) {
				if strings.HasPrefix(e, "EvictionStarted") {
					require.Contains(t, e, "toleration 60s")
				}
			}
		})
	}
}
