package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	"leeward/cmd/internal/exitcode"
	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/install"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/shadow"
	"leeward/runtime/scenario/incident"
)

// otherPlane is an API server that has Karmada's kinds, and a stand-in for the controllers of Karmada: the test says what they decide, and
// when, and it is written as they write it: a graceful eviction task and spec.clusters in one patch, then the new clusters, then the end
// of the task, each under the name of its controller. Nothing decides by itself there.
type otherPlane struct {
	*foreign
	objects *client.Client
}

func newOtherPlane(t *testing.T) *otherPlane {
	t.Helper()
	f := serveForeign(t, engine.Config{Resources: engine.Tables()})
	objects, err := client.New(f.admin, io.Discard)
	require.NoError(t, err)
	o := &otherPlane{f, objects}
	for _, name := range []string{"m1", "m2", "m3"} {
		o.create(catalog.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "karmada-es-" + name}})
		o.create(catalog.Clusters, &api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
		o.patch(catalog.Clusters, "", name, "status", map[string]any{"status": map[string]any{
			"conditions":      []map[string]any{{"type": "Ready", "status": "True", "reason": "ClusterReady", "lastTransitionTime": "2026-01-01T00:00:00Z"}},
			"apiEnablements":  []map[string]any{{"groupVersion": "apps/v1", "resources": []map[string]any{{"name": "deployments", "kind": "Deployment"}}}},
			"resourceSummary": map[string]any{"allocatable": map[string]any{"cpu": "100", "memory": "400Gi", "pods": "1000"}},
		}})
	}
	return o
}

func (o *otherPlane) create(r *catalog.Resource, made api.Object) {
	o.t.Helper()
	_, err := o.objects.Create(o.t.Context(), r, made)
	require.NoError(o.t, err)
}

func (o *otherPlane) patch(r *catalog.Resource, namespace, name, subresource string, body any) {
	o.t.Helper()
	require.NoError(o.t, o.objects.Patch(o.t.Context(), &client.Patch{Resource: r, Namespace: namespace, Name: name, Subresource: subresource, Body: body}))
}

// workload creates a Deployment of two replicas with a policy of its own, and what the other control plane makes of it: a binding, placed on
// m1 and m2, and a Work on each.
func (o *otherPlane) workload(name string) {
	o.t.Helper()
	labels := map[string]string{"app": name}
	replicas := int32(2)
	template := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
	}}
	o.create(catalog.Of(api.Key{APIVersion: "apps/v1", Kind: "Deployment"}), template)
	const placement = `{"clusterAffinity":{"clusterNames":["m1","m2","m3"]},"spreadConstraints":[{"spreadByField":"cluster","minGroups":2,"maxGroups":2}],"replicaScheduling":{"replicaSchedulingType":"Duplicated"}}`
	policy := &api.PropagationPolicy{}
	require.NoError(o.t, json.Unmarshal(fmt.Appendf(nil, `{"metadata":{"name":%[1]q,"namespace":"default"},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment","name":%[1]q}],"placement":%[2]s}}`, name, placement), policy))
	o.create(catalog.Of(api.Key{APIVersion: api.PolicyGroupVersion, Kind: "PropagationPolicy"}), policy)
	binding := &api.ResourceBinding{}
	require.NoError(o.t, json.Unmarshal(fmt.Appendf(nil, `{"metadata":{"name":"%[1]s-deployment","namespace":"default",
		"labels":{"propagationpolicy.karmada.io/permanent-id":"x"},
		"annotations":{"propagationpolicy.karmada.io/name":%[1]q,"propagationpolicy.karmada.io/namespace":"default","policy.karmada.io/applied-placement":%[3]q}},
		"spec":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":%[1]q},"replicas":2,"placement":%[2]s,
		"clusters":[{"name":"m1","replicas":2},{"name":"m2","replicas":2}]}}`, name, placement, placement), binding))
	o.create(catalog.Bindings, binding)
	for _, cluster := range []string{"m1", "m2"} {
		o.work(name, cluster)
	}
}

