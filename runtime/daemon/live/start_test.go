package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/world"
)

func TestAStartRepeatsNothingThatWasTold(t *testing.T) {
	f := running(t)
	f.restart()
	var heard []string
	f.Close()
	var err error
	f.Fleet, err = Open(t.Context(), Config{
		Engine: f.engine, Settings: settings(t), Clock: f.clock, Log: zerolog.Nop(),
		Hear: func(_ time.Time, fact messages.Fact, _ journal.Phrase) {
			heard = append(heard, fmt.Sprintf("%T", fact))
		},
	})
	require.NoError(t, err)
	before := f.engine.Version()
	require.NoError(t, f.step())
	require.Equal(t, before, f.engine.Version())
	require.ElementsMatch(t, []string{"*messages.PlacementConfirmed", "*messages.CopyWanted"}, heard, "what is asked of its agents again")
	spec := f.world.Store().Binding("default/web-deployment").Spec
	require.Same(t, &get(f, binding()).Spec, spec, "there are not two of a binding")
}

// What had it tried the last time is not known at a start.
func TestAStartDoesNotTellAgainWhatCannotBeScheduled(t *testing.T) {
	f := newFixture(t)
	full := func(name string) *api.Cluster {
		c := member(name)
		c.Spec.Taints = []corev1.Taint{{Key: "full", Effect: corev1.TaintEffectNoSchedule}}
		return c
	}
	f.apply(full("m1"), policy(), deployment(2, "nginx:1"))
	f.apply(full("m2"))
	told := f.events(binding())
	require.Contains(t, told, "ScheduleBindingFailed: default/web-deployment unschedulable NoClusterFit: "+
		"0/2 clusters are available: 2 cluster(s) had untolerated taint {full:NoSchedule}; because cluster m2 changed")
	f.restart()
	require.Equal(t, told, f.events(binding()))
}

func TestAStartSaysWhenItIsDone(t *testing.T) {
	f := running(t)
	f.Close()
	done := make(chan struct{}) // closed twice would panic
	var err error
	f.Fleet, err = Open(t.Context(), Config{Engine: f.engine, Settings: settings(t), Clock: f.clock, Log: zerolog.Nop(), Started: func() { close(done) }})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Run(ctx) }()
	<-done
	asked := false
	require.True(t, f.Ask(ctx, func(*world.World) { asked = true }))
	require.True(t, asked)
	cancel()
	require.NoError(t, <-ended)
}

func TestARunThatIsOverFollowsItsStoreNoMore(t *testing.T) {
	f := running(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, f.Run(ctx))
	f.feed.Take()
	taken := f.feed.Taken()
	f.write(member("m3"))
	require.Empty(t, f.feed.Take())
	require.Equal(t, taken, f.feed.Taken())
}

// What was edited while no daemon ran is told of the bindings that follow it, and of no other.
func TestAStartTellsWhichBindingsItUpdates(t *testing.T) {
	f := running(t)
	f.serves("m1", 2)
	updates := func() (n int) {
		for _, e := range f.events(binding()) {
			if strings.HasPrefix(e, "BindingUpdated") {
				n++
			}
		}
		return n
	}
	before := updates()
	f.restart()
	require.Equal(t, before, updates())
	f.Close()
	f.write(deployment(3, "nginx:1"))
	f.open()
	require.Equal(t, "m1:3", placed(f))
	require.Equal(t, before+1, updates())
}

func TestAFleetEndsWithItsStore(t *testing.T) {
	f := unopened(t)
	var err error
	f.engine, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: f.clock})
	require.NoError(t, err)
	f.open()
	ended := make(chan error, 1)
	ctx, end := context.WithCancel(t.Context())
	go func() {
		ended <- f.Run(t.Context())
		end()
	}()
	f.write(member("m1"))
	for range 50 { // among which it hears that there is news
		require.True(t, f.Ask(ctx, func(*world.World) {}))
	}
	require.NoError(t, f.engine.Close())
	require.ErrorIs(t, <-ended, engine.ErrClosed)
}

func TestWhoAsksSeesThePresent(t *testing.T) {
	f := running(t)
	f.clock.Add(time.Hour)
	f.serve(func() { require.Equal(t, start.Add(time.Hour).Truncate(time.Second), f.world.Now()) })
}

// TestAStartSaysWhichWorkItCannotRead of the many that are read apart from all else.
func TestAStartSaysWhichWorkItCannotRead(t *testing.T) {
	for name, text := range map[string]string{"its status": `{"status":7}`, "what it says of itself": `{"metadata":7}`} {
		t.Run(name, func(t *testing.T) {
			f := unopened(t)
			dir := t.TempDir()
			key := workKey("m1", "default/web-deployment")
			require.NoError(t, wal.Create(dir, []wal.Record{{Version: 1, Key: key, Object: []byte(text)}}))
			var err error
			f.engine, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: f.clock, Dir: dir})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, f.engine.Close()) })
			_, err = Open(t.Context(), Config{Engine: f.engine, Settings: settings(t), Clock: f.clock, Log: zerolog.Nop()})
			require.ErrorContains(t, err, "read "+key)
		})
	}
}

