package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/credentials"
	"leeward/runtime/client/join"
	"leeward/runtime/client/push"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

// reached is how a hub reaches a site; each call has another certificate.
func (s *site) reached() *credentials.Member {
	c := s.as(kubeapi.Admin())
	return &credentials.Member{Endpoint: c.Host, CA: c.CAData, Cert: c.CertData, Key: c.KeyData}
}

// pushing is a hub whose pusher runs in the test.
type pushing struct {
	*pair
	gathered *prometheus.Registry
	// faulty names the cluster whose agent panics where it reports a Work.
	faulty atomic.Value
	// end ends the pusher, and waits until nothing of it runs.
	end func()
}

func newPushing(t *testing.T, most int) *pushing {
	t.Helper()
	p := &pushing{pair: &pair{t: t, hub: newSite(t), member: newSite(t), log: &lines{news: make(chan struct{}, 1)}}, gathered: prometheus.NewPedanticRegistry()}
	p.faulty.Store("")
	pusher := push.New(push.Config{
		Hub: func() (*client.Client, error) { return client.New(p.hub.as(kubeapi.Pusher()), io.Discard) },
		Agent: func(cluster string) (*rest.Config, error) {
			c := p.hub.as(kubeapi.Agent(cluster))
			c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &faulty{next, cluster, &p.faulty} })
			return c, nil
		},
		Clock: hasty{clock.New()}, Log: zerolog.New(p.log), Metrics: p.gathered,
		Pace: func() push.Pace { return push.Pace{Heartbeat: 50 * time.Millisecond} }, Timeout: time.Second, Workers: 2, Most: most,
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pusher.Run(ctx)
	}()
	p.end = func() {
		cancel()
		<-ended
	}
	t.Cleanup(p.end)
	return p
}

// faulty is the connection of an agent to its hub. It panics where a Work is reported.
type faulty struct {
	http.RoundTripper
	cluster string
	is      *atomic.Value
}

func (f *faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.is.Load() == f.cluster && r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/works/") {
		panic("a fault of the agent of " + f.cluster)
	}
	return f.RoundTripper.RoundTrip(r)
}

// hasty is a clock whose waits of a second and more are a hundred times shorter.
type hasty struct{ clock.Clock }

func shorter(d time.Duration) time.Duration {
	if d < time.Second {
		return d
	}
	return d / 100
}

func (h hasty) After(d time.Duration) <-chan time.Time { return h.Clock.After(shorter(d)) }

func (h hasty) AfterFunc(d time.Duration, f func()) *clock.Timer {
	return h.Clock.AfterFunc(shorter(d), f)
}

// register writes what join writes, without asking the member.
func (p *pushing) register(name string, m *credentials.Member) {
	p.t.Helper()
	r := &join.Request{Hub: p.hub.client, Member: m, Cluster: &api.Cluster{}}
	r.Cluster.Name = name
	m.Describe(r.Cluster)
	require.NoError(p.t, r.Join(p.t.Context()))
	p.hub.create("{apiVersion: v1, kind: Namespace, metadata: {name: " + api.WorkNamespacePrefix + name + "}}")
}

// ready waits until a cluster says of itself what a test wants.
func (p *pushing) ready(name string, status metav1.ConditionStatus, message string) {
	p.t.Helper()
	awaitAt(p.hub, catalog.Clusters, "", name, func(c *api.Cluster) bool {
		k := meta.FindStatusCondition(c.Status.Conditions, api.ConditionReady)
		return k != nil && k.Status == status && strings.Contains(k.Message, message)
	})
}

// rotate replaces the credentials of a cluster.
func (p *pushing) rotate(name string, m *credentials.Member) {
	p.t.Helper()
	o, err := p.hub.client.Get(p.t.Context(), catalog.Secrets, credentials.Namespace, name)
	require.NoError(p.t, err)
	require.NoError(p.t, p.hub.client.Patch(p.t.Context(), &client.Patch{
		Resource: catalog.Secrets, Namespace: credentials.Namespace, Name: name, Body: map[string]any{"data": m.Secret(name).Data, "metadata": map[string]any{"resourceVersion": o.GetResourceVersion()}},
	}))
}

// silent accepts connections and never answers.
func silent(t *testing.T) *credentials.Member {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	return &credentials.Member{Endpoint: "https://" + l.Addr().String(), Insecure: true, Token: "t"}
}

func TestClustersInPushModeAreActedForApartFromEachOther(t *testing.T) {
	t.Parallel()
	p := newPushing(t, 2)
	p.register("stuck", silent(t))
	p.log.await(t, `"cluster":"stuck"`)
	p.register(agentCluster, p.member.reached())
	p.ready(agentCluster, metav1.ConditionTrue, "")
	p.work("web", webOf(1), settingsOf("settings", "1"))
	p.awaitApplied("web")
	p.ready("stuck", metav1.ConditionFalse, "cluster is not reachable")

	// A third is one too many, until another is removed.
	p.register("third", p.member.reached())
	p.ready("third", metav1.ConditionFalse, "too many clusters are in push mode")
	p.hub.delete(catalog.Clusters, "", "stuck")
	p.ready("third", metav1.ConditionTrue, "")
	p.log.await(t, `"cluster":"stuck","message":"acts for the cluster no longer"`)

	// Other credentials take their place without a restart of the daemon.
	p.rotate(agentCluster, p.member.reached())
	p.log.awaitTimes(t, `"cluster":"m1","member":"`+p.member.reached().Endpoint+`","message":"acts for the cluster in push mode"`, 2)
	p.rewrite("web", webOf(2))
	p.awaitApplied("web")
	families, err := p.gathered.Gather()
	require.NoError(t, err)
	require.Len(t, families[0].Metric, 2, "one for each cluster that is acted for: %s", families[0])

	// A Secret that is gone, and one of another namespace, are of no use, and the Cluster says so.
	p.hub.delete(catalog.Secrets, credentials.Namespace, "third")
	p.ready("third", metav1.ConditionFalse, "the Secret karmada-cluster/third does not exist")
	p.hub.patch(catalog.Clusters, "", "third", `{"spec":{"secretRef":{"namespace":"default"}}}`)
	p.ready("third", metav1.ConditionFalse, "credentials are read from the namespace karmada-cluster alone")

	// An agent of its own takes over a cluster that is in pull mode from then on.
	p.hub.patch(catalog.Clusters, "", agentCluster, `{"spec":{"syncMode":"Pull"}}`)
	p.log.awaitTimes(t, `"cluster":"m1","message":"acts for the cluster no longer"`, 2)
	p.register("last", silent(t))
	p.log.await(t, `"cluster":"last"`)
	p.end()
}

