package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// recorder keeps what was decided, as a daemon does.
type recorder struct{ told []Decision }

func (r *recorder) decided(all []Decision) { r.told = append(r.told, all...) }

// evictions are the kinds of what was told of evictions, in order.
func (r *recorder) evictions() (kinds []string) {
	for _, d := range r.told {
		if ofEviction(d.Fact) {
			kinds = append(kinds, d.Fact.Kind())
		}
	}
	return kinds
}

func (r *recorder) recorded(kind string, b messages.BindingName, c messages.ClusterName, at time.Time) bool {
	return slices.ContainsFunc(r.told, func(d Decision) bool {
		about, is := d.Fact.(messages.AboutCluster)
		return is && d.Fact.Kind() == kind && d.Fact.(messages.AboutBinding).AboutBinding() == b && about.AboutCluster() == c && d.At.UnixMicro() == at.UnixMicro()
	})
}

// told counts the Events of a reason about the binding.
func (f *fixture) told(reason string) (n int) {
	for _, e := range f.events(binding()) {
		if strings.HasPrefix(e, reason+": ") {
			n++
		}
	}
	return n
}

// An eviction that meets an edit is told when it is committed, and not before.
func TestAnEvictionThatMeetsAnEditIsToldOnceItIsCommitted(t *testing.T) {
	f := running(t)
	r := &recorder{}
	f.config.Decided = func(all []Decision) {
		for _, d := range all {
			if _, evicts := d.Fact.(*messages.EvictionStarted); evicts {
				require.NotEmpty(t, get(f, binding()).Spec.GracefulEvictionTasks, "it was told before it was committed")
			}
		}
		r.decided(all)
	}
	edits := 0
	f.config.Hear = func(_ time.Time, fact messages.Fact, _ journal.Phrase) {
		if _, evicts := fact.(*messages.EvictionStarted); evicts && edits == 0 {
			edits++
			edit(f, binding(), func(b *api.ResourceBinding) { b.Labels = map[string]string{"edited": "yes"} })
		}
	}
	putTaints(f, "m1", failed)
	f.pass(time.Second)
	require.Equal(t, 1, edits)
	require.Equal(t, "yes", get(f, binding()).Labels["edited"])
	require.Equal(t, []string{"EvictionStarted"}, r.evictions())
	require.Equal(t, 1, f.told("EvictionStarted"))
}

// What a start finds in the store and not in the record is told, once: a kill came between the two.
func TestAnEvictionThatAKillLeftOutOfTheRecordIsFoundInTheStore(t *testing.T) {
	for name, lost := range map[string]bool{"of the record": true, "of neither": false} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			r := &recorder{}
			if !lost {
				f.config.Decided = r.decided
			}
			putTaints(f, "m1", failed)
			f.serves("m2", 2)
			f.lets("m1")
			f.pass(time.Second)
			require.Equal(t, 1, f.told("EvictionStarted"))

			f.Close()
			f.record = r
			f.open()
			require.Equal(t, []string{"EvictionStarted", "EvictionEnded"}, r.evictions())
			require.Equal(t, lost, r.told[0].Restored)
			require.Equal(t, 1, f.told("EvictionStarted"), "there is an Event of it")
			before := len(r.told)
			f.restart()
			require.Len(t, r.told, before)
		})
	}
}

// What people hold before it is committed is taken back, and was never decided.
func TestAnEvictionThatIsTakenBackIsNotTold(t *testing.T) {
	f := running(t)
	r := &recorder{}
	f.config.Decided = r.decided
	f.config.Hear = func(_ time.Time, fact messages.Fact, _ journal.Phrase) {
		if _, evicts := fact.(*messages.EvictionStarted); evicts {
			edit(f, binding(), func(b *api.ResourceBinding) { b.Annotations = map[string]string{api.AnnotationHold: "backup"} })
		}
	}
	putTaints(f, "m1", failed)
	f.pass(time.Second)
	require.Empty(t, get(f, binding()).Spec.GracefulEvictionTasks)
	require.Empty(t, r.evictions())
	require.Zero(t, f.told("EvictionStarted"))
}

// A start asks about each eviction that bindings remember, and builds facts of those only that are missing in the record.
func TestNothingIsBuiltOfWhatIsRecorded(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	f.serves("m2", 2)
	f.lets("m1")
	require.NotNil(t, get(f, binding()).Status.FailoverHistory[0].CompletionTime)
	var asked []string
	f.config.Recorded = func(kind string, b messages.BindingName, c messages.ClusterName, _ time.Time) bool {
		asked = append(asked, kind)
		return true
	}
	f.restoreRecord(nil)
	require.Equal(t, []string{"EvictionStarted", "EvictionEnded"}, asked)
	history := get(f, binding()).Status.FailoverHistory[0]
	f.config.Term, asked = 7, nil
	f.pass(history.StartTime.Add(beforeTakeover).Sub(f.clock.Now()))
	f.restoreRecord(nil)
	require.Len(t, asked, 2, "the one that led before may have left it out")
	f.pass(time.Second)
	asked = nil
	f.restoreRecord(nil)
	require.Empty(t, asked, "it is in the record of the one that led before")
	require.Empty(t, f.Fleet.events)
	f.config.Term = 0
	f.restoreRecord(nil)
	require.Len(t, asked, 2)
	f.config.Recorded = func(string, messages.BindingName, messages.ClusterName, time.Time) bool { return true }
	require.Zero(t, testing.AllocsPerRun(10, func() { f.restoreRecord(nil) }))
}

