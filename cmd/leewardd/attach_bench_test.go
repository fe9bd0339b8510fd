package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// BenchmarkAThousandPodsOfOneNode measures, from the taint on, the first and the last eviction by an attached daemon, and how long a client
// takes that only patches and deletes as many pods, as fast as the server lets it.
func BenchmarkAThousandPodsOfOneNode(b *testing.B) {
	pods := 1000
	if testing.Short() {
		pods /= 10
	}
	f := newForeign(b)
	f.node("n1")
	a := f.attachBy(f.kubeconfig, "--act", "node-taint-eviction", "--log-level", "error")
	for acts := false; !acts; {
		_, metrics := a.read(b, "/metrics")
		acts = strings.Contains(metrics, `leeward_attach_mode{mode="acting"} 1`)
	}
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		for i := range pods {
			f.pod(fmt.Sprintf("p%d-%d", n, i), "n1", 0)
		}
		now, err := f.client.CoreV1().Pods("default").List(b.Context(), metav1.ListOptions{})
		require.NoError(b, err)
		w, err := f.client.CoreV1().Pods("default").Watch(b.Context(), metav1.ListOptions{ResourceVersion: now.ResourceVersion})
		require.NoError(b, err)
		b.StartTimer()
		began := time.Now()
		f.taint("n1", true)
		first, last := f.evictions(w, fmt.Sprintf("p%d-", n), pods, began)
		b.StopTimer()
		w.Stop()
		f.taint("n1", false)
		raw := f.rawEvictions(b, n, pods)
		b.ReportMetric(float64(first.Milliseconds()), "first-ms")
		b.ReportMetric(float64(last.Milliseconds()), "last-ms")
		b.ReportMetric(float64(raw.Milliseconds()), "client-alone-ms")
		none := int64(0)
		require.NoError(b, f.client.CoreV1().Pods("default").DeleteCollection(b.Context(), metav1.DeleteOptions{GracePeriodSeconds: &none}, metav1.ListOptions{}))
		b.StartTimer()
	}
}

// evictions waits until so many pods, whose names begin with a prefix, are being deleted, and returns when the first and the last were.
func (f *foreign) evictions(w watch.Interface, prefix string, pods int, began time.Time) (first, last time.Duration) {
	f.t.Helper()
	seen := map[types.UID]bool{}
	for e := range w.ResultChan() {
		p, is := e.Object.(*corev1.Pod)
		if !is || !strings.HasPrefix(p.Name, prefix) || p.DeletionTimestamp == nil || seen[p.UID] {
			continue
		}
		seen[p.UID] = true
		if last = time.Since(began); first == 0 {
			first = last
		}
		if len(seen) == pods {
			return first, last
		}
	}
	f.t.Fatal("the watch ended")
	return 0, 0
}

// rawEvictions is how long a client takes that only patches and deletes.
func (f *foreign) rawEvictions(b *testing.B, n, pods int) time.Duration {
	b.Helper()
	for i := range pods {
		f.pod(fmt.Sprintf("raw%d-%d", n, i), "n1", 0)
	}
	const patch = `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager","message":"x","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	began := time.Now()
	var all sync.WaitGroup
	names := make(chan string)
	for range 100 {
		all.Go(func() {
			for name := range names {
				_, err := f.client.CoreV1().Pods("default").Patch(b.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "leewardd"}, "status")
				if err == nil {
					err = f.client.CoreV1().Pods("default").Delete(b.Context(), name, metav1.DeleteOptions{})
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range pods {
		names <- fmt.Sprintf("raw%d-%d", n, i)
	}
	close(names)
	all.Wait()
	return time.Since(began)
}