func TestAStartSaysWhatItCannotRead(t *testing.T) {
	f := unopened(t)
	dir := t.TempDir()
	require.NoError(t, wal.Create(dir, []wal.Record{{Version: 1, Key: "/apps/deployments/default/web", Object: []byte(`{"spec":7}`)}}))
	var err error
	f.engine, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: f.clock, Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.engine.Close()) })
	_, err = Open(t.Context(), Config{Engine: f.engine, Settings: settings(t), Clock: f.clock, Log: zerolog.Nop()})
	require.ErrorContains(t, err, "read /apps/deployments/default/web: json: ") // which says "cannot" or "unable to", by chance
	require.ErrorContains(t, err, "unmarshal JSON number")
}

func TestWhoAsksNeedNotWaitForAllWorks(t *testing.T) {
	f := running(t)
	for n := range 2 * wishesTogether {
		gone := messages.BindingName(fmt.Sprintf("default/gone%d", n))
		f.wishes = append(f.wishes, wish{binding: gone, cluster: "m1", key: workKey("m1", gone)})
	}
	f.asked = make(chan func(), 1)
	var left []int
	f.asked <- func() { left = append(left, len(f.wishes)) }
	require.NoError(t, f.step())
	require.Equal(t, []int{wishesTogether}, left)
	require.Empty(t, f.wishes)
}

// TestAStopDoesNotWaitForAllWorks stops a daemon that has just started on a large fleet: what remains is wished for again at
// the next start.
func TestAStopDoesNotWaitForAllWorks(t *testing.T) {
	f := running(t)
	f.asked = make(chan func(), 1)
	for n := range 2 * wishesTogether {
		gone := messages.BindingName(fmt.Sprintf("default/gone%d", n))
		f.wishes = append(f.wishes, wish{binding: gone, cluster: "m1", key: workKey("m1", gone)})
	}
	ctx, stop := context.WithCancel(t.Context())
	f.asked <- stop
	require.NoError(t, f.Fleet.step(ctx))
	require.Len(t, f.wishes, wishesTogether)
}

// TestAStopDoesNotWaitForAStart stops a daemon while its machines are made, and lets another go on with what that left.
func TestAStopDoesNotWaitForAStart(t *testing.T) {
	for name, stopsAt := range map[string]int{"before anything is heard": 0, "at the first decision": 1} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Close()
			f.write(member("m1"), policy(), deployment(2, "nginx:1"))
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			terminated := errors.New("terminated")
			heard := 0
			hear := func(time.Time, messages.Fact, journal.Phrase) {
				if heard++; heard == stopsAt {
					stop(terminated)
				}
			}
			if stopsAt == 0 {
				stop(terminated)
			}
			_, err := Open(ctx, Config{Engine: f.engine, Settings: settings(t), Clock: f.clock, Log: zerolog.Nop(), Hear: hear})
			require.ErrorIs(t, err, terminated)
			require.Equal(t, stopsAt > 0, heard > 0)
			f.open()
			require.Equal(t, "m1:2", placed(f))
		})
	}
}

// TestAStartThatIsInterruptedCommitsNoMore has a start be interrupted that has made many decisions.
func TestAStartThatIsInterruptedCommitsNoMore(t *testing.T) {
	f := running(t)
	for n := range 2 * decidedTogether {
		f.world.Store().Note(api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "gone", Name: fmt.Sprintf("%05d", n)})
	}
	f.starting = true
	f.world.Interrupt()
	_, err := f.flush()
	require.NoError(t, err)
	require.Len(t, f.unwritten, 2*decidedTogether)
}

