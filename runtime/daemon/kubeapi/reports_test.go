package kubeapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"leeward/runtime/daemon/kubeapi"
)

// list writes a JSON list of so many items; %d in an item is its place.
func list(n int, item string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "%d", fmt.Sprint(i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

const condition = `{"type":"C%d","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}`

// agentOfOne serves the cluster m1 with a Work, and returns how its agent writes their status.
func agentOfOne(t *testing.T) (writeCluster, writeWork func(status string) error) {
	t.Helper()
	d := serve(t)
	d.create(clusters, cluster("m1"))
	d.create(namespaces, object("v1", "Namespace", "", "karmada-es-m1", nil))
	_, err := d.client(kubeapi.Admin()).Resource(works).Namespace("karmada-es-m1").Create(t.Context(), secretWork("w"), metav1.CreateOptions{})
	require.NoError(t, err)
	agent := d.client(kubeapi.Agent("m1"))
	patch := func(r schema.GroupVersionResource, namespace, name string) func(string) error {
		return func(status string) error {
			var at dynamic.ResourceInterface = agent.Resource(r)
			if namespace != "" {
				at = agent.Resource(r).Namespace(namespace)
			}
			_, err := at.Patch(t.Context(), name, types.MergePatchType, []byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status")
			return err
		}
	}
	return patch(clusters, "", "m1"), patch(works, "karmada-es-m1", "w")
}

// refusedFor requires that a write is refused as invalid, for a field.
func refusedFor(t *testing.T, err error, field string) {
	t.Helper()
	require.Error(t, err)
	status := err.(apierrors.APIStatus).Status()
	require.Equal(t, int32(http.StatusUnprocessableEntity), status.Code, "%v", err)
	require.Equal(t, field, status.Details.Causes[0].Field, "%v", err)
}

func TestAnAgentReportsOnlySoMuch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	cluster, work := agentOfOne(t)
	long := strings.Repeat("x", 30000)
	for name, c := range map[string]struct {
		write        func(string) error
		most         int // of the items, that pass
		status, item string
		field        string
	}{
		"conditions":            {cluster, 100, `{"conditions":LIST}`, condition, "status.conditions"},
		"groups of APIs":        {cluster, 2000, `{"apiEnablements":LIST}`, `{"groupVersion":"g%d/v1"}`, "status.apiEnablements"},
		"kinds":                 {cluster, 10000, `{"apiEnablements":[{"groupVersion":"v1","resources":LIST}]}`, `{"kind":"K%d","name":"k"}`, "status.apiEnablements[0].resources"},
		"grades of nodes":       {cluster, 100, `{"resourceSummary":{"allocatableModelings":LIST}}`, `{"grade":%d,"count":1}`, "status.resourceSummary.allocatableModelings"},
		"remedies":              {cluster, 100, `{"remedyActions":LIST}`, `"r%d"`, "status.remedyActions"},
		"zones of nodes":        {cluster, 100, `{"nodeTopology":{"zones":LIST}}`, `"z%d"`, "status.nodeTopology.zones"},
		"a status that is long": {cluster, 30, `{"conditions":LIST}`, strings.Replace(condition, `"message":""`, `"message":"`+long+`"`, 1), "status"},
		"conditions of a Work":  {work, 100, `{"conditions":LIST}`, condition, "status.conditions"},
		"manifests":             {work, 100, `{"manifestStatuses":LIST}`, `{"identifier":{"ordinal":%d,"version":"v1","kind":"K","resource":"k","namespace":"n","name":"a"}}`, "status.manifestStatuses"},
		"a manifest's status": {work, 8, `{"manifestStatuses":[{"identifier":{"ordinal":0,"version":"v1","kind":"K","resource":"k","namespace":"n","name":"a"},"status":{"a":LIST}}]}`,
			`"` + long + `"`, "status.manifestStatuses[0].status"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.write(strings.Replace(c.status, "LIST", list(c.most, c.item), 1)))
			for _, n := range []int{c.most + c.most/4 + 1, 20000} {
				if n*len(c.item) < 3<<20 { // as much as a request may have
					refusedFor(t, c.write(strings.Replace(c.status, "LIST", list(n, c.item), 1)), c.field)
				}
			}
			require.NoError(t, c.write("null"))
		})
	}
}

func TestAReportThatMakesNoSenseIsRefused(t *testing.T) {
	cluster, work := agentOfOne(t)
	manifest := `{"identifier":{"ordinal":0,"version":"v1","kind":"K","resource":"k","namespace":"n","name":"a"},"health":"Splendid"}`
	for name, c := range map[string]struct {
		write         func(string) error
		status, field string
	}{
		"a condition that is Maybe":       {cluster, `{"conditions":[{"type":"Ready","status":"Maybe"}]}`, "status.conditions[0].status"},
		"one without a status":            {cluster, `{"conditions":[{"type":"Ready"}]}`, "status.conditions[0].status"},
		"one of no type":                  {cluster, `{"conditions":[{"status":"True"}]}`, "status.conditions[0].type"},
		"one twice":                       {cluster, `{"conditions":[{"type":"Ready","status":"True"},{"type":"Ready","status":"False"}]}`, "status.conditions[1].type"},
		"negative capacity":               {cluster, `{"resourceSummary":{"allocatable":{"cpu":"-1"}}}`, "status.resourceSummary.allocatable[cpu]"},
		"less than nothing is used":       {cluster, `{"resourceSummary":{"allocated":{"pods":"-1"}}}`, "status.resourceSummary.allocated[pods]"},
		"less than nothing is promised":   {cluster, `{"resourceSummary":{"allocating":{"memory":"-1Gi"}}}`, "status.resourceSummary.allocating[memory]"},
		"fewer than no nodes of a grade":  {cluster, `{"resourceSummary":{"allocatableModelings":[{"grade":0,"count":-1}]}}`, "status.resourceSummary.allocatableModelings[0].count"},
		"fewer than no nodes":             {cluster, `{"nodeSummary":{"totalNum":-1}}`, "status.nodeSummary.totalNum"},
		"a region that is no label":       {cluster, `{"nodeTopology":{"region":"e/u"}}`, "status.nodeTopology.region"},
		"a zone that is no label":         {cluster, `{"nodeTopology":{"zones":["a","-"]}}`, "status.nodeTopology.zones[1]"},
		"an API of no group":              {cluster, `{"apiEnablements":[{"groupVersion":""}]}`, "status.apiEnablements[0].groupVersion"},
		"a health that is Splendid":       {work, `{"manifestStatuses":[` + manifest + `]}`, "status.manifestStatuses[0].health"},
		"a generation that is to come":    {work, `{"conditions":[{"type":"Applied","status":"True","observedGeneration":2}]}`, "status.conditions[0].observedGeneration"},
		"a generation that never was":     {work, `{"conditions":[{"type":"Applied","status":"True","observedGeneration":-1}]}`, "status.conditions[0].observedGeneration"},
		"a Work that is Maybe applied":    {work, `{"conditions":[{"type":"Applied","status":"Maybe"}]}`, "status.conditions[0].status"},
		"a manifest before the first one": {work, strings.Replace(`{"manifestStatuses":[`+strings.Replace(manifest, "Splendid", "Healthy", 1)+`]}`, `"ordinal":0`, `"ordinal":-1`, 1), "status.manifestStatuses[0].identifier.ordinal"},
	} {
		t.Run(name, func(t *testing.T) { refusedFor(t, c.write(c.status), c.field) })
	}
}
