package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

func TestABindingWhoseWorkloadWasDeletedWhileNoDaemonListenedEnds(t *testing.T) {
	f := running(t)
	own := binding()
	own.Name = "own"
	own.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "to-come"}
	f.apply(own)
	f.Close()
	unheard(f, deployment(2, ""))
	f.open()
	require.Nil(t, get(f, binding()))
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
	require.NotNil(t, get(f, own), "nobody knows whether its workload was ever there")
	f.lets("m1")
	f.apply(deployment(3, "nginx:2"))
	require.Equal(t, "m1:3", placed(f))
	require.Nil(t, get(f, work("m1")).DeletionTimestamp)
}

// The bindings of many workloads that are gone end in one order.
func TestBindingsWhoseWorkloadsAreGoneEndInTheOrderOfTheirNames(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.ResourceSelectors[0].Name = ""
	var all []api.Object
	for n := range 8 {
		d := deployment(1, "nginx:1")
		d.Name = fmt.Sprint("web-", n)
		all = append(all, d)
	}
	f.apply(append(all, p, member("m1"))...)
	f.Close()
	for _, d := range all {
		unheard(f, d)
	}
	var ended []messages.BindingName
	f.heard = func(_ time.Time, fact messages.Fact, _ journal.Phrase) {
		if e, is := fact.(*messages.BindingDeleted); is {
			ended = append(ended, e.Binding)
		}
	}
	f.open()
	require.Len(t, ended, 8)
	require.IsIncreasing(t, ended)
}

// leftOn writes a Work of a binding's copy as a fleet does that is killed before it has it go.
func leftOn(f *fixture, cluster messages.ClusterName) *api.Work {
	f.t.Helper()
	w := work(string(cluster))
	w.Finalizers, w.Annotations = workFinalizers, observed.Names("default/web-deployment")
	w.Spec = get(f, work("m1")).Spec
	f.write(w)
	return w
}

func TestAWorkOfNoCopyThatAKillLeftGoes(t *testing.T) {
	f := running(t)
	f.Close()
	elsewhere, nowhere := leftOn(f, "m2"), leftOn(f, "gone")
	before := get(f, work("m1"))
	f.open()
	require.NotNil(t, get(f, elsewhere).DeletionTimestamp)
	require.Nil(t, get(f, nowhere), "its cluster is not there: nobody is left to let it go")
	require.Equal(t, before, get(f, work("m1")))
	f.lets("m2")
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.NotNil(t, get(f, elsewhere), "it may come back")
}

func TestTheWorksOfABindingThatIsGoneGoAtAStart(t *testing.T) {
	f := running(t)
	f.Close()
	unheard(f, binding())
	unheard(f, deployment(2, ""))
	f.open()
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
}

func TestTheWorksOfABindingThatIsNotMadeAgainGoAtAStart(t *testing.T) {
	f := running(t)
	f.Close()
	unheard(f, binding())
	unheard(f, policy())
	f.open()
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
}

func TestTheWorksOfABindingThatIsMadeAgainElsewhereGoAtAStart(t *testing.T) {
	f := running(t)
	f.Close()
	edit(f, policy(), func(p *api.PropagationPolicy) {
		p.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"m2"}}
	})
	unheard(f, binding())
	f.open()
	require.Equal(t, "m2:2", placed(f))
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
}

// TestABindingIsDeletedWithItsWorks has the fleet be killed as soon as a binding is gone: then nothing says any more whether its
// Works are to preserve what they ask for.
func TestTheWorksOfABindingThatIsMadeAgainNowhereGoAtAStartAsWhileItRuns(t *testing.T) {
	for name, deletes := range map[string]func(*fixture){
		"at a start":    func(f *fixture) { f.Close(); unheard(f, binding()); f.open() },
		"while it runs": func(f *fixture) { f.remove(binding()) },
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			putTaints(f, "m1", corev1.Taint{Key: "full", Effect: corev1.TaintEffectNoSchedule})
			putTaints(f, "m2", corev1.Taint{Key: "full", Effect: corev1.TaintEffectNoSchedule})
			deletes(f)
			require.Empty(t, get(f, binding()).Spec.Clusters, "no cluster fits")
			require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
		})
	}
}