func TestTheMachinesHearOfNewsBeforeAllOfManyDecisionsAreWritten(t *testing.T) {
	f := running(t)
	key := func(n int) api.Key {
		return api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "gone", Name: fmt.Sprintf("%05d", n)}
	}
	for n := range 2*decidedInARound + 2 {
		f.world.Store().Note(key(n))
	}
	f.wishes = append(f.wishes, wish{binding: "gone/web", cluster: "m1", key: workKey("m1", "gone/web")})
	again, err := f.flush()
	require.NoError(t, err)
	require.True(t, again)
	require.Len(t, f.unwritten, decidedInARound+2)
	require.Len(t, f.wishes, 1, "nothing follows before all is decided")

	late := key(2*decidedInARound + 1)
	f.world.Store().Note(late)
	next := f.nextDecisions()
	require.Equal(t, late, next[0], "what changed last is written first, and once")
	require.Equal(t, key(decidedInARound), next[1])
	require.Equal(t, key(2*decidedInARound), next[decidedInARound+1])
	require.Len(t, next, decidedInARound+2)

	f.unwritten = next
	f.config.Clock = &busy{f.clock, decisionsLast / 2}
	r := &relay{fleet: f.Fleet}
	changed, _ := f.flushDecisions(f.nextDecisions(), r)
	require.NoError(t, r.end())
	require.Len(t, changed, 2*decidedTogether, "as many as there is time for")
	require.Len(t, f.unwritten, decidedInARound+2-2*decidedTogether)

	require.NoError(t, f.step())
	require.Empty(t, f.unwritten)
	require.Empty(t, f.wishes)
}

// TestAStartHearsOfACopyWhoseHealthItsAgentDoesNotSay and which follows from its status.
func TestAStartHearsOfACopyWhoseHealthItsAgentDoesNotSay(t *testing.T) {
	f := running(t)
	require.Equal(t, api.Healthy, get(f, binding()).Status.AggregatedStatus[0].Health)
	f.Close()
	edit(f, work("m1"), func(w *api.Work) {
		w.Status.ManifestStatuses[0].Health, w.Status.ManifestStatuses[0].Status.Raw = "", []byte(`{"readyReplicas":1}`)
	})
	f.open()
	require.Equal(t, api.Unhealthy, get(f, binding()).Status.AggregatedStatus[0].Health)
}

// early is a clock on which something happens when it is read for the second time: a fleet that starts follows its store by then, and
// has read nothing of it.
type early struct {
	*clock.Mock
	reads  int
	second func()
}

func (e *early) Now() time.Time {
	if e.reads++; e.reads == 2 {
		e.second()
	}
	return e.Mock.Now()
}

// What is written while a start begins to follow the store is found there, and heard no second time.
func TestWhatAStartFindsIsNoNewsToIt(t *testing.T) {
	f := running(t)
	f.Close()
	c := &early{Mock: f.clock, second: func() {
		f.write(member("m3"), deployment(3, "nginx:1"))
		edit(f, work("m1"), func(w *api.Work) { w.Status.Conditions[0].Message = "said just now" })
	}}
	var err error
	f.Fleet, err = Open(t.Context(), Config{Engine: f.engine, Settings: settings(t), Clock: c, Log: zerolog.Nop()})
	require.NoError(t, err)
	require.NoError(t, f.step())
	require.Equal(t, "m1:3", placed(f))
	require.Equal(t, "said just now", get(f, work("m1")).Status.Conditions[0].Message)
	require.Zero(t, f.Stats().Taken)
}

// A fleet that is closed, and one that does not come to be, follow the store no more, and their machines do nothing.
func TestAFleetThatIsClosedDoesNothing(t *testing.T) {
	for name, end := range map[string]func(*fixture){
		"closed": func(f *fixture) { f.Close() },
		"whose start is given up": func(f *fixture) {
			f.Close()
			f.Fleet = empty(Config{Engine: f.engine, Settings: settings(t), Clock: f.clock, Log: zerolog.Nop()})
			ctx, stop := context.WithCancel(t.Context())
			stop()
			require.ErrorIs(t, f.start(ctx, f.firstRound), context.Canceled)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			end(f)
			f.write(member("m3"))
			require.Empty(t, f.feed.Take())
			f.world.TellCluster("m1", &messages.TaintsEdited{Edits: []messages.TaintEdit{{Taint: failed}}})
			require.NoError(t, f.settle())
			require.Empty(t, f.world.Store().Cluster("m1").Spec.Taints, "no machine hears of it")
		})
	}
}

// TestARunWakesUpForWhatIsDue has an agent renew its lease no more, of which no news tells.
func TestARunWakesUpForWhatIsDue(t *testing.T) {
	f := unopened(t)
	var err error
	f.engine, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.NewMock()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.engine.Close()) })
	l := lease("m1")
	l.Spec.RenewTime = &metav1.MicroTime{Time: f.clock.Now()}
	f.write(member("m1"), l)
	done := make(chan struct{})
	f.Fleet, err = Open(t.Context(), Config{Engine: f.engine, Settings: settings(t), Clock: f.clock, Log: zerolog.Nop(), Started: func() { close(done) }})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Run(ctx) }()
	<-done
	var wakes time.Time // when the only timer is due, as it was set before what is asked for is done
	require.True(t, f.Ask(ctx, func(*world.World) { wakes = f.clock.WaitForAllTimers() }))
	stop()
	require.NoError(t, <-ended)
	require.WithinDuration(t, start.Add(40*time.Second), wakes, time.Second)
}
