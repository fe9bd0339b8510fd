package kubeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
)

// BenchmarkStart opens and runs a server until it answers.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		d := serve(b)
		d.create(clusters, cluster("m1"))
		d.stop()
	}
}

// BenchmarkList lists 10,000 bindings over the wire, and beside it only encodes them.
func BenchmarkList(b *testing.B) {
	const many = 10_000
	d := serve(b)
	fill(b, d.engine, many)
	client, err := rest.HTTPClientFor(d.as(viewer))
	require.NoError(b, err)
	b.Run("over the wire", func(b *testing.B) {
		for b.Loop() {
			answer, err := client.Get("https://" + d.Addr() + "/apis/work.karmada.io/v1alpha2/resourcebindings")
			require.NoError(b, err)
			n, err := io.Copy(io.Discard, answer.Body)
			require.NoError(b, err)
			require.NoError(b, answer.Body.Close())
			b.SetBytes(n)
		}
	})
	b.Run("encoding/json alone", func(b *testing.B) {
		var list api.List[*api.ResourceBinding]
		for _, o := range d.engine.Table(bindings.GroupResource()).Snapshot().Under(engine.Prefix(bindings.GroupResource()), "") {
			list.Items = append(list.Items, o.(*api.ResourceBinding))
		}
		for b.Loop() {
			text, err := json.Marshal(&list)
			require.NoError(b, err)
			b.SetBytes(int64(len(text)))
		}
	})
}

// BenchmarkPatch patches the status of one of a thousand bindings after the other, with no one watching and with
// twenty who do.
func BenchmarkPatch(b *testing.B) {
	for _, watchers := range []int{0, 20} {
		b.Run(fmt.Sprintf("%d watchers", watchers), func(b *testing.B) {
			d := serve(b)
			fill(b, d.engine, 1000)
			patched := d.in(bindings, kubeapi.Admin())
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			for range watchers {
				w, err := patched.Watch(ctx, metav1.ListOptions{ResourceVersion: fmt.Sprint(d.engine.Version())})
				require.NoError(b, err)
				go func() {
					for range w.ResultChan() { // as fast as they come
					}
				}()
			}
			i := 0
			for b.Loop() {
				patch := fmt.Sprintf(`{"status":{"schedulerObservedGeneration":%d}}`, i)
				_, err := patched.Patch(ctx, fmt.Sprintf("b-%05d", i%1000), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
				require.NoError(b, err)
				i++
			}
		})
	}
}

// BenchmarkPost creates cluster-scoped objects over the wire, and beside it in the engine.
func BenchmarkPost(b *testing.B) {
	d := serve(b)
	b.Run("over the wire", func(b *testing.B) {
		client, err := rest.HTTPClientFor(d.as(kubeapi.Admin()))
		require.NoError(b, err)
		i := 0
		for b.Loop() {
			body := fmt.Sprintf(`{"apiVersion":%q,"kind":"Cluster","metadata":{"name":"c-%d-%d"},"spec":{"syncMode":"Pull"}}`, api.ClusterGroupVersion, b.N, i)
			answer, err := client.Post("https://"+d.Addr()+"/apis/cluster.karmada.io/v1alpha1/clusters", "application/json", strings.NewReader(body))
			require.NoError(b, err)
			require.Equal(b, http.StatusCreated, answer.StatusCode)
			require.NoError(b, answer.Body.Close())
			i++
		}
	})
	b.Run("in the engine", func(b *testing.B) {
		i := 0
		for b.Loop() {
			name := fmt.Sprintf("e-%d-%d", b.N, i)
			c := &api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: api.ClusterSpec{SyncMode: api.Pull}}
			require.NoError(b, d.engine.Commit(engine.Create(engine.Key(clusters.GroupResource(), "", name), c)))
			i++
		}
	})
}
