package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
)

// object reads an object that is written as YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	o := &unstructured.Unstructured{}
	require.NoError(t, o.UnmarshalJSON(raw))
	return o
}

// workWith is a Work with manifests as they are sent.
func workWith(manifests ...string) *api.Work {
	w := &api.Work{}
	w.Name, w.Namespace, w.Generation = "web", "karmada-es-m1", 3
	for _, m := range manifests {
		w.Spec.Workload.Manifests = append(w.Spec.Workload.Manifests, api.Manifest{})
		w.Spec.Workload.Manifests[len(w.Spec.Workload.Manifests)-1].Raw = []byte(m)
	}
	return w
}

func configMap(name, data string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"shop"},"data":{"key":%q}}`, name, data)
}

func TestManifestsThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		manifests []string
		says      string
	}{
		"no JSON":               {[]string{`{`}, "spec.workload.manifests[0]: unexpected end of JSON input"},
		"no object":             {[]string{`[]`}, "spec.workload.manifests[0]: json: cannot unmarshal array"},
		"null":                  {[]string{`null`}, "spec.workload.manifests[0].apiVersion: required"},
		"no version":            {[]string{`{"kind":"A","metadata":{"name":"a"}}`}, "spec.workload.manifests[0].apiVersion: required"},
		"no kind":               {[]string{configMap("a", ""), `{"apiVersion":"v1","metadata":{"name":"a"}}`}, "spec.workload.manifests[1].kind: required"},
		"no name":               {[]string{`{"apiVersion":"v1","kind":"A"}`}, "spec.workload.manifests[0].metadata.name: required"},
		"a numeric name":        {[]string{`{"apiVersion":"v1","kind":"A","metadata":{"name":1}}`}, "spec.workload.manifests[0].metadata.name: must be a text"},
		"metadata is no object": {[]string{`{"apiVersion":"v1","kind":"A","metadata":1}`}, "spec.workload.manifests[0].metadata.name: must be a text"},
		"a list":                {[]string{`{"apiVersion":"v1","kind":"List","metadata":{"name":"a"},"items":[]}`}, "spec.workload.manifests[0].kind: List holds several objects, a manifest is one"},
		"one twice":             {[]string{configMap("a", "1"), configMap("b", ""), configMap("a", "2")}, "spec.workload.manifests[2]: ConfigMap shop/a is manifests[0], too"},
		"too large":             {[]string{configMap("a", strings.Repeat("x", LargestManifest))}, "bytes, the agent takes at most 1572864"},
		"too many":              {make([]string, MostManifests+1), "spec.workload.manifests: 101 manifests, the agent takes at most 100"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifestsOf(workWith(c.manifests...))
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestManifestsAtTheirBounds(t *testing.T) {
	var most []string
	for i := range MostManifests {
		most = append(most, configMap(fmt.Sprint("c", i), ""))
	}
	all, err := manifestsOf(workWith(most...))
	require.NoError(t, err)
	require.Len(t, all, MostManifests)
	largest := configMap("a", strings.Repeat("x", LargestManifest-len(configMap("a", ""))))
	require.Len(t, largest, LargestManifest)
	_, err = manifestsOf(workWith(largest))
	require.NoError(t, err)
	all, err = manifestsOf(workWith())
	require.NoError(t, err)
	require.Empty(t, all)
}

// Each value of each of these manifests is replaced by values of all other types: reading it ends in a manifest that can be marked,
// compared and judged, or in an error.
func TestManifestsWithValuesOfWrongTypes(t *testing.T) {
	tried := 0
	for _, text := range []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, labels: {a: b}, annotations: {a: b}}, data: {k: v}}",
		"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: a, clusterIPs: [a], ports: [{port: 80, nodePort: 1, protocol: TCP}]}, status: {loadBalancer: {ingress: [{ip: a}]}}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, generation: 1, managedFields: [{manager: kube-controller-manager, subresource: scale}], labels: {resourcetemplate.karmada.io/retain-replicas: 'true'}}, spec: {replicas: 1}, status: {observedGeneration: 1}}",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {manualSelector: false, selector: {}, template: {metadata: {labels: {job-name: a}}}}, status: {conditions: [{type: Failed, status: 'True'}]}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/service-account-token, data: {token: a}}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {volumeName: a}, status: {phase: Bound}}",
		"{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, generation: 1}, status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}}",
	} {
		whole := object(t, text)
		for _, odd := range []any{nil, true, 1.5, "x", []any{}, []any{1.5}, map[string]any{}, map[string]any{"a": 1.5}} {
			replaceEach(whole.Object, odd, func() {
				raw, err := json.Marshal(whole.Object)
				require.NoError(t, err)
				readable(t, raw)
				tried++
			})
		}
	}
	require.Greater(t, tried, 500)
}

// replaceEach has each value within a value be another one while a function runs.
func replaceEach(value, by any, run func()) {
	each := func(now any, set func(any)) {
		set(by)
		run()
		set(now)
		replaceEach(now, by, run)
	}
	switch v := value.(type) {
	case map[string]any:
		for key, now := range v { // order-free: each by itself
			each(now, func(value any) { v[key] = value })
		}
	case []any:
		for i, now := range v {
			each(now, func(value any) { v[i] = value })
		}
	}
}

func readable(t *testing.T, raw []byte) {
	t.Helper()
	w := workWith(string(raw))
	all, err := manifestsOf(w)
	if err != nil {
		return
	}
	o := all[0]
	healthOf(o)
	keepMembers(o, o.DeepCopy())
	keepMembers(o, nil)
	mark(o, w)
	require.Equal(t, w.Name, workOf(o, w.Namespace), "%s", raw)
	require.Equal(t, digest(o), digest(o.DeepCopy()))
	require.NoError(t, mayTake(o, o, w, ""))
}
