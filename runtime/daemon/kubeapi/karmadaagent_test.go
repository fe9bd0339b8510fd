package kubeapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/kubeapi"
)

// What Karmada's agent sends and takes. Source: a trace of karmada-agent with client-go 0.36.
const (
	inProtobuf     = "application/vnd.kubernetes.protobuf"
	takesProtobuf  = inProtobuf + ",application/json"
	inJSON         = "application/json"
	takesJSON      = "application/json, */*"
	watchList      = "?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=301&watch=true"
	fleetPath      = "/apis/cluster.karmada.io/v1alpha1/clusters"
	configPath     = "/apis/config.karmada.io/v1alpha1/"
	worksPath      = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works"
	secretsPath    = "/api/v1/namespaces/karmada-cluster/secrets"
	heartbeatsPath = "/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases"
	electionsPath  = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases"
	eventsPath     = "/api/v1/namespaces/karmada-es-m1/events"
	discoversPaths = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
)

// asker sends requests as one user.
type asker struct {
	t      *testing.T
	client *http.Client
	host   string
}

func (d *daemon) asker(t *testing.T, u kubeapi.User) *asker {
	t.Helper()
	c := d.as(u)
	client, err := rest.HTTPClientFor(c)
	require.NoError(t, err)
	return &asker{t, client, c.Host}
}

// inBytes writes an object as the agent does: those of Kubernetes' own kinds in protobuf, text as it is.
func inBytes(t *testing.T, body any) (text []byte, contentType string) {
	t.Helper()
	switch body := body.(type) {
	case nil:
		return nil, ""
	case string:
		return []byte(body), inJSON
	case runtime.Object:
		kinds, _, err := scheme.Scheme.ObjectKinds(body)
		require.NoError(t, err)
		body.GetObjectKind().SetGroupVersionKind(kinds[0])
		var b bytes.Buffer
		require.NoError(t, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(body, &b))
		return b.Bytes(), inProtobuf
	}
	t.Fatalf("a %T is no body", body)
	return nil, ""
}

// send sends a request and returns the code of the answer, its body still to be read.
func (a *asker) send(method, path, accept, contentType string, body []byte) *http.Response {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.host+path, bytes.NewReader(body))
	require.NoError(a.t, err)
	r.Header.Set("Accept", accept)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	answer, err := a.client.Do(r)
	require.NoError(a.t, err)
	return answer
}

// ask sends a request and wants a code. It returns the answer, which is in protobuf where that is the first that is taken.
func (a *asker) ask(code int, method, path, accept string, body any) []byte {
	a.t.Helper()
	text, contentType := inBytes(a.t, body)
	return a.patch(code, method, path, accept, contentType, text)
}

func (a *asker) patch(code int, method, path, accept, contentType string, body []byte) []byte {
	a.t.Helper()
	answer := a.send(method, path, accept, contentType, body)
	text, err := io.ReadAll(answer.Body)
	require.NoError(a.t, errors.Join(err, answer.Body.Close()))
	require.Equal(a.t, code, answer.StatusCode, "%s %s: %s", method, path, text)
	if strings.HasPrefix(accept, inProtobuf) {
		require.Equal(a.t, inProtobuf, answer.Header.Get("Content-Type"), path)
	}
	return text
}

// read reads an answer in protobuf.
func read[T runtime.Object](t *testing.T, text []byte, into T) T {
	t.Helper()
	_, _, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(text, nil, into)
	require.NoError(t, err)
	return into
}

// lists follows a resource until the server says that the client has all that there is.
func (a *asker) lists(path, accept string) {
	a.t.Helper()
	answer := a.send("GET", path+watchList, accept, "", nil)
	require.Equal(a.t, 200, answer.StatusCode, path)
	var seen bytes.Buffer
	part := make([]byte, 4096)
	for !strings.Contains(seen.String(), metav1.InitialEventsAnnotationKey) {
		n, err := answer.Body.Read(part)
		seen.Write(part[:n])
		require.NoError(a.t, err, "%s: %s", path, seen.String())
	}
	require.NoError(a.t, answer.Body.Close())
}

