package karmada

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/shadow"
)

// trial is an attachment to a server, on a clock that the test holds.
type trial struct {
	t      *testing.T
	server *clienttest.Server
	clock  *clock.Mock
	*Attachment
	log   lines
	put   uint64
	ended chan error
	stop  context.CancelFunc

	mu       sync.Mutex
	compared []*shadow.Comparison
}

// lines is a log, for any goroutine.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to it.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all of it.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// attach runs an attachment to a server that has some objects, from an instant on.
func attach(t *testing.T, s *messages.Settings, at time.Time, objects map[string]string) *trial {
	t.Helper()
	d := &trial{t: t, server: clienttest.New(t, objects), clock: clock.NewMock(), put: uint64(len(objects)), ended: make(chan error, 1)}
	d.clock.Set(at)
	var err error
	d.Attachment, err = New(Config{
		Client: &rest.Config{Host: d.server.URL()}, Settings: *s, Clock: d.clock, Log: zerolog.New(&d.log), Metrics: telemetry.NewAttached(build.Build{}),
		Compared: func(c *shadow.Comparison) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.compared = append(d.compared, c)
		},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	go func() { d.ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-d.ended)
		require.Empty(t, d.server.Requests(), "a request that is no read")
	})
	d.await(func() bool { return d.Ready() == nil })
	return d
}

func (d *trial) await(so func() bool) {
	d.t.Helper()
	require.Eventually(d.t, so, 30*time.Second, time.Millisecond)
}

// settled waits until the machines have heard of all that was put, and have decided.
func (d *trial) settled() {
	d.t.Helper()
	i := d.inbox.Load()
	heard := func() bool {
		i.mu.Lock()
		defer i.mu.Unlock()
		return i.heard >= d.put
	}
	for n := 0; n < 100 && !heard(); n++ { // mostly it is a matter of microseconds
		runtime.Gosched()
	}
	d.await(heard)
	for range 2 { // the first may come before the news
		done := make(chan struct{})
		d.asked <- func(*deciding) { close(done) }
		<-done
	}
}

// advance lets time pass.
func (d *trial) advance(by time.Duration) {
	d.t.Helper()
	d.clock.Add(by)
	d.settled()
}

// write puts an object.
func (d *trial) write(object map[string]any) {
	d.t.Helper()
	key := keyOf(object)
	text, err := json.Marshal(object)
	require.NoError(d.t, err)
	d.server.Put(pathOf(key), string(text))
	d.put++
	d.settled()
}

// said are the comparisons so far, each "eviction never from m2", in order, since it was last asked.
func (d *trial) said() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.compared {
		text := fmt.Sprintf("%s %s", c.Kind, c.Verdict)
		if c.Cluster != "" {
			text += " from " + c.Cluster
		}
		all = append(all, text)
	}
	d.compared = nil
	return all
}

// last is the last comparison.
func (d *trial) last() *shadow.Comparison {
	d.mu.Lock()
	defer d.mu.Unlock()
	require.NotEmpty(d.t, d.compared)
	return d.compared[len(d.compared)-1]
}

// ours is where the machines have a binding, "m1:2 m3:2", and what evicts it, "-m2".
func (d *trial) ours(name messages.BindingName) string {
	d.t.Helper()
	var words []string
	done := make(chan struct{})
	d.asked <- func(now *deciding) {
		defer close(done)
		b := now.twin.world.Store().Binding(name)
		if b == nil {
			return
		}
		for _, c := range b.Spec.Clusters {
			words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
		}
		slices.Sort(words)
		for _, k := range b.Spec.GracefulEvictionTasks {
			words = append(words, "-"+k.FromCluster)
		}
	}
	<-done
	return strings.Join(words, " ")
}

// start is when trials begin.
var start = time.Date(2026, 11, 28, 6, 0, 0, 0, time.UTC)

