package kubeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/runtime/daemon/kubeapi"
)

func TestWhoAsksForCustomKindsHearsThatThereAreNone(t *testing.T) {
	d := serve(t)
	customKinds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	crds := d.client(kubeapi.Admin()).Resource(customKinds)
	all, err := crds.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, all.Items)
	require.Error(t, crds.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	_, err = d.client(viewer).Resource(customKinds).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "kubectl asks before it creates a FailoverPreview")
}
