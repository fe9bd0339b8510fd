package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
)

// settingsMap is what the containers of a Deployment read.
func settingsMap(value string) *corev1.ConfigMap {
	c := named(&corev1.ConfigMap{}, "v1", "ConfigMap", "default", "settings")
	c.Data = map[string]string{"key": value}
	return c
}

func settingsWork(cluster string) *api.Work {
	return named(&api.Work{}, api.WorkV1alpha1GroupVersion, "Work", "karmada-es-"+cluster, workName("default/settings-configmap"))
}

func manifestOf(w *api.Work) string { return string(w.Spec.Workload.Manifests[0].Raw) }

func suspend(f *fixture, is bool) {
	f.t.Helper()
	edit(f, policy(), func(p *api.PropagationPolicy) { p.Spec.Suspension = &api.Suspension{Dispatching: &is} })
	f.pass(time.Second)
}

// An edit of what a workload depends on reaches the clusters that run the workload.
func TestAnEditOfADependencyReachesItsWorks(t *testing.T) {
	f := newFixture(t)
	p, d := policy(), deployment(2, "nginx:1")
	p.Spec.PropagateDeps = true
	d.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	f.apply(member("m1"), member("m2"), p, settingsMap("1"), d)
	f.pass(time.Second)
	require.Contains(t, manifestOf(get(f, settingsWork("m1"))), `"key":"1"`)
	require.Nil(t, get(f, settingsWork("m2")))

	edit(f, settingsMap(""), func(c *corev1.ConfigMap) { c.Data["key"] = "2" })
	f.pass(time.Second)
	require.Contains(t, manifestOf(get(f, settingsWork("m1"))), `"key":"2"`)
	require.Nil(t, get(f, settingsWork("m2")))

	suspend(f, true)
	require.Nil(t, get(f, settingsWork("m1")).Spec.SuspendDispatching, "the policy is that of the Deployment")
}

// While dispatching is suspended, a Work stays as it is and says so to its agent. Then it asks for the newest template.
func TestASuspendedWorkSaysSoAndStaysAsItIs(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "v1", Kind: "ConfigMap"}}
	m := member("m1")
	m.Status.APIEnablements = nil
	f.apply(m, p, settingsMap("1"))
	f.pass(time.Second)
	before := get(f, settingsWork("m1"))
	require.Contains(t, manifestOf(before), `"key":"1"`)

	suspend(f, true)
	asks := func(when string) {
		t.Helper()
		w := get(f, settingsWork("m1"))
		require.NotNil(t, w.Spec.SuspendDispatching, when)
		require.True(t, *w.Spec.SuspendDispatching, when)
		require.Equal(t, manifestOf(before), manifestOf(w), when)
		require.Equal(t, before.Generation+1, w.Generation, when)
	}
	asks("when it begins")
	edit(f, settingsMap(""), func(c *corev1.ConfigMap) { c.Data["key"] = "2" })
	f.pass(time.Second)
	asks("after an edit of the template")
	f.restart()
	asks("after a restart")

	suspend(f, false)
	w := get(f, settingsWork("m1"))
	require.Nil(t, w.Spec.SuspendDispatching)
	require.Contains(t, manifestOf(w), `"key":"2"`)
	require.Equal(t, before.Generation+2, w.Generation)

	suspend(f, true)
	f.remove(settingsMap(""))
	f.pass(time.Second)
	require.NotNil(t, get(f, settingsWork("m1")).DeletionTimestamp, "removal is not dispatching")
}

// A workload whose copy serves is judged by it while dispatching is suspended, and is told of its new replicas afterwards.
func TestASuspendedWorkloadIsReportedAndGetsItsReplicasLater(t *testing.T) {
	f := running(t)
	suspend(f, true)
	require.NotNil(t, get(f, work("m1")).Spec.SuspendDispatching)
	require.Equal(t, api.Healthy, get(f, binding()).Status.AggregatedStatus[0].Health)
	edit(f, work("m1"), func(w *api.Work) { w.Status.ManifestStatuses[0].Health = api.Unhealthy })
	f.pass(time.Second)
	require.Equal(t, api.Unhealthy, get(f, binding()).Status.AggregatedStatus[0].Health)

	edit(f, deployment(0, ""), func(d *appsv1.Deployment) { *d.Spec.Replicas = 5 })
	f.pass(time.Second)
	require.EqualValues(t, 2, replicasOf(get(f, work("m1"))))
	suspend(f, false)
	require.EqualValues(t, 5, replicasOf(get(f, work("m1"))))
	f.serves("m1", 5)
	require.Equal(t, api.Healthy, get(f, binding()).Status.AggregatedStatus[0].Health)
}
