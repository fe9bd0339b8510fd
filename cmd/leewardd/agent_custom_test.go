package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
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

	p.member.stop()
	p.hub.delete(catalog.Works, agentWorks, "widget")
	p.member.start()
	awaitAt(p.hub, catalog.Works, agentWorks, "widget", isAbsent[*api.Work])
	require.Zero(t, widgets.Len())

	p.hub.delete(catalog.Works, agentWorks, "definition")
	awaitAt(p.hub, catalog.Works, agentWorks, "definition", isAbsent[*api.Work])
	require.Zero(t, p.member.engine.Table(catalog.Definitions.Name()).Len())
}