func TestAPanicOfOneAgentEndsNoOther(t *testing.T) {
	t.Parallel()
	p := newPushing(t, 2)
	p.faulty.Store(agentCluster)
	p.register("sound", p.member.reached())
	p.register(agentCluster, p.member.reached())
	p.work("web", settingsOf("settings", "1"))
	p.says(push.ConditionAgentRunning, metav1.ConditionFalse, "AgentPanicked", "the agent panicked: a fault of the agent of m1")
	p.log.await(t, `"error":"the agent panicked: a fault of the agent of m1","stack":"goroutine `)
	p.log.awaitTimes(t, `"wait":1000,"message":"the agent panicked, and begins again"`, 1)
	p.log.await(t, `"wait":2000,"message":"the agent panicked, and begins again"`)
	p.ready("sound", metav1.ConditionTrue, "")

	// It begins again, and does what it could not.
	p.faulty.Store("")
	p.awaitApplied("web")
	p.says(push.ConditionAgentRunning, metav1.ConditionTrue, "AgentRuns", "")
	p.end()
	require.NotContains(t, p.log.all(), `"cluster":"sound","error":"the agent panicked`)
}

// says waits until the Cluster of the agent has a condition.
func (p *pushing) says(kind string, status metav1.ConditionStatus, reason, message string) {
	p.t.Helper()
	awaitAt(p.hub, catalog.Clusters, "", agentCluster, func(c *api.Cluster) bool {
		k := meta.FindStatusCondition(c.Status.Conditions, kind)
		return k != nil && k.Status == status && k.Reason == reason && strings.Contains(k.Message, message)
	})
}

func TestAJoinedClusterRunsWhatIsPlacedThereAndIsTakenBack(t *testing.T) {
	t.Parallel()
	member := newSite(t)
	d := start(t, "{clusterStatusUpdateFrequency: 1s, clusterFailureThreshold: 0s, clusterSuccessThreshold: 0s, clusterProxy: true}")
	hub, err := client.New(d.client, io.Discard)
	require.NoError(t, err)
	r := &join.Request{Hub: hub, Member: member.reached(), Cluster: &api.Cluster{}}
	r.Cluster.Name = "east"
	require.NoError(t, r.Check(t.Context()))
	require.NoError(t, r.Try(t.Context()))
	require.NoError(t, r.Join(t.Context()))

	admin, err := dynamic.NewForConfig(d.client)
	require.NoError(t, err)
	at := &site{t: t, client: hub, admin: admin}
	member.create("{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/zone: eu-a}}, status: {allocatable: {cpu: 64, memory: 64Gi, pods: 99}, conditions: [{type: Ready, status: 'True'}]}}")
	at.create("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
	at.create(`{apiVersion: policy.karmada.io/v1alpha1, kind: PropagationPolicy, metadata: {name: web, namespace: shop},
  spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: zone, operator: In, values: [eu-a]}]}}}}}`)
	at.create(webOf(2))
	awaitAt(member, deployments, "shop", "web", func(o api.Object) bool { return o != nil })
	through := rest.CopyConfig(d.client)
	through.Host += "/apis/cluster.karmada.io/v1alpha1/clusters/east/proxy"
	there, err := dynamic.NewForConfig(through)
	require.NoError(t, err)
	copied, err := (&site{admin: there}).in(deployments, "shop").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, member.get(deployments, "shop", "web").GetUID(), copied.GetUID())
	secret := at.get(catalog.Secrets, credentials.Namespace, "east")
	require.Equal(t, "Cluster", secret.GetOwnerReferences()[0].Kind)

	// A cluster does not leave with the last copy of a workload, unless that is deleted.
	l := &join.Leaving{Hub: hub, Clock: clock.New(), Name: "east", Timeout: time.Second}
	require.ErrorContains(t, l.Leave(t.Context()), "1 evictions are blocked:\n  shop/web-deployment  NoClusterFit  0/1 clusters are available")
	at.delete(deployments, "shop", "web")
	l.Timeout = time.Minute
	if err := l.Leave(t.Context()); err != nil {
		require.ErrorContains(t, err, "cluster east: not found", "it may have left with the workload, as it is being deleted")
	}
	for _, gone := range []struct {
		resource        *catalog.Resource
		namespace, name string
	}{{catalog.Clusters, "", "east"}, {catalog.Secrets, credentials.Namespace, "east"}, {catalog.Leases, api.LeaseNamespace, "east"}, {catalog.Namespaces, "", "karmada-es-east"}} {
		awaitAt(at, gone.resource, gone.namespace, gone.name, func(o api.Object) bool { return o == nil })
	}
	_, err = member.client.Get(t.Context(), deployments, "shop", "web")
	require.ErrorContains(t, err, "not found")
	require.ErrorContains(t, l.Leave(t.Context()), "cluster east: not found")
}