func TestAStartKeepsTheTemplateOfACopyThatIsEvicted(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	edit(f, deployment(2, "nginx:1"), func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "nginx:2"}}
		d.Generation++
	})
	require.NoError(t, f.step())
	asks := func(c string) string { return string(get(f, work(c)).Spec.Workload.Manifests[0].Raw) }
	require.Contains(t, asks("m2"), "nginx:2")
	old := asks("m1")
	require.Contains(t, old, "nginx:1")
	f.restart()
	require.Equal(t, old, asks("m1"))
	require.Contains(t, asks("m2"), "nginx:2")
	for _, edited := range [][]string{
		{strings.Replace(old, `"replicas":2`, `"replicas":0`, 1)}, {strings.Replace(old, `"name":"web"`, `"name":"other"`, 1)}, {"{}"}, {old, old},
	} {
		require.NotEqual(t, []string{old}, edited)
		f.Close()
		edit(f, work("m1"), func(w *api.Work) {
			w.Spec.Workload.Manifests = nil
			for _, text := range edited {
				w.Spec.Workload.Manifests = append(w.Spec.Workload.Manifests, api.Manifest{RawExtension: runtime.RawExtension{Raw: []byte(text)}})
			}
		})
		f.open()
		require.Equal(t, asks("m2"), asks("m1"), "what somebody edited while nobody listened does not remain")
		edit(f, work("m1"), func(w *api.Work) {
			w.Spec.Workload.Manifests = []api.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(old)}}}
		})
	}
}

func TestABindingIsDeletedWithItsWorks(t *testing.T) {
	f, c := contended(t)
	yes := true
	edit(f, policy(), func(p *api.PropagationPolicy) { p.Spec.PreserveResourcesOnDeletion = &yes })
	require.NoError(t, f.step())
	met := false
	c.first = func(p *engine.Proposal) {
		written := map[string]bool{}
		for _, w := range p.Writes {
			written[w.Key] = true
		}
		_, ofBinding := f.table(binding())
		_, ofWork := f.table(work("m1"))
		if written[ofBinding] {
			met = true
			require.True(t, written[ofWork])
		}
	}
	f.remove(deployment(2, ""))
	require.True(t, met)
	require.Equal(t, &yes, get(f, work("m1")).Spec.PreserveResourcesOnDeletion)
	require.EqualValues(t, 2, get(f, work("m1")).Generation)
	f.lets("m1")
	f.pass(time.Minute)
	require.Empty(t, all[*api.Work](f, catalog.Works))
	require.False(t, f.world.Store().Has(store.BindingKey("default/web-deployment")))
}

// TestAWorkGoesOnceWithItsBindingAndItsCluster deletes a workload and the cluster that it is on, whose agent is not asked any more.
func TestAWorkGoesOnceWithItsBindingAndItsCluster(t *testing.T) {
	f := running(t)
	edit(f, member("m1"), func(c *api.Cluster) { c.Status.Conditions = []metav1.Condition{ready(metav1.ConditionFalse)} })
	require.NoError(t, f.step())
	edit(f, member("m1"), func(c *api.Cluster) { c.DeletionTimestamp = &metav1.Time{Time: f.clock.Now()} })
	f.remove(deployment(2, ""))
	require.Nil(t, get(f, binding()))
	require.Nil(t, get(f, member("m1")))
	require.Empty(t, all[*api.Work](f, catalog.Works))
}

// TestAWorkThatMeetsItsAgentWhileItsClusterGoesIsGivenUpAllTheSame has the agent of a cluster that is not Ready report when the
// cluster is about to be deleted with its Works.
func TestAWorkThatMeetsItsAgentWhileItsClusterGoesIsGivenUpAllTheSame(t *testing.T) {
	f, c := contended(t)
	edit(f, member("m1"), func(c *api.Cluster) { c.Status.Conditions = []metav1.Condition{ready(metav1.ConditionFalse)} })
	require.NoError(t, f.step())
	edit(f, member("m1"), func(c *api.Cluster) { c.DeletionTimestamp = &metav1.Time{Time: f.clock.Now()} })
	c.once(f, work("m1"), func() {
		edit(f, work("m1"), func(w *api.Work) { w.Status.ManifestStatuses[0].Health = api.Unhealthy })
	})
	f.remove(deployment(2, ""))
	require.Nil(t, c.first, "they met")
	require.Nil(t, get(f, member("m1")))
	require.Empty(t, all[*api.Work](f, catalog.Works))
}

func TestAClusterThatWasMadeWhileNoDaemonListenedIsKeptUntilItIsEmpty(t *testing.T) {
	f := running(t)
	f.Close()
	f.write(member("m3"))
	f.open()
	require.Contains(t, get(f, member("m3")).Finalizers, ClusterFinalizer)
	require.NotNil(t, get(f, named(&corev1.Namespace{}, "v1", "Namespace", "", "karmada-es-m3")))
}

