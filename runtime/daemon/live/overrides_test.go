package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
)

// fromRegistry is an override that has clusters pull from a registry of their own.
func fromRegistry(name, registry string, clusters *api.ClusterAffinity) *api.OverridePolicy {
	o := named(&api.OverridePolicy{}, api.PolicyGroupVersion, "OverridePolicy", "default", name)
	o.Spec.OverrideRules = []api.OverrideRule{{TargetCluster: clusters, Overriders: api.Overriders{
		ImageOverrider: []api.ImageOverrider{{Component: api.ImageRegistry, Operator: api.OverrideReplace, Value: registry}},
	}}}
	return o
}

// patching is an override of the fleet by one operation.
func patching(name, path, value string) *api.ClusterOverridePolicy {
	o := named(&api.ClusterOverridePolicy{}, api.PolicyGroupVersion, "ClusterOverridePolicy", "", name)
	o.Spec.Overriders.Plaintext = []api.PlaintextOverrider{{Path: path, Operator: api.OverrideReplace, Value: api.JSON{Raw: []byte(value)}}}
	return o
}

var inEurope = &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}}

// asked is what the Work of a cluster asks for: "nginx:1 x2".
func asked(f *fixture, cluster string) string {
	f.t.Helper()
	w := get(f, work(cluster))
	if w == nil {
		return "nothing"
	}
	var o struct {
		Spec struct {
			Replicas int
			Template struct{ Spec corev1.PodSpec }
		}
	}
	require.NoError(f.t, json.Unmarshal(w.Spec.Workload.Manifests[0].Raw, &o))
	return fmt.Sprintf("%s x%d", o.Spec.Template.Spec.Containers[0].Image, o.Spec.Replicas)
}

func TestAnOverrideRewritesTheWorksThatItReaches(t *testing.T) {
	f := running(t)
	f.apply(fromRegistry("eu", "eu.io", nil))
	require.Equal(t, "eu.io/nginx:1 x2", asked(f, "m1"))
	w := get(f, work("m1"))
	require.Equal(t, int64(2), w.Generation)
	require.Equal(t, `[{"policyName":"eu","overriders":{"imageOverrider":[{"component":"Registry","operator":"replace","value":"eu.io"}]}}]`,
		w.Annotations[api.AnnotationAppliedOverrides])
	require.Equal(t, messages.BindingName("default/web-deployment"), observed.Binding(w.Annotations))
	require.Equal(t, "m1:2", placed(f), "nothing moves")
	f.serves("m1", 2)

	f.apply(fromRegistry("eu", "us.io", nil))
	require.Equal(t, "us.io/nginx:1 x2", asked(f, "m1"))
	f.remove(fromRegistry("eu", "", nil))
	require.Equal(t, "nginx:1 x2", asked(f, "m1"))
	require.Equal(t, observed.Names("default/web-deployment"), get(f, work("m1")).Annotations)
	require.NotContains(t, fmt.Sprint(f.events(binding())), "EvictionStarted")
}

func TestAnOverrideLeavesOtherWorksAlone(t *testing.T) {
	f := running(t)
	elsewhere := fromRegistry("eu", "eu.io", nil)
	elsewhere.Namespace = "other"
	named := fromRegistry("named", "eu.io", nil)
	named.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "db"}}
	before := get(f, work("m1"))
	f.apply(elsewhere, named, fromRegistry("there", "eu.io", &api.ClusterAffinity{ClusterNames: []string{"m2"}}))
	require.Same(t, before, get(f, work("m1")))
}

func TestANewCopyIsOverriddenForItsCluster(t *testing.T) {
	f := running(t)
	f.apply(fromRegistry("there", "eu.io", &api.ClusterAffinity{ClusterNames: []string{"m2"}}))
	putTaints(f, "m1", failed)
	require.Equal(t, "eu.io/nginx:1 x2", asked(f, "m2"))
	require.Equal(t, "nginx:1 x2", asked(f, "m1"))
	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f), "the report is about the Work that was written")

	f.apply(deployment(3, "nginx:2"))
	require.Equal(t, "eu.io/nginx:2 x3", asked(f, "m2"), "what follows the template is overridden, too")
	before := f.engine.Version()
	f.restart()
	require.Equal(t, before, f.engine.Version(), "a start writes nothing that stands")
	f.Close()
	f.write(fromRegistry("there", "us.io", nil))
	f.open()
	require.Equal(t, "us.io/nginx:2 x3", asked(f, "m2"), "an override that changed while nobody listened")
}