func TestTheEndOfAnEvictionIsAskedForByItsKind(t *testing.T) {
	for kind, outcome := range map[string]string{"EvictionWithdrawn": withdrawn, "EvictionEnded": "healthy where it is placed now"} {
		h := &api.FailoverRecord{FromCluster: "m1", Outcome: outcome, CompletionTime: &metav1.MicroTime{}}
		require.Equal(t, kind, kindEnded(h))
		require.Equal(t, kind, ended(store.AsBinding(&api.ResourceBinding{}), h).Kind())
	}
}

// TestAnEvictionThatWasWithdrawnBeforeItsCommitIsNotTold nor are others of its binding left out.
func TestAnEvictionThatWasWithdrawnBeforeItsCommitIsNotTold(t *testing.T) {
	of := func(f messages.Fact) event { return event{Decision: Decision{Fact: f}} }
	started, other := of(&messages.EvictionStarted{Cluster: "m1"}), of(&messages.EvictionStarted{Cluster: "m2"})
	scheduled, withdrawn := of(&messages.Scheduled{}), of(&messages.EvictionWithdrawn{Cluster: "m1"})
	require.Equal(t, []event{other, scheduled}, withoutTakenBack([]event{started, other, scheduled, withdrawn}))
	require.Equal(t, []event{scheduled, other}, withoutTakenBack([]event{scheduled, started, withdrawn, other}))
	require.Equal(t, []event{withdrawn, started}, withoutTakenBack([]event{withdrawn, started}), "one that was committed before")
}

func TestDecisionsAreToldInTheOrderInWhichTheyWereMade(t *testing.T) {
	f := running(t)
	var made []messages.Fact
	f.config.Hear = func(_ time.Time, fact messages.Fact, _ journal.Phrase) { made = append(made, fact) }
	r := &recorder{}
	f.config.Decided = func(all []Decision) {
		require.NotEmpty(t, all)
		r.decided(all)
	}
	putTaints(f, "m1", failed)
	f.serves("m2", 2)
	f.pass(time.Minute)
	require.Greater(t, len(r.told), 3)
	var told []messages.Fact
	for _, d := range r.told {
		told = append(told, d.Fact)
	}
	made = slices.DeleteFunc(made, func(fact messages.Fact) bool { return !slices.Contains(told, fact) })
	require.Equal(t, made, told)
}

// TestAnEvictionThatIsFoundInTheStoreIsToldWithItsTask as long as that is there.
func TestAnEvictionThatIsFoundInTheStoreIsToldWithItsTask(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	task := get(f, binding()).Spec.GracefulEvictionTasks[0]
	found := func() api.GracefulEvictionTask {
		b := store.AsBinding(get(f, binding()))
		return started(b, &b.Status.FailoverHistory[0]).(*messages.EvictionStarted).Task
	}
	require.Equal(t, task, found())
	f.serves("m2", 2)
	require.Equal(t, api.GracefulEvictionTask{FromCluster: "m1", Reason: task.Reason, Producer: task.Producer}, found())
}

// TestDecisionsOnSeveralObjectsAreToldInTheOrderInWhichTheyWereMade and not object by object, as they are committed.
func TestDecisionsOnSeveralObjectsAreToldInTheOrderInWhichTheyWereMade(t *testing.T) {
	f := running(t)
	r := &recorder{}
	f.config.Decided = r.decided
	var made []messages.Fact
	for n, b := range []messages.BindingName{"default/web", "default/api", "default/web", "default/api"} {
		fact := &messages.EvictionStarted{Binding: b, Cluster: messages.ClusterName(fmt.Sprint("m", n))}
		made = append(made, fact)
		f.noteEvent(Decision{At: start, Fact: fact, Told: journal.Tell(time.Time{}, fact)})
	}
	require.NotEmpty(t, f.eventsLeft())
	f.Fleet.record()
	var told []messages.Fact
	for _, d := range r.told {
		told = append(told, d.Fact)
	}
	require.Equal(t, made, told)
}

func TestWhatIsToldOfAnObjectThatIsPostponedWaitsForIt(t *testing.T) {
	f := running(t)
	key := store.BindingKey("default/web-deployment")
	f.warn(key, "Tested", "it waits")
	f.postponed[key] = true
	require.Empty(t, f.eventsLeft())
	delete(f.postponed, key)
	require.Len(t, f.eventsLeft(), 1)
	require.Empty(t, f.eventsLeft())
}

func TestAnEventOfTheFleetIsAboutTheGovernor(t *testing.T) {
	f := running(t)
	fact := &messages.GovernorChanged{}
	f.noteEvent(Decision{At: start, Fact: fact, Told: journal.Tell(time.Time{}, fact)})
	require.Len(t, f.Fleet.events[store.GovernorKey], 1)
	require.Len(t, f.Fleet.events, 1)
}

func TestWhatIsAboutNoObjectHasNoEvent(t *testing.T) {
	f := running(t)
	fact := &messages.ObjectRejected{Object: "Deployment default/web"}
	f.noteEvent(Decision{At: start, Fact: fact, Told: journal.Tell(time.Time{}, fact)})
	require.Len(t, f.Fleet.events, 1)
	require.Empty(t, f.eventsLeft())
}

// What is committed is recorded though an edit has postponed something else.
func TestWhatIsCommittedIsRecordedBesideWhatWaits(t *testing.T) {
	f, c := contended(t)
	r := &recorder{}
	f.config.Decided = r.decided
	c.once(f, binding(), func() { label(f) })
	edit(f, member("m1"), func(c *api.Cluster) { c.Spec.Taints = append(c.Spec.Taints, failed) })
	again, err := f.round()
	require.NoError(t, err)
	require.True(t, again)
	require.Nil(t, c.first, "they met")
	require.Empty(t, r.evictions(), "it is not committed")
	require.NotEmpty(t, r.told, "the taint is")
}
