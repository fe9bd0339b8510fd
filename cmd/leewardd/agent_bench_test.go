package main

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
	"leeward/runtime/client/agent"
	"leeward/runtime/fleet/catalog"
)

// BenchmarkAgent is the time for one Work: read, applied and reported, of 300 that wait for an agent which begins. Its baseline are the
// writes alone, by as many clients as the agent has workers: one server-side apply at the member, one report at the hub.
func BenchmarkAgent(b *testing.B) {
	const workers = 16
	works := 300
	if testing.Short() {
		works = 30
	}
	name := func(i int) string { return fmt.Sprint("work-", i) }
	b.Run("baseline", func(b *testing.B) {
		p := newPair(b, nil)
		require.NoError(b, p.end())
		for b.Loop() {
			b.StopTimer()
			for i := range works {
				p.work(name(i), settingsOf(name(i), "1"))
			}
			b.StartTimer()
			var all sync.WaitGroup
			for w := range workers {
				all.Go(func() {
					for i := w; i < works; i += workers {
						p.write(name(i))
					}
				})
			}
			all.Wait()
			b.StopTimer()
			p.empty(works, name)
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(works)/float64(b.N), "µs/work")
	})
	b.Run("agent", func(b *testing.B) {
		p := newPair(b, func(c *agent.Config) { c.Workers = workers })
		for b.Loop() {
			b.StopTimer()
			require.NoError(b, p.end())
			for i := range works {
				p.work(name(i), settingsOf(name(i), "1"))
			}
			b.StartTimer()
			p.begin()
			p.awaitAllApplied(works)
			b.StopTimer()
			p.empty(works, name)
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(works)/float64(b.N), "µs/work")
	})
}

// awaitAllApplied waits until so many Works are applied.
func (p *pair) awaitAllApplied(works int) {
	p.t.Helper()
	applied := map[string]bool{}
	awaitAny(p.hub, catalog.Works, agentWorks, func(w *api.Work) bool {
		if meta.IsStatusConditionTrue(w.Status.Conditions, api.ConditionApplied) {
			applied[w.Name] = true
		}
		return len(applied) == works
	})
}

// write applies and reports the ConfigMap of a Work without an agent.
func (p *pair) write(name string) {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(settingsOf(name, "1")), &o.Object); err != nil {
		panic(err) // it is written here
	}
	o.SetNamespace("default")
	ctx := context.Background()
	if _, err := p.member.in(configMaps, "default").Apply(ctx, name, o, metav1.ApplyOptions{FieldManager: "baseline", Force: true}); err != nil {
		p.t.Error(err)
	}
	report := `{"status":{"conditions":[{"type":"Applied","status":"True","reason":"AppliedSuccessful","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	if _, err := p.hub.in(catalog.Works, agentWorks).Patch(ctx, name, types.MergePatchType, []byte(report), metav1.PatchOptions{}, "status"); err != nil {
		p.t.Error(err)
	}
}

// empty takes all Works away, and what came of them.
func (p *pair) empty(works int, name func(int) string) {
	p.t.Helper()
	for i := range works {
		p.hub.patch(catalog.Works, agentWorks, name(i), `{"metadata":{"finalizers":null}}`)
		p.hub.delete(catalog.Works, agentWorks, name(i))
		awaitAt(p.hub, catalog.Works, agentWorks, name(i), isAbsent[*api.Work])
	}
	for _, namespace := range []string{"shop", "default"} {
		require.NoError(p.t, p.member.in(configMaps, namespace).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	}
}
