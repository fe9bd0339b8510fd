package karmada

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/daemon/attach/writing"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/shadow"
)

// fleetJSON is a fleet of some bindings, two Works each on a hundred clusters, as a server writes it.
func fleetJSON(b *testing.B, bindings int) (all map[*kind][][]byte) {
	b.Helper()
	all = map[*kind][][]byte{}
	add := func(o map[string]any) {
		key := keyOf(o)
		text, err := json.Marshal(o)
		require.NoError(b, err)
		for _, k := range acted {
			if k.Kind.Kind == key.Kind {
				all[k] = append(all[k], text)
			}
		}
	}
	names := make([]string, 100)
	for n := range names {
		names[n] = fmt.Sprintf("m%d", n)
		add(clusterOf(names[n]))
	}
	for n := range bindings {
		on := []string{names[n%100], names[(n+1)%100]}
		name := fmt.Sprintf("web%d", n)
		o := (&bindingOf{clusters: placed(on...), healthy: on, observed: 1}).object(placementOf(names[n%100], names[(n+1)%100], names[(n+2)%100]))
		o["metadata"].(map[string]any)["name"] = name + "-deployment"
		spec := o["spec"].(map[string]any)
		spec["resource"].(map[string]any)["name"], spec["schedulerName"] = name, opted
		add(o)
		for _, cluster := range on {
			w := workOf(cluster)
			about := w["metadata"].(map[string]any)
			about["name"] = name + "-abc"
			about["annotations"] = map[string]any{"resourcebinding.karmada.io/namespace": "shop", "resourcebinding.karmada.io/name": name + "-deployment"}
			add(w)
		}
	}
	return all
}

// BenchmarkTakeOver is how long machines take to take over a fleet and settle, after its objects are read (which is told apart), and to lead
// then: that alone remains for a standby.
func BenchmarkTakeOver(b *testing.B) {
	bindings := 100_000
	if testing.Short() {
		bindings /= 100
	}
	settings, problems := config.Resolve("leeward", nil)
	require.Empty(b, problems)
	fleet := fleetJSON(b, bindings)
	for b.Loop() {
		a, err := New(Config{
			Client: &rest.Config{Host: "http://127.0.0.1:1"}, Settings: settings, Clock: clock.New(), Log: zerolog.Nop(), Metrics: telemetry.NewAttached(build.Build{}),
			Compared: func(*shadow.Comparison) {}, Act: &Acting{Schedulers: []string{opted}, GracefulEviction: true},
		})
		require.NoError(b, err)
		began := time.Now()
		for k, texts := range fleet {
			for _, text := range texts {
				o, err := k.decode(text)
				require.NoError(b, err)
				a.objects[api.KeyOf(o)] = o
			}
		}
		read := time.Now()
		i := newInbox(nil)
		d := a.newDeciding(i, true)
		loaded := time.Now()
		require.NoError(b, d.twin.settle(d.instant()))
		settled := time.Now()
		require.NoError(b, d.acting.round(context.Background(), d.instant()))
		followed := time.Now()
		d.acting.begin(context.Background(), new(writing.Lease))
		require.NoError(b, d.acting.round(context.Background(), d.instant()))
		b.ReportMetric(read.Sub(began).Seconds(), "read-s")
		b.ReportMetric(loaded.Sub(read).Seconds(), "load-s")
		b.ReportMetric(settled.Sub(loaded).Seconds(), "settle-s")
		b.ReportMetric(followed.Sub(settled).Seconds(), "follow-s")
		b.ReportMetric(time.Since(followed).Seconds(), "lead-s")
		b.ReportMetric(float64(len(d.acting.writes.of)), "writes")
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB")
		d.end()
		d.twin.world.Close()
	}
}
