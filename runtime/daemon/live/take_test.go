package live

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
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

func TestABindingThatAUserMakesAsTheWorldDoesIsTheirs(t *testing.T) {
	theirs, ours := binding(), binding()
	theirs.Labels, ours.Labels = map[string]string{"by": "hand"}, map[string]string{"by": "machine", "policy": "web"}
	require.Equal(t, map[string]string{"by": "hand", "policy": "web"}, merged(theirs.Labels, nil, ours.Labels))
	require.Equal(t, map[string]string{"by": "hand"}, merged(theirs.Labels, nil, nil))
}

func TestWhatUsersDoIsDoneWhenTheyDoIt(t *testing.T) {
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

func TestWhatIsDueIsNotPassedByWhatUsersDo(t *testing.T) {
	f := running(t)
	f.apply(tolerant(300))
	putTaints(f, "m1", failed)
	f.clock.Set(start.Truncate(time.Second).Add(5*time.Minute + catchesUp))
	f.apply(deployment(3, "nginx:1"))
	require.Equal(t, metav1.NewTime(start.Truncate(time.Second).Add(5*time.Minute)), *get(f, binding()).Spec.GracefulEvictionTasks[0].CreationTimestamp)
}

func TestWhatNoUserTouchedIsAsTheMachinesHaveItNow(t *testing.T) {
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

// TestWhatUsersSayOfABindingOutlivesWhatMachinesWrite: who holds and owns it, and who manages which of its fields.
func TestWhatUsersSayOfABindingOutlivesWhatMachinesWrite(t *testing.T) {
	f := running(t)
	before := get(f, binding())
	edit(f, binding(), func(b *api.ResourceBinding) {
		b.Finalizers = []string{"example.com/keep"}
		b.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "1"}}
		b.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	})
	said := get(f, binding())
	f.apply(deployment(3, "nginx:1"))
	f.serves("m1", 3)
	now := get(f, binding())
	require.Equal(t, "m1:3", placed(f))
	require.Greater(t, now.Generation, before.Generation)
	require.Equal(t, said.Finalizers, now.Finalizers)
	require.Equal(t, said.OwnerReferences, now.OwnerReferences)
	require.Equal(t, said.ManagedFields, now.ManagedFields)
	require.Equal(t, before.UID, now.UID)
	require.Equal(t, before.CreationTimestamp, now.CreationTimestamp)
	f.remove(binding())
	f.apply(deployment(4, "nginx:1"))
	require.Equal(t, "m1:4", placed(f))
	require.NotNil(t, get(f, binding()).DeletionTimestamp, "others hold it")
}

// TestAnEditThatMeetsADecisionKeepsBoth edits a binding when machines have decided on it and not written that.
func TestAnEditThatMeetsADecisionKeepsBoth(t *testing.T) {
	f := running(t)
	edit(f, policy(), func(p *api.PropagationPolicy) {
		p.Labels = map[string]string{"tier": "gold"}
		p.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"m2"}}
	})
	f.take()
	require.NoError(t, f.settle())
	edit(f, binding(), func(b *api.ResourceBinding) {
		b.Labels = map[string]string{"by": "hand"}
		b.Annotations["note"] = "mine"
	})
	require.NoError(t, f.step())
	b := get(f, binding())
	require.Equal(t, []api.TargetCluster{{Name: "m2", Replicas: 2}}, b.Spec.Clusters)
	require.Equal(t, "hand", b.Labels["by"])
	require.Equal(t, "mine", b.Annotations["note"])
	require.Contains(t, b.Annotations[api.AnnotationAppliedPlacement], "m2")
}

// TestABindingThatAUserMakesWhenTheFleetDoesIsAsTheyMadeIt has a user create it after the fleet has decided to and before it has written it.
func TestABindingThatAUserMakesWhenTheFleetDoesIsAsTheyMadeIt(t *testing.T) {
	f, c := newContended(t)
	f.apply(member("m1"), policy())
	c.once(f, binding(), func() {
		theirs := binding()
		theirs.Labels = map[string]string{"by": "hand"}
		theirs.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
		f.write(theirs)
	})
	f.apply(deployment(2, "nginx:1"))
	require.Nil(t, c.first, "they met")
	require.Equal(t, "hand", get(f, binding()).Labels["by"])
	require.Nil(t, get(f, binding()).Spec.Placement)
	require.Nil(t, get(f, work("m1")))
}

func TestWhoAsksAFleetThatDoesNotRunIsToldSo(t *testing.T) {
	f := running(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, f.Ask(ctx, func(*world.World) { t.Error("nobody runs") }))
}

func TestWhatIsAsItMustBeIsNotWritten(t *testing.T) {
	f := running(t)
	before := f.engine.Version()
	for _, key := range []api.Key{store.BindingKey("default/web-deployment"), store.ClusterKey("m1"), api.KeyOf(get(f, deployment(2, "")))} {
		f.world.Store().Note(key)
	}
	require.NoError(t, f.step())
	require.Equal(t, before, f.engine.Version())
}

