package kubeapi_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/util/proto"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	topics      = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "topics"}
)

// topicDefinition defines a kind with a status and a scale.
func topicDefinition() *unstructured.Unstructured {
	number := map[string]any{"type": "integer"}
	schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
		"spec": map[string]any{
			"type": "object", "required": []any{"partitions"},
			"properties": map[string]any{
				"partitions": map[string]any{"type": "integer", "minimum": int64(1)},
				"replicas":   map[string]any{"type": "integer", "default": int64(2)},
			},
			"x-kubernetes-validations": []any{map[string]any{"rule": "self.partitions <= 64", "message": "at most 64 partitions"}},
		},
		"status": map[string]any{"type": "object", "properties": map[string]any{"replicas": number}},
	}}}
	return object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "topics.example.com", map[string]any{
		"group": "example.com", "scope": "Namespaced",
		"names": map[string]any{"plural": "topics", "singular": "topic", "kind": "Topic", "shortNames": []any{"tp"}},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "schema": schema,
			"subresources":             map[string]any{"status": map[string]any{}, "scale": map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
			"additionalPrinterColumns": []any{map[string]any{"name": "Partitions", "type": "integer", "jsonPath": ".spec.partitions"}},
		}},
	})
}

func topic(name string, partitions int64) *unstructured.Unstructured {
	return object("example.com/v1", "Topic", "default", name, map[string]any{"partitions": partitions})
}

// define creates a definition, and waits until its kind is served.
func (d *daemon) define(definition *unstructured.Unstructured) {
	d.t.Helper()
	crds := d.client(kubeapi.Admin()).Resource(definitions)
	_, err := crds.Create(d.t.Context(), definition, metav1.CreateOptions{})
	require.NoError(d.t, err)
	w, err := crds.Watch(d.t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + definition.GetName()})
	require.NoError(d.t, err)
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type != watch.Deleted && isTrue(e.Object.(*unstructured.Unstructured), "Established") {
			return
		}
	}
	d.t.Fatal("the watch ended")
}

func isTrue(o *unstructured.Unstructured, condition string) bool {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range all {
		if c := c.(map[string]any); c["type"] == condition {
			return c["status"] == "True"
		}
	}
	return false
}

func TestWithoutDefinitionsTheListIsEmpty(t *testing.T) {
	d := serve(t)
	all, err := d.client(kubeapi.Admin()).Resource(definitions).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, all.Items)
	_, err = d.client(viewer).Resource(definitions).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "kubectl asks before it creates a FailoverPreview")
}