func keyOf(o map[string]any) api.Key {
	about := o["metadata"].(map[string]any)
	key := api.Key{APIVersion: o["apiVersion"].(string), Kind: o["kind"].(string), Name: about["name"].(string)}
	key.Namespace, _ = about["namespace"].(string)
	return key
}

func object(apiVersion, kind, namespace, name string, rest map[string]any) map[string]any {
	o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "uid": kind + name, "creationTimestamp": "2026-11-28T00:00:00Z", "generation": 1}}
	if namespace != "" {
		o["metadata"].(map[string]any)["namespace"] = namespace
	}
	maps.Copy(o, rest)
	return o
}

// clusterOf is a cluster that is Ready, with NoExecute taints by a user.
func clusterOf(name string, taints ...string) map[string]any {
	all := []any{}
	for _, key := range taints {
		all = append(all, map[string]any{"key": key, "effect": "NoExecute", "timeAdded": start.Format(time.RFC3339)})
	}
	return object(api.ClusterGroupVersion, "Cluster", "", name, map[string]any{
		"spec": map[string]any{"syncMode": "Push", "taints": all, "aFieldOfTheFuture": map[string]any{"x": 1}},
		"status": map[string]any{
			"conditions":      []any{map[string]any{"type": "Ready", "status": "True", "reason": "ClusterReady", "lastTransitionTime": "2026-11-28T00:00:00Z"}},
			"apiEnablements":  []any{map[string]any{"groupVersion": "apps/v1", "resources": []any{map[string]any{"name": "deployments", "kind": "Deployment"}}}},
			"resourceSummary": map[string]any{"allocatable": map[string]any{"cpu": "100", "memory": "400Gi", "pods": "1000"}},
		},
	})
}

// placed are target clusters of two replicas each.
func placed(names ...string) []any {
	all := []any{}
	for _, name := range names {
		all = append(all, map[string]any{"name": name, "replicas": 2})
	}
	return all
}

// bindingOf is the binding of web as Karmada has it. Each version is one generation on.
type bindingOf struct {
	generation int
	clusters   []any
	tasks      []string
	// healthy are the clusters whose copy is reported to be healthy.
	healthy  []string
	observed int
	// unschedulable is why the scheduler cannot place it.
	unschedulable string
}

func (b *bindingOf) object(placement any) map[string]any {
	b.generation++
	tasks, reports := []any{}, []any{}
	for _, from := range b.tasks {
		tasks = append(tasks, map[string]any{"fromCluster": from, "reason": "TaintUntolerated", "producer": "TaintManager", "replicas": 2, "creationTimestamp": start.Format(time.RFC3339)})
	}
	for _, name := range b.healthy {
		reports = append(reports, map[string]any{"clusterName": name, "health": "Healthy", "applied": true, "status": map[string]any{"readyReplicas": 2}})
	}
	text, _ := json.Marshal(placement) // of maps and strings
	conditions := []any{}
	if b.unschedulable != "" {
		conditions = append(conditions, map[string]any{"type": "Scheduled", "status": "False", "reason": "NoClusterFit", "message": b.unschedulable, "lastTransitionTime": start.Format(time.RFC3339)})
	}
	o := object(api.WorkGroupVersion, "ResourceBinding", "shop", "web-deployment", map[string]any{
		"spec": map[string]any{
			"resource": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}, "replicas": 2, "placement": placement,
			"clusters": b.clusters, "gracefulEvictionTasks": tasks,
		},
		"status": map[string]any{"schedulerObservedGeneration": b.observed, "lastScheduledTime": "2026-11-28T00:00:00Z", "aggregatedStatus": reports, "conditions": conditions},
	})
	about := o["metadata"].(map[string]any)
	about["generation"] = b.generation
	about["labels"] = map[string]any{"propagationpolicy.karmada.io/permanent-id": "x"}
	about["annotations"] = map[string]any{
		"propagationpolicy.karmada.io/name": "web", "propagationpolicy.karmada.io/namespace": "shop", "policy.karmada.io/applied-placement": string(text),
	}
	return o
}

