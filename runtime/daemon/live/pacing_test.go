package live

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// crowd is how many workloads have to be evicted in a storm of these tests, paced by tens each 10 ms.
const crowd = 400

// storm is a fleet of which one cluster fails. Each eviction that machines decide on takes some of their time.
type storm struct {
	*fixture
	costs time.Duration
	// decided is when machines decided on what is not committed, heard by when each eviction was due in their time.
	decided []time.Time
	heard   map[time.Time]int
	// longest is the longest that anything waited to be committed.
	longest time.Duration
	// decides is called with each eviction. Nil: nothing is called.
	decides func()
}

// stormy has workloads run on m1, with capacity for them on m2.
func stormy(t testing.TB) *storm {
	t.Helper()
	s := &storm{fixture: newFixture(t), heard: map[time.Time]int{}}
	p := policy()
	p.Spec.ResourceSelectors[0].Name = ""
	s.write(roomy("m1"), p)
	for i := range crowd {
		d := deployment(1, "nginx:1")
		d.Name = fmt.Sprintf("web-%03d", i)
		s.write(d)
	}
	require.NoError(t, s.step())
	s.apply(roomy("m2"))
	lone := settings(t)
	lone.FleetBreakerShare = 0 // all of the fleet is on one cluster
	s.world.SetAll(lone)
	require.NoError(t, s.step())
	s.config.Hear, s.config.Flushed = s.hear, s.flushed
	return s
}

func roomy(name string) *api.Cluster {
	c := member(name)
	c.Status.ResourceSummary.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10000")}
	return c
}

func (s *storm) hear(at time.Time, fact messages.Fact, _ journal.Phrase) {
	if _, evicts := fact.(*messages.EvictionStarted); !evicts {
		return
	}
	s.decided = append(s.decided, s.clock.Now())
	s.heard[at]++
	s.clock.Add(s.costs)
	if s.decides != nil {
		s.decides()
	}
}

func (s *storm) flushed() {
	for _, at := range s.decided {
		s.longest = max(s.longest, s.clock.Now().Sub(at))
	}
	s.decided = nil
}

// evicting counts the eviction tasks that are committed.
func (s *storm) evicting() (n int) {
	for _, o := range s.engine.Table(catalog.Bindings.Name()).Snapshot().Under("", "") {
		n += len(o.(*api.ResourceBinding).Spec.GracefulEvictionTasks)
	}
	return n
}

func TestAStormIsCommittedWhileItGoesOn(t *testing.T) {
	s := stormy(t)
	s.costs = 20 * time.Millisecond
	putTaints(s.fixture, "m1", failed)
	s.pass(10 * time.Second)
	require.Equal(t, crowd, s.evicting())
	require.Less(t, s.longest, time.Second)
}

// What was due at several instants a moment ago is done instant by instant, and all of it before time goes on.
func TestAMomentThatWasMissedIsReconciled(t *testing.T) {
	s := stormy(t)
	s.clock.Set(start.Truncate(time.Second).Add(time.Second))
	putTaints(s.fixture, "m1", failed)
	require.Equal(t, 10, s.evicting())
	s.clock.Add(50 * time.Millisecond)
	before := len(s.heard)
	require.NoError(t, s.settle())
	require.Len(t, s.heard, before+5)
	require.NoError(t, s.step())
	require.Equal(t, 60, s.evicting())
}

func TestAStallGivesNoPermitsOfItsTime(t *testing.T) {
	s := stormy(t)
	s.clock.Set(start.Truncate(time.Second).Add(time.Second))
	putTaints(s.fixture, "m1", failed)
	require.Equal(t, 10, s.evicting())
	s.clock.Add(time.Minute)
	require.NoError(t, s.step())
	require.Equal(t, 20, s.evicting())
	s.pass(10 * time.Second)
	require.Equal(t, crowd, s.evicting())
	for at, n := range s.heard {
		require.LessOrEqual(t, n, 10, at)
	}
}