// TestCustomKinds needs one server: an object of a kind may be created two seconds after the kind is established.
func TestCustomKinds(t *testing.T) {
	t.Parallel()
	d := serve(t)
	d.define(topicDefinition())
	admin := d.client(kubeapi.Admin())
	all := admin.Resource(topics).Namespace("default")
	made, err := all.Create(t.Context(), topic("orders", 3), metav1.CreateOptions{})
	require.NoError(t, err)
	t.Run("defaults are set and objects validated by schema and expression", func(t *testing.T) {
		require.EqualValues(t, 2, made.Object["spec"].(map[string]any)["replicas"])
		_, err := all.Create(t.Context(), topic("none", 0), metav1.CreateOptions{})
		require.ErrorContains(t, err, "spec.partitions")
		_, err = all.Create(t.Context(), topic("many", 65), metav1.CreateOptions{})
		require.ErrorContains(t, err, "at most 64 partitions")
		elsewhere := topic("elsewhere", 1)
		elsewhere.SetNamespace("nowhere")
		_, err = admin.Resource(topics).Namespace("nowhere").Create(t.Context(), elsewhere, metav1.CreateOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	})
	t.Run("what the schema does not have is pruned, and a status is written apart", func(t *testing.T) {
		o := topic("pruned", 1)
		o.Object["more"], o.Object["status"] = "x", map[string]any{"replicas": int64(4)}
		stored, err := all.Create(t.Context(), o, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NotContains(t, stored.Object, "more")
		require.NotContains(t, stored.Object, "status")
		stored.Object["status"] = map[string]any{"replicas": int64(4)}
		stored, err = all.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 1, stored.GetGeneration())
		scaled, err := all.Get(t.Context(), "pruned", metav1.GetOptions{}, "scale")
		require.NoError(t, err)
		require.EqualValues(t, 4, scaled.Object["status"].(map[string]any)["replicas"])
	})
	t.Run("watches go on from a version, and tell of deletions", func(t *testing.T) {
		w, err := all.Watch(t.Context(), metav1.ListOptions{ResourceVersion: made.GetResourceVersion(), FieldSelector: "metadata.name=short"})
		require.NoError(t, err)
		defer w.Stop()
		_, err = all.Create(t.Context(), topic("short", 1), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = all.Apply(t.Context(), "short", topic("short", 2), metav1.ApplyOptions{FieldManager: "team", Force: true})
		require.NoError(t, err)
		require.NoError(t, all.Delete(t.Context(), "short", metav1.DeleteOptions{}))
		for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
			e := <-w.ResultChan()
			require.Equal(t, want, e.Type)
			require.Equal(t, "Topic", e.Object.GetObjectKind().GroupVersionKind().Kind)
		}
	})
	t.Run("pages and selectors", func(t *testing.T) {
		for _, name := range []string{"page-1", "page-2", "page-3"} {
			o := topic(name, 1)
			o.SetLabels(map[string]string{"page": "yes"})
			_, err := all.Create(t.Context(), o, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		first, err := all.List(t.Context(), metav1.ListOptions{LabelSelector: "page=yes", Limit: 2})
		require.NoError(t, err)
		require.Len(t, first.Items, 2)
		rest, err := all.List(t.Context(), metav1.ListOptions{LabelSelector: "page=yes", Limit: 2, Continue: first.GetContinue()})
		require.NoError(t, err)
		require.Len(t, rest.Items, 1)
		require.Equal(t, "page-3", rest.Items[0].GetName())
	})
	t.Run("discovery has the kind in both forms, and OpenAPI its schema", func(t *testing.T) {
		for _, accept := range []string{"application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"} {
			require.Contains(t, d.answer("/apis", accept), `"example.com"`, accept)
		}
		require.Contains(t, d.answer("/apis/example.com/v1", "application/json"), `"topics/scale"`)
		require.Contains(t, d.answer("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"), `"customresourcedefinitions"`)
		require.Contains(t, d.answer("/openapi/v3/apis/example.com/v1", "application/json"), `"partitions"`)
		require.Contains(t, d.answer("/openapi/v3/apis/apiextensions.k8s.io/v1", "application/json"), "JSONSchemaProps")
	})
	t.Run("OpenAPI 2 has its schema, and that of definitions", func(t *testing.T) {
		document := d.openapi2()
		spec := document.definition("com.example.v1.Topic", "spec")
		require.Equal(t, "integer", spec["properties"].(map[string]any)["partitions"].(map[string]any)["type"])
		require.Equal(t, []any{"partitions"}, spec["required"])
		require.Contains(t, document["paths"], "/apis/example.com/v1/namespaces/{namespace}/topics/{name}/scale")
		require.Contains(t, document["paths"], "/apis/apps/v1/namespaces/{namespace}/deployments")
		document.definition("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition", "spec")
		crds := admin.Resource(definitions)
		now, err := crds.Get(t.Context(), "topics.example.com", metav1.GetOptions{})
		require.NoError(t, err)
		now.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["description"] = "edited"
		_, err = crds.Update(t.Context(), now, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			return d.openapi2()["definitions"].(map[string]any)["com.example.v1.Topic"].(map[string]any)["description"] == "edited"
		}, time.Minute, 5*time.Millisecond)
		reader, err := discovery.NewDiscoveryClientForConfig(d.as(kubeapi.Admin()))
		require.NoError(t, err)
		read, err := reader.OpenAPISchema() // as kubectl does
		require.NoError(t, err)
		models, err := proto.NewOpenAPIData(read)
		require.NoError(t, err)
		for _, name := range []string{"com.example.v1.Topic", "io.k8s.api.apps.v1.Deployment"} {
			require.NotNil(t, models.LookupModel(name), name)
		}
	})
	t.Run("tables have the columns of the definition", func(t *testing.T) {
		require.Contains(t, d.answer("/apis/example.com/v1/topics", "application/json;as=Table;v=v1;g=meta.k8s.io"), `"Partitions"`)
	})
	t.Run("an object goes with its owner, of a custom kind or of another", func(t *testing.T) { d.ownedAcrossKinds(t, made) })
	t.Run("editors of a namespace write its objects, and viewers read them", func(t *testing.T) {
		_, err := d.client(shopEditor).Resource(topics).Namespace("default").Create(t.Context(), topic("stolen", 1), metav1.CreateOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		_, err = d.client(shopEditor).Resource(definitions).Create(t.Context(), topicDefinition(), metav1.CreateOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		_, err = d.client(viewer).Resource(topics).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.True(t, apierrors.IsForbidden(d.client(viewer).Resource(topics).Namespace("default").Delete(t.Context(), "orders", metav1.DeleteOptions{})))
		_, err = admin.Resource(namespaces).Create(t.Context(), object("v1", "Namespace", "", "shop", nil), metav1.CreateOptions{})
		require.NoError(t, err)
		own := topic("own", 1)
		own.SetNamespace("shop")
		_, err = d.client(shopEditor).Resource(topics).Namespace("shop").Create(t.Context(), own, metav1.CreateOptions{})
		require.NoError(t, err)
	})
	t.Run("a namespace takes its objects along", func(t *testing.T) {
		require.NoError(t, admin.Resource(namespaces).Delete(t.Context(), "shop", metav1.DeleteOptions{}))
		d.await(topics, "shop", "own", gone)
		d.await(namespaces, "", "shop", gone)
	})
	t.Run("the version in which there are objects cannot be changed", func(t *testing.T) {
		now, err := admin.Resource(definitions).Get(t.Context(), "topics.example.com", metav1.GetOptions{})
		require.NoError(t, err)
		versions, _, _ := unstructured.NestedSlice(now.Object, "spec", "versions")
		next := runtime.DeepCopyJSON(versions[0].(map[string]any))
		next["name"] = "v2"
		versions[0].(map[string]any)["storage"] = false
		require.NoError(t, unstructured.SetNestedSlice(now.Object, append(versions, next), "spec", "versions"))
		_, err = admin.Resource(definitions).Update(t.Context(), now, metav1.UpdateOptions{})
		require.ErrorContains(t, err, "stored in version \"v1\"")
	})
	t.Run("a definition takes its objects along", func(t *testing.T) {
		require.NoError(t, admin.Resource(definitions).Delete(t.Context(), "topics.example.com", metav1.DeleteOptions{}))
		d.await(definitions, "", "topics.example.com", gone)
		require.Zero(t, d.engine.Table(catalog.Customs.Name()).Len())
		require.Eventually(t, func() bool { return !strings.Contains(d.answer("/apis", "application/json"), `"example.com"`) }, time.Minute, 5*time.Millisecond)
		document := d.openapi2()
		require.NotContains(t, document["definitions"], "com.example.v1.Topic")
		require.NotContains(t, document["paths"], "/apis/example.com/v1/namespaces/{namespace}/topics")
	})
}

// gone reports whether there is no object.
func gone(o *unstructured.Unstructured) bool { return o == nil }

// await waits until an object, or that there is none, is right.
func (d *daemon) await(resource schema.GroupVersionResource, namespace, name string, right func(*unstructured.Unstructured) bool) {
	d.t.Helper()
	at := d.client(kubeapi.Admin()).Resource(resource).Namespace(namespace)
	require.Eventually(d.t, func() bool {
		o, err := at.Get(d.t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			o = nil
		}
		return right(o)
	}, time.Minute, 5*time.Millisecond, "%s %s/%s", resource.Resource, namespace, name)
}

// answer returns what the server answers an administrator.
func (d *daemon) answer(path, accept string) string {
	d.t.Helper()
	client, err := rest.HTTPClientFor(d.as(kubeapi.Admin()))
	require.NoError(d.t, err)
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "https://"+d.Addr()+path, nil)
	require.NoError(d.t, err)
	request.Header.Set("Accept", accept)
	answer, err := client.Do(request)
	require.NoError(d.t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(d.t, errors.Join(err, answer.Body.Close()))
	require.Equal(d.t, http.StatusOK, answer.StatusCode, "%s: %s", path, text)
	return string(text)
}

// openapi is a document of OpenAPI 2.
type openapi map[string]any

func (d *daemon) openapi2() (document openapi) {
	d.t.Helper()
	require.NoError(d.t, json.Unmarshal([]byte(d.answer("/openapi/v2", "application/json")), &document))
	return document
}

// definition is a field of a type.
func (o openapi) definition(name, field string) map[string]any {
	return o["definitions"].(map[string]any)[name].(map[string]any)["properties"].(map[string]any)[field].(map[string]any)
}

// ownedAcrossKinds has a ConfigMap go with an object of a custom kind, and such an object with a ConfigMap.
func (d *daemon) ownedAcrossKinds(t *testing.T, owner *unstructured.Unstructured) {
	at, maps := d.client(kubeapi.Admin()).Resource(topics).Namespace("default"), d.client(kubeapi.Admin()).Resource(configMaps).Namespace("default")
	owning := topic("owning", 1)
	owning, err := at.Create(t.Context(), owning, metav1.CreateOptions{})
	require.NoError(t, err)
	owned := object("v1", "ConfigMap", "default", "owned", nil)
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Topic", Name: "owning", UID: owning.GetUID()}})
	owned, err = maps.Create(t.Context(), owned, metav1.CreateOptions{})
	require.NoError(t, err)
	last := topic("last", 1)
	last.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owned", UID: owned.GetUID()}})
	_, err = at.Create(t.Context(), last, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, at.Delete(t.Context(), "owning", metav1.DeleteOptions{}))
	d.await(configMaps, "default", "owned", gone)
	d.await(topics, "default", "last", gone)
	d.await(topics, "default", owner.GetName(), func(o *unstructured.Unstructured) bool { return o != nil })
}

func TestDefinitionsThatCannotBeServedAreRefused(t *testing.T) {
	d := serve(t)
	crds := d.client(kubeapi.Admin()).Resource(definitions)
	for name, c := range map[string]struct {
		change func(spec map[string]any)
		says   string
	}{
		"a group of Karmada": {func(spec map[string]any) { spec["group"] = "policy.karmada.io" }, "built in"},
		"a group of Leeward": {func(spec map[string]any) { spec["group"] = "more.leeward.dev" }, "built in"},
		"a built-in group":   {func(spec map[string]any) { spec["group"] = "networking.k8s.io" }, "built in"},
		"a conversion webhook": {func(spec map[string]any) {
			spec["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": "https://example.com/"},
			}}
		}, "spec.conversion.strategy"},
		"a schema of more than a MiB": {func(spec map[string]any) {
			setSchema(spec, map[string]any{"type": "object", "description": strings.Repeat("x", 1<<20)})
		}, "may not be more than 1048576 bytes"},
		"an expression that may cost too much": {func(spec map[string]any) {
			names := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
			setSchema(spec, map[string]any{"type": "object", "properties": map[string]any{"names": names}, "x-kubernetes-validations": []any{
				map[string]any{"rule": "self.names.all(a, self.names.all(b, self.names.all(c, a == b || b == c || a.contains(c))))"},
			}})
		}, "exceeds budget"},
	} {
		t.Run(name, func(t *testing.T) {
			o := topicDefinition()
			spec := o.Object["spec"].(map[string]any)
			c.change(spec)
			o.SetName("topics." + spec["group"].(string))
			o.SetAnnotations(map[string]string{"api-approved.kubernetes.io": "unapproved, a test"})
			_, err := crds.Create(t.Context(), o, metav1.CreateOptions{})
			require.ErrorContains(t, err, c.says)
		})
	}
	require.Zero(t, d.engine.Table(catalog.Definitions.Name()).Len())
}

// setSchema has the objects of a definition have a schema.
func setSchema(spec, schema map[string]any) {
	version := spec["versions"].([]any)[0].(map[string]any)
	version["schema"] = map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": schema}}}
	delete(version, "subresources")
}

// A start finds the kinds and their objects as they were, and serves them to the first client that asks.
func TestCustomKindsOutliveARestart(t *testing.T) {
	t.Parallel()
	folder, dir := t.TempDir(), t.TempDir()
	open := func() (*engine.Engine, *daemon) {
		e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Dir: folder})
		require.NoError(t, err)
		return e, start(t, e, dir, "127.0.0.1:0")
	}
	e, d := open()
	d.define(topicDefinition())
	made, err := d.client(kubeapi.Admin()).Resource(topics).Namespace("default").Create(t.Context(), topic("orders", 3), metav1.CreateOptions{})
	require.NoError(t, err)
	d.stop()
	require.NoError(t, e.Close())
	e, d = open()
	found, err := d.client(kubeapi.Admin()).Resource(topics).Namespace("default").Get(t.Context(), "orders", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, made, found)
	d.stop()
	require.NoError(t, e.Close())
}