func TestTheLabelsOfAClusterBringOverridesAndTakeThem(t *testing.T) {
	f := running(t)
	f.apply(fromRegistry("eu", "eu.io", inEurope))
	label := func(cluster string, labels map[string]string) {
		edit(f, member(cluster), func(c *api.Cluster) { c.Labels = labels })
		require.NoError(t, f.step())
	}
	label("m1", map[string]string{"region": "eu"})
	require.Equal(t, "eu.io/nginx:1 x2", asked(f, "m1"))
	overridden := get(f, work("m1"))
	label("m1", map[string]string{"region": "eu", "tier": "gold"})
	require.Same(t, overridden, get(f, work("m1")), "of which no override knows")
	label("m1", nil)
	require.Equal(t, "nginx:1 x2", asked(f, "m1"))
	require.Equal(t, "m1:2", placed(f))
}

// TestReplicasOutliveAnOverrideOfThem: what a Work asks for is not what its copy was scheduled with.
func TestReplicasOutliveAnOverrideOfThem(t *testing.T) {
	f := running(t)
	f.apply(patching("one", "/spec/replicas", "1"))
	require.Equal(t, "nginx:1 x1", asked(f, "m1"))
	f.apply(deployment(2, "nginx:2"))
	require.Equal(t, "nginx:2 x1", asked(f, "m1"))
	f.remove(patching("one", "", ""))
	require.Equal(t, "nginx:2 x2", asked(f, "m1"))
}

func TestAnOverrideThatDoesNotApplyLeavesTheWorkAsItWas(t *testing.T) {
	f := running(t)
	before := get(f, work("m1"))
	f.apply(patching("bad", "/spec/nothing", "1"))
	require.Same(t, before, get(f, work("m1")))
	require.Contains(t, f.events(deployment(2, "")), "ApplyOverridePolicyFailed: for cluster m1: ClusterOverridePolicy bad: "+
		"spec.overriders.plaintext[0]: replace operation does not apply: doc is missing key: /spec/nothing: missing value")
	require.Equal(t, "m1:2", placed(f))

	putTaints(f, "m1", failed)
	require.Equal(t, "nothing", asked(f, "m2"), "no copy is better than one that nobody wants")
	f.apply(patching("bad", "/spec/replicas", "4"))
	require.Equal(t, "nginx:1 x4", asked(f, "m2"), "the copy that was stuck")
	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f))
}

func TestAPolicyWaitsForItsOverride(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.DependentOverrides = []string{"eu"}
	f.apply(member("m1"), p, deployment(2, "nginx:1"))
	require.Equal(t, "nowhere", placed(f))
	f.apply(fromRegistry("eu", "eu.io", nil))
	require.Equal(t, "m1:2", placed(f))
	require.Equal(t, "eu.io/nginx:1 x2", asked(f, "m1"))
	f.restart()
	require.Equal(t, "m1:2", placed(f), "and does not wait again")
}

