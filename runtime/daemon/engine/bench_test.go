package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
)

var bindings = schema.GroupResource{Group: "work.karmada.io", Resource: "resourcebindings"}

func bindingKey(n int) string { return engine.Key(bindings, "default", fmt.Sprintf("web-%06d", n)) }

// binding is of the size that they have in a fleet: about 1 KB of JSON.
func binding(n int) *api.ResourceBinding {
	b := &api.ResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: fmt.Sprintf("web-%06d", n), UID: types.UID(fmt.Sprintf("1c59184b-0000-4000-8000-%012d", n)),
		CreationTimestamp: metav1.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Generation: 2, Finalizers: []string{"karmada.io/binding-controller"},
		Labels:      map[string]string{"app": "web", "policy.karmada.io/permanent-id": "5c1d2e"},
		Annotations: map[string]string{"policy.karmada.io/applied-placement": `{"clusterAffinity":{"clusterNames":["member1","member2"]}}`},
	}}
	b.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: fmt.Sprintf("web-%06d", n)}
	b.Spec.Replicas = 4
	b.Spec.Clusters = []api.TargetCluster{{Name: "member1", Replicas: 2}, {Name: "member2", Replicas: 2}}
	b.Status.Conditions = []metav1.Condition{
		{Type: "Scheduled", Status: metav1.ConditionTrue, Reason: "Success", Message: "Binding has been scheduled successfully.", LastTransitionTime: b.CreationTimestamp},
		{Type: "FullyApplied", Status: metav1.ConditionTrue, Reason: "FullyAppliedSuccess", Message: "All works have been successfully applied", LastTransitionTime: b.CreationTimestamp},
	}
	return b
}

func openBindings(b *testing.B, dir string) *engine.Engine {
	e, err := engine.Open(engine.Config{Clock: clock.New(), Dir: dir, Resources: []engine.Resource{{
		Name: bindings,
		Kind: schema.GroupVersionKind{Group: "work.karmada.io", Version: "v1alpha2", Kind: "ResourceBinding"},
		New:  func() engine.Object { return new(api.ResourceBinding) },
	}}})
	require.NoError(b, err)
	return e
}

// shelf is what writers can do without an engine: an object of their own under a key, in a map with a lock.
type shelf struct {
	mu      sync.Mutex
	objects map[string]engine.Object
}

func (s *shelf) put(key string, o engine.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = o
}

// BenchmarkCreate counts bindings per second that so many writers create, in memory and with a log, beside
// a map with a lock and a file that is written and synced for each.
func BenchmarkCreate(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("map/writers=%d", writers), func(b *testing.B) {
			s := shelf{objects: map[string]engine.Object{}}
			together(b, writers, func(n int) error {
				s.put(bindingKey(n), binding(n))
				return nil
			})
		})
		b.Run(fmt.Sprintf("memory/writers=%d", writers), func(b *testing.B) { benchmarkCreate(b, "", writers) })
	}
	b.Run("file/writers=1", func(b *testing.B) {
		f, err := os.OpenFile(filepath.Join(b.TempDir(), "file"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		require.NoError(b, err)
		together(b, 1, func(n int) error {
			data, err := json.Marshal(binding(n))
			_, wrong := f.Write(data)
			return errors.Join(err, wrong, f.Sync())
		})
		require.NoError(b, f.Close())
	})
	for _, writers := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("durable/writers=%d", writers), func(b *testing.B) { benchmarkCreate(b, b.TempDir(), writers) })
	}
}

func benchmarkCreate(b *testing.B, dir string, writers int) {
	e := openBindings(b, dir)
	together(b, writers, func(n int) error { return e.Commit(engine.Create(bindingKey(n), binding(n))) })
	require.NoError(b, e.Close())
}

// together lets writers do something b.N times between them.
func together(b *testing.B, writers int, do func(n int) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	wrong := make(chan error, writers)
	b.ResetTimer()
	for range writers {
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := do(int(n)); err != nil {
					wrong <- err
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "bindings/s")
	close(wrong)
	for err := range wrong {
		require.NoError(b, err)
	}
}

// BenchmarkUpdate counts read, copy and update of one of a thousand bindings.
func BenchmarkUpdate(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("memory/writers=%d", writers), func(b *testing.B) { benchmarkUpdate(b, "", writers) })
		b.Run(fmt.Sprintf("durable/writers=%d", writers), func(b *testing.B) { benchmarkUpdate(b, b.TempDir(), writers) })
	}
}

func benchmarkUpdate(b *testing.B, dir string, writers int) {
	e := openBindings(b, dir)
	writes := make([]engine.Write, 0, 1000)
	for n := range cap(writes) {
		writes = append(writes, engine.Create(bindingKey(n), binding(n)))
	}
	require.NoError(b, e.Commit(writes...))
	together(b, writers, func(n int) error { return grow(e, bindingKey(n%len(writes))) })
	require.NoError(b, e.Close())
}

// grow raises the replicas of a binding, whatever other writers do.
func grow(e *engine.Engine, key string) error {
	for {
		o, version := e.Table(bindings).Get(key)
		next := o.DeepCopyObject().(*api.ResourceBinding)
		next.Spec.Replicas++
		err := e.Commit(engine.Update(key, next, version))
		if !errors.As(err, new(*engine.Conflict)) {
			return err
		}
	}
}

// BenchmarkReload opens a store of 100 000 bindings, beside decoding their JSON one by one. It tells what a
// binding takes of the heap.
func BenchmarkReload(b *testing.B) {
	many := 100_000
	if testing.Short() {
		many = 1000
	}
	dir := b.TempDir()
	texts := fill(b, dir, many)
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			for _, text := range texts {
				require.NoError(b, json.Unmarshal(text, new(api.ResourceBinding)))
			}
		}
	})
	texts = nil
	b.Run("log", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			before := heap()
			b.StartTimer()
			e := openBindings(b, dir)
			b.StopTimer()
			b.ReportMetric(float64(heap()-before)/float64(many), "B/binding")
			require.Equal(b, many, e.Table(bindings).Snapshot().Len())
			require.NoError(b, e.Close())
			b.StartTimer()
		}
	})
}

// fill makes a store of many bindings and returns their JSON.
func fill(b *testing.B, dir string, many int) [][]byte {
	e := openBindings(b, dir)
	texts := make([][]byte, 0, many)
	for from := 0; from < many; from += 1000 {
		var writes []engine.Write
		for n := from; n < min(from+1000, many); n++ {
			text, err := json.Marshal(binding(n))
			require.NoError(b, err)
			texts = append(texts, text)
			writes = append(writes, engine.Create(bindingKey(n), binding(n)))
		}
		require.NoError(b, e.Commit(writes...))
	}
	require.NoError(b, e.Close())
	return texts
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