func ownedByCluster(cluster map[string]any) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "cluster.karmada.io/v1alpha1", Kind: "Cluster", Name: "m1", UID: types.UID(cluster["metadata"].(map[string]any)["uid"].(string))}}
}

func opaque(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-cluster", Name: name, Labels: map[string]string{"karmada.io/system": "true"}}, Type: corev1.SecretTypeOpaque, Data: data}
}

func leaseOf(namespace, name string) *coordinationv1.Lease {
	now := metav1.NewMicroTime(time.Unix(1800000000, 0))
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("m1"), LeaseDurationSeconds: ptr.To[int32](40), RenewTime: &now},
	}
}

const (
	registered = `{"kind":"Cluster","apiVersion":"cluster.karmada.io/v1alpha1","metadata":{"name":"m1"},"spec":{"id":"i","syncMode":"Pull","apiEndpoint":"https://m1:6443",
		"secretRef":{"namespace":"karmada-cluster","name":"m1"},"impersonatorSecretRef":{"namespace":"karmada-cluster","name":"m1-impersonator"},"provider":"p","region":"r","zones":["z"]},"status":{}}`
	happened = `{"kind":"Event","apiVersion":"v1","metadata":{"name":"w.1","namespace":"karmada-es-m1"},"involvedObject":{"kind":"Work","namespace":"karmada-es-m1","name":"w","apiVersion":"work.karmada.io/v1alpha1"},
		"reason":"SyncSucceed","message":"m","source":{"component":"execution-controller"},"firstTimestamp":"2026-11-28T12:00:00Z","lastTimestamp":"2026-11-28T12:00:00Z","count":1,"type":"Normal","reportingComponent":"","reportingInstance":""}`
)

func TestTheRequestsOfKarmadasAgent(t *testing.T) {
	t.Parallel()
	d := serve(t)
	for _, name := range []string{"shop", "karmada-es-m1", "karmada-es-m2"} {
		d.create(namespaces, object("v1", "Namespace", "", name, nil))
	}
	d.create(clusters, cluster("m2"))
	work := object("work.karmada.io/v1alpha1", "Work", "karmada-es-m1", "w", map[string]any{"workload": map[string]any{
		"manifests": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": "shop"}, "data": map[string]any{"k": "<&>"}}},
	}})
	work.SetFinalizers([]string{"karmada.io/execution-controller"})
	_, err := d.client(kubeapi.Admin()).Resource(works).Namespace("karmada-es-m1").Create(t.Context(), work, metav1.CreateOptions{})
	require.NoError(t, err)
	a := d.asker(t, kubeapi.KarmadaAgent("m1"))
	a.begins()
	a.follows()
	a.reports(d)
	d.refusesKarmadasAgent(t, a)
}

// begins registers the cluster.
func (a *asker) begins() {
	a.ask(200, "GET", fleetPath, takesJSON, nil)
	a.ask(200, "GET", "/api/v1/namespaces/karmada-cluster", takesProtobuf, nil)
	for _, name := range []string{"m1-impersonator", "m1"} {
		a.ask(201, "POST", secretsPath, takesProtobuf, opaque(name, map[string][]byte{"token": []byte("t")}))
		a.ask(409, "POST", secretsPath, takesProtobuf, opaque(name, map[string][]byte{"token": []byte("other")}))
		kept := read(a.t, a.ask(200, "GET", secretsPath+"/"+name, takesProtobuf, nil), &corev1.Secret{})
		require.Equal(a.t, "t", string(kept.Data["token"]))
	}
	a.ask(404, "GET", fleetPath+"/m1", takesJSON, nil)
	var made struct {
		Metadata struct{ Annotations map[string]string }
	}
	require.NoError(a.t, json.Unmarshal(a.ask(201, "POST", fleetPath, takesJSON, registered), &made))
	require.Equal(a.t, map[string]string{"leeward.dev/agent": "karmada"}, made.Metadata.Annotations)
	var stored map[string]any
	require.NoError(a.t, json.Unmarshal(a.ask(200, "GET", fleetPath+"/m1", takesJSON, nil), &stored))
	require.Len(a.t, stored["spec"].(map[string]any)["resourceModels"], 9)
	owned := ownedByCluster(stored)
	owned[0].Controller, owned[0].BlockOwnerDeletion = ptr.To(true), ptr.To(true)
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": owned}})
	require.NoError(a.t, err)
	for _, name := range []string{"m1-impersonator", "m1"} {
		a.patch(200, "PATCH", secretsPath+"/"+name, takesProtobuf, "application/merge-patch+json", text)
	}
}