// workOf is a copy of web that its agent reports to be healthy.
func workOf(cluster string) map[string]any {
	o := object(api.WorkV1alpha1GroupVersion, "Work", api.WorkNamespacePrefix+cluster, "web-abc", map[string]any{
		"spec": map[string]any{"workload": map[string]any{"manifests": []any{map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": map[string]any{"replicas": 2}}}}},
		"status": map[string]any{
			"conditions":       []any{map[string]any{"type": "Applied", "status": "True", "reason": "Applied", "lastTransitionTime": "2026-11-28T00:00:00Z", "observedGeneration": 1}},
			"manifestStatuses": []any{map[string]any{"identifier": map[string]any{"ordinal": 0, "version": "v1", "kind": "Deployment", "name": "web"}, "health": "Healthy", "status": map[string]any{"readyReplicas": 2}}},
		},
	})
	o["metadata"].(map[string]any)["annotations"] = map[string]any{"resourcebinding.karmada.io/namespace": "shop", "resourcebinding.karmada.io/name": "web-deployment"}
	return o
}

// shop is a fleet of four clusters, with the Deployment web, which a policy has on two of some clusters.
type shop struct {
	*trial
	placement map[string]any
	binding   bindingOf
}

// open begins a trial beside a control plane that has web on m1 and m2. Seconds are how long its policy tolerates a NoExecute taint failed;
// 0: not at all.
func open(t *testing.T, profile string, seconds int, among ...string) *shop {
	t.Helper()
	s := &shop{placement: map[string]any{
		"clusterAffinity":    map[string]any{"clusterNames": among},
		"spreadConstraints":  []any{map[string]any{"spreadByField": "cluster", "minGroups": min(2, len(among)), "maxGroups": min(2, len(among))}},
		"replicaScheduling":  map[string]any{"replicaSchedulingType": "Duplicated"},
		"clusterTolerations": []any{},
	}}
	if seconds > 0 {
		s.placement["clusterTolerations"] = []any{map[string]any{"key": "failed", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}}
	}
	s.binding = bindingOf{clusters: placed(among[:min(2, len(among))]...), healthy: among[:min(2, len(among))]}
	objects := map[string]string{}
	all := []map[string]any{
		clusterOf("m1"), clusterOf("m2"), clusterOf("m3"), clusterOf("m4"), s.binding.object(s.placement),
		object("apps/v1", "Deployment", "shop", "web", map[string]any{"spec": map[string]any{
			"replicas": 2, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}},
		}}),
		object(api.PolicyGroupVersion, "PropagationPolicy", "shop", "web", map[string]any{"spec": map[string]any{
			"resourceSelectors": []any{map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}, "placement": s.placement,
		}}),
	}
	for _, c := range s.binding.healthy {
		all = append(all, workOf(c))
	}
	for _, o := range all {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		objects[pathOf(keyOf(o))] = string(text)
	}
	var overrides []config.Override
	if profile == "karmada" {
		overrides = append(overrides, config.Override{Field: "enableNoExecuteTaintEviction", Value: true})
	}
	settings, problems := config.Resolve(profile, overrides)
	require.Empty(t, problems)
	s.trial = attach(t, &settings, start, objects)
	return s
}

// theirs has the other control plane write the binding.
func (s *shop) theirs(change func(*bindingOf)) {
	s.t.Helper()
	change(&s.binding)
	s.write(s.binding.object(s.placement))
}

// evicts has the other control plane evict web from a cluster, and then place it.
func (s *shop) evicts(from string, rest, to []string) {
	s.t.Helper()
	s.theirs(func(b *bindingOf) { b.clusters, b.tasks = placed(rest...), append(b.tasks, from) })
	if to != nil {
		s.theirs(func(b *bindingOf) { b.clusters = placed(to...) })
	}
}

const web messages.BindingName = "shop/web-deployment"
