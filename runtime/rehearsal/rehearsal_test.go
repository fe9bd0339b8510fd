package rehearsal_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/config"
	"leeward/runtime/rehearsal"
	"leeward/runtime/world"
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

func failed(effect corev1.TaintEffect) []corev1.Taint {
	return []corev1.Taint{{Key: "failed", Effect: effect}}
}

func TestAPreviewSaysWhoWouldLeaveWhenAndWhoHasNoHome(t *testing.T) {
	f := standing(t)
	s, err := f.Play(t.Context(), rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoExecute)))
	require.NoError(t, err)
	require.Equal(t, int32(0), s.Evicted)
	require.Equal(t, int32(1), s.Homeless)
	require.Equal(t, []string{"preview: no other cluster would take 1 binding"}, rehearsal.Warnings(s, f.Now))
}

func TestAPreviewSaysWhoWouldTakeOver(t *testing.T) {
	f := standing(t)
	room := api.Copy(f.Objects[0]).(*api.Cluster)
	room.Status.ResourceSummary.Allocatable[corev1.ResourcePods] = f.Objects[0].(*api.Cluster).Status.ResourceSummary.Allocatable[corev1.ResourceCPU]
	f.Objects[0] = room
	s, err := f.Play(t.Context(), rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoExecute)))
	require.NoError(t, err)
	require.Equal(t, int32(1), s.Evicted)
	require.Equal(t, int32(0), s.Homeless)
	e := s.Evictions[0]
	require.Equal(t, "default/b-deployment m2", e.Namespace+"/"+e.Name+" "+e.FromCluster)
	require.Equal(t, []api.TargetCluster{{Name: "m1", Replicas: 2}}, e.ToClusters)
	require.Equal(t, 5*time.Minute, e.At.Sub(f.Now))
	require.Contains(t, e.Message, "default/b-deployment leaves m2: failed:NoExecute was tolerated for 300s")
	require.Equal(t, []string{"preview: 1 binding would be evicted, in 5m0s"}, rehearsal.Warnings(s, f.Now))
}

func TestAPreviewLeavesOutWhatHappensAnyway(t *testing.T) {
	f := standing(t)
	w := world.New(world.Config{Settings: f.Settings, Start: f.Now})
	defer w.Close()
	w.Load(f.Objects)
	w.Recover()
	require.NoError(t, w.Settle(f.Now))
	require.NoError(t, rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoExecute))(w))
	require.NoError(t, w.Settle(f.Now))
	f.Objects = w.Store().Objects()
	s, err := f.Play(t.Context(), rehearsal.Taint([]string{"m2"}, failed(corev1.TaintEffectNoSchedule)))
	require.NoError(t, err)
	require.Zero(t, s.Evicted)
	require.Zero(t, s.Homeless)
	require.Nil(t, rehearsal.Warnings(s, f.Now))
}

func TestALostClusterIsPlayedToItsEnd(t *testing.T) {
	f := standing(t)
	changes, err := rehearsal.Of(&api.FailoverPreviewSpec{Clusters: []string{"m1"}})
	require.NoError(t, err)
	s, err := f.Play(t.Context(), changes...)
	require.NoError(t, err)
	require.Zero(t, s.Evicted, "no policy empties a lost cluster")
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
