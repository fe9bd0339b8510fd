package manifest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsyaml "sigs.k8s.io/yaml"
)

// FuzzDecode: any bytes end in objects or problems, twice the same, and what is accepted as an object
// of a kind without a Go type is what kubectl would send.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		deployment, karmadaGuides, twoClusters, oneScript,
		"", "---\n", "null", "[]", "a: b", "...\n---\n...", "%YAML 1.1\n---\na: b", "{\"a\": [1, 2.5e3, true]}",
		"a: &a [*a]", "a: &a {<<: *a}", "<<: {a: b}", "? {a: b}\n: c", "a: !!binary aGk=", "\xef\xbb\xbfa: b", "a:\r\n  b\r\n---\r\nc: d",
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Thing, metadata: {name: a}, x: {y: yes}}]",
		"apiVersion: x/v1\nkind: Thing\nmetadata: {name: a, labels: &l {a: b}}\nx: {<<: *l, c: *l, 1: 2}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		documents, problems := Decode("f.yaml", data)
		again, problemsAgain := Decode("f.yaml", data)
		require.Equal(t, problems, problemsAgain)
		require.Len(t, again, len(documents))
		for i, d := range documents {
			require.NotEmpty(t, d.Object.GetName())
			require.Equal(t, d.Object, again[i].Object)
			require.Positive(t, d.Line("spec.x[0]"))
		}
		for _, p := range problems {
			require.NotEmpty(t, p.Message)
			require.Positive(t, p.Line)
		}
		if len(documents) == 1 && len(problems) == 0 && len(split(data)) == 1 {
			sameAsKubectl(t, documents[0], data)
		}
	})
}

func sameAsKubectl(t *testing.T, d Document, data []byte) {
	u, ok := d.Object.(*unstructured.Unstructured)
	if !ok || d.Place.Field != "" {
		return
	}
	theirs, err := sigsyaml.YAMLToJSONStrict(data)
	if err != nil {
		return
	}
	ours, err := json.Marshal(u.Object)
	require.NoError(t, err)
	require.JSONEq(t, string(theirs), string(ours))
}
