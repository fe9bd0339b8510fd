package kubeapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"leeward/runtime/daemon/kubeapi"
)

// TestAWatchSendsWhatAGetReads holds for the first event, which is written out, and for the others, which are sent as
// the log has them.
func TestAWatchSendsWhatAGetReads(t *testing.T) {
	d := start(t, durableEngine(t), t.TempDir(), "127.0.0.1:0")
	client, err := rest.HTTPClientFor(d.as(kubeapi.Admin()))
	require.NoError(t, err)
	answer, err := client.Get(fmt.Sprintf("https://%s/apis/cluster.karmada.io/v1alpha1/clusters?watch=true&resourceVersion=%d", d.Addr(), d.engine.Version()))
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	events := json.NewDecoder(bufio.NewReader(answer.Body))
	follows := func(kind, name string) {
		t.Helper()
		var event struct {
			Type   string
			Object json.RawMessage
		}
		require.NoError(t, events.Decode(&event))
		require.Equal(t, kind, event.Type)
		got, err := client.Get("https://" + d.Addr() + "/apis/cluster.karmada.io/v1alpha1/clusters/" + name)
		require.NoError(t, err)
		text, err := io.ReadAll(got.Body)
		require.NoError(t, err)
		require.NoError(t, got.Body.Close())
		require.JSONEq(t, string(text), string(event.Object))
	}
	for i := range 3 {
		name := fmt.Sprintf("m%d", i)
		d.create(clusters, cluster(name))
		follows("ADDED", name)
	}
	for i := range 3 {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"metadata":"\"metadata\":{%d"}}}`, i)
		_, err := d.in(clusters, kubeapi.Admin()).Patch(t.Context(), "m0", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		require.NoError(t, err)
		follows("MODIFIED", "m0")
	}
}