func TestTheCompletionsOfAJobAreDividedAsItsReplicas(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.ResourceSelectors[0] = api.ResourceSelector{APIVersion: "batch/v1", Kind: "Job", Name: "web"}
	p.Spec.Placement = api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
		WeightPreference: &api.WeightPreference{StaticWeightList: []api.StaticClusterWeight{
			{TargetCluster: api.ClusterAffinity{ClusterNames: []string{"m1"}}, Weight: 2},
			{TargetCluster: api.ClusterAffinity{ClusterNames: []string{"m2"}}, Weight: 1},
		}},
	}}
	job := func(completions *int32) *batchv1.Job {
		parallel := int32(3)
		j := named(&batchv1.Job{}, "batch/v1", "Job", "default", "web")
		j.Spec = batchv1.JobSpec{Parallelism: &parallel, Completions: completions}
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		return j
	}
	parts := func() (parts []string) {
		for _, cluster := range []string{"m1", "m2"} {
			w := named(&api.Work{}, api.WorkV1alpha1GroupVersion, "Work", "karmada-es-"+cluster, workName("default/web-job"))
			var o batchv1.Job
			require.NoError(t, json.Unmarshal(get(f, w).Spec.Workload.Manifests[0].Raw, &o))
			part := fmt.Sprint(*o.Spec.Parallelism)
			if o.Spec.Completions != nil {
				part += fmt.Sprint(" for ", *o.Spec.Completions)
			}
			parts = append(parts, part)
		}
		return parts
	}
	ten, eight := int32(10), int32(8)
	serving := func(name string) *api.Cluster {
		c := member(name)
		c.Status.APIEnablements = append(c.Status.APIEnablements, api.APIEnablement{GroupVersion: "batch/v1", Resources: []api.APIResource{{Name: "jobs", Kind: "Job"}}})
		return c
	}
	f.apply(serving("m1"), serving("m2"), p, job(&ten))
	require.Equal(t, []string{"2 for 7", "1 for 3"}, parts())
	f.apply(job(&eight))
	require.Equal(t, []string{"2 for 5", "1 for 3"}, parts())
	f.apply(job(nil))
	require.Equal(t, []string{"2", "1"}, parts())
}

func TestARenewalDoesNotTakeThePlaceOfAWish(t *testing.T) {
	copied, gone := wish{key: "a", wanted: &messages.CopyWanted{}}, wish{key: "b", unwanted: &messages.CopyUnwanted{}}
	require.Equal(t, []int{1, 2}, newest([]wish{{key: "a"}, copied, gone, {key: "a"}, {key: "b"}}))
	require.Equal(t, []int{0}, newest([]wish{{key: "c"}, {key: "c"}}))
}

func TestABindingThatIsStoredForAnotherNamespaceShipsNothing(t *testing.T) {
	f := running(t)
	f.Close()
	foreign := named(&api.ResourceBinding{}, api.WorkGroupVersion, "ResourceBinding", "other", "escape")
	foreign.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	foreign.Spec.Clusters = []api.TargetCluster{{Name: "m2", Replicas: 1}}
	f.write(foreign) // as no client of the API can
	f.open()
	require.Zero(t, f.engine.Table(catalog.Works.Name()).Snapshot().Count(engine.Key(catalog.Works.Name(), "karmada-es-m2", ""), ""))
	require.Equal(t, "m1:2", placed(f))
}

func TestAWorkThatWasStuckFollowsItsTemplateAgain(t *testing.T) {
	f := running(t)
	f.apply(patching("bad", "/spec/nothing", "1"))
	putTaints(f, "m1", failed)
	require.Equal(t, "nothing", asked(f, "m2"))
	f.remove(patching("bad", "", ""))
	require.Equal(t, "nginx:1 x2", asked(f, "m2"))
	f.serves("m2", 2)
	f.apply(deployment(5, "nginx:1"))
	f.apply(deployment(5, "nginx:2"))
	require.Equal(t, "nginx:2 x5", asked(f, "m2"), "not as it was wanted while it was stuck")
	f.apply(fromRegistry("eu", "eu.io", nil))
	require.Equal(t, "eu.io/nginx:2 x5", asked(f, "m2"))
}

func TestWhatUsersNoteOnAWorkOutlivesItsOverrides(t *testing.T) {
	f := running(t)
	edit(f, work("m1"), func(w *api.Work) { w.Annotations["note"] = "mine" })
	require.NoError(t, f.step())
	f.apply(fromRegistry("eu", "eu.io", nil))
	require.Equal(t, "eu.io/nginx:1 x2", asked(f, "m1"))
	require.Equal(t, "mine", get(f, work("m1")).Annotations["note"])
	f.remove(fromRegistry("eu", "", nil))
	require.Equal(t, "mine", get(f, work("m1")).Annotations["note"])
	require.NotContains(t, get(f, work("m1")).Annotations, api.AnnotationAppliedOverrides)
}

