package kubeapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/runtime/daemon/kubeapi"
)

func TestAClusterKeepsWhoSetItsTaintsAndClientsCannotWriteThat(t *testing.T) {
	d := serve(t)
	d.create(clusters, cluster("m1"))
	alice := kubeapi.User{Name: "alice", Groups: []string{kubeapi.EditorGroup}}
	bob := kubeapi.User{Name: strings.Repeat("b", 300), Groups: []string{kubeapi.EditorGroup}}
	patch := func(u kubeapi.User, patch string, path ...string) {
		_, err := d.in(clusters, u).Patch(t.Context(), "m1", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, path...)
		require.NoError(t, err)
	}
	who := func() string {
		m1 := d.get(clusters, "m1")
		return at(t, m1, ".status.taintCauses[*].by") + "|" + at(t, m1, ".status.taintCauses[*].user")
	}
	const cordon = `{"key":"cluster.karmada.io/unschedulable","effect":"NoSchedule"}`
	patch(alice, `{"spec":{"taints":[`+cordon+`]},"status":{"taintCauses":[{"key":"cluster.karmada.io/unschedulable","effect":"NoSchedule","by":"user","user":"mallory"}]}}`)
	require.Equal(t, "user|alice", who())
	m1 := d.get(clusters, "m1")
	require.NotEmpty(t, at(t, m1, ".status.taintCauses[0].at"))
	require.Equal(t, at(t, m1, ".status.taintCauses[0].at"), at(t, m1, ".spec.taints[0].timeAdded"), "a cordon keeps when")

	patch(bob, `{"status":{"taintCauses":[{"key":"cluster.karmada.io/unschedulable","effect":"NoSchedule","by":"user","user":"mallory"}]}}`, "status")
	require.Equal(t, "user|alice", who(), "who reports a status does not say who set taints")
	patch(bob, `{"spec":{"taints":[`+cordon+`,{"key":"k","effect":"NoExecute"}]}}`)
	require.Equal(t, "user user|alice "+strings.Repeat("b", 253), who(), "who sends a taint again has not set it")
}
