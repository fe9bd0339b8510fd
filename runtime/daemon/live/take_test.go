package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// annotate gives an object other annotations, as people do.
func annotate[O api.Object](f *fixture, o O, annotations map[string]string) {
	f.t.Helper()
	edit(f, o, func(o O) { o.SetAnnotations(merged(annotations, nil, o.GetAnnotations())) })
	require.NoError(f.t, f.step())
}

// unannotate takes an annotation away.
func unannotate[O api.Object](f *fixture, o O, key string) {
	f.t.Helper()
	edit(f, o, func(o O) {
		rest := o.GetAnnotations()
		delete(rest, key)
		o.SetAnnotations(rest)
	})
	require.NoError(f.t, f.step())
}

func (f *fixture) holds() []api.HoldStatus {
	return f.world.Store().Get(store.GovernorKey).(*api.Governor).Status.Holds
}

func TestAHoldThatIsTakenBackEnds(t *testing.T) {
	for name, held := range map[string]api.Object{"of a cluster": member("m1"), "of a binding": binding()} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			annotate(f, held, map[string]string{api.AnnotationHold: "its rack is moved"})
			require.Len(t, f.holds(), 1)
			putTaints(f, "m1", failed)
			require.Equal(t, "m1:2", placed(f))
			unannotate(f, held, api.AnnotationHold)
			require.Empty(t, f.holds())
			require.NotContains(t, get(f, held).GetAnnotations(), api.AnnotationHold)
			require.Equal(t, "m2:2 leaves m1", placed(f))
		})
	}
}

func TestWhatIsTakenOffABindingStaysOffButForWhatMachinesSay(t *testing.T) {
	f := running(t)
	edit(f, binding(), func(b *api.ResourceBinding) { b.Labels = map[string]string{"team": "a", "tier": "gold"} })
	require.NoError(t, f.step())
	edit(f, binding(), func(b *api.ResourceBinding) {
		b.Labels = map[string]string{"tier": "silver"}
		b.Annotations = nil
	})
	require.NoError(t, f.step())
	f.apply(deployment(3, "nginx:1")) // has the binding written
	require.Equal(t, map[string]string{"tier": "silver"}, get(f, binding()).Labels)
	require.Contains(t, get(f, binding()).Annotations, api.AnnotationAppliedPlacement)
}

func TestABindingThatSomebodyMakesAsTheWorldDoesIsTheirs(t *testing.T) {
	theirs, ours := binding(), binding()
	theirs.Labels, ours.Labels = map[string]string{"by": "hand"}, map[string]string{"by": "machine", "policy": "web"}
	require.Equal(t, map[string]string{"by": "hand", "policy": "web"}, merged(theirs.Labels, nil, ours.Labels))
	require.Equal(t, map[string]string{"by": "hand"}, merged(theirs.Labels, nil, nil))
}

func TestWhatPeopleDoIsDoneWhenTheyDoIt(t *testing.T) {
	f := running(t)
	var at []time.Time
	f.config.Hear = func(when time.Time, fact messages.Fact, _ journal.Phrase) {
		switch fact.(type) {
		case *messages.ObjectApplied, *messages.ObjectDeleted:
			at = append(at, when)
		}
	}
	f.clock.Add(time.Hour) // in which nothing is due
	f.apply(policy())
	f.clock.Add(time.Minute)
	f.remove(policy())
	require.Equal(t, []time.Time{start.Add(time.Hour).Truncate(time.Second), start.Add(time.Hour + time.Minute).Truncate(time.Second)}, at)
}

func TestWhatIsDueIsNotPassedByWhatPeopleDo(t *testing.T) {
	f := running(t)
	f.apply(tolerant(300))
	putTaints(f, "m1", failed)
	f.clock.Set(start.Truncate(time.Second).Add(5*time.Minute + catchesUp))
	f.apply(deployment(3, "nginx:1"))
	require.Equal(t, metav1.NewTime(start.Truncate(time.Second).Add(5*time.Minute)), *get(f, binding()).Spec.GracefulEvictionTasks[0].CreationTimestamp)
}

func TestWhatNobodyTouchedIsAsTheMachinesHaveItNow(t *testing.T) {
	require.Equal(t, map[string]string{"a": "2"}, merged(map[string]string{"a": "1"}, map[string]string{"a": "1"}, map[string]string{"a": "2"}))
	require.Equal(t, map[string]string{"a": "2", "new": ""}, merged(map[string]string{"new": ""}, nil, map[string]string{"a": "2"}))
}

// TestWhatTheFleetWritesIsNoNewsToIt deletes a workload: its binding goes, and its Work begins to, by the fleet's own hand.
func TestWhatTheFleetWritesIsNoNewsToIt(t *testing.T) {
	f := running(t)
	taken := f.Stats().Taken
	f.remove(deployment(2, ""))
	require.Nil(t, get(f, binding()))
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
	require.Equal(t, taken+1, f.Stats().Taken, "the deletion of the workload")
	f.lets("m1")
	require.Equal(t, taken+2, f.Stats().Taken)
}

func TestABindingThatIsMadeAfterTheFleetDeletedItIsNews(t *testing.T) {
	f := running(t)
	unheard(f, deployment(2, ""))
	_, err := f.round()
	require.NoError(t, err)
	require.Nil(t, get(f, binding()))
	made := binding()
	made.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	f.write(made)
	require.NoError(t, f.step())
	require.NotNil(t, f.world.Store().Binding("default/web-deployment"))
}

func TestWhereAClusterLiesIsHeard(t *testing.T) {
	f := running(t)
	edit(f, member("m1"), func(c *api.Cluster) { c.Spec.Region = "eu" })
	require.NoError(t, f.step())
	require.Equal(t, "eu", f.world.Store().Cluster("m1").Spec.Region)
}
