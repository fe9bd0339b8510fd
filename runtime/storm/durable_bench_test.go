package storm

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/live"
	"leeward/runtime/fleet/catalog"
)

// BenchmarkDurable is the daemon's: three in ten clusters fail in one instant, and every decision, Work, answer of an agent
// and Event is durable. "x-floor" says how many times the CPU it took of a loop that writes as many objects of the same
// sizes to the same log and does nothing else. Then the store is opened again, and looked after.
func BenchmarkDurable(b *testing.B) {
	for _, bindings := range []int{2_000, 20_000, 100_000} {
		b.Run(fmt.Sprintf("%d/200", bindings), func(b *testing.B) {
			if testing.Short() && bindings > 2_000 {
				b.Skip("takes minutes")
			}
			for b.Loop() {
				benchmarkDurable(b, bindings)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func benchmarkDurable(b *testing.B, bindings int) {
	defer CollectRarely(Memory{})()
	before := liveBytes()
	s, err := New(durableBurst(b, bindings))
	require.NoError(b, err)
	require.NoError(b, s.build(b.Context()))
	d := s.ground.(*durable)
	calm := d.engine.Version()
	require.NoError(b, s.strike(b.Context()))
	s.conclude()
	r := s.report
	require.True(b, r.Passed(), "%+v", r.Checks)
	floor := d.floor(b, calm) / time.Duration(r.Rates.Released.Count)
	changes := float64(d.engine.Version()-calm) / float64(r.Rates.Released.Count)
	s.Close()

	b.ReportMetric(r.Costs.BytesPerBinding, "B/workload")
	b.ReportMetric(r.Rates.Released.PerSecond, "failovers/s")
	b.ReportMetric(float64(r.Costs.CPUPerFailover), "cpu-ns/failover")
	b.ReportMetric(float64(floor), "floor-ns/failover")
	b.ReportMetric(float64(r.Costs.CPUPerFailover)/float64(floor), "x-floor")
	b.ReportMetric(changes, "changes/failover")
	reopen(b, s.config.Dir, d, before, bindings)
}

// floor is the CPU that it takes to write as many objects as were changed since a version, of those that stand.
func (d *durable) floor(b *testing.B, since int64) time.Duration {
	b.Helper()
	into, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: d.clock, Dir: b.TempDir()})
	require.NoError(b, err)
	defer func() { require.NoError(b, into.Close()) }()
	var writes []engine.Write
	for i := range catalog.All {
		for key, o := range d.engine.Table(catalog.All[i].Name()).Snapshot().Under("", "") {
			if engine.VersionOf(o) > since {
				writes = append(writes, engine.Create(key, o.DeepCopyObject().(engine.Object)))
			}
		}
	}
	runtime.GC()
	began := cpuTime()
	for at := 0; at < len(writes); at += writtenTogether {
		require.NoError(b, into.Commit(writes[at:min(at+writtenTogether, len(writes))]...))
	}
	return (cpuTime() - began) * time.Duration(d.engine.Version()-since) / time.Duration(len(writes))
}

// reopen starts again with what a storm left.
func reopen(b *testing.B, dir string, d *durable, before uint64, bindings int) {
	b.Helper()
	used, began := cpuTime(), time.Now()
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Dir: dir})
	require.NoError(b, err)
	defer func() { require.NoError(b, e.Close()) }()
	f, err := live.Open(b.Context(), live.Config{
		Engine: e, Settings: d.settings, Seed: d.config.Seed, Lanes: d.config.Lanes, Clock: clock.New(), Log: zerolog.Nop(),
	})
	require.NoError(b, err)
	b.ReportMetric(time.Since(began).Seconds(), "s-restart")
	b.ReportMetric((cpuTime() - used).Seconds(), "cpu-s-restart")
	*d = durable{}
	b.ReportMetric(float64(liveBytes()-before)/float64(bindings), "B/workload-restarted")
	f.Close()
}
