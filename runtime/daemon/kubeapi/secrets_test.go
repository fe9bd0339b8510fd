package kubeapi_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
)

// secret is what a user must not read who may not read Secrets; coded is how JSON has it.
const secret = "correct-horse-battery"

var coded = base64.StdEncoding.EncodeToString([]byte(secret))

// secretWork is a Work by which a cluster has a Secret.
func secretWork(name string) *unstructured.Unstructured {
	return object("work.karmada.io/v1alpha1", "Work", "karmada-es-m1", name, map[string]any{"workload": map[string]any{"manifests": []any{
		map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "key", "namespace": "bank"}, "data": map[string]any{"key": coded}},
	}}})
}

func TestAViewerDoesNotReadSecretsThroughWorks(t *testing.T) {
	d := serve(t)
	d.create(namespaces, object("v1", "Namespace", "", "karmada-es-m1", nil))
	_, err := d.client(kubeapi.Admin()).Resource(works).Namespace("karmada-es-m1").Create(t.Context(), secretWork("w"), metav1.CreateOptions{})
	require.NoError(t, err)
	const table, metadata = "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	const list, one = "/apis/work.karmada.io/v1alpha1/works", "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works/w"
	for name, user := range map[string]kubeapi.User{
		"viewers": viewer, "viewers of the namespace of a cluster": {Name: "vic", Groups: []string{kubeapi.ViewerGroup + ":karmada-es-m1"}}, "editors of another": shopEditor,
	} {
		t.Run(name, func(t *testing.T) {
			config := d.as(user)
			client, err := rest.HTTPClientFor(config)
			require.NoError(t, err)
			for _, path := range []string{one, one + "/status", list, list + "?watch=true", "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works?watch=true", list + "?includeObject=Object"} {
				for _, accept := range []string{"application/json", "application/yaml", table, metadata} {
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, nil)
					require.NoError(t, err)
					request.Header.Set("Accept", accept)
					answer, err := client.Do(request)
					require.NoError(t, err)
					text, err := io.ReadAll(answer.Body)
					require.NoError(t, err)
					require.NoError(t, answer.Body.Close())
					require.Equal(t, http.StatusForbidden, answer.StatusCode, "%s as %s: %s", path, accept, text)
					require.NotContains(t, string(text), coded)
				}
			}
		})
	}
	_, err = d.client(editor).Resource(works).Namespace("karmada-es-m1").Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err, "an editor may read Secrets, too")
}

func TestTheAuditLeavesOutWhatSecretsAndWorksHold(t *testing.T) {
	d := serve(t, func(c *kubeapi.Config) {
		c.Answer = func(context.Context, *api.FailoverPreview) error { return errors.New("spec.objects[0]: " + coded) }
	})
	d.create(namespaces, object("v1", "Namespace", "", "karmada-es-m1", nil))
	admin := d.client(kubeapi.Admin())
	in := admin.Resource(works).Namespace("karmada-es-m1")
	key := object("v1", "Secret", "default", "key", nil)
	key.Object["data"] = map[string]any{"key": coded}
	key.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"key":"` + coded + `"}}`})
	force := true
	write := func(what string, wanted bool, do func() error) {
		t.Helper()
		require.Equal(t, wanted, do() == nil, what)
	}
	write("create a Work", true, func() error { _, err := in.Create(t.Context(), secretWork("w"), metav1.CreateOptions{}); return err })
	write("create it again", false, func() error { _, err := in.Create(t.Context(), secretWork("w"), metav1.CreateOptions{}); return err })
	write("replace it", true, func() error { _, err := in.Update(t.Context(), secretWork("w"), metav1.UpdateOptions{}); return err })
	write("apply it", true, func() error {
		_, err := in.Apply(t.Context(), "w", secretWork("w"), metav1.ApplyOptions{FieldManager: "m", Force: force})
		return err
	})
	write("try it", true, func() error {
		_, err := in.Create(t.Context(), secretWork("dry"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	patch := []byte(`{"spec":{"workload":{"manifests":[{"apiVersion":"v1","kind":"Secret","data":{"key":"` + coded + `"}}]}}}`)
	write("patch it", true, func() error {
		_, err := in.Patch(t.Context(), "w", types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	write("patch it in JSON", true, func() error {
		patch := []byte(`[{"op":"replace","path":"/spec/workload/manifests/0/data/key","value":"` + coded + `"}]`)
		_, err := in.Patch(t.Context(), "w", types.JSONPatchType, patch, metav1.PatchOptions{})
		return err
	})
	write("replace its status", true, func() error {
		w := secretWork("w")
		_, err := in.UpdateStatus(t.Context(), w, metav1.UpdateOptions{})
		return err
	})
	write("write nonsense", false, func() error {
		w := secretWork("w")
		w.SetLabels(map[string]string{"a": secret + "!!"})
		_, err := in.Update(t.Context(), w, metav1.UpdateOptions{})
		return err
	})
	write("create a Secret", true, func() error {
		_, err := admin.Resource(secrets).Namespace("default").Create(t.Context(), key, metav1.CreateOptions{})
		return err
	})
	write("give it a type that it cannot have", false, func() error {
		_, err := admin.Resource(secrets).Namespace("default").Patch(t.Context(), "key", types.ApplyPatchType,
			[]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"key","labels":{"a":["`+secret+`"]}}}`), metav1.PatchOptions{FieldManager: "m", Force: &force})
		return err
	})
	write("ask about a Secret", false, func() error {
		_, err := admin.Resource(previews).Create(t.Context(), object("leeward.dev/v1alpha1", "FailoverPreview", "", "p", map[string]any{"objects": []any{key.Object}}), metav1.CreateOptions{})
		return err
	})
	write("delete the Work", true, func() error { return in.Delete(t.Context(), "w", metav1.DeleteOptions{}) })
	d.stop()
	text, err := os.ReadFile(filepath.Join(d.dir, "audit.jsonl"))
	require.NoError(t, err)
	require.NotContains(t, string(text), coded)
	require.NotContains(t, string(text), secret)
	require.Equal(t, 14, strings.Count(string(text), "\n"), "each write is a line")
	require.Contains(t, string(text), `"reason":"Invalid","code":422`, "with what became of it")
}