func TestAPauseIsHeardWhileAStormGoesOn(t *testing.T) {
	s := stormy(t)
	s.costs = 20 * time.Millisecond
	g := named(&api.Governor{}, api.LeewardGroupVersion, "Governor", "", api.GovernorName)
	before := 0
	s.decides = func() {
		if before++; before == 100 {
			edit(s.fixture, g, func(g *api.Governor) { g.Spec.Pause = &api.Hold{Reason: "the network is rebuilt"} })
		}
	}
	putTaints(s.fixture, "m1", failed)
	s.pass(10 * time.Second)
	require.Len(t, s.holds(), 1)
	require.Equal(t, 100, s.evicting(), "those of the instant in which people paused")
}

// TestAPauseIsAcknowledgedBeforeAllThatWaitSaySo has people pause a storm in which hundreds of evictions wait, each of which says for what.
func TestAPauseIsAcknowledgedBeforeAllThatWaitSaySo(t *testing.T) {
	s := stormy(t)
	putTaints(s.fixture, "m1", failed)
	g := named(&api.Governor{}, api.LeewardGroupVersion, "Governor", "", api.GovernorName)
	edit(s.fixture, g, func(g *api.Governor) { g.Spec.Pause = &api.Hold{Reason: "the network is rebuilt"} })
	_, err := s.round()
	require.NoError(t, err)
	require.Len(t, get(s.fixture, g).Status.Holds, 1, "of the round in which it is heard")
	said := 0
	for _, o := range s.engine.Table(catalog.Bindings.Name()).Snapshot().Under("", "") {
		for _, e := range o.(*api.ResourceBinding).Status.Evictions {
			if e.Reason == "Paused" {
				require.Greater(t, engine.VersionOf(o), engine.VersionOf(get(s.fixture, g)))
				said++
			}
		}
	}
	require.Greater(t, said, decidedTogether)
}

// TestEvictionsPrecedeWhatIsSaidOfThoseThatWait ends a pause: evictions begin, and hundreds say that they wait for something else.
func TestEvictionsPrecedeWhatIsSaidOfThoseThatWait(t *testing.T) {
	s := stormy(t)
	s.clock.Set(start.Truncate(time.Second).Add(time.Second))
	putTaints(s.fixture, "m1", failed)
	g := named(&api.Governor{}, api.LeewardGroupVersion, "Governor", "", api.GovernorName)
	edit(s.fixture, g, func(g *api.Governor) { g.Spec.Pause = &api.Hold{Reason: "the network is rebuilt"} })
	s.pass(time.Minute)
	before := s.evicting()
	edit(s.fixture, g, func(g *api.Governor) { g.Spec.Pause = nil })
	s.take()
	require.NoError(t, s.settle())
	next := s.nextDecisions()
	require.Equal(t, api.KeyOf(g), next[0])
	begin := 0
	for i, key := range next[1:] {
		if b := s.world.Store().Binding(bindingOf(key)); b != nil && len(b.Spec.GracefulEvictionTasks) > 0 {
			require.Equal(t, begin, i)
			begin++
		}
	}
	require.Equal(t, 10, begin)
	require.Greater(t, len(next), decidedTogether)
	s.unwritten = next
	require.NoError(t, s.step())
	require.Equal(t, before+10, s.evicting())
}

// busy is a clock of a machine that takes some time for each thing, as often as it is read.
type busy struct {
	*clock.Mock
	each time.Duration
}

func (b *busy) Now() time.Time {
	b.Add(b.each)
	return b.Mock.Now()
}

// TestAPauseIsHeardBeforeTheWorksOfAFleetAreWritten has people pause while the Works of a new fleet are written.
func TestAPauseIsHeardBeforeTheWorksOfAFleetAreWritten(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.ResourceSelectors[0].Name = ""
	f.write(roomy("m1"), p)
	for i := range crowd {
		d := deployment(1, "nginx:1")
		d.Name = fmt.Sprintf("web-%03d", i)
		f.write(d)
	}
	machine := &busy{f.clock, consequencesLast / 10}
	f.config.Clock = machine
	works := f.engine.Table(catalog.Works.Name())
	for works.Len() == 0 {
		again, err := f.round()
		require.NoError(t, err)
		require.True(t, again)
	}
	g := named(&api.Governor{}, api.LeewardGroupVersion, "Governor", "", api.GovernorName)
	edit(f, g, func(g *api.Governor) { g.Spec.Pause = &api.Hold{Reason: "the network is rebuilt"} })
	asked := f.clock.Now()
	for len(f.holds()) == 0 {
		_, err := f.round()
		require.NoError(t, err)
	}
	require.Less(t, f.clock.Now().Sub(asked), 2*consequencesLast)
	require.Less(t, works.Len(), crowd)
	require.NoError(t, f.step())
	require.Equal(t, crowd, works.Len())
}

