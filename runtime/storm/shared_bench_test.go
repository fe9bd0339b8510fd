package storm

import (
	"fmt"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/etcd/etcdtest"
	"leeward/runtime/daemon/leadership"
	"leeward/runtime/daemon/live"
)

// BenchmarkShared is BenchmarkDurable where an etcd with one member, which waits for the disk and shares this process's
// processors, keeps the objects, and a standby follows. Then the standby takes over, once it has heard of everything: "s-behind" is how
// long that took, "s-takeover" how long from there.
func BenchmarkShared(b *testing.B) {
	for _, bindings := range []int{2_000, 20_000, 100_000} {
		b.Run(fmt.Sprintf("%d/200", bindings), func(b *testing.B) {
			if testing.Short() && bindings > 2_000 {
				b.Skip("takes minutes")
			}
			for b.Loop() {
				benchmarkShared(b, bindings)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func benchmarkShared(b *testing.B, bindings int) {
	defer CollectRarely(Memory{})()
	server := etcdtest.StartDurable(b)
	s, err := New(durableBurst(b, bindings))
	require.NoError(b, err)
	defer s.Close()
	d := s.ground.(*durable)
	require.NoError(b, d.engine.Close())
	d.engine = onEtcd(b, server)
	standby := onEtcd(b, server)
	defer func() { require.NoError(b, standby.Close()) }()
	require.NoError(b, s.build(b.Context()))
	require.NoError(b, s.strike(b.Context()))
	s.conclude()
	require.True(b, s.report.Passed(), "%+v", s.report.Checks)
	b.ReportMetric(s.report.Rates.Released.PerSecond, "failovers/s")

	began := time.Now()
	require.NoError(b, standby.Fresh(b.Context()))
	b.ReportMetric(time.Since(began).Seconds(), "s-behind")
	used := cpuTime()
	began = time.Now()
	term, err := standby.Lead(engine.Create(leadership.Key, &coordinationv1.Lease{}))
	require.NoError(b, err)
	f, err := live.Open(b.Context(), live.Config{
		Engine: standby, Term: term, Settings: d.settings, Seed: d.config.Seed, Lanes: d.config.Lanes, Clock: clock.New(), Log: zerolog.Nop(),
	})
	require.NoError(b, err)
	b.ReportMetric(time.Since(began).Seconds(), "s-takeover")
	b.ReportMetric((cpuTime() - used).Seconds(), "cpu-s-takeover")
	f.Close()
}

func onEtcd(b *testing.B, server string) *engine.Engine {
	b.Helper()
	store, err := etcd.Open(etcd.Config{Servers: []string{server}, Prefix: "/storm", Clock: clock.New()})
	require.NoError(b, err)
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Shared: store})
	require.NoError(b, err)
	return e
}
