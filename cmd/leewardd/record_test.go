package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/client"
	"leeward/runtime/client/fakemember"
	"leeward/runtime/client/recorder"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

// whatItTold is what a recorder wrote.
type whatItTold struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func (w *whatItTold) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
	return w.text.Write(p)
}

// await waits until what was written is as a test wants it.
func (w *whatItTold) await(ctx context.Context, t *testing.T, right func(text string) bool) {
	t.Helper()
	for {
		w.mu.Lock()
		text := w.text.String()
		w.mu.Unlock()
		if right(text) {
			return
		}
		select {
		case <-w.news:
		case <-ctx.Done():
			t.Fatalf("never recorded:\n%s", text)
		}
	}
}

// TestAnOutageThatWasRecordedReplaysAsItWent records a daemon while nginx leaves a cluster that fails.
func TestAnOutageThatWasRecordedReplaysAsItWent(t *testing.T) {
	t.Parallel()
	r := watched(t, "startFailureLimit: 7\n")
	agents := fakemember.Config{
		Client: r.client, Clock: clock.New(), Create: true, Heartbeat: time.Second, Tell: func(string) {},
		Cluster:   api.ClusterSpec{SyncMode: api.Pull},
		Behaviour: messages.MemberBehaviour{StartupMin: 50 * time.Millisecond, StartupMax: 50 * time.Millisecond, Health: api.Healthy},
	}
	r.play(agents, "member1", "member3")
	stop := r.play(agents, "member2")
	for _, name := range []string{"member1", "member2", "member3"} {
		await(r, api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: name}, func(c *api.Cluster) bool {
			return meta.IsStatusConditionTrue(c.Status.Conditions, api.ConditionReady)
		})
	}
	for _, doc := range seed003(t) {
		if p, ok := doc.Object.(*api.PropagationPolicy); ok {
			*p.Spec.Placement.ClusterTolerations[0].TolerationSeconds = 1
		}
		_, err := r.client.Create(r.ctx, catalog.Of(api.KeyOf(doc.Object)), doc.Object)
		require.NoError(t, err)
	}
	binding := api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "nginx-deployment"}
	await(r, binding, func(b *api.ResourceBinding) bool { return runsOn(b, "member1", "member2") })

	text, end := r.record()
	stop()
	agents.Failure, agents.FailAfter = fakemember.NotReady, time.Millisecond
	r.play(agents, "member2")
	await(r, binding, func(b *api.ResourceBinding) bool { return runsOn(b, "member1", "member3") })
	end()

	i, err := incident.Read("outage.jsonl", text.text.Bytes())
	require.NoError(t, err)
	require.Empty(t, i.Notes)
	s := i.Scenario(incident.Under{})
	require.Equal(t, "leeward", s.Profile)
	require.Equal(t, []config.Override{{Field: "startFailureLimit", Value: "7", Source: "outage.jsonl"}}, s.Config, "the daemon says so")
	for _, seed := range []uint64{1, 2, 3} {
		compared := compared(t, i, s, seed)
		require.Len(t, compared, 1)
		require.Equal(t, "member2", compared[0].Cluster)
		require.Equal(t, replay.Same, compared[0].Verdict, "%v, %v", compared[0].Recorded, compared[0].Replayed)
	}
}

// roomy are applications that go by what is free on clusters, and by weights.
const roomy = `
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: by-what-is-free, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {by: free}}}]
  placement:
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: together, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {by: few}}}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: by-weight, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {by: weight}}}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [
      {targetCluster: {clusterNames: [member1]}, weight: 1}, {targetCluster: {clusterNames: [member2]}, weight: 5},
      {targetCluster: {clusterNames: [member3]}, weight: 9}, {targetCluster: {clusterNames: [member4]}, weight: 2}]}}}
`

// application is a Deployment whose replicas take half a core each, placed by what its label says.
func application(name, by string, replicas int) string {
	return fmt.Sprintf(`
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, namespace: default, labels: {by: %s}}
spec:
  replicas: %d
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: 500m}}}]}
`, name, by, replicas, name, name)
}

// TestAFleetOfEachProfileReplaysAsTheDaemonDecided records a daemon that evicts what goes by free capacity from a cluster: what
// is free there is the same in the daemon and in its recording, whether copies are counted by reservations or by what agents
// report.
func TestAFleetOfEachProfileReplaysAsTheDaemonDecided(t *testing.T) {
	for _, profile := range config.Profiles() {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			r := watched(t, "profile: "+profile+"\nenableNoExecuteTaintEviction: true\nevictionWorkers: 0\n")
			for name, cpu := range map[string]string{"member1": "6", "member2": "16", "member3": "12", "member4": "20"} {
				r.play(fakemember.Config{
					Client: r.client, Clock: clock.New(), Create: true, Heartbeat: time.Second, Tell: func(string) {},
					Cluster:   api.ClusterSpec{SyncMode: api.Pull},
					Capacity:  corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("100")},
					Behaviour: messages.MemberBehaviour{StartupMin: 50 * time.Millisecond, StartupMax: 50 * time.Millisecond, Health: api.Healthy},
				}, name)
				await(r, clusterKey(name), func(c *api.Cluster) bool { return meta.IsStatusConditionTrue(c.Status.Conditions, api.ConditionReady) })
			}
			names := []string{"a", "b", "c", "d"}
			r.apply(roomy + application("a", "free", 12) + application("b", "few", 14) + application("c", "weight", 8) + application("d", "free", 9))
			for _, name := range names {
				await(r, bindingKey(name), servesEverywhere)
			}
			for _, name := range []string{"member1", "member2", "member3", "member4"} {
				r.awaitUsage(name)
			}

			r.awaitHeartbeats("member1", 3) // the machines hear of what is free once a second

			text, end := r.record()
			r.taint("member2", corev1.Taint{Key: "failed", Effect: corev1.TaintEffectNoExecute})
			for _, name := range names {
				await(r, bindingKey(name), func(b *api.ResourceBinding) bool {
					return api.FindTarget(b.Spec.Clusters, "member2") < 0 && servesEverywhere(b)
				})
			}
			end()

			i, err := incident.Read("outage.jsonl", text.text.Bytes())
			require.NoError(t, err)
			s := i.Scenario(incident.Under{})
			require.Equal(t, profile, s.Profile)
			all := compared(t, i, s, 1)
			require.NotEmpty(t, all)
			for _, c := range all {
				same := c.Verdict == replay.Same || c.Verdict == replay.Earlier // than a daemon on a machine under load
				require.True(t, same, "%s: %s leaves %s: %v, %v", c.Verdict, c.Binding, c.Cluster, c.Recorded, c.Replayed)
			}
		})
	}
}

