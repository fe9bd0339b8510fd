package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/fakemember"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

const (
	widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`
	widget = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop}, spec: {size: 1}}"
)

// widgetScripts judge a widget by its size, which they report, and which is its replicas, and keep the color that the member gave it.
const widgetScripts = `
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: widgets}
spec:
  target: {apiVersion: example.com/v1, kind: Widget}
  customizations:
    replicaResource: {luaScript: "function GetReplicas(o) return o.spec.size end"}
    healthInterpretation: {luaScript: "function InterpretHealth(o) return o.spec.size == 2 end"}
    statusReflection: {luaScript: "function ReflectStatus(o) return {size = o.spec.size} end"}
    retention: {luaScript: "function Retain(desired, observed) desired.spec.color = observed.spec.color return desired end"}`

// awaitWidget waits until the Work of the widget reports a health, and a status.
func (p *pair) awaitWidget(health api.ResourceHealth, status string) {
	p.t.Helper()
	p.awaitWork("widget", metav1.ConditionTrue, "", func(w *api.Work) bool {
		if len(w.Status.ManifestStatuses) != 1 || w.Status.ManifestStatuses[0].Health != health {
			return false
		}
		s := w.Status.ManifestStatuses[0].Status
		return s != nil && string(s.Raw) == status
	})
}

func (s *site) patchWidget(t *testing.T, patch string) {
	t.Helper()
	at := s.admin.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("shop")
	_, err := at.Patch(t.Context(), "a", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "member"})
	require.NoError(t, err)
}

func first(t *engine.Table) (string, engine.Object) {
	for key, o := range t.Snapshot().Under("", "") {
		return key, o
	}
	return "", nil
}

// A Work of a kind that the member does not serve waits until it does. A member that comes back serves custom kinds later than all others:
// what it does not serve yet is not taken for gone.
func TestAnAgentAppliesCustomKindsOnceTheMemberServesThem(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.work("widget", widget)
	p.awaitWork("widget", metav1.ConditionFalse, "the member does not serve example.com/v1, Kind=Widget", nil)
	p.work("definition", widgetDefinition)
	for _, name := range []string{"definition", "widget"} {
		p.awaitWork(name, metav1.ConditionTrue, "", func(w *api.Work) bool {
			return len(w.Status.ManifestStatuses) == 1 && w.Status.ManifestStatuses[0].Health == api.Healthy
		})
	}
	widgets := p.member.engine.Table(catalog.Customs.Name())
	require.Equal(t, 1, widgets.Len())

	p.hub.create(widgetScripts)
	p.awaitWidget(api.Unhealthy, `{"size":1}`)
	p.member.patchWidget(t, `{"spec":{"color":"red"}}`)
	p.rewrite("widget", strings.Replace(widget, "size: 1", "size: 2, color: blue", 1))
	p.awaitWidget(api.Healthy, `{"readyReplicas":2,"size":2}`)
	_, o := first(widgets)
	require.Equal(t, map[string]any{"size": int64(2), "color": "red"}, o.(*unstructured.Unstructured).Object["spec"], "a script keeps the member's")
	p.hub.patch(catalog.Of(api.Key{APIVersion: api.ConfigGroupVersion, Kind: "ResourceInterpreterCustomization"}), "", "widgets",
		`{"spec":{"customizations":{"healthInterpretation":{"luaScript":"function InterpretHealth() while true do end end"},"statusReflection":null}}}`)
	awaitAny(p.hub, catalog.Events, agentWorks, func(e *corev1.Event) bool {
		return e.InvolvedObject.Name == "widget" && e.Reason == "InterpretationFailed" && strings.Contains(e.Message, "too many steps")
	})
	p.awaitWidget(api.Healthy, `{"readyReplicas":2}`)

	// A definition that is deleted in the member takes its objects with it, and both are applied again.
	p.member.delete(catalog.Definitions, "", "widgets.example.com")
	p.log.await(t, `"object":"CustomResourceDefinition widgets.example.com","message":"repaired"`)
	p.rewrite("widget", strings.Replace(widget, "size: 1", "size: 3", 1))
	p.awaitWidget(api.Healthy, `{"readyReplicas":3}`)
	require.Eventually(t, func() bool { return widgets.Len() == 1 }, 3*time.Minute, 10*time.Millisecond, "one that still went with the definition is applied again")

	p.member.stop()
	p.hub.delete(catalog.Works, agentWorks, "widget")
	p.member.start()
	awaitAt(p.hub, catalog.Works, agentWorks, "widget", isAbsent[*api.Work])
	require.Zero(t, widgets.Len())

	p.hub.delete(catalog.Works, agentWorks, "definition")
	awaitAt(p.hub, catalog.Works, agentWorks, "definition", isAbsent[*api.Work])
	require.Zero(t, p.member.engine.Table(catalog.Definitions.Name()).Len())
}

// A custom kind fails over between simulated clusters: they serve it once its definition is propagated to them.
func TestACustomKindFailsOverBetweenSimulatedClusters(t *testing.T) {
	t.Parallel()
	d := start(t, "")
	c, err := client.New(d.client, io.Discard)
	require.NoError(t, err)
	seen := &onlooker{t, t.Context(), c}
	seen.play(fakemember.Config{
		Client: c, Clock: clock.New(), Create: true, Heartbeat: time.Second, Tell: func(string) {}, Cluster: api.ClusterSpec{SyncMode: api.Pull},
	}, "m1", "m2")
	d.apply(widgetDefinition + `
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: definitions}
spec:
  resourceSelectors: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: widgets, namespace: default}
spec:
  resourceSelectors: [{apiVersion: example.com/v1, kind: Widget}]
  placement: {spreadConstraints: [{spreadByField: cluster, maxGroups: 1}]}
`)
	for _, name := range []string{"m1", "m2"} {
		await(seen, api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: name}, func(c *api.Cluster) bool {
			return slices.ContainsFunc(c.Status.APIEnablements, func(e api.APIEnablement) bool { return e.GroupVersion == "example.com/v1" })
		})
	}
	d.awaitServed("/apis/example.com/v1/widgets")
	d.apply(strings.Replace(widget, "shop", "default", 1))
	binding := api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "a-widget"}
	await(seen, binding, func(b *api.ResourceBinding) bool { return runsOn(b, "m1") })
	d.patch("m1", `{"spec":{"taints":[{"key":"failed","effect":"NoExecute"}]}}`)
	await(seen, binding, func(b *api.ResourceBinding) bool { return runsOn(b, "m2") })
}
