package live

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
)

// everywhere is a fleet of two clusters that both run a copy of a workload, and of which the agents say what they do.
func everywhere(t *testing.T, workload api.Object, says ...string) *fixture {
	t.Helper()
	f := newFixture(t)
	kind := workload.GetObjectKind().GroupVersionKind()
	p := policy()
	p.Spec.ResourceSelectors[0] = api.ResourceSelector{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: "web"}
	p.Spec.Placement = api.Placement{}
	var clusters []api.Object
	for _, name := range []string{"m1", "m2"} {
		c := member(name)
		c.Status.APIEnablements = []api.APIEnablement{{GroupVersion: p.Spec.ResourceSelectors[0].APIVersion, Resources: []api.APIResource{{Kind: kind.Kind}}}}
		clusters = append(clusters, c)
	}
	f.apply(append(clusters, p, workload)...)
	works := all[*api.Work](f, catalog.Works)
	require.Len(t, works, len(says))
	for i, w := range works {
		edit(f, w, func(w *api.Work) {
			w.Status.ManifestStatuses = []api.ManifestStatus{{Health: api.Healthy, Status: &runtime.RawExtension{Raw: []byte(says[i])}}}
		})
	}
	require.NoError(t, f.step())
	return f
}

// TestAWorkloadShowsTheSumsOfItsCopies as if it ran in one cluster. Source: Karmada's resource interpreter.
func TestAWorkloadShowsTheSumsOfItsCopies(t *testing.T) {
	three := int32(3)
	t.Run("of a Deployment", func(t *testing.T) {
		f := everywhere(t, deployment(3, "nginx:1"), `{"readyReplicas":3}`, `{"readyReplicas":1}`)
		require.Equal(t, appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: 6, ReadyReplicas: 4, UpdatedReplicas: 4, AvailableReplicas: 4, UnavailableReplicas: 2,
		}, get(f, deployment(3, "")).Status)
	})
	t.Run("of a StatefulSet", func(t *testing.T) {
		s := named(&appsv1.StatefulSet{}, "apps/v1", "StatefulSet", "default", "web")
		s.Spec.Replicas = &three
		f := everywhere(t, s, `{"readyReplicas":3}`, `{"readyReplicas":1}`)
		require.Equal(t, appsv1.StatefulSetStatus{
			ObservedGeneration: 1, Replicas: 6, ReadyReplicas: 4, UpdatedReplicas: 4, AvailableReplicas: 4,
		}, get(f, s).Status)
	})
	t.Run("of a DaemonSet", func(t *testing.T) {
		d := named(&appsv1.DaemonSet{}, "apps/v1", "DaemonSet", "default", "web")
		f := everywhere(t, d,
			`{"desiredNumberScheduled":9,"currentNumberScheduled":8,"updatedNumberScheduled":7,"numberAvailable":6,"numberReady":5}`,
			`{"desiredNumberScheduled":90,"currentNumberScheduled":80,"updatedNumberScheduled":70,"numberAvailable":60,"numberReady":50}`)
		require.Equal(t, appsv1.DaemonSetStatus{
			ObservedGeneration: 1, DesiredNumberScheduled: 99, CurrentNumberScheduled: 88, UpdatedNumberScheduled: 77, NumberAvailable: 66, NumberReady: 55,
		}, get(f, d).Status)
	})
	t.Run("of a HorizontalPodAutoscaler", func(t *testing.T) {
		a := named(&autoscalingv2.HorizontalPodAutoscaler{}, "autoscaling/v2", "HorizontalPodAutoscaler", "default", "web")
		f := everywhere(t, a, `{"currentReplicas":3,"desiredReplicas":4}`, `{"currentReplicas":1,"desiredReplicas":2}`)
		require.Equal(t, autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 4, DesiredReplicas: 6}, get(f, a).Status)
	})
	t.Run("of a PodDisruptionBudget", func(t *testing.T) {
		b := named(&policyv1.PodDisruptionBudget{}, "policy/v1", "PodDisruptionBudget", "default", "web")
		f := everywhere(t, b, `{"currentHealthy":3,"desiredHealthy":2,"expectedPods":3,"disruptionsAllowed":1}`, `{"currentHealthy":1,"desiredHealthy":1,"expectedPods":2}`)
		require.Equal(t, policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: 1, CurrentHealthy: 4, DesiredHealthy: 3, ExpectedPods: 5, DisruptionsAllowed: 1,
		}, get(f, b).Status)
	})
	t.Run("of an Ingress: the addresses", func(t *testing.T) {
		i := named(&networkingv1.Ingress{}, "networking.k8s.io/v1", "Ingress", "default", "web")
		f := everywhere(t, i, `{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}`, `{"loadBalancer":{"ingress":[{"hostname":"b.example"}]}}`)
		require.Equal(t, []networkingv1.IngressLoadBalancerIngress{{IP: "10.0.0.1", Hostname: "m1"}, {Hostname: "b.example"}}, get(f, i).Status.LoadBalancer.Ingress)
	})
	t.Run("of a Service: the addresses of load balancers", func(t *testing.T) {
		of := func(kind corev1.ServiceType) *corev1.Service {
			s := named(&corev1.Service{}, "v1", "Service", "default", "web")
			s.Spec.Type, s.Spec.Ports = kind, []corev1.ServicePort{{Port: 80}}
			return s
		}
		says := []string{`{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}`, `{"loadBalancer":{"ingress":[{"hostname":"b.example"}]}}`}
		s := of(corev1.ServiceTypeLoadBalancer)
		require.Equal(t, []corev1.LoadBalancerIngress{{IP: "10.0.0.1", Hostname: "m1"}, {Hostname: "b.example"}}, get(everywhere(t, s, says...), s).Status.LoadBalancer.Ingress)
		s = of(corev1.ServiceTypeNodePort)
		require.Empty(t, get(everywhere(t, s, says...), s).Status.LoadBalancer.Ingress)
	})
	t.Run("of a PodDisruptionBudget: the pods that are disrupted", func(t *testing.T) {
		b := named(&policyv1.PodDisruptionBudget{}, "policy/v1", "PodDisruptionBudget", "default", "web")
		f := everywhere(t, b, `{"disruptedPods":{"a":"2026-01-01T00:00:00Z"}}`, `{"disruptedPods":{"a":"2026-01-01T00:00:01Z"}}`)
		require.Equal(t, []string{"m1/a", "m2/a"}, slices.Sorted(maps.Keys(get(f, b).Status.DisruptedPods)))
	})
	t.Run("of a PersistentVolumeClaim: the phase", func(t *testing.T) {
		for says, phase := range map[[2]string]corev1.PersistentVolumeClaimPhase{
			{"Bound", "Bound"}: corev1.ClaimBound, {"Bound", "Pending"}: corev1.ClaimPending, {"Pending", "Bound"}: corev1.ClaimPending, {"Lost", "Pending"}: corev1.ClaimLost,
		} {
			c := named(&corev1.PersistentVolumeClaim{}, "v1", "PersistentVolumeClaim", "default", "web")
			f := everywhere(t, c, `{"phase":"`+says[0]+`"}`, `{"phase":"`+says[1]+`"}`)
			require.Equal(t, corev1.PersistentVolumeClaimStatus{Phase: phase}, get(f, c).Status, "%s", says)
		}
	})
	t.Run("of a PersistentVolume: the phase", func(t *testing.T) {
		v := named(&corev1.PersistentVolume{}, "v1", "PersistentVolume", "", "web")
		b := store.AsBinding(&api.ClusterResourceBinding{})
		require.Equal(t, v.Status, provided(b, v.Status), "no copy says anything")
		phase := func(p string) *runtime.RawExtension {
			return &runtime.RawExtension{Raw: []byte(`{"phase":"` + p + `"}`)}
		}
		b.Status.AggregatedStatus = []api.AggregatedStatusItem{{Status: phase("Released")}, {Status: phase("Bound")}}
		require.Equal(t, corev1.VolumeBound, provided(b, v.Status).Phase)
		b.Status.AggregatedStatus[0].Status = nil
		require.Equal(t, corev1.VolumePending, provided(b, v.Status).Phase)
	})
	t.Run("of a CronJob: what runs, and the last times", func(t *testing.T) {
		c := named(&batchv1.CronJob{}, "batch/v1", "CronJob", "default", "web")
		c.Spec.Schedule, c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = "* * * * *", corev1.RestartPolicyNever
		f := everywhere(t, c, `{"active":[{"name":"a"}],"lastScheduleTime":"2026-01-01T00:00:00Z"}`, `{"active":[{"name":"b"}],"lastScheduleTime":"2026-01-01T00:01:00Z","lastSuccessfulTime":"2026-01-01T00:00:00Z"}`)
		s := get(f, c).Status
		require.Equal(t, []corev1.ObjectReference{{Name: "a"}, {Name: "b"}}, s.Active)
		require.Equal(t, "00:01 00:00", s.LastScheduleTime.UTC().Format("15:04 ")+s.LastSuccessfulTime.UTC().Format("15:04"))
	})
	t.Run("of a Job, but for what cannot be read", func(t *testing.T) {
		j := named(&batchv1.Job{}, "batch/v1", "Job", "default", "web")
		j.Spec.Parallelism = &three
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		f := everywhere(t, j, `{"active":1,"succeeded":2,"failed":3}`, `{"active":10,"succeeded":20,"failed":30}`)
		require.Equal(t, batchv1.JobStatus{Active: 11, Succeeded: 22, Failed: 33}, get(f, j).Status)
		edit(f, all[*api.Work](f, catalog.Works)[1], func(w *api.Work) { w.Status.ManifestStatuses[0].Status.Raw = []byte(`{"active":"many"}`) })
		require.NoError(t, f.step())
		require.Equal(t, batchv1.JobStatus{Active: 1, Succeeded: 2, Failed: 3}, get(f, j).Status)
	})
}

