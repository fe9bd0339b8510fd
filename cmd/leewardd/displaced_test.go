package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// TestADaemonWhoseDataFolderIsGoneRefusesWrites deletes and replaces the folder of a daemon that runs.
func TestADaemonWhoseDataFolderIsGoneRefusesWrites(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, data string){
		"deleted": func(t *testing.T, data string) { require.NoError(t, os.RemoveAll(data)) },
		"replaced": func(t *testing.T, data string) {
			require.NoError(t, os.Rename(data, data+".before"))
			require.NoError(t, os.CopyFS(data, os.DirFS(data+".before")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "shadow: true\n") // nothing but what the test does is written
			r.apply(manifests)
			client, err := dynamic.NewForConfig(r.client)
			require.NoError(t, err)
			clusters := client.Resource(schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"})
			harm(t, filepath.Join(filepath.Dir(r.config), "data"))
			code, body := r.read("/readyz")
			require.Equal(t, http.StatusInternalServerError, code, "before anything is written")
			require.Contains(t, body, "[-]store failed")
			_, err = clusters.Patch(t.Context(), "m1", types.MergePatchType, []byte(`{"spec":{"region":"eu"}}`), metav1.PatchOptions{})
			require.True(t, apierrors.IsServiceUnavailable(err), err)
			require.ErrorContains(t, err, "put the folder back, or a backup in its place, and start again")
			r.log.await(t, "while this process has it open: what is written now would be lost")
			m1, err := clusters.Get(t.Context(), "m1", metav1.GetOptions{})
			require.NoError(t, err, "reads go on")
			require.NotContains(t, m1.Object["spec"], "region")
			require.NoError(t, r.stop())
		})
	}
}