// TestATaintThatComesWithALabelIsAddedAsAnyOther when a user adds both to a cluster in one write.
func TestATaintThatComesWithALabelIsAddedAsAnyOther(t *testing.T) {
	f := running(t)
	edit(f, member("m1"), func(c *api.Cluster) {
		c.Labels = map[string]string{"tier": "gold"}
		c.Spec.Taints = []corev1.Taint{failed}
	})
	require.NoError(t, f.step())
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.NotNil(t, get(f, member("m1")).Spec.Taints[0].TimeAdded)
	require.Equal(t, "gold", f.world.Store().Cluster("m1").Labels["tier"])
	require.Contains(t, f.events(member("m1")), "TaintClusterSucceed: m1 tainted failed:NoExecute: by user")
}

func TestNewsIsHeardBeforeWhatIsDueLater(t *testing.T) {
	f := running(t)
	f.apply(tolerant(300))
	putTaints(f, "m1", failed)
	next, due := f.world.Next()
	require.True(t, due)
	f.clock.Add(time.Hour)
	f.arrive()
	require.Equal(t, next, f.world.Now(), "what is due by then comes first")
	require.NoError(t, f.step())
	require.Equal(t, "m2:2 leaves m1", placed(f))
}

func TestATaintAloneIsNoOtherManifestOfItsCluster(t *testing.T) {
	f := running(t)
	f.config.Hear = func(_ time.Time, fact messages.Fact, _ journal.Phrase) {
		if applied, is := fact.(*messages.ObjectApplied); is {
			t.Errorf("%s was applied", applied.Object)
		}
	}
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
}

// What people say of a binding beside what is refused is kept when they mend that.
func TestALabelThatCameWithWhatWasRefusedOutlivesItsMending(t *testing.T) {
	f := running(t)
	edit(f, binding(), func(b *api.ResourceBinding) {
		b.Labels = map[string]string{"team": "a"}
		b.Spec.Placement.ClusterTolerations = []corev1.Toleration{{Operator: "Perhaps"}}
	})
	require.NoError(t, f.step())
	edit(f, binding(), func(b *api.ResourceBinding) { b.Spec.Placement.ClusterTolerations = nil })
	require.NoError(t, f.step())
	f.apply(deployment(3, "nginx:1"))
	require.Equal(t, "m1:3", placed(f))
	require.Equal(t, "a", get(f, binding()).Labels["team"])
}

// Which policy a binding follows is what the machines know, though people edit it before that is written.
func TestAnEditKeepsThePolicyThatABindingFollowsNow(t *testing.T) {
	f := running(t)
	other := policy()
	other.Name = "other"
	f.write(other)
	unheard(f, policy())
	f.take()
	require.NoError(t, f.settle())
	label(f)
	require.NoError(t, f.step())
	b := get(f, binding())
	require.Equal(t, "a", b.Labels["team"])
	require.Contains(t, b.Annotations, "propagationpolicy.karmada.io/name")
	require.Equal(t, "other", b.Annotations["propagationpolicy.karmada.io/name"])
}

// A taint that machines have just taken away does not come back with what people write of its cluster meanwhile.
func TestATaintThatIsTakenAwayDoesNotComeBackWithALabel(t *testing.T) {
	f := running(t)
	p := named(&api.ClusterTaintPolicy{}, api.PolicyGroupVersion, "ClusterTaintPolicy", "", "ready")
	p.Spec.AddOnConditions = []api.MatchCondition{{ConditionType: "Disk", Operator: api.MatchIn, StatusValues: []metav1.ConditionStatus{metav1.ConditionFalse}}}
	p.Spec.RemoveOnConditions = []api.MatchCondition{{ConditionType: "Disk", Operator: api.MatchIn, StatusValues: []metav1.ConditionStatus{metav1.ConditionTrue}}}
	p.Spec.Taints = []api.PolicyTaint{{Key: "disk", Effect: corev1.TaintEffectNoSchedule}}
	f.apply(p)
	disk := func(status metav1.ConditionStatus) {
		edit(f, member("m1"), func(c *api.Cluster) {
			meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: "Disk", Status: status, Reason: "Tested"})
		})
	}
	disk(metav1.ConditionFalse)
	f.pass(time.Hour)
	require.Len(t, get(f, member("m1")).Spec.Taints, 1)
	disk(metav1.ConditionTrue)
	f.take()
	require.NoError(t, f.settle())
	require.Empty(t, f.world.Store().Cluster("m1").Spec.Taints)
	edit(f, member("m1"), func(c *api.Cluster) { c.Labels = map[string]string{"tier": "gold"} })
	f.pass(time.Hour)
	require.Equal(t, "gold", get(f, member("m1")).Labels["tier"])
	require.Empty(t, get(f, member("m1")).Spec.Taints)
}
