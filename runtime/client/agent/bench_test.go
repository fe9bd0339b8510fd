package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/client/agent"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/fleet/catalog"
)

// BenchmarkWorks is what one Work takes, applied and reported, of those that wait for an agent which begins. The baseline are the writes
// alone, by as many clients as the agent has workers: one server-side apply, one report. Hub and member answer for nearly nothing, in the
// same process; processor time is that of all three.
func BenchmarkWorks(b *testing.B) {
	works := 2000
	if testing.Short() {
		works = 100
	}
	b.Run("baseline", func(b *testing.B) {
		benchmarkWorks(b, works, func(hub, member *rest.Config) (end func()) {
			return writeAll(b, hub, member, works)
		})
	})
	b.Run("agent", func(b *testing.B) {
		benchmarkWorks(b, works, func(hub, member *rest.Config) (end func()) {
			a, err := agent.New(agent.Config{
				Cluster: "m1", Hub: hub, Member: member, Clock: clock.New(), Log: zerolog.Nop(), Heartbeat: 10 * time.Second, Timeout: 10 * time.Second,
				Workers: writers, CreateNamespaces: true, Metrics: prometheus.NewRegistry(),
			})
			require.NoError(b, err)
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() { ended <- a.Run(ctx) }()
			return func() {
				cancel()
				require.NoError(b, <-ended)
			}
		})
	})
}

const writers = 16

// benchmarkWorks measures what begin does, until so many Works are reported.
func benchmarkWorks(b *testing.B, works int, begin func(hub, member *rest.Config) (end func())) {
	hub, member := clienttest.NewFast(b), clienttest.NewFast(b)
	hub.Put("/apis/cluster.karmada.io/v1alpha1/clusters/m1", clienttest.PullCluster)
	var took time.Duration
	for b.Loop() {
		b.StopTimer()
		for i := range works {
			hub.Put(clienttest.WebWork(i))
		}
		b.StartTimer()
		before := processorTime(b)
		end := begin(hub.Config(), member.Config())
		hub.AwaitStatuses(works)
		took += processorTime(b) - before
		b.StopTimer()
		end()
		hub.Empty("/apis/work.karmada.io/v1alpha1/works")
		member.Empty("/apis/apps/v1/deployments")
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N*works)/b.Elapsed().Seconds(), "works/s")
	b.ReportMetric(float64(took.Microseconds())/float64(b.N*works), "cpu-µs/work")
}

// processorTime is what the process has taken.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// writeAll applies and reports what Works hold, without an agent.
func writeAll(b *testing.B, hub, member *rest.Config, works int) (await func()) {
	hub.QPS, member.QPS = -1, -1
	at, there := dynamic.NewForConfigOrDie(hub), dynamic.NewForConfigOrDie(member)
	const report = `{"status":{"conditions":[{"type":"Applied","status":"True","reason":"AppliedSuccessful","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	var all sync.WaitGroup
	for first := range writers {
		all.Go(func() {
			for i := first; i < works; i += writers {
				path, text := clienttest.WebWork(i)
				var w api.Work
				o := &unstructured.Unstructured{}
				if json.Unmarshal([]byte(text), &w) != nil || json.Unmarshal(w.Spec.Workload.Manifests[0].Raw, &o.Object) != nil {
					panic(text) // it is written here
				}
				deployments := there.Resource(o.GroupVersionKind().GroupVersion().WithResource("deployments"))
				if _, err := deployments.Namespace("shop").Apply(context.Background(), o.GetName(), o, metav1.ApplyOptions{FieldManager: "baseline", Force: true}); err != nil {
					b.Error(err)
				}
				reported := at.Resource(catalog.Works.Kind.GroupVersion().WithResource(catalog.Works.Plural)).Namespace(w.Namespace)
				if _, err := reported.Patch(context.Background(), path[strings.LastIndexByte(path, '/')+1:], types.MergePatchType, []byte(report), metav1.PatchOptions{}, "status"); err != nil {
					b.Error(err)
				}
			}
		})
	}
	return all.Wait
}

// BenchmarkReturn is how many agents of a hub that comes back ask for their Works in the same second, at most, and how long the last one takes. The hub was away for
// long enough that each waits as long as it ever does.
func BenchmarkReturn(b *testing.B) {
	agents, away := 200, 90*time.Second
	if testing.Short() {
		agents, away = 5, 0
	}
	hub, member := clienttest.NewFast(b), clienttest.NewFast(b)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range agents {
		name := fmt.Sprint("m", i)
		hub.Put("/apis/cluster.karmada.io/v1alpha1/clusters/"+name, strings.ReplaceAll(clienttest.PullCluster, "m1", name))
		a, err := agent.New(agent.Config{
			Cluster: name, Hub: hub.Config(), Member: member.Config(), Clock: clock.New(), Log: zerolog.Nop(), Heartbeat: 10 * time.Second, Timeout: 10 * time.Second,
			Workers: 1, Metrics: prometheus.NewRegistry(),
		})
		require.NoError(b, err)
		all.Go(func() { require.NoError(b, a.Run(ctx)) })
	}
	hub.AwaitLists(agents)
	for b.Loop() {
		hub.Down(true)
		hub.AwaitRefused(agents)
		waited, end := context.WithTimeout(ctx, away)
		<-waited.Done()
		end()
		back := time.Now()
		hub.Down(false)
		lists := hub.AwaitLists(agents)
		most := 0
		for i := range lists {
			in := 0
			for _, other := range lists[i:] {
				if other.Sub(lists[i]) < time.Second {
					in++
				}
			}
			most = max(most, in)
		}
		b.ReportMetric(float64(most), "lists-in-a-second")
		b.ReportMetric(lists[len(lists)-1].Sub(back).Seconds(), "s-until-the-last")
	}
	cancel()
	all.Wait()
}
