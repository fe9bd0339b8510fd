package live

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

func TestAWorkloadGetsItsBindingAndAWork(t *testing.T) {
	f := running(t)
	w := get(f, work("m1"))
	require.NotNil(t, w)
	require.Equal(t, int64(1), w.Generation)
	require.JSONEq(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"status":{},
		"spec":{"replicas":2,"selector":null,"strategy":{},"template":{"metadata":{},"spec":{"containers":[{"name":"web","image":"nginx:1","resources":{}}]}}}}`,
		string(w.Spec.Workload.Manifests[0].Raw))
	require.Nil(t, get(f, work("m2")))
	require.Equal(t, api.Healthy, get(f, binding()).Status.AggregatedStatus[0].Health)
	require.Contains(t, get(f, member("m1")).Finalizers, ClusterFinalizer)
	require.NotNil(t, get(f, named(&corev1.Namespace{}, "v1", "Namespace", "", "karmada-es-m2")))
}

func TestAFailoverEndsWithItsOldCopyGone(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.Equal(t, start.Truncate(time.Second), get(f, member("m1")).Spec.Taints[0].TimeAdded.Time)
	require.Nil(t, get(f, work("m1")).DeletionTimestamp, "the old copy stays until the new one serves")

	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f))
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
	f.lets("m1")
	require.Nil(t, get(f, work("m1")))
	require.Subset(t, f.events(binding()), []string{
		"EvictionStarted: default/web-deployment evicting from m1: taint failed:NoExecute; by user; not tolerated",
		"ScheduleBindingSucceed: default/web-deployment scheduled m2:2 (was m1:2): because eviction",
	})
	require.Contains(t, f.events(member("m1")), "TaintClusterSucceed: m1 tainted failed:NoExecute: by user")
	before := f.engine.Version()
	f.pass(time.Minute)
	require.Equal(t, before, f.engine.Version(), "nothing is left to do")
	require.Equal(t, get(f, binding()).Generation, get(f, binding()).Status.SchedulerObservedGeneration)
	f.restart()
	require.Equal(t, before, f.engine.Version(), "nor after a start")
}

// TestAReportOfTheWorkBeforeEndsNoHandover shows an agent whose word is older than the Work it seems to be about.
func TestAReportOfTheWorkBeforeEndsNoHandover(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	edit(f, work("m2"), func(w *api.Work) {
		w.Generation = 2 // of a change that the agent has not seen
		w.Status.Conditions = []metav1.Condition{{Type: api.ConditionApplied, Status: metav1.ConditionTrue, ObservedGeneration: 0}}
		w.Status.ManifestStatuses = []api.ManifestStatus{{Health: api.Unhealthy}}
	})
	require.NoError(t, f.step())
	require.Equal(t, "m2:2 leaves m1", placed(f))
}

func tolerant(seconds int64) *api.PropagationPolicy {
	p := policy()
	p.Spec.Placement.ClusterTolerations = []corev1.Toleration{{
		Key: "failed", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
	}}
	return p
}

func TestNoDeadlineMovesWhenTheDaemonStarts(t *testing.T) {
	f := running(t)
	f.apply(tolerant(300))
	putTaints(f, "m1", failed)
	f.pass(200 * time.Second)
	before := f.engine.Version()
	f.restart()
	require.Equal(t, before, f.engine.Version(), "a start writes nothing that stands")
	f.pass(99*time.Second + 200*time.Millisecond)
	require.Equal(t, "m1:2", placed(f))
	f.pass(100 * time.Millisecond)
	require.Equal(t, "m2:2 leaves m1", placed(f), "300 s after the taint's own time, which is in whole seconds")
}

// TestABudgetHoldsAfterAStart: it is found in the store, and lets nothing move.
func TestABudgetHoldsAfterAStart(t *testing.T) {
	f := running(t)
	b := named(&api.EvictionBudget{}, api.LeewardGroupVersion, "EvictionBudget", "default", "still")
	b.Spec.MaxMoved = &api.MaxMoved{Replicas: intstr.FromInt32(0), WindowSeconds: 3600}
	f.apply(b)
	f.restart()
	putTaints(f, "m1", failed)
	f.pass(time.Minute)
	require.Equal(t, "m1:2", placed(f))
}

func TestNoDeadlineMovesWhenSettingsChange(t *testing.T) {
	f := running(t)
	f.apply(tolerant(300))
	putTaints(f, "m1", failed)
	f.pass(200 * time.Second)
	s := settings(t)
	s.GracefulEvictionTimeout, s.EvictionWorkers = time.Minute, 1
	f.world.SetAll(s)
	f.pass(99*time.Second + 200*time.Millisecond)
	require.Equal(t, "m1:2", placed(f))
	f.pass(100 * time.Millisecond)
	require.Equal(t, "m2:2 leaves m1", placed(f))
}

// A request that is served between two rounds is committed before the fleet rests: nothing else might wake it for long.
func TestWhatIsAskedForBetweenRoundsIsCommitted(t *testing.T) {
	f := newFixture(t)
	f.asked = make(chan func(), 1)
	s := settings(t)
	s.GracefulEvictionTimeout = 5 * time.Minute
	f.asked <- func() { f.world.SetAll(s) }
	require.NoError(t, f.step())
	fleet := &api.Governor{TypeMeta: metav1.TypeMeta{APIVersion: api.LeewardGroupVersion, Kind: "Governor"}, ObjectMeta: metav1.ObjectMeta{Name: "fleet"}}
	require.Contains(t, get(f, fleet).Status.Settings, "gracefulEvictionTimeout=5m")
}

func TestWhatFellDueWhileTheDaemonWasDownIsDoneAtItsStart(t *testing.T) {
	f := running(t)
	f.apply(tolerant(300))
	putTaints(f, "m1", failed)
	f.Close()
	f.clock.Add(time.Hour)
	f.open()
	require.Equal(t, "m2:2 leaves m1", placed(f))
}

func TestAHandoverGoesOnAfterAStart(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	f.restart()
	require.Equal(t, "m2:2 leaves m1", placed(f))
	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f))
	f.restart()
	f.lets("m1")
	require.Equal(t, "m2:2", placed(f))
}

// TestADecisionYieldsToAnEditThatItHadNotSeen shows a person who taints a cluster between the decision to move a
// workload there and its commit.
func TestADecisionYieldsToAnEditThatItHadNotSeen(t *testing.T) {
	f := running(t)
	edit(f, member("m1"), func(c *api.Cluster) { c.Spec.Taints = []corev1.Taint{failed} })
	f.take()
	require.NoError(t, f.settle())
	edit(f, binding(), func(b *api.ResourceBinding) { b.Labels = map[string]string{"by": "hand"} })
	edit(f, member("m1"), func(c *api.Cluster) {
		c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{Key: "late", Effect: corev1.TaintEffectNoSchedule})
	})
	_, err := f.flush()
	require.NoError(t, err)
	require.Equal(t, "m1:2", placed(f), "the binding has news that the world must hear first")
	require.NoError(t, f.step())
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.Equal(t, "hand", get(f, binding()).Labels["by"])
	taints := get(f, member("m1")).Spec.Taints
	require.Len(t, taints, 2)
	require.NotNil(t, taints[0].TimeAdded)
	require.Positive(t, f.Stats().Conflicts)
}

func TestASilentAgentMakesItsClusterUnknown(t *testing.T) {
	f := running(t)
	renew := func() {
		l := lease("m1")
		l.Spec = coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: f.clock.Now()}}
		f.apply(l)
	}
	renew()
	f.pass(30 * time.Second)
	renew()
	f.pass(10 * time.Second)
	f.restart()
	f.pass(29 * time.Second)
	require.Equal(t, metav1.ConditionTrue, conditionOf(f, "m1"))
	f.pass(time.Second)
	require.Equal(t, metav1.ConditionUnknown, conditionOf(f, "m1"), "the lease counts from its renewal, not from the start")
	renew()
	require.Equal(t, metav1.ConditionTrue, conditionOf(f, "m1"))
}

func TestAgentsHaveTimeToReturnToADaemonThatWasAway(t *testing.T) {
	f := running(t)
	renew := func(cluster string) {
		l := lease(cluster)
		l.Spec = coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: f.clock.Now()}}
		f.apply(l)
	}
	renew("m1")
	renew("m2")
	f.Close()
	f.clock.Add(time.Hour)
	f.open()
	f.pass(39 * time.Second)
	require.Equal(t, metav1.ConditionTrue, conditionOf(f, "m1"))
	renew("m1")
	f.pass(2 * time.Second)
	require.Equal(t, metav1.ConditionTrue, conditionOf(f, "m1"))
	require.Equal(t, metav1.ConditionUnknown, conditionOf(f, "m2"), "it does not return")
	f.restart()
	f.pass(time.Second)
	require.Equal(t, metav1.ConditionUnknown, conditionOf(f, "m2"), "a start is no sign of life")
	f.pass(10 * time.Second)
	renew("m2")
	f.pass(25 * time.Second)
	renew("m1")
	f.pass(10 * time.Second)
	f.restart()
	require.Equal(t, metav1.ConditionTrue, conditionOf(f, "m2"))
	f.pass(5 * time.Second)
	require.Equal(t, metav1.ConditionUnknown, conditionOf(f, "m2"), "it was silent while others were not")
	require.Equal(t, metav1.ConditionTrue, conditionOf(f, "m1"))
}

func TestConditionsOfAnAgentBecomeTaints(t *testing.T) {
	f := running(t)
	edit(f, member("m1"), func(c *api.Cluster) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: "Down"})
	})
	require.NoError(t, f.step())
	require.Equal(t, []corev1.Taint{{Key: api.TaintNotReady, Effect: corev1.TaintEffectNoSchedule}}, withoutTimes(get(f, member("m1")).Spec.Taints))
	require.Equal(t, metav1.ConditionFalse, conditionOf(f, "m1"))
}

func withoutTimes(taints []corev1.Taint) []corev1.Taint {
	all := append([]corev1.Taint{}, taints...)
	for i := range all {
		all[i].TimeAdded = nil
	}
	return all
}

func TestAnEditedTemplateReachesItsWorks(t *testing.T) {
	f := running(t)
	edited := deployment(2, "nginx:2")
	edited.Labels = map[string]string{"team": "a"}
	f.apply(edited)
	w := get(f, work("m1"))
	require.Equal(t, int64(2), w.Generation)
	require.Contains(t, string(w.Spec.Workload.Manifests[0].Raw), `"nginx:2"`)
	require.Contains(t, string(w.Spec.Workload.Manifests[0].Raw), `"team":"a"`)
	require.Equal(t, "2", get(f, deployment(2, "")).Annotations[api.AnnotationRevision])
}

func TestAScaledWorkloadIsScaledWhereItRuns(t *testing.T) {
	f := running(t)
	f.apply(deployment(5, "nginx:1"))
	require.Equal(t, "m1:5", placed(f))
	require.Equal(t, int32(5), replicasOf(get(f, work("m1"))))
}

// reports has the agent of a cluster say how many pods there are on it.
func (f *fixture) reports(cluster string, pods int64) {
	f.t.Helper()
	edit(f, member(cluster), func(c *api.Cluster) {
		c.Status.ResourceSummary.Allocated = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI)}
	})
	f.pass(time.Second)
}

func TestWhatServesIsNotCountedTwice(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.Placement = api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
		WeightPreference: &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas},
	}}
	f.apply(member("m1"), p, deployment(60, "nginx:1")) // of 100
	f.reports("m1", 60+10)
	f.apply(deployment(61, "nginx:1"))
	require.Equal(t, "m1:60", placed(f), "pods that do not serve yet may be others'")
	f.serves("m1", 60)
	f.pass(time.Second)
	require.Equal(t, "m1:61", placed(f), "10 are others', and 60 these")
	f.apply(deployment(90, "nginx:1"))
	require.Equal(t, "m1:90", placed(f))
	f.apply(deployment(91, "nginx:1"))
	require.Equal(t, "m1:90", placed(f))
	f.restart()
	f.pass(time.Minute)
	require.Equal(t, "m1:90", placed(f), "a start counts as before it")
	f.reports("m1", 60)
	require.Equal(t, "m1:91", placed(f), "the others are gone")
}

func TestADeletedWorkloadTakesItsCopiesAlong(t *testing.T) {
	f := running(t)
	f.remove(deployment(2, ""))
	require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
	f.lets("m1")
	require.Equal(t, "nowhere", placed(f))
	f.apply(deployment(3, "nginx:1"))
	require.Equal(t, "m1:3", placed(f), "the same name again is another workload")
}

func TestAWorkThatAUserDeletesIsWrittenAgain(t *testing.T) {
	f := running(t)
	f.remove(work("m1"))
	f.lets("m1")
	w := get(f, work("m1"))
	require.NotNil(t, w)
	require.Nil(t, w.DeletionTimestamp)
	require.Equal(t, "m1:2", placed(f))
}

func TestADeletedClusterGoesWithItsLastBinding(t *testing.T) {
	f := running(t)
	f.remove(member("m1"))
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.NotNil(t, get(f, member("m1")))
	f.serves("m2", 2)
	require.NotNil(t, get(f, member("m1")), "its agent has yet to take the copy down")
	f.lets("m1")
	require.Nil(t, get(f, member("m1")))
	f.apply(member("m1"))
	require.NotNil(t, get(f, member("m1")), "the same name again is another cluster")
}

func TestADeletedClusterThatDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	f := running(t)
	f.remove(member("m1"))
	f.serves("m2", 2)
	edit(f, member("m1"), func(c *api.Cluster) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: "Down"})
	})
	require.NoError(t, f.step())
	require.Nil(t, get(f, member("m1")))
	require.Nil(t, get(f, work("m1")))
}

func TestWhatAnAgentSaysThatItServesIsHeard(t *testing.T) {
	f := running(t)
	f.apply(member("m2"))
	edit(f, member("m2"), func(c *api.Cluster) { c.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "batch/v1"}} })
	putTaints(f, "m1", failed)
	require.Equal(t, "m1:2", placed(f), "m2 serves no Deployments")
	edit(f, member("m2"), func(c *api.Cluster) { c.Status.APIEnablements = member("m2").Status.APIEnablements })
	require.NoError(t, f.step())
	require.Contains(t, placed(f), "m2:2")
}

func TestADrainIsAnAnnotation(t *testing.T) {
	f := running(t)
	edit(f, member("m1"), func(c *api.Cluster) { c.Annotations = map[string]string{api.AnnotationDrain: ""} })
	require.NoError(t, f.step())
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.Equal(t, int32(1), get(f, member("m1")).Status.Drain.Left)

	f.Close()
	edit(f, member("m1"), func(c *api.Cluster) { c.Annotations = nil })
	f.open()
	require.Nil(t, get(f, member("m1")).Status.Drain, "it was taken back while nobody listened")
}

func TestAClusterTaintPolicyActsOnWhatAgentsReport(t *testing.T) {
	f := running(t)
	p := named(&api.ClusterTaintPolicy{}, api.PolicyGroupVersion, "ClusterTaintPolicy", "", "down")
	p.Spec.AddOnConditions = []api.MatchCondition{{ConditionType: "Disk", Operator: "In", StatusValues: []metav1.ConditionStatus{metav1.ConditionFalse}}}
	p.Spec.Taints = []api.PolicyTaint{{Key: "disk", Effect: corev1.TaintEffectNoExecute}}
	f.apply(p)
	edit(f, member("m1"), func(c *api.Cluster) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: "Disk", Status: metav1.ConditionFalse, Reason: "Full"})
	})
	f.pass(time.Minute)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.Equal(t, int32(1), get(f, p).Status.TaintedClusters)
}

func TestWhatTheWorldDoesNotAdmitIsTold(t *testing.T) {
	f := running(t)
	bad := policy()
	bad.Name = "bad"
	bad.Spec.Placement.ClusterTolerations = []corev1.Toleration{{Operator: "Perhaps"}}
	f.apply(bad)
	require.Len(t, f.events(bad), 1)
	require.Regexp(t, `^Refused: \[?spec\.placement\.clusterTolerations\[0\]\.operator: `, f.events(bad)[0])
	require.Equal(t, uint64(1), f.Stats().Refused)
}

func TestAShadowDecidesAndWritesNothing(t *testing.T) {
	f := running(t)
	f.Close()
	var err error
	f.Fleet, err = Open(t.Context(), Config{Engine: f.engine, Settings: settings(t), Clock: f.clock, Shadow: true})
	require.NoError(t, err)
	putTaints(f, "m1", failed)
	require.Equal(t, "m1:2", placed(f))
	require.Len(t, f.world.Store().Binding("default/web-deployment").Spec.GracefulEvictionTasks, 1)
}

func TestAWorkloadLooksAsInOneCluster(t *testing.T) {
	f := running(t)
	status := func() string {
		s := get(f, deployment(2, "")).Status
		return fmt.Sprintf("%d of %d", s.ReadyReplicas, s.Replicas)
	}
	require.Equal(t, "2 of 2", status())
	putTaints(f, "m1", failed)
	f.serves("m2", 2)
	f.lets("m1")
	require.Equal(t, "2 of 2", status())
	edited := deployment(3, "nginx:2")
	f.apply(edited)
	f.serves("m2", 3)
	require.Equal(t, "3 of 3", status())
}

// TestAStartHoldsNoCopyOfATemplate: there may be as many as bindings.
func TestAStartHoldsNoCopyOfATemplate(t *testing.T) {
	f := running(t)
	f.Close()
	f.open()
	key := api.KeyOf(deployment(2, ""))
	require.Same(t, get(f, deployment(2, "")), f.world.Store().Get(key))
	f.serves("m1", 1)
	require.Equal(t, int32(1), get(f, deployment(2, "")).Status.ReadyReplicas)
	require.Same(t, get(f, deployment(2, "")), f.world.Store().Get(key), "its status has changed")
}

func TestABindingThatIsMadeIsNotTold(t *testing.T) {
	f := running(t)
	for _, e := range f.events(binding()) {
		require.NotContains(t, e, "BindingCreated")
	}
}

// TestABindingHasTheValueOfItsPriorityClass whichever comes first, and what that is edited to be.
func TestABindingHasTheValueOfItsPriorityClass(t *testing.T) {
	f := running(t)
	urgent := policy()
	urgent.Spec.SchedulePriority = &api.SchedulePriority{PriorityClassSource: "KubePriorityClass", PriorityClassName: "gold"}
	f.apply(urgent)
	require.Zero(t, get(f, binding()).Spec.SchedulePriority.Priority)
	class := func(value int32) *schedulingv1.PriorityClass {
		c := named(&schedulingv1.PriorityClass{}, "scheduling.k8s.io/v1", "PriorityClass", "", "gold")
		c.Value = value
		return c
	}
	f.apply(class(100))
	require.Equal(t, int32(100), get(f, binding()).Spec.SchedulePriority.Priority)
	f.apply(class(200))
	require.Equal(t, int32(200), get(f, binding()).Spec.SchedulePriority.Priority)
	before := f.engine.Version()
	f.restart()
	require.Equal(t, before, f.engine.Version(), "a start knows the class")
}

// TestWhatACopyKeepsOfItsStateIsALabelOfIts beside the labels of the template, and before them.
func TestWhatACopyKeepsOfItsStateIsALabelOfIts(t *testing.T) {
	d := deployment(2, "nginx:1")
	d.Labels = map[string]string{"team": "a", "state": "old"}
	d.Finalizers, d.ManagedFields = []string{"example.com/keep"}, []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	d.OwnerReferences = []metav1.OwnerReference{{Name: "owner"}}
	m := manifest{replicas: 2, labels: map[string]string{"state": "new"}}
	raw, err := m.render(newFixture(t).world, d)
	require.NoError(t, err)
	var o appsv1.Deployment
	require.NoError(t, json.Unmarshal(raw, &o))
	require.Equal(t, metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: map[string]string{"team": "a", "state": "new"}}, o.ObjectMeta, "what only the control plane has stays there")
	require.Equal(t, map[string]string{"team": "a", "state": "old"}, d.Labels, "the template stays as it is")
	of := func(n int32) *int32 { return &n }
	require.True(t, m.alike(&manifest{replicas: 2, labels: map[string]string{"state": "new"}}))
	require.False(t, m.alike(&manifest{replicas: 2, labels: map[string]string{"state": "other"}}))
	require.False(t, m.alike(&manifest{replicas: 3, labels: m.labels}))
	require.False(t, m.alike(&manifest{replicas: 2, labels: m.labels, completions: of(1)}))
}

func TestCopiesThatAreAlikeShareTheirManifest(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.Placement = api.Placement{}
	f.apply(member("m1"), member("m2"), p, deployment(2, "nginx:1"))
	of := func(cluster string) *byte {
		return unsafe.SliceData(get(f, work(cluster)).Spec.Workload.Manifests[0].Raw)
	}
	require.Same(t, of("m1"), of("m2"))
}

func TestNumbersOfAManifestAreComparedToTheLastDigit(t *testing.T) {
	require.False(t, sameJSON([]byte(`{"n":9007199254740993}`), []byte(`{"n":9007199254740992}`)))
	require.True(t, sameJSON([]byte(`{"n":9007199254740993,"m":1}`), []byte(`{"m":1, "n":9007199254740993}`)))
	require.False(t, sameJSON([]byte(`{`), []byte(`{}`)))
	require.False(t, sameJSON([]byte(`{}`), []byte(`{`)))
}

func TestALeaseOfTheFutureCountsFromTheStart(t *testing.T) {
	f := running(t)
	f.Close()
	l := lease("m1")
	l.Spec = coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: f.clock.Now().Add(time.Hour)}}
	f.write(l)
	f.open()
	f.pass(39 * time.Second)
	require.Equal(t, metav1.ConditionTrue, conditionOf(f, "m1"))
	f.pass(2 * time.Second)
	require.Equal(t, metav1.ConditionUnknown, conditionOf(f, "m1"))
}

func TestAnEventIsAWarningWhereSomethingIsWrong(t *testing.T) {
	f := running(t)
	p := policy()
	p.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"nowhere"}}
	f.apply(p)
	types := map[string]string{}
	for _, e := range all[*corev1.Event](f, catalog.Events) {
		types[e.Reason] = e.Type
	}
	require.Equal(t, corev1.EventTypeWarning, types["ScheduleBindingFailed"])
	require.Equal(t, corev1.EventTypeNormal, types["ScheduleBindingSucceed"])
}

// TestEventsOfTwoStartsDoNotTakeEachOthersNames has both tell much of one object.
func TestEventsOfTwoStartsDoNotTakeEachOthersNames(t *testing.T) {
	f := running(t)
	for run := range 3 {
		before := len(f.events(member("m1")))
		for n := range 20 + run {
			putTaints(f, "m1", corev1.Taint{Key: fmt.Sprint("k", n), Effect: corev1.TaintEffectNoSchedule})
			edit(f, member("m1"), func(c *api.Cluster) { c.Spec.Taints = nil })
			require.NoError(t, f.step())
			f.clock.Add(time.Second)
		}
		require.Len(t, f.events(member("m1")), before+2*(20+run))
		f.clock.Add(time.Minute)
		f.restart()
		putTaints(f, "m2", corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoSchedule})
	}
}

func TestALeaseThatIsWrittenAndNotRenewedIsNoSignOfLife(t *testing.T) {
	f := running(t)
	l := lease("m1")
	l.Spec = coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: f.clock.Now()}}
	f.apply(l)
	f.pass(30 * time.Second)
	edit(f, lease("m1"), func(l *coordinationv1.Lease) { l.Labels = map[string]string{"seen": "yes"} })
	f.pass(11 * time.Second)
	require.Equal(t, metav1.ConditionUnknown, conditionOf(f, "m1"))
}

func TestAClusterThatJoinsWithADrainIsDrained(t *testing.T) {
	f := running(t)
	m3 := member("m3")
	until := start.Add(time.Hour).Truncate(time.Second)
	m3.Annotations = map[string]string{api.AnnotationDrain: until.Format(time.RFC3339)}
	f.apply(m3)
	require.NotNil(t, get(f, m3).Status.Drain)
	require.True(t, get(f, m3).Status.Drain.Deadline.Time.Equal(until))
}

// TestAFleetThatEndsHearsNoMore: or else the store would keep all that happens for it.
func TestAFleetThatEndsHearsNoMore(t *testing.T) {
	f := running(t)
	ended := f.Fleet
	f.Close()
	ended.feed.Take()
	f.write(member("m3"))
	require.Empty(t, ended.feed.Take())
	f.open()
}

func TestANamespaceOfWorksThatAUserDeletesIsNotMadeAgainAndAgain(t *testing.T) {
	f := running(t)
	unheard(f, named(&corev1.Namespace{}, "v1", "Namespace", "", "karmada-es-m2"))
	f.apply(deployment(3, "nginx:1"))
	require.Nil(t, get(f, named(&corev1.Namespace{}, "v1", "Namespace", "", "karmada-es-m2")))
}

func TestEventsOfABindingThatGoesAreOfThatBinding(t *testing.T) {
	f := running(t)
	uid := get(f, binding()).UID
	f.remove(deployment(2, ""))
	require.Nil(t, get(f, binding()))
	n := 0
	for _, e := range all[*corev1.Event](f, catalog.Events) {
		if e.InvolvedObject.Kind == "ResourceBinding" {
			n++
			require.Equal(t, uid, e.InvolvedObject.UID, e.Message)
		}
	}
	require.Greater(t, n, 1)
}