// TestAClusterWhoseAgentFailsWhileItLeavesIsGivenUp: no agent remains to remove what runs there.
func TestAClusterWhoseAgentFailsWhileItLeavesIsGivenUp(t *testing.T) {
	f := running(t)
	f.remove(member("m1"))
	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f))
	require.NotNil(t, get(f, work("m1")), "its agent has not let it go")
	require.NotNil(t, get(f, member("m1")))
	edit(f, member("m1"), func(c *api.Cluster) { c.Status.Conditions = []metav1.Condition{ready(metav1.ConditionFalse)} })
	f.pass(time.Minute)
	require.Nil(t, get(f, member("m1")))
	require.Nil(t, get(f, work("m1")))
}

// A cluster that is taken out of the store while its agent has yet to let its Works go takes these with it: they would be those of the next
// cluster of its name.
func TestTheWorksOfAClusterThatIsForcedOutAfterItsWorkloadsLeftGo(t *testing.T) {
	f := running(t)
	f.remove(member("m1"))
	f.serves("m2", 2)
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp, "its agent has not let it go")
	unheard(f, member("m1"))
	require.NoError(t, f.step())
	require.Nil(t, get(f, work("m1")))
	require.NotNil(t, get(f, work("m2")))
}

// TestAnOldCopyThatIsReportedOnWhileItsClusterGoesIsGivenUpAllTheSame has the agent of a cluster that fails report on a copy that it has yet to
// take down, when the cluster is about to go with it: no other agent would let it go.
func TestAnOldCopyThatIsReportedOnWhileItsClusterGoesIsGivenUpAllTheSame(t *testing.T) {
	f, c := contended(t)
	f.remove(member("m1"))
	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f))
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp, "its agent has not let it go")
	c.once(f, work("m1"), func() {
		edit(f, work("m1"), func(w *api.Work) { w.Status.ManifestStatuses[0].Health = api.Unhealthy })
	})
	edit(f, member("m1"), func(c *api.Cluster) { c.Status.Conditions = []metav1.Condition{ready(metav1.ConditionFalse)} })
	f.pass(time.Minute)
	require.Nil(t, c.first, "they met")
	require.Nil(t, get(f, member("m1")))
	require.Nil(t, get(f, work("m1")))
	require.NotNil(t, get(f, work("m2")))
}

// TestAStartRenewsTheCopyOfAClusterThatAnotherBindingRequires finds an eviction task for it all the same.
func TestAStartRenewsTheCopyOfAClusterThatAnotherBindingRequires(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	f.Close()
	edit(f, binding(), func(b *api.ResourceBinding) {
		b.Spec.RequiredBy = []api.BindingSnapshot{{Namespace: "default", Name: "other", Clusters: []api.TargetCluster{{Name: "m1", Replicas: 2}}}}
	})
	edit(f, deployment(2, ""), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "nginx:2"; d.Generation++ })
	f.open()
	require.Equal(t, "nginx:2 x2", asked(f, "m2"))
	require.Equal(t, "nginx:2 x2", asked(f, "m1"))
}

// TestAStartKnowsWhichReportsAreOfACopyThatItKeeps: an old copy that serves fewer replicas is seen to, though its Work stays as it is.
func TestAStartKnowsWhichReportsAreOfACopyThatItKeeps(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	edit(f, deployment(2, ""), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "nginx:2"; d.Generation++ })
	require.NoError(t, f.step())
	f.restart()
	require.Equal(t, "nginx:1 x2", asked(f, "m1"))
	require.EqualValues(t, 2, get(f, deployment(2, "")).Status.ReadyReplicas)
	f.serves("m1", 1)
	require.EqualValues(t, 1, get(f, deployment(2, "")).Status.ReadyReplicas)
}

// What changed of a workload while it was on its way to another cluster, but for its pods, is that of its first copy, too, if it stays.
func TestACopyWhoseEvictionIsWithdrawnHasTheNewestTemplate(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	edit(f, deployment(2, ""), func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 7 })
	require.NoError(t, f.step())
	waits := func() string { return string(get(f, work("m1")).Spec.Workload.Manifests[0].Raw) }
	require.NotContains(t, waits(), `"minReadySeconds":7`)
	edit(f, member("m1"), func(c *api.Cluster) { c.Spec.Taints = nil })
	require.NoError(t, f.step())
	require.Equal(t, "m1:2", placed(f))
	require.Contains(t, waits(), `"minReadySeconds":7`)
}
