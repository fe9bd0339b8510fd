package kubeapi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
)

// warnings collects what a server warns of.
type warnings struct {
	mu    sync.Mutex
	heard []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, text)
}

// previewing warns of each taint that a write adds to a cluster, and answers every preview.
func previewing(c *kubeapi.Config) {
	c.Answer = func(_ context.Context, p *api.FailoverPreview) error {
		p.Status.Evicted = 12
		return nil
	}
	c.Preview = func(_ context.Context, o, old api.Object) []string {
		now, ok := o.(*api.Cluster)
		if !ok {
			return nil
		}
		before := 0
		if was, ok := old.(*api.Cluster); ok {
			before = len(was.Spec.Taints)
		}
		if len(now.Spec.Taints) <= before {
			return nil
		}
		return []string{fmt.Sprintf("12 bindings on %s do not tolerate this taint", now.Name)}
	}
}

func TestAWriteSaysWhatItWouldLeadTo(t *testing.T) {
	d := serve(t, previewing)
	heard := &warnings{}
	c := d.as(kubeapi.Admin())
	c.WarningHandler = heard
	client, err := dynamic.NewForConfig(c)
	require.NoError(t, err)
	admin := client.Resource(clusters)
	_, err = admin.Create(t.Context(), cluster("m1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Empty(t, heard.heard)

	taint := []byte(`{"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)
	const expected = "12 bindings on m1 do not tolerate this taint"
	_, err = admin.Patch(t.Context(), "m1", types.MergePatchType, taint, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	require.Equal(t, []string{expected}, heard.heard, "a dry run warns, too")
	_, err = admin.Patch(t.Context(), "m1", types.MergePatchType, taint, metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{expected, expected}, heard.heard)
	_, err = admin.Patch(t.Context(), "m1", types.MergePatchType, []byte(`{"status":{"kubernetesVersion":"v1"}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	require.Len(t, heard.heard, 2, "a status is written by machines")
}

func TestAPreviewIsAnsweredAndNotKept(t *testing.T) {
	d := serve(t, func(c *kubeapi.Config) {
		c.Answer = func(_ context.Context, p *api.FailoverPreview) error {
			if len(p.Spec.Clusters) == 0 {
				return errors.New("which cluster?")
			}
			p.Status = api.FailoverPreviewStatus{Evicted: 1, Evictions: []api.PreviewedEviction{{Name: "web", FromCluster: p.Spec.Clusters[0]}}}
			return nil
		}
	})
	ask := d.client(viewer).Resource(previews)
	p := object(api.LeewardGroupVersion, "FailoverPreview", "", "what-if", map[string]any{"clusters": []any{"m1"}})
	answered, err := ask.Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "1 web from m1", at(t, answered, ".status.evicted")+" "+at(t, answered, ".status.evictions[0].name")+
		" from "+at(t, answered, ".status.evictions[0].fromCluster"))
	require.Equal(t, "0", at(t, answered, ".status.unschedulable"))
	p.Object["spec"] = map[string]any{}
	_, err = ask.Create(t.Context(), p, metav1.CreateOptions{})
	require.EqualError(t, err, "which cluster?")
	require.True(t, apierrors.IsBadRequest(err))
	_, err = d.client(kubeapi.Admin()).Resource(previews).Get(t.Context(), "what-if", metav1.GetOptions{})
	require.Error(t, err)
}