// follows reads what there is, and all that changes.
func (a *asker) follows() {
	for _, path := range []string{"/api", "/apis"} {
		known := string(a.ask(200, "GET", path+"?timeout=32s", discoversPaths, nil))
		require.Contains(a.t, known, `"kind":"APIGroupDiscoveryList"`)
		require.Contains(a.t, known, map[string]string{"/api": `"resource":"services"`, "/apis": `"resource":"resourceinterpreterwebhookconfigurations"`}[path])
	}
	a.lists("/api/v1/services", takesProtobuf)
	a.lists(configPath+"resourceinterpreterwebhookconfigurations", inJSON)
	a.lists(configPath+"resourceinterpretercustomizations", inJSON)
	a.lists(worksPath, takesJSON)
	a.lists(fleetPath, takesJSON)
	none := string(a.ask(200, "GET", configPath+"resourceinterpreterwebhookconfigurations", takesJSON, nil))
	require.Contains(a.t, none, `"kind":"ResourceInterpreterWebhookConfigurationList"`)
	require.Contains(a.t, none, `"items":[]`)
}

// reports renews the Leases, and reports on the cluster and its Work.
func (a *asker) reports(d *daemon) {
	for path, l := range map[string]*coordinationv1.Lease{heartbeatsPath: leaseOf("karmada-cluster", "m1"), electionsPath: leaseOf("karmada-system", "karmada-agent-m1")} {
		a.ask(404, "GET", path+"/"+l.Name+"?timeout=5s", takesProtobuf, nil)
		stored := read(a.t, a.ask(201, "POST", path+"?timeout=5s", takesProtobuf, l), &coordinationv1.Lease{})
		stored.Spec.LeaseTransitions = ptr.To[int32](1)
		renewed := read(a.t, a.ask(200, "PUT", path+"/"+l.Name+"?timeout=5s", takesProtobuf, stored.DeepCopy()), &coordinationv1.Lease{})
		require.Equal(a.t, int32(1), *renewed.Spec.LeaseTransitions)
		a.ask(409, "PUT", path+"/"+l.Name, takesProtobuf, stored)
	}
	put := func(path string, change func(map[string]any)) map[string]any {
		var o map[string]any
		require.NoError(a.t, json.Unmarshal(a.ask(200, "GET", strings.TrimSuffix(path, "/status"), takesJSON, nil), &o))
		change(o)
		text, err := json.Marshal(o)
		require.NoError(a.t, err)
		require.NoError(a.t, json.Unmarshal(a.ask(200, "PUT", path, takesJSON, string(text)), &o))
		return o
	}
	ready := []any{map[string]any{"type": "Ready", "status": "True", "reason": "ClusterReady", "message": "m", "lastTransitionTime": "2026-11-28T12:00:00Z"}}
	c := put(fleetPath+"/m1/status", func(o map[string]any) {
		o["status"] = map[string]any{"kubernetesVersion": "v1.36.2", "conditions": ready, "nodeSummary": map[string]any{"totalNum": 1, "readyNum": 1}}
	})
	require.Equal(a.t, "v1.36.2", c["status"].(map[string]any)["kubernetesVersion"])
	put(worksPath+"/w/status", func(o map[string]any) {
		o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Applied", "status": "True", "reason": "AppliedSuccessful", "message": "m", "lastTransitionTime": "2026-11-28T12:00:00Z"}},
			"manifestStatuses": []any{map[string]any{"identifier": map[string]any{"ordinal": 0, "version": "v1", "kind": "ConfigMap", "resource": "", "namespace": "shop", "name": "c"}, "health": "Healthy"}}}
	})
	a.ask(201, "POST", eventsPath, takesProtobuf, happened)
	a.patch(200, "PATCH", eventsPath+"/w.1", takesProtobuf, "application/strategic-merge-patch+json", []byte(`{"count":2,"lastTimestamp":"2026-11-28T12:01:00Z"}`))
	require.NoError(a.t, d.client(kubeapi.Admin()).Resource(works).Namespace("karmada-es-m1").Delete(a.t.Context(), "w", metav1.DeleteOptions{}))
	leaving := put(worksPath+"/w", func(o map[string]any) { delete(o["metadata"].(map[string]any), "finalizers") })
	require.Contains(a.t, leaving["metadata"], "deletionTimestamp")
	a.ask(404, "GET", worksPath+"/w", takesJSON, nil)
}

