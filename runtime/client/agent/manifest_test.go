package agent

import (
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

// Whatever bytes a Work holds, reading them ends in manifests that can be marked and compared, or in an error.
func FuzzManifests(f *testing.F) {
	f.Add([]byte(configMap("a", "1")))
	f.Add([]byte(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","labels":[],"annotations":1},"spec":{"ports":[1,{"port":{}}]}}`))
	f.Add([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","managedFields":3},"spec":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := workWith(string(raw))
		all, err := manifestsOf(w)
		if err != nil {
			return
		}
		o := all[0]
		keepMembers(o, o.DeepCopy())
		keepMembers(o, nil)
		mark(o, w)
		require.Equal(t, w.Name, workOf(o, w.Namespace))
		require.Equal(t, digest(o), digest(o.DeepCopy()))
		healthOf(o)
		require.NoError(t, mayTake(o, o, w))
	})
}
