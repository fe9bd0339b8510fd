package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/runtime/client/clienttest"
)

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	budgetPath      = "/apis/leeward.dev/v1alpha1/namespaces/shop/evictionbudgets/web"
)

// karmada serves what an installation asks of a Karmada.
func karmada(t *testing.T) *clienttest.Server {
	t.Helper()
	return clienttest.New(t, map[string]string{
		"/apis/work.karmada.io/v1alpha2": `{"resources": [{"name": "resourcebindings"}]}`, "/apis/leeward.dev/v1alpha1": `{"resources": []}`,
	})
}

func TestAnInstallationMayBeRepeatedAndTakenBack(t *testing.T) {
	s := karmada(t)
	code, stdout, stderr := at(t, s, "attach install act -n ops1")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "customresourcedefinition/evictionbudgets.leeward.dev created\n")
	require.True(t, strings.HasSuffix(stdout, "governor/fleet created\n"), stdout)
	s.Await("/apis/rbac.authorization.k8s.io/v1/namespaces/ops1/roles/leewardd-karmada-acting", func(o *unstructured.Unstructured) bool {
		require.Equal(t, []any{"leewardd-karmada"}, itemOf(t, o, "rules", 1)["resourceNames"])
		return true
	})
	s.Await("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/leewardd-karmada-acting", func(o *unstructured.Unstructured) bool {
		require.Equal(t, "ops1", itemOf(t, o, "subjects", 0)["namespace"])
		return true
	})
	before := s.Get(definitionsPath + "/evictionbudgets.leeward.dev")
	code, stdout, stderr = at(t, s, "attach install act -n ops1 -o yaml")
	require.Zero(t, code, stderr)
	require.Equal(t, before.Object["spec"], s.Get(definitionsPath + "/evictionbudgets.leeward.dev").Object["spec"])
	require.Contains(t, stdout, "kind: List\n")

	s.Put(budgetPath, `{"apiVersion": "leeward.dev/v1alpha1", "kind": "EvictionBudget", "metadata": {"name": "web", "namespace": "shop"}}`)
	asked := len(s.Requests())
	for _, dry := range []string{"", " --dry-run=server"} {
		code, stdout, stderr = at(t, s, "attach uninstall -n ops1"+dry)
		require.Equal(t, exitFailed, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "EvictionBudget shop/web would be deleted with their kinds: delete them, or give --delete-objects")
	}
	code, stdout, stderr = at(t, s, "attach uninstall -n ops1 --delete-objects --dry-run=server")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "namespace/ops1 deleted (server dry run)\n")
	require.Len(t, s.Requests(), asked, "nothing is written")
	code, stdout, stderr = at(t, s, "attach uninstall -n ops1 --delete-objects")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "customresourcedefinition/governors.leeward.dev deleted\n")
	require.Nil(t, s.Get(definitionsPath+"/governors.leeward.dev"))
	code, stdout, stderr = at(t, s, "attach uninstall -n ops1 --delete-objects")
	require.Zero(t, code, stderr)
	require.Empty(t, stdout, "nothing remains")
}

// itemOf is one object of a list of an object.
func itemOf(t *testing.T, o *unstructured.Unstructured, field string, n int) map[string]any {
	t.Helper()
	require.NotNil(t, o)
	return o.Object[field].([]any)[n].(map[string]any)
}

func TestAnInstallationTouchesNothingOfOthers(t *testing.T) {
	s := karmada(t)
	s.Put("/api/v1/namespaces/leeward-system", `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "leeward-system"}}`)
	code, stdout, stderr := at(t, s, "attach install shadow")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "namespace/leeward-system kept: it was there before\n")
	code, stdout, stderr = at(t, s, "attach install shadow --dry-run=server")
	require.Zero(t, code, stderr)
	require.NotContains(t, stdout, "created")
	s.Put("/apis/leeward.dev/v1alpha1/governors/fleet", `{"apiVersion": "leeward.dev/v1alpha1", "kind": "Governor", "metadata": {"name": "fleet", "labels": {"app.kubernetes.io/managed-by": "leeward-attach"}}, "spec": {"pause": {"reason": "freeze"}}}`)
	code, _, stderr = at(t, s, "attach uninstall")
	require.Equal(t, exitFailed, code, "evictions are paused")
	require.Contains(t, stderr, "Governor fleet would be deleted")
	code, stdout, stderr = at(t, s, "attach uninstall --delete-objects")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "namespace/leeward-system kept: leeward attach install did not make it\n")
	code, _, stderr = at(t, s, "attach install node-taint-eviction")
	require.Equal(t, exitInvalid, code)
	require.Contains(t, stderr, "role node-taint-eviction is not for the API server of a karmada")
}
