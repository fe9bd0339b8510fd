package rehearsal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/rehearsal"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

const fleet = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
status: {conditions: [{type: Ready, status: "True"}], resourceSummary: {allocatable: {cpu: "10", pods: "3"}}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m2}
status: {conditions: [{type: Ready, status: "True"}], resourceSummary: {allocatable: {cpu: "10", pods: "3"}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinity: {clusterNames: [m1, m2]}
    clusterTolerations: [{key: failed, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: default}
spec: {replicas: 3}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b, namespace: default}
spec: {replicas: 2}
`

// standing is a fleet in which a fills m1, and b has m2.
func standing(t *testing.T) *rehearsal.Fleet {
	t.Helper()
	settings, problems := config.Resolve(config.Default, nil)
	require.Empty(t, problems)
	documents, invalid := manifest.Decode("fleet.yaml", []byte(fleet))
	require.Empty(t, invalid)
	w := world.New(world.Config{Settings: settings, Start: now})
	defer w.Close()
	require.NoError(t, w.ApplyAll(documents))
	require.NoError(t, w.Settle(now))
	return &rehearsal.Fleet{Objects: w.Store().Objects(), Settings: settings, Now: now.Add(time.Hour)}
}

// answered plays changes, and answers a preview of them.
func answered(t *testing.T, f *rehearsal.Fleet, changes ...rehearsal.Edit) (*rehearsal.Prediction, *api.FailoverPreviewStatus) {
	t.Helper()
	p, err := f.Play(t.Context(), changes...)
	require.NoError(t, err)
	return p, p.Status(f.Now)
}

func failed(effect corev1.TaintEffect) []corev1.Taint {
	return []corev1.Taint{{Key: "failed", Effect: effect}}
}

func TestAPreviewSaysWhoWouldLeaveWhenAndWhoHasNoHome(t *testing.T) {
	f := standing(t)
	p, s := answered(t, f, rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoExecute)))
	require.Equal(t, int32(0), s.Evicted)
	require.Equal(t, int32(1), s.Unschedulable)
	require.Equal(t, []string{"preview: 1 binding would be unschedulable"}, p.Warnings())
}

func TestAPreviewSaysWhoWouldTakeOver(t *testing.T) {
	f := standing(t)
	larger := api.Copy(f.Objects[0]).(*api.Cluster)
	larger.Status.ResourceSummary.Allocatable[corev1.ResourcePods] = f.Objects[0].(*api.Cluster).Status.ResourceSummary.Allocatable[corev1.ResourceCPU]
	f.Objects[0] = larger
	p, s := answered(t, f, rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoExecute)))
	require.Equal(t, int32(1), s.Evicted)
	require.Equal(t, int32(0), s.Unschedulable)
	e := s.Evictions[0]
	require.Equal(t, "default/b-deployment m2", e.Namespace+"/"+e.Name+" "+e.FromCluster)
	require.Equal(t, []api.TargetCluster{{Name: "m1", Replicas: 2}}, e.ToClusters)
	require.Equal(t, 5*time.Minute, e.At.Sub(f.Now))
	require.Contains(t, e.Message, "default/b-deployment evicted from m2 (2 replicas) to m1 (2): taint failed:NoExecute; by user; toleration 300s")
	require.Equal(t, []string{"preview: 1 binding would be evicted, in 5m0s"}, p.Warnings())
}

func TestAPreviewOfADrainSaysWhatIsEvicted(t *testing.T) {
	f := standing(t)
	drained := api.Copy(f.Objects[0]).(*api.Cluster)
	require.Equal(t, "m1", drained.Name)
	drained.Annotations = map[string]string{api.AnnotationDrain: ""}
	_, s := answered(t, f, rehearsal.Apply(drained))
	require.Len(t, s.Evictions, 1)
	e := s.Evictions[0]
	require.Equal(t, "a-deployment m1", e.Name+" "+e.FromCluster)
	require.Equal(t, []api.TargetCluster{{Name: "m2", Replicas: 1}}, e.ToClusters, "as many as fit")
	require.True(t, e.At.Time.Equal(f.Now))
}

func TestAPreviewLeavesOutWhatHappensAnyway(t *testing.T) {
	f := standing(t)
	w := world.New(world.Config{Settings: f.Settings, Start: f.Now})
	defer w.Close()
	w.Load(store.WithoutRows(f.Objects))
	w.Recover()
	require.NoError(t, w.Settle(f.Now))
	require.NoError(t, rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoExecute))(w))
	require.NoError(t, w.Settle(f.Now))
	f.Objects = w.Store().Objects()
	p, s := answered(t, f, rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoSchedule)))
	require.Zero(t, s.Evicted)
	require.Zero(t, s.Unschedulable)
	require.Nil(t, p.Warnings())
}

func TestALostClusterIsPlayedToItsEnd(t *testing.T) {
	f := standing(t)
	changes, err := rehearsal.Of(&api.FailoverPreviewSpec{Clusters: []string{"m1"}})
	require.NoError(t, err)
	p, s := answered(t, f, changes...)
	require.Zero(t, s.Evicted, "no policy empties a lost cluster")
	require.Equal(t, []string{"m1 is not Ready, but no ClusterTaintPolicy adds NoExecute for it: its workloads stay"}, s.Warnings)
	require.Equal(t, []string{"preview: " + s.Warnings[0]}, p.Warnings())
}

func TestAPreviewChangesNothing(t *testing.T) {
	f := standing(t)
	before := f.Objects[1].GetResourceVersion()
	_, err := f.Play(t.Context(), func(w *world.World) error {
		require.True(t, w.Delete(api.KeyOf(f.Objects[1])))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, before, f.Objects[1].GetResourceVersion())
	require.Nil(t, f.Objects[1].GetDeletionTimestamp())
}

func TestWhatCannotBePreviewedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spec api.FailoverPreviewSpec
		want string
	}{
		"nothing":              {api.FailoverPreviewSpec{}, "spec: name clusters or objects: nothing is to happen"},
		"an unreadable object": {api.FailoverPreviewSpec{Objects: []runtime.RawExtension{{Raw: []byte(`{"kind":"Cluster"}`)}}}, "spec.objects[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rehearsal.Of(&c.spec)
			require.ErrorContains(t, err, c.want)
		})
	}
	f := standing(t)
	_, err := f.Play(t.Context(), rehearsal.Lose([]string{"m9"}))
	require.EqualError(t, err, `there is no cluster "m9"`)
	_, err = f.Play(t.Context(), rehearsal.Apply(&api.Cluster{}))
	require.Error(t, err)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.Play(done, rehearsal.Lose([]string{"m1"}))
	require.ErrorIs(t, err, context.Canceled)
}

// Agents report what all copies take, Leeward's own among them: these are counted once.
func TestAPreviewCountsCopiesThatAgentsReportOnce(t *testing.T) {
	f := standing(t)
	for i, o := range f.Objects {
		switch o := api.Copy(o).(type) {
		case *api.Cluster:
			o.Status.ResourceSummary.Allocatable[corev1.ResourcePods] = resource.MustParse("6")
			o.Status.ResourceSummary.Allocated = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}
			f.Objects[i] = o
		case *api.ResourceBinding:
			for _, target := range o.Spec.Clusters {
				o.Status.AggregatedStatus = []api.AggregatedStatusItem{{ClusterName: target.Name, Health: api.Healthy, ReadyReplicas: target.Replicas}}
			}
			f.Objects[i] = o
		}
	}
	_, s := answered(t, f, rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoExecute)))
	require.Equal(t, []int32{1, 0}, []int32{s.Evicted, s.Unschedulable}, "a takes three of six pods of m1, and b needs two")
}

func TestAPastedClusterIsAsItsConditionsSay(t *testing.T) {
	const pasted = `{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"m1"},"status":{"conditions":[{"type":"Ready","status":"False","reason":"Burnt"}]}}`
	const policy = `{"apiVersion":"policy.karmada.io/v1alpha1","kind":"ClusterTaintPolicy","metadata":{"name":"down"},"spec":{
		"addOnConditions":[{"conditionType":"Ready","operator":"NotIn","statusValues":["True"]}],"taints":[{"key":"failed","effect":"NoExecute"}]}}`
	f := standing(t)
	play := func(objects ...string) *api.FailoverPreviewStatus {
		spec := &api.FailoverPreviewSpec{}
		for _, o := range objects {
			spec.Objects = append(spec.Objects, runtime.RawExtension{Raw: []byte(o)})
		}
		changes, err := rehearsal.Of(spec)
		require.NoError(t, err)
		_, s := answered(t, f, changes...)
		return s
	}
	s := play(pasted)
	require.Zero(t, s.Evicted)
	require.Equal(t, []string{"m1 is not Ready, but no ClusterTaintPolicy adds NoExecute for it: its workloads stay"}, s.Warnings)

	s = play(policy, pasted)
	require.Empty(t, s.Warnings)
	require.Equal(t, int32(1), s.Unschedulable)
	require.Len(t, s.UnschedulableBindings, 1)
	require.Equal(t, "default/a-deployment", s.UnschedulableBindings[0].Namespace+"/"+s.UnschedulableBindings[0].Name)
	require.Contains(t, s.UnschedulableBindings[0].Message, "2 of 3 replicas exceed the capacity")
}

func TestAPreviewNamesAHundredUnschedulableBindingsAndCountsAll(t *testing.T) {
	f := standing(t)
	for i := range 120 {
		b := &api.ResourceBinding{}
		for _, o := range f.Objects {
			if like, ok := o.(*api.ResourceBinding); ok {
				b = api.Copy(like).(*api.ResourceBinding)
			}
		}
		b.Name = fmt.Sprintf("b-%03d", i)
		b.Spec.Resource.Name = b.Name
		f.Objects = append(f.Objects, b)
	}
	_, s := answered(t, f, rehearsal.Taint([]string{"m1", "m2"}, failed(corev1.TaintEffectNoExecute)))
	require.Greater(t, s.Unschedulable, int32(100))
	require.Len(t, s.UnschedulableBindings, 100)
	require.True(t, slices.IsSortedFunc(s.UnschedulableBindings, func(a, b api.UnschedulableBinding) int { return strings.Compare(a.Name, b.Name) }))
}