// refusesKarmadasAgent sends what this agent may not do, each of which is forbidden.
func (d *daemon) refusesKarmadasAgent(t *testing.T, a *asker) {
	t.Helper()
	_, err := d.client(kubeapi.Admin()).Resource(works).Namespace("karmada-es-m1").Create(t.Context(), object("work.karmada.io/v1alpha1", "Work", "karmada-es-m1", "x", nil), metav1.CreateOptions{})
	require.NoError(t, err)
	copied := object("work.karmada.io/v1alpha1", "Work", "karmada-es-m1", "copy", nil)
	copied.SetAnnotations(map[string]string{"resourcebinding.karmada.io/name": "web-deployment", "resourcebinding.karmada.io/namespace": "shop"})
	_, err = d.client(kubeapi.Admin()).Resource(works).Namespace("karmada-es-m1").Create(t.Context(), copied, metav1.CreateOptions{})
	require.NoError(t, err)
	for what, c := range map[string]struct {
		method, path string
		body         any
		says         string
	}{
		"another cluster's Works":               {"GET", strings.Replace(worksPath, "m1", "m2", 1), nil, ""},
		"all Works":                             {"GET", "/apis/work.karmada.io/v1alpha1/works", nil, ""},
		"the Secrets of all clusters":           {"GET", secretsPath, nil, ""},
		"another cluster's Secret":              {"GET", secretsPath + "/m2", nil, ""},
		"a Secret elsewhere":                    {"GET", "/api/v1/namespaces/shop/secrets/s", nil, ""},
		"its Secrets deleted":                   {"DELETE", secretsPath + "/m1", nil, ""},
		"its Cluster changed":                   {"PUT", fleetPath + "/m1", registered, ""},
		"another Cluster read":                  {"GET", fleetPath + "/m2", nil, ""},
		"another Cluster deleted":               {"DELETE", fleetPath + "/m2", nil, ""},
		"another Cluster's status":              {"PUT", fleetPath + "/m2/status", strings.ReplaceAll(registered, `"m1"`, `"m2"`), ""},
		"another Cluster registered":            {"POST", fleetPath, strings.Replace(registered, `"name":"m1"`, `"name":"m3"`, 1), "this agent registers the cluster m1"},
		"a Cluster in push mode":                {"POST", fleetPath, strings.Replace(registered, "Pull", "Push", 1), `spec.syncMode: "Push"`},
		"a Cluster with taints":                 {"POST", fleetPath, strings.Replace(registered, `"id":"i"`, `"taints":[{"key":"k","effect":"NoSchedule"}]`, 1), "spec.taints"},
		"a Cluster with another's credentials":  {"POST", fleetPath, strings.Replace(registered, `"name":"m1"},"imp`, `"name":"m2"},"imp`, 1), "spec.secretRef: karmada-cluster/m2"},
		"a Cluster with a Secret elsewhere":     {"POST", fleetPath, strings.Replace(registered, `"namespace":"karmada-cluster","name":"m1-`, `"namespace":"shop","name":"m1-`, 1), "spec.impersonatorSecretRef: shop/m1-impersonator"},
		"a Secret of another":                   {"POST", secretsPath, opaque("m2", nil), "m1 and m1-impersonator"},
		"a Secret of a bootstrap token":         {"POST", "/api/v1/namespaces/kube-system/secrets", opaque("m1", nil), ""},
		"a large Secret":                        {"POST", secretsPath, opaque("m1", map[string][]byte{"token": make([]byte, 65<<10)}), "66560 bytes, of which an agent may keep 65536"},
		"a Secret of another type":              {"POST", secretsPath, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "m1", Namespace: "karmada-cluster"}, Type: "bootstrap.kubernetes.io/token"}, "an agent keeps Secrets of type Opaque"},
		"another cluster's Lease":               {"PUT", heartbeatsPath + "/m2", leaseOf("karmada-cluster", "m2"), ""},
		"a Lease of another cluster":            {"POST", heartbeatsPath, leaseOf("karmada-cluster", "m2"), "must have the name m1"},
		"another agent's leader election":       {"POST", electionsPath, leaseOf("karmada-system", "karmada-agent-m2"), "must have the name karmada-agent-m1"},
		"a Lease in any namespace":              {"POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", leaseOf("kube-system", "m1"), ""},
		"an Event in any namespace":             {"POST", "/api/v1/namespaces/shop/events", strings.ReplaceAll(happened, "karmada-es-m1", "shop"), ""},
		"a Work created":                        {"POST", worksPath, `{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"name":"y"}}`, ""},
		"what a Work asks for":                  {"PUT", worksPath + "/x", `{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"name":"x"},"spec":{"workload":{"manifests":[{"apiVersion":"v1","kind":"Secret"}]}}}`, "nothing of a Work but its finalizers"},
		"whose copy a Work is":                  {"PUT", worksPath + "/x", `{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"name":"x","annotations":{"resourcebinding.karmada.io/name":"other"}}}`, "nothing of a Work but its finalizers"},
		"a copy deleted":                        {"DELETE", worksPath + "/copy", nil, "it is a copy of shop/web-deployment: drain the cluster m1"},
		"a webhook that reads kinds":            {"POST", configPath + "resourceinterpreterwebhookconfigurations", `{"metadata":{"name":"w"}}`, ""},
		"another namespace":                     {"GET", "/api/v1/namespaces/shop", nil, ""},
		"a namespace created":                   {"POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`, ""},
		"a Deployment":                          {"GET", "/apis/apps/v1/deployments", nil, ""},
		"who may do what":                       {"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", nil, ""},
		"a review of another user's permission": {"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"spec":{"user":"u"}}`, ""},
	} {
		require.Contains(t, strings.ReplaceAll(string(a.ask(403, c.method, c.path, takesJSON, c.body)), `\"`, `"`), c.says, what)
	}
	a.ask(200, "DELETE", worksPath+"/x", takesJSON, nil) // it is of no workload
	d.asker(t, kubeapi.Admin()).ask(405, "POST", configPath+"resourceinterpreterwebhookconfigurations", takesJSON, `{"metadata":{"name":"w"}}`)
	other := d.asker(t, kubeapi.KarmadaAgent("m2")) // which an admin registered for another agent
	for _, path := range []string{fleetPath, secretsPath + "/m2", strings.Replace(worksPath, "m1", "m2", 1)} {
		other.ask(403, "GET", path, takesJSON, nil)
	}
	d.asker(t, kubeapi.User{Name: kubeapi.KarmadaAgentPrefix + "m1"}).ask(403, "GET", worksPath, takesJSON, nil)
	d.asker(t, kubeapi.User{Name: "m1", Groups: []string{kubeapi.KarmadaAgentGroup}}).ask(403, "GET", worksPath, takesJSON, nil)
}