// work creates a Work, of which its agent says that it is healthy.
func (o *otherPlane) work(name, cluster string) {
	o.t.Helper()
	w := &api.Work{}
	require.NoError(o.t, json.Unmarshal(fmt.Appendf(nil, `{"metadata":{"name":"%[1]s-abc","namespace":"karmada-es-%[2]s",
		"annotations":{"resourcebinding.karmada.io/namespace":"default","resourcebinding.karmada.io/name":"%[1]s-deployment"}},
		"spec":{"workload":{"manifests":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%[1]q,"namespace":"default"},"spec":{"replicas":2}}]}}}`, name, cluster), w))
	o.create(catalog.Works, w)
	o.patch(catalog.Works, "karmada-es-"+cluster, name+"-abc", "status", map[string]any{"status": map[string]any{
		"conditions":       []map[string]any{{"type": "Applied", "status": "True", "reason": "AppliedSuccessful", "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}},
		"manifestStatuses": []map[string]any{{"identifier": map[string]any{"ordinal": 0, "version": "v1", "kind": "Deployment", "name": name}, "health": "Healthy", "status": map[string]any{"readyReplicas": 2, "replicas": 2}}},
	}})
}

func clustersOf(names ...string) (all []map[string]any) {
	for _, n := range names {
		all = append(all, map[string]any{"name": n, "replicas": 2})
	}
	return all
}

// evict has the other control plane evict a workload from a cluster, and place it on others.
func (o *otherPlane) evict(name, from string, rest, to []string) {
	o.t.Helper()
	task := map[string]any{"fromCluster": from, "reason": "TaintUntolerated", "producer": "TaintManager", "replicas": 2}
	o.patch(catalog.Bindings, "default", name+"-deployment", "", map[string]any{"spec": map[string]any{"clusters": clustersOf(rest...), "gracefulEvictionTasks": []any{task}}})
	o.patch(catalog.Bindings, "default", name+"-deployment", "", map[string]any{"spec": map[string]any{"clusters": clustersOf(to...)}})
}

// taintCluster has a user taint a cluster.
func (o *otherPlane) taintCluster(name string, taints ...string) {
	o.t.Helper()
	all := []map[string]any{}
	for _, t := range taints {
		all = append(all, map[string]any{"key": t, "effect": "NoExecute"})
	}
	o.patch(catalog.Clusters, "", name, "", map[string]any{"spec": map[string]any{"taints": all}})
}

// allowOnly has the daemon, which asks through the proxy, have the rights of a role and no others.
func (o *otherPlane) allowOnly(r install.Role, at install.Server) {
	o.t.Helper()
	rights := rightsOf(o.t, r, at)
	o.answer(func(r *http.Request) http.HandlerFunc {
		asked := rightsAsked([]*http.Request{r})
		if allowed, _ := validation.Covers(rights, asked); allowed {
			return nil
		}
		return refusing(http.StatusForbidden, metav1.StatusReasonForbidden)
	})
}

// refusing answers as a server that says no.
func refusing(code int, reason metav1.StatusReason) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "fault"})
	}
}

// beside are the flags of a daemon that decides as the stand-in does.
var besideKarmada = []string{"--profile", "karmada", "--set", "enableNoExecuteTaintEviction=true"}