// TestAnOverrideThatNoAdmissionWouldPassIsToldAtAStart as one that was stored by other means.
func TestAnOverrideThatNoAdmissionWouldPassIsToldAtAStart(t *testing.T) {
	f := running(t)
	f.Close()
	bad := fromRegistry("bad", "eu.io", &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "region", Operator: "Perhaps"}},
	}})
	f.write(bad)
	f.open()
	require.EqualValues(t, 1, f.Stats().Refused)
	require.Len(t, f.events(bad), 1)
	require.Equal(t, "nginx:1 x2", asked(f, "m1"))
	f.pass(time.Minute) // the Events of a start have names of their time
	f.restart()
	require.Len(t, f.events(bad), 1, "no start tells the same again")
}

// TestAPartThatStaysTheSameIsRenewedWithTheOthers: of ten completions a cluster has another share once two share them and not three.
func TestAPartThatStaysTheSameIsRenewedWithTheOthers(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.ResourceSelectors[0] = api.ResourceSelector{APIVersion: "batch/v1", Kind: "Job", Name: "web"}
	p.Spec.Placement = api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
		WeightPreference: &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas},
	}}
	ten, three := int32(10), int32(3)
	j := named(&batchv1.Job{}, "batch/v1", "Job", "default", "web")
	j.Spec = batchv1.JobSpec{Parallelism: &three, Completions: &ten}
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	var clusters []api.Object
	for _, name := range []string{"m1", "m2", "m3"} {
		c := member(name)
		c.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "batch/v1", Resources: []api.APIResource{{Name: "jobs", Kind: "Job"}}}}
		clusters = append(clusters, c)
	}
	f.apply(append(clusters, p, j)...)
	parts := func() map[string]string {
		parts := map[string]string{}
		for _, w := range all[*api.Work](f, catalog.Works) {
			var o batchv1.Job
			require.NoError(t, json.Unmarshal(w.Spec.Workload.Manifests[0].Raw, &o))
			parts[w.Namespace[len(api.WorkNamespacePrefix):]] = fmt.Sprint(*o.Spec.Parallelism, " for ", *o.Spec.Completions)
		}
		return parts
	}
	others := []string{"m1", "m2", "m3"} // whose part is the largest, the Job's UID says
	i := slices.IndexFunc(others, func(c string) bool { return parts()[c] == "1 for 4" })
	require.GreaterOrEqual(t, i, 0)
	stays := others[i]
	fails, grows := others[(i+1)%3], others[(i+2)%3]
	require.Equal(t, map[string]string{stays: "1 for 4", fails: "1 for 3", grows: "1 for 3"}, parts())
	edit(f, member(grows), func(c *api.Cluster) {
		c.Status.ResourceSummary.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9000"), corev1.ResourcePods: resource.MustParse("9000")}
	})
	f.pass(time.Second)
	putTaints(f, fails, failed)
	require.Equal(t, "2 for 7", parts()[grows])
	require.Equal(t, "1 for 3", parts()[stays])
}

func TestAPolicyThatOverwritesSaysSoInItsWorks(t *testing.T) {
	f := running(t)
	says := func() string {
		var o metav1.PartialObjectMetadata
		require.NoError(t, json.Unmarshal(get(f, work("m1")).Spec.Workload.Manifests[0].Raw, &o))
		return o.Annotations[api.AnnotationConflict]
	}
	require.Empty(t, says(), "as if it said abort")
	overwriting := policy()
	overwriting.Spec.ConflictResolution = api.ConflictOverwrite
	f.apply(overwriting)
	require.Equal(t, "overwrite", says())
	require.Equal(t, int64(2), get(f, work("m1")).Generation)
	before := get(f, work("m1"))
	f.restart()
	require.Equal(t, before.Spec, get(f, work("m1")).Spec)

	careful := deployment(2, "nginx:1")
	careful.Annotations = map[string]string{api.AnnotationConflict: "abort"}
	f.apply(careful)
	require.Equal(t, "abort", says(), "the template has the last word")
	f.apply(deployment(2, "nginx:1"))
	require.Equal(t, "overwrite", says())
	f.apply(policy())
	require.Empty(t, says())
	require.Equal(t, "m1:2", placed(f), "nothing moves")
}