// TestWhatUsersHoldBeforeItIsCommittedIsTakenBack has people hold an eviction between the machines' decision and its commit.
func TestWhatUsersHoldBeforeItIsCommittedIsTakenBack(t *testing.T) {
	for name, held := range map[string]api.Object{"its binding": binding(), "its cluster": member("m1")} {
		for _, purge := range []api.PurgeMode{api.PurgeGracefully, api.PurgeDirectly} {
			t.Run(fmt.Sprint(name, " ", purge), func(t *testing.T) {
				f := running(t)
				p := policy()
				p.Spec.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: purge}}
				f.apply(p)
				edit(f, member("m1"), func(c *api.Cluster) { c.Spec.Taints = append(c.Spec.Taints, failed) })
				f.take()
				require.NoError(t, f.settle())
				require.Len(t, f.world.Store().Binding("default/web-deployment").Spec.GracefulEvictionTasks, 1, "it is decided on")
				f.checkInvariants()
				f.unwritten = f.world.Store().Changed() // as of a storm of more than are committed in a round
				annotate(f, held, map[string]string{api.AnnotationHold: "its rack is moved"})
				require.Len(t, f.holds(), 1)
				require.Equal(t, "m1:2", placed(f))
				require.NotNil(t, get(f, work("m1")))
				require.Nil(t, get(f, work("m1")).DeletionTimestamp)
				require.Nil(t, get(f, work("m2")), "nothing starts")
				require.Equal(t, "Held", get(f, binding()).Status.Evictions[0].Reason)

				unannotate(f, held, api.AnnotationHold)
				require.Equal(t, "m2:2 leaves m1", placed(f))
			})
		}
	}
}

// TestWhatChangesMoreThanAStatusIsWrittenFirstWhereThereIsMuch has many bindings be looked at, and then one of them scaled.
func TestWhatChangesMoreThanAStatusIsWrittenFirstWhereThereIsMuch(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.ResourceSelectors[0].Name = ""
	objects := []api.Object{member("m1"), p}
	var keys []api.Key
	for n := range decidedTogether + 9 {
		d := deployment(0, "nginx:1")
		d.Name = fmt.Sprintf("web%03d", n)
		objects = append(objects, d)
		keys = append(keys, store.BindingKey(messages.BindingName("default/"+d.Name+"-deployment")))
	}
	f.apply(objects...)
	scaled := keys[len(keys)-1]
	next := func() (at, first int) {
		for _, key := range keys[:len(keys)-1] {
			f.world.Store().Note(key)
		}
		f.take()
		require.NoError(t, f.settle())
		next := f.nextDecisions()
		f.unwritten = next
		return slices.Index(next, scaled), slices.Index(next, keys[0])
	}
	edit(f, objects[len(objects)-1].(*appsv1.Deployment), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(3)) })
	at, first := next()
	require.GreaterOrEqual(t, at, 0)
	require.Less(t, at, first)
	require.NoError(t, f.step())

	keys = append(keys[:9:9], scaled)
	edit(f, objects[len(objects)-1].(*appsv1.Deployment), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(4)) })
	at, first = next()
	require.Less(t, first, at, "of few each has its turn")
}

func TestOneWishAtLeastIsServedHoweverLateItIs(t *testing.T) {
	f := running(t)
	f.wishes = []wish{{binding: "default/a", cluster: "m1", key: "a"}, {binding: "default/b", cluster: "m1", key: "b"}}
	f.addWorks(func(pending) {}, f.now(), func() bool { return true })
	require.Len(t, f.wishes, 1)
	require.Equal(t, "b", f.wishes[0].key)
}

// TestAHoldTakesNoEvictionBackThatIsCommitted though its binding is written again.
func TestAHoldTakesNoEvictionBackThatIsCommitted(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	annotate(f, binding(), map[string]string{api.AnnotationHold: "backup"})
	f.apply(deployment(3, "nginx:1"))
	require.Equal(t, "m2:3 leaves m1", placed(f))
}
