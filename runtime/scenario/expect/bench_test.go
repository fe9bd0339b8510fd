package expect_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario/expect"
)

// fleet is a store of many bindings, all on m1 and healthy.
func fleet(bindings int) *store.Store {
	s := store.New(1)
	s.Put(cluster("m1"))
	for i := range bindings {
		b := webBinding()
		b.Name = fmt.Sprintf("web-%d", i)
		s.Put(b)
	}
	return s
}

func watching(n int) []expect.Expectation {
	all := []expect.Expectation{
		{Mode: expect.Never, Until: span.Max, Subject: &expect.Event{Kind: "EvictionStarted", Cluster: "m9"}},
		{Mode: expect.Total, Until: span.Max, Count: expect.Bounds{Max: expect.Unbounded}, Subject: &expect.Event{Kind: "HealthChanged"}},
		{Mode: expect.Never, Until: span.Max, Subject: &expect.Taint{Cluster: "m1", Key: "down"}},
	}
	for i := range n {
		all = append(all, expect.Expectation{Mode: expect.Always, Until: span.Max, Subject: &expect.Binding{
			Name:  messages.BindingName(fmt.Sprintf("shop/web-%d", i)),
			Wants: []expect.Want{expect.Clusters{{"m1", 2}, {"m3", 3}}, expect.Number{Of: expect.Available, Bounds: expect.Bounds{Min: 1, Max: expect.Unbounded}}},
		}})
	}
	return all
}

// A day of 10 000 bindings: an instant settles with one fact about one of them, mostly not watched.
func BenchmarkSettled(b *testing.B) {
	for _, watched := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("watched=%d", watched), func(b *testing.B) {
			s := fleet(10_000)
			checker := expect.NewChecker(watching(watched), start)
			checker.Settled(start, s, nil)
			facts := make([]messages.Fact, 10_000)
			for i := range facts {
				facts[i] = &messages.HealthChanged{Binding: messages.BindingName(fmt.Sprintf("shop/web-%d", i)), Cluster: "m1", Health: api.Healthy, Ready: 2}
			}
			entry := make([]journal.Entry, 1)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				now := start.Add(time.Duration(i) * time.Millisecond)
				entry[0] = journal.Entry{At: now, Fact: facts[i%len(facts)]}
				checker.Settled(now, s, entry)
				i++
			}
		})
	}
}

// What a look costs where the object did change.
func BenchmarkLook(b *testing.B) {
	taints := &expect.Object{Key: store.ClusterKey("m1"), Want: map[string]any{"spec": map[string]any{"taints": []any{map[string]any{"key": "never"}}}}}
	for name, subject := range map[string]expect.Subject{
		"binding": watching(1)[3].Subject,
		"taint":   &expect.Taint{Cluster: "m1", Key: "never"},
		"object":  taints,
	} {
		b.Run(name, func(b *testing.B) {
			s := fleet(1)
			checker := expect.NewChecker([]expect.Expectation{{Mode: expect.Within, Until: span.Max, From: time.Hour, Subject: subject}}, start)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				now := start.Add(time.Duration(i))
				value := fmt.Sprint(i % 2)
				facts := []messages.Fact{
					&messages.HealthChanged{Binding: "shop/web-0", Cluster: "m1", Health: api.Healthy, Ready: int32(i%2) + 1},
					&messages.TaintAdded{Cluster: "m1", Taint: corev1.Taint{Key: "a", Value: value, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &metav1.Time{Time: start}}},
				}
				entries := make([]journal.Entry, len(facts))
				for j, f := range facts {
					s.Apply(now, f)
					entries[j] = journal.Entry{At: now, Fact: f}
				}
				checker.Settled(now, s, entries)
				i++
			}
		})
	}
}
