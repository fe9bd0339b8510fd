package main

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/client"
	"leeward/runtime/client/fakemember"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/scenario"
)

// onlooker sees what a daemon's API shows.
type onlooker struct {
	t      *testing.T
	ctx    context.Context
	client *client.Client
}

// watched starts a daemon with a configuration until the test ends, and returns who looks at it.
func watched(t *testing.T, configuration string) *onlooker {
	t.Helper()
	c, err := client.New(start(t, configuration).client, io.Discard)
	require.NoError(t, err)
	return &onlooker{t, t.Context(), c}
}

// await follows an object until it is as a test wants it.
func await[O api.Object](r *onlooker, k api.Key, right func(O) bool) {
	r.t.Helper()
	ctx, stop := context.WithTimeout(r.ctx, 3*time.Minute)
	defer stop()
	found := false
	see := func(o api.Object) {
		if o.GetName() == k.Name && o.GetNamespace() == k.Namespace && !found && right(o.(O)) {
			found = true
			stop()
		}
	}
	require.NoError(r.t, r.client.Follow(ctx, &client.Watching{
		Resource: catalog.Of(k), Clock: clock.New(), Lost: func(error) {},
		Listed: func(all []api.Object) {
			for _, o := range all {
				see(o)
			}
		},
		Changed: func(_ watch.EventType, o api.Object) { see(o) },
	}))
	require.True(r.t, found, "%s is not as it should be after three minutes", k)
}

// play has agents at work until the test ends, or they are told to stop.
func (r *onlooker) play(c fakemember.Config, clusters ...string) (stop func()) {
	c.Clusters = clusters
	ctx, cancel := context.WithCancel(r.ctx)
	ended := make(chan error, 1)
	go func() { ended <- fakemember.Run(ctx, &c) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(r.t, <-ended)
	})
	r.t.Cleanup(stop)
	return stop
}

// runsOn reports whether a binding is placed on these clusters, is healthy there, and leaves no other.
func runsOn(b *api.ResourceBinding, clusters ...string) bool {
	for _, name := range clusters {
		healthy := func(i api.AggregatedStatusItem) bool { return i.ClusterName == name && i.Health == api.Healthy }
		if !slices.ContainsFunc(b.Status.AggregatedStatus, healthy) {
			return false
		}
	}
	placed := make([]string, 0, len(b.Spec.Clusters))
	for _, t := range b.Spec.Clusters {
		placed = append(placed, t.Name)
	}
	return slices.Equal(placed, clusters) && len(b.Spec.GracefulEvictionTasks) == 0
}

// TestNginxLeavesAFailedClusterForReal is the scenario of that name with a real daemon, a real API and agents behind
// it; what takes minutes there takes a second here.
func TestNginxLeavesAFailedClusterForReal(t *testing.T) {
	t.Parallel()
	r := watched(t, "")

	agents := fakemember.Config{
		Client: r.client, Clock: clock.New(), Create: true, Heartbeat: time.Second, Tell: func(string) {},
		Cluster:   api.ClusterSpec{SyncMode: api.Pull},
		Behaviour: messages.MemberBehaviour{StartupMin: 50 * time.Millisecond, StartupMax: 50 * time.Millisecond, Health: api.Healthy},
	}
	r.play(agents, "member1", "member3", "member4", "member5")
	stop := r.play(agents, "member2")
	for _, name := range []string{"member1", "member2", "member3", "member4", "member5"} {
		await(r, api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: name}, func(c *api.Cluster) bool {
			return meta.IsStatusConditionTrue(c.Status.Conditions, api.ConditionReady)
		})
	}
	for _, doc := range seed003(t) {
		o := doc.Object
		if p, ok := o.(*api.PropagationPolicy); ok {
			*p.Spec.Placement.ClusterTolerations[0].TolerationSeconds = 1
		}
		_, err := r.client.Create(r.ctx, catalog.Of(api.KeyOf(o)), o)
		require.NoError(t, err)
	}
	binding := api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "nginx-deployment"}
	await(r, binding, func(b *api.ResourceBinding) bool { return runsOn(b, "member1", "member2") })
	stop()
	agents.Failure, agents.FailAfter = fakemember.NotReady, time.Millisecond
	r.play(agents, "member2")
	await(r, binding, func(b *api.ResourceBinding) bool { return runsOn(b, "member1", "member3") })
}

// seed003 are the manifests of the scenario.
func seed003(t *testing.T) (docs []manifest.Document) {
	t.Helper()
	all, _, problems := scenario.Find(filepath.Join("..", "..", "scenarios", "nginx-is-evicted-from-a-failed-cluster.yaml"))
	require.Empty(t, problems)
	for _, doc := range all[0].Objects {
		if _, isCluster := doc.Object.(*api.Cluster); !isCluster {
			docs = append(docs, doc)
		}
	}
	return docs
}