func TestSumsAreAddedUpInTheirTurnAndEachOnce(t *testing.T) {
	s := sums{known: map[messages.BindingName]bool{}}
	var want []messages.BindingName
	for n := range sumsBesideWorks + 9 {
		name := messages.BindingName(fmt.Sprint("default/", n))
		want = append(want, name)
		s.put(name)
		s.put(name)
	}
	first := s.take()
	require.Len(t, first, sumsBesideWorks)
	require.Equal(t, want, append(first, s.take()...))
	require.Empty(t, s.take())
	s.put("default/0")
	require.Equal(t, []messages.BindingName{"default/0"}, s.take(), "it changed again")
}

func TestWhatHasNoReplicasHasNoSums(t *testing.T) {
	c := named(&corev1.ConfigMap{}, "v1", "ConfigMap", "default", "web")
	c.Data = map[string]string{"key": "value"}
	f := everywhere(t, c, `{}`, `{}`)
	require.Equal(t, map[string]string{"key": "value"}, get(f, c).Data)
	for _, w := range all[*api.Work](f, catalog.Works) {
		require.Contains(t, string(w.Spec.Workload.Manifests[0].Raw), `"data":{"key":"value"}`)
	}
	table, key := f.table(c)
	_, before := table.Get(key)
	edit(f, all[*api.Work](f, catalog.Works)[0], func(w *api.Work) { w.Status.ManifestStatuses[0].Health = api.Unhealthy })
	require.NoError(t, f.step())
	_, now := table.Get(key)
	require.Equal(t, before, now, "it is not written")
}

// A binding that people made for a workload adds up what its copies report, too, when the workload is edited meanwhile.
func TestABindingOfAnotherNameAddsUpWhatItsCopiesReport(t *testing.T) {
	f := newFixture(t)
	own := binding()
	own.Name = "own"
	own.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	own.Spec.Replicas = 2
	own.Spec.Placement = &api.Placement{}
	f.apply(member("m1"), deployment(2, "nginx:1"), own)
	works := all[*api.Work](f, catalog.Works)
	require.Len(t, works, 1)
	edit(f, works[0], func(w *api.Work) { w.Status = served(w, 2) })
	f.take()
	require.NoError(t, f.settle())
	edit(f, deployment(2, ""), func(d *appsv1.Deployment) { d.Labels = map[string]string{"team": "a"} })
	_, err := f.flush()
	require.NoError(t, err)
	require.NoError(t, f.step())
	require.EqualValues(t, 2, get(f, deployment(2, "")).Status.ReadyReplicas)
}