func TestADaemonBesideKarmadaWritesNothingAndCompares(t *testing.T) {
	t.Parallel() // it waits
	o := newOtherPlane(t)
	o.workload("agreed")
	o.workload("elsewhere")
	o.workload("blind")
	o.allowOnly(install.Shadow, install.Karmada)
	file := filepath.Join(t.TempDir(), "comparisons")
	recorded := file + ".recording"
	a := o.attach(append([]string{"--shadow-comparisons", file, "--shadow-recording", recorded}, besideKarmada...)...)
	a.await(t, `"message":"started"`)
	require.True(t, a.log.has(`"resource":"secrets"`), "of what it may not read it says so")
	require.True(t, a.log.has(`"server":"Karmada"`))
	code, _ := a.read(t, "/readyz")
	require.Equal(t, http.StatusOK, code)
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(recorded)
		return err == nil && bytes.Contains(data, []byte(`"resource":"leases.coordination.k8s.io"`)) // the last that is listed
	}, 3*time.Minute, time.Millisecond)
	o.taintCluster("m2", "failed")
	a.awaitTimes(t, "eviction started", 3)
	o.evict("agreed", "m2", []string{"m1"}, []string{"m1", "m3"})
	o.evict("elsewhere", "m2", []string{"m1"}, []string{"m3"})
	a.awaitTimes(t, `"kind":"eviction","verdict":"agreed"`, 2)
	a.await(t, `"kind":"placement","verdict":"agreed"`)
	a.await(t, `"kind":"placement","verdict":"elsewhere"`)
	a.answers(t, "/metrics", `leeward_shadow_comparisons_total{kind="eviction",verdict="agreed"} 2`)
	a.answers(t, "/metrics", `leeward_attach_mode{mode="shadow"} 1`)
	for _, r := range o.requests() {
		require.Equal(t, http.MethodGet, r.Method, r.URL)
	}
	a.stop()
	require.NoError(t, <-a.ended)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	report, err := shadow.Summarize(strings.NewReader(string(text)))
	require.NoError(t, err)
	require.GreaterOrEqual(t, report.Decisions, 3)
	data, err := os.ReadFile(recorded)
	require.NoError(t, err)
	again, err := incident.Read(recorded, data)
	require.NoError(t, err)
	require.Len(t, again.Evictions(), 3)
	_, err = newRecording(recorded, o.foreign.admin, zerolog.Nop())
	require.ErrorContains(t, err, "shadowRecording: open "+recorded+": file exists")
}

func TestARecordingHasABound(t *testing.T) {
	var out bytes.Buffer
	b := &bounded{&out, 10}
	_, err := b.Write([]byte("12345678\n"))
	require.NoError(t, err)
	_, err = b.Write([]byte("1\n"))
	require.EqualError(t, err, "it has reached its size: begin another")
	require.Equal(t, "12345678\n", out.String())
}

// TestActingIsRefusedBesideKarmada: and so is a kubeconfig without the right to list what is needed.
func TestActingIsRefusedBesideKarmada(t *testing.T) {
	t.Parallel() // it waits
	o := newOtherPlane(t)
	acting := o.attach("--act", "node-taint-eviction")
	err := <-acting.ended
	require.ErrorContains(t, err, "act: node-taint-eviction is for the API server of a Kubernetes cluster, and this is Karmada's")
	require.Equal(t, exitcode.Invalid, exitcode.Of(err))
	o.allowOnly(install.Shadow, install.Kubernetes)
	refused := o.attach()
	err = <-refused.ended
	require.ErrorContains(t, err, "no right to list clusters.cluster.karmada.io: leeward attach install grants it")
	require.Equal(t, exitcode.Failed, exitcode.Of(err))
}

func TestComparisonsGoToAFileOrToOutput(t *testing.T) {
	one := &shadow.Comparison{Verdict: shadow.Never, Kind: shadow.Eviction, Workload: "w", Ours: &shadow.Decision{By: "leewardd"}}
	var out bytes.Buffer
	c, err := newComparisons("-", &out, zerolog.Nop())
	require.NoError(t, err)
	c.add(one)
	require.NoError(t, c.close())
	report, err := shadow.Summarize(&out)
	require.NoError(t, err)
	require.Equal(t, 1, report.Decisions)

	file := filepath.Join(t.TempDir(), "comparisons")
	for range 2 { // it is gone on with
		c, err = newComparisons(file, &out, zerolog.Nop())
		require.NoError(t, err)
		c.add(one)
		require.NoError(t, c.close())
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(text, []byte("\n")))
	require.Empty(t, out.String())

	none, err := newComparisons("", &out, zerolog.Nop())
	require.NoError(t, err)
	none.add(one)
	require.NoError(t, none.close())
	_, err = newComparisons(filepath.Join(file, "below"), &out, zerolog.Nop())
	require.ErrorContains(t, err, "shadowComparisons: open "+file)
}