func clusterKey(name string) api.Key {
	return api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: name}
}

func bindingKey(application string) api.Key {
	return api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: application + "-deployment"}
}

// servesEverywhere reports whether a binding is placed, all that was placed serves, and nothing is being evicted.
func servesEverywhere(b *api.ResourceBinding) bool {
	for _, target := range b.Spec.Clusters {
		serves := func(i api.AggregatedStatusItem) bool {
			return i.ClusterName == target.Name && i.Health == api.Healthy && store.ReadyReplicas(&i) == target.Replicas
		}
		if !slices.ContainsFunc(b.Status.AggregatedStatus, serves) {
			return false
		}
	}
	return len(b.Spec.Clusters) > 0 && len(b.Spec.GracefulEvictionTasks) == 0 && len(b.Status.AggregatedStatus) == len(b.Spec.Clusters)
}

// apply creates objects.
func (r *onlooker) apply(manifests string) {
	r.t.Helper()
	documents, problems := manifest.Decode("test.yaml", []byte(manifests))
	require.Empty(r.t, problems)
	for _, d := range documents {
		_, err := r.client.Create(r.ctx, catalog.Of(api.KeyOf(d.Object)), d.Object)
		require.NoError(r.t, err)
	}
}

// awaitUsage waits until a cluster's agent reports what all copies that are placed there take.
func (r *onlooker) awaitUsage(cluster string) {
	r.t.Helper()
	await(r, clusterKey(cluster), func(c *api.Cluster) bool {
		placed := int64(0) // by now: what was placed first may move on
		for _, name := range []string{"a", "b", "c", "d"} {
			o, err := r.client.Get(r.ctx, catalog.Bindings, "default", name+"-deployment")
			require.NoError(r.t, err)
			if b := o.(*api.ResourceBinding); api.FindTarget(b.Spec.Clusters, cluster) >= 0 {
				placed += int64(b.Spec.Clusters[api.FindTarget(b.Spec.Clusters, cluster)].Replicas)
			}
		}
		return c.Status.ResourceSummary.Allocated.Pods().Value() == placed
	})
}

// awaitHeartbeats waits until an agent has renewed its lease so often.
func (r *onlooker) awaitHeartbeats(cluster string, times int) {
	r.t.Helper()
	renewals := map[int64]bool{}
	await(r, api.Key{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: api.LeaseNamespace, Name: cluster}, func(l *coordinationv1.Lease) bool {
		renewals[l.Spec.RenewTime.UnixMicro()] = true
		return len(renewals) > times
	})
}

// taint adds a taint to a cluster, as people do.
func (r *onlooker) taint(cluster string, taint corev1.Taint) {
	r.t.Helper()
	require.NoError(r.t, r.client.Patch(r.ctx, &client.Patch{
		Resource: catalog.Clusters, Name: cluster, Body: map[string]any{"spec": map[string]any{"taints": []corev1.Taint{taint}}},
	}))
}

// record records the daemon until it is told to end.
func (r *onlooker) record() (text *whatItTold, end func()) {
	r.t.Helper()
	resources, err := recorder.Named(nil)
	require.NoError(r.t, err)
	text = &whatItTold{news: make(chan struct{}, 1)}
	ctx, stop := context.WithCancel(r.ctx)
	c := &recorder.Config{
		Client: r.client, Clock: clock.New(), Out: text, Resources: resources, Key: []byte("key"), Tell: func(int, int) {},
	}
	ended := make(chan error, 1)
	go func() { ended <- recorder.Run(ctx, c) }()
	text.await(ctx, r.t, func(text string) bool { return strings.Count(text, `"type":"LISTED"`) == len(resources) })
	return text, func() {
		r.caughtUp(text)
		stop()
		require.NoError(r.t, <-ended)
	}
}

// caughtUp waits until the recording has every binding as it is now.
func (r *onlooker) caughtUp(text *whatItTold) {
	r.t.Helper()
	bindings, _, err := r.client.List(r.ctx, catalog.Bindings, "", "")
	require.NoError(r.t, err)
	for _, b := range bindings {
		text.await(r.ctx, r.t, func(text string) bool {
			return strings.Contains(text, fmt.Sprintf(`"resourceVersion":%q`, b.GetResourceVersion()))
		})
	}
}

// compared replays an incident under a seed.
func compared(t *testing.T, i *incident.Incident, s *scenario.Scenario, seed uint64) []replay.Comparison {
	t.Helper()
	run, err := replay.Play(s, replay.Options{Seed: seed})
	require.NoError(t, err)
	return incident.Compare(i.Evictions(), incident.Replayed(run, s.Began.Objects), i.Duration)
}
