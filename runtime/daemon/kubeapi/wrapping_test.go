package kubeapi

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestAnEncodingIsKnownByWhatItPutsAroundAnObject(t *testing.T) {
	const logged = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"b":"c"}}`
	for name, c := range map[string]struct{ encoded, head string }{
		"a watch": {
			`{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"},"data":{"b":"c"}}}` + "\n",
			`{"type":"ADDED","object":`},
		"a list's item has nothing around it": {`{"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7"}}` + "\n", ""},
		"a table tells less":                  {`{"type":"ADDED","object":{"kind":"Table","rows":[{"cells":["a"]}]}}` + "\n", ""},
		"metadata alone is less": {
			`{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}}}` + "\n", ""},
		"YAML is no JSON": {"type: ADDED\nobject:\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.head, string(wrappingOf([]byte(c.encoded), []byte(logged), "7")))
		})
	}
}

func TestWhatTheLogHasIsNotWrittenOutAgain(t *testing.T) {
	var known wrappings
	encoded := 0
	encode := func(_ runtime.Object, w io.Writer) error {
		encoded++
		_, err := io.WriteString(w, `{"type":"ADDED","object":{"metadata":{"resourceVersion":"7","name":"a"}}}`+"\n")
		return err
	}
	write := func(name, version string, logged []byte) string {
		s := &shared{Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}, logged: logged, wrappings: &known}
		text, err := s.write("json", encode)
		require.NoError(t, err)
		return string(text)
	}
	require.Contains(t, write("a", "7", []byte(`{"metadata":{"name":"a"}}`)), `"name":"a"`)
	require.Equal(t, `{"type":"ADDED","object":{"metadata":{"resourceVersion":"8","name":"b"}}}`+"\n", write("b", "8", []byte(`{"metadata":{"name":"b"}}`)))
	require.Equal(t, 1, encoded)
	write("c", "9", nil)
	require.Equal(t, 2, encoded, "the log is not at hand any more")
}
