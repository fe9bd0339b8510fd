package store_test

import (
	"fmt"
	"testing"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

const bindings = 10_000

// BenchmarkApply measures facts against 10,000 bindings of three clusters each; every fact changes
// the object it is about.
func BenchmarkApply(b *testing.B) {
	benchmarks := []struct {
		name string
		make func(n messages.BindingName, round int) messages.Fact
	}{
		{"HealthChanged", func(n messages.BindingName, round int) messages.Fact {
			return &messages.HealthChanged{Binding: n, Cluster: "member2", Health: api.Healthy, Ready: int32(round)}
		}},
		{"HealthChanged to Unhealthy", func(n messages.BindingName, round int) messages.Fact {
			since := start.Add(time.Duration(round) * time.Second)
			return &messages.HealthChanged{Binding: n, Cluster: "member2", Health: api.Unhealthy, Since: since}
		}},
		{"Scheduled", func(n messages.BindingName, round int) messages.Fact {
			return &messages.Scheduled{Binding: n, Clusters: spread(int32(2 + round%2)), Applied: placement}
		}},
	}
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			s, names := benchFleet()
			facts := make([]messages.Fact, 2*bindings)
			for i := range facts {
				facts[i] = bench.make(names[i%bindings], 1+i/bindings)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s.Apply(start, facts[i])
				i = (i + 1) % len(facts)
			}
		})
	}
}

// BenchmarkEviction applies an EvictionStarted and the EvictionWithdrawn that undoes it.
func BenchmarkEviction(b *testing.B) {
	s, names := benchFleet()
	var facts []messages.Fact
	for _, n := range names {
		task := api.GracefulEvictionTask{FromCluster: "member2", PurgeMode: api.PurgeGracefully}
		facts = append(facts,
			&messages.EvictionStarted{Binding: n, Cluster: "member2", Task: task},
			&messages.EvictionWithdrawn{Binding: n, Cluster: "member2", Clusters: spread(2)})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.Apply(start, facts[i])
		i = (i + 1) % len(facts)
	}
}

// BenchmarkGet reads a binding that has changed since it was last read.
func BenchmarkGet(b *testing.B) {
	s, names := benchFleet()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		n := names[i%bindings]
		s.Apply(start, &messages.HealthChanged{Binding: n, Cluster: "member2", Health: api.Healthy, Ready: int32(i)})
		s.Get(store.BindingKey(n))
		i++
	}
}

func benchFleet() (*store.Store, []messages.BindingName) {
	s := store.New(1)
	names := make([]messages.BindingName, bindings)
	for i := range names {
		n := messages.BindingName(fmt.Sprintf("default/web-%05d-deployment", i))
		names[i] = n
		s.Apply(start, &messages.BindingCreated{Binding: n, Spec: &api.BindingSpec{Replicas: 2, Placement: placement}})
		s.Apply(start, &messages.Scheduled{Binding: n, Clusters: spread(2), Applied: placement})
		for _, c := range []messages.ClusterName{"member1", "member2", "member3"} {
			s.Apply(start, &messages.HealthChanged{Binding: n, Cluster: c, Health: api.Healthy, Ready: 2})
		}
	}
	return s, names
}

func spread(replicas int32) []api.TargetCluster {
	list := targets("member1", "member2", "member3")
	for i := range list {
		list[i].Replicas = replicas
	}
	return list
}
