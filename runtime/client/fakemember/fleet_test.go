package fakemember_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/client/fakemember"
)

const (
	clusters = "/apis/cluster.karmada.io/v1alpha1/clusters"
	lease    = "/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases/eu-1"
	nginx    = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-eu-1/works/nginx"
)

// play is the agents of eu-1 and eu-2 at work.
type play struct {
	*clienttest.Server
	t     *testing.T
	clock *clock.Mock
	said  chan string
	stop  func()
}

// begin starts the agents; their copies take 2s to serve.
func begin(t *testing.T, s *clienttest.Server, change func(*fakemember.Config)) *play {
	t.Helper()
	p := &play{Server: s, t: t, clock: clock.NewMock(), said: make(chan string, 100)}
	c := &fakemember.Config{
		Client: s.Client(io.Discard), Clock: p.clock, Clusters: []string{"eu-1", "eu-2"}, Create: true, Cluster: api.ClusterSpec{Region: "eu"},
		Capacity:  corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100")},
		Behaviour: messages.MemberBehaviour{StartupMin: 2 * time.Second, StartupMax: 2 * time.Second, Health: api.Healthy},
		Heartbeat: 10 * time.Second, Tell: func(text string) { p.said <- text },
	}
	if change != nil {
		change(c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- fakemember.Run(ctx, c) }()
	p.stop = func() {
		cancel()
		require.NoError(t, <-ended)
	}
	p.Await(lease, isThere)
	return p
}

func isThere(o *unstructured.Unstructured) bool { return o != nil }

func isGone(o *unstructured.Unstructured) bool { return o == nil }

// field waits for what an object says in a field, "" for one that it has not; numbers are in a path.
func (p *play) field(path, want string, fields ...string) {
	p.t.Helper()
	p.Await(path, func(o *unstructured.Unstructured) bool { return textAt(o, fields) == want })
}

func textAt(o *unstructured.Unstructured, fields []string) string {
	if o == nil {
		return ""
	}
	var value any = o.Object
	for _, field := range fields {
		switch v := value.(type) {
		case map[string]any:
			value = v[field]
		case []any:
			for _, item := range v { // an item by its type, or the only one
				if m := item.(map[string]any); m["type"] == field || field == "0" {
					value = m
				}
			}
		}
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

func (p *play) ready(status string) {
	p.t.Helper()
	p.field(clusters+"/eu-1", status, "status", "conditions", "Ready", "status")
}

// serves waits until nginx is reported with so many ready replicas, of a generation.
func (p *play) serves(health, ready, generation string) {
	p.t.Helper()
	p.field(nginx, health, "status", "manifestStatuses", "0", "health")
	p.field(nginx, ready, "status", "manifestStatuses", "0", "status", "readyReplicas")
	p.field(nginx, generation, "status", "conditions", "Applied", "observedGeneration")
}

// work is a Work that asks for nginx.
func work(generation, replicas int, metadata string) string {
	return fmt.Sprintf(`{"metadata": {"namespace": "karmada-es-eu-1", "name": "nginx", "uid": "a", "generation": %d, "finalizers": ["karmada.io/execution-controller"]%s},
		"spec": {"workload": {"manifests": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "nginx", "namespace": "default"},
		"spec": {"replicas": %d, "template": {"spec": {"containers": [{"name": "nginx", "resources": {"requests": {"cpu": "2"}}}]}}}}]}}}`, generation, metadata, replicas)
}

func TestAnAgentRegistersAndBeats(t *testing.T) {
	p := begin(t, clienttest.New(t, nil), nil)
	defer p.stop()
	p.ready("True")
	p.field(clusters+"/eu-1", "eu", "spec", "region")
	p.field(clusters+"/eu-1", "100", "status", "resourceSummary", "allocatable", "cpu")
	p.field(lease, "1970-01-01T00:00:00.000000Z", "spec", "renewTime")
	p.clock.Add(5 * time.Second) // of two, the first has its turn at half the time
	p.field(lease, "1970-01-01T00:00:05.000000Z", "spec", "renewTime")
}

func TestACopyStartsScalesAndGoes(t *testing.T) {
	p := begin(t, clienttest.New(t, map[string]string{nginx: work(1, 2, "")}), nil)
	defer p.stop()
	p.serves("Unhealthy", "0", "1")
	p.clock.Add(2 * time.Second)
	p.serves("Healthy", "2", "1")
	p.field(nginx, "deployments", "status", "manifestStatuses", "0", "identifier", "resource")
	p.clock.Add(10 * time.Second)
	p.field(clusters+"/eu-1", "4", "status", "resourceSummary", "allocated", "cpu")

	p.Put(nginx, work(2, 3, ""))
	p.told("nginx scales on eu-1: 2 to 3 replicas")
	p.clock.Add(2 * time.Second)
	p.serves("Healthy", "3", "2")

	p.Put(nginx, work(2, 3, `, "deletionTimestamp": "1970-01-01T00:00:14Z"`))
	p.Await(nginx, isGone)
}

const (
	orders = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-eu-1/works/orders"
	topics = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-eu-1/works/topics"
)

// workOf is a Work of a manifest.
func workOf(name, metadata, manifest string) string {
	return fmt.Sprintf(`{"metadata": {"namespace": "karmada-es-eu-1", "name": %q, "uid": %q, "generation": 1, "finalizers": ["karmada.io/execution-controller"]%s},
		"spec": {"workload": {"manifests": [%s]}}}`, name, name, metadata, manifest)
}

const topicDefinition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "topics.example.com"}, "spec": {
	"group": "example.com", "scope": "Namespaced", "names": {"plural": "topics", "kind": "Topic"},
	"versions": [{"name": "v1", "served": true, "storage": true}, {"name": "v1alpha1", "served": false}, {"name": "v2", "served": true}]}}`

// A cluster serves the kinds that Works define there: objects of others are refused until they are defined, and again when they are not.
func TestACustomKindIsServedWhileAWorkDefinesIt(t *testing.T) {
	topic := workOf("orders", `, "annotations": {"leeward.dev/replicas": "3"}`, `{"apiVersion": "example.com/v1", "kind": "Topic", "metadata": {"name": "orders", "namespace": "default"}}`)
	p := begin(t, clienttest.New(t, map[string]string{orders: topic}), nil)
	defer p.stop()
	serves := func(want string) {
		t.Helper()
		p.Await(clusters+"/eu-1", func(o *unstructured.Unstructured) bool {
			all, found, _ := unstructured.NestedSlice(o.Object, "status", "apiEnablements")
			custom := ""
			for _, e := range all {
				if e := e.(map[string]any); strings.HasPrefix(fmt.Sprint(e["groupVersion"]), "example.com/") {
					r := e["resources"].([]any)[0].(map[string]any)
					custom += fmt.Sprint(e["groupVersion"], " ", r["name"], " ", r["kind"], ";")
				}
			}
			return found && custom == want
		})
	}
	applied := func(status, message string) {
		t.Helper()
		p.field(orders, status, "status", "conditions", "Applied", "status")
		p.field(orders, message, "status", "conditions", "Applied", "message")
	}
	refused := func() {
		t.Helper()
		serves("")
		applied("False", "Failed to apply all manifests (0/1): the member does not serve example.com/v1, Kind=Topic")
		p.field(orders, "Unknown", "status", "manifestStatuses", "0", "health")
	}
	refused()
	p.Put(topics, workOf("topics", "", topicDefinition))
	serves("example.com/v1 topics Topic;example.com/v2 topics Topic;")
	applied("True", "Manifest has been successfully applied")
	p.field(orders, "topics", "status", "manifestStatuses", "0", "identifier", "resource")
	p.field(topics, "True", "status", "conditions", "Applied", "status")
	p.clock.Add(2 * time.Second)
	p.field(orders, "Healthy", "status", "manifestStatuses", "0", "health")
	p.field(orders, "3", "status", "manifestStatuses", "0", "status", "readyReplicas")

	p.Put(topics, workOf("topics", `, "deletionTimestamp": "1970-01-01T00:00:14Z"`, topicDefinition))
	p.Await(topics, isGone)
	refused()
	p.Put(orders, strings.Replace(topic, `"finalizers"`, `"deletionTimestamp": "1970-01-01T00:00:14Z", "finalizers"`, 1))
	p.Await(orders, isGone)
}

// told waits until it was told that something happened.
func (p *play) told(text string) {
	for text != <-p.said {
	}
}

func TestAnAgentThatBeginsAgainFindsItsCopiesRunning(t *testing.T) {
	s := clienttest.New(t, map[string]string{nginx: work(1, 2, "")})
	p := begin(t, s, nil)
	p.serves("Unhealthy", "0", "1")
	p.clock.Add(2 * time.Second)
	p.serves("Healthy", "2", "1")
	p.stop()
	before := len(s.Requests())
	p = begin(t, s, func(f *fakemember.Config) { f.Clock.(*clock.Mock).Add(time.Hour) })
	p.field(lease, "1970-01-01T01:00:00.000000Z", "spec", "renewTime")
	p.clock.Add(5 * time.Second)
	p.field(lease, "1970-01-01T01:00:05.000000Z", "spec", "renewTime")
	p.serves("Healthy", "2", "1")
	p.stop()
	for _, request := range s.Requests()[before:] {
		require.NotContains(t, request, "Unhealthy")
	}
}

func TestWhereAllNamespacesAreForbiddenEachIsFollowed(t *testing.T) {
	s := clienttest.New(t, map[string]string{nginx: work(1, 2, "")})
	s.Forbid("/apis/work.karmada.io/v1alpha1/works")
	p := begin(t, s, nil)
	defer p.stop()
	p.serves("Unhealthy", "0", "1")
}

func TestAnAgentOutlivesItsServer(t *testing.T) {
	p := begin(t, clienttest.New(t, nil), func(f *fakemember.Config) { f.Clock = clock.New() })
	defer p.stop()
	p.ready("True")
	p.Cut()
	p.Put(nginx, work(1, 2, ""))
	p.serves("Unhealthy", "0", "1")
}

func TestFailures(t *testing.T) {
	cases := []struct {
		name      string
		failure   fakemember.Failure
		fails     func(*play)
		recovered func(*play)
	}{
		{"a condition says so, and is taken back", fakemember.NotReady,
			func(p *play) { p.ready("False") }, func(p *play) { p.ready("True") }},
		{"copies are sick and get well", fakemember.Unhealthy,
			func(p *play) { p.serves("Unhealthy", "0", "1") }, func(p *play) { p.serves("Healthy", "2", "1") }},
		{"a cluster disappears, and comes back without its copies", fakemember.Disappearance,
			func(p *play) { p.Await(clusters+"/eu-1", isGone) },
			func(p *play) {
				p.Await(clusters+"/eu-1", isThere)
				p.serves("Unhealthy", "0", "1")
			}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := begin(t, clienttest.New(t, map[string]string{nginx: work(1, 2, "")}), func(f *fakemember.Config) {
				f.FailAfter, f.RecoverAfter, f.Failure = time.Minute, time.Minute, c.failure
			})
			defer p.stop()
			p.serves("Unhealthy", "0", "1")
			p.clock.Add(2 * time.Second)
			p.serves("Healthy", "2", "1")
			p.ready("True")
			p.clock.Add(58 * time.Second)
			c.fails(p)
			p.clock.Add(time.Minute)
			c.recovered(p)
		})
	}
}

func TestASilentAgentSaysNothingAndThenAll(t *testing.T) {
	p := begin(t, clienttest.New(t, nil), func(f *fakemember.Config) {
		f.FailAfter, f.RecoverAfter, f.Failure = time.Second, time.Minute, fakemember.Silence
	})
	defer p.stop()
	// Both agents must have written their first report before they fail, and their next is due after it.
	p.ready("True")
	p.field(clusters+"/eu-2", "True", "status", "conditions", "Ready", "status")
	p.clock.Add(time.Second)
	failed := []string{<-p.said, <-p.said}
	require.ElementsMatch(t, []string{"eu-1 fails: silence", "eu-2 fails: silence"}, failed)
	before := len(p.Requests())
	p.Put(nginx, work(1, 2, ""))
	p.clock.Add(50 * time.Second)
	require.Empty(t, p.Requests()[before:])
	p.clock.Add(10 * time.Second)
	p.serves("Unhealthy", "0", "1")
}

func TestAClusterThatIsNotRegistered(t *testing.T) {
	s := clienttest.New(t, nil)
	err := fakemember.Run(t.Context(), &fakemember.Config{Client: s.Client(io.Discard), Clock: clock.NewMock(), Clusters: []string{"eu-1"}})
	require.EqualError(t, err, "cluster eu-1 is not registered; --create registers it")
}
