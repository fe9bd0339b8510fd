package picture

import (
	"fmt"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// BenchmarkASecond is what a second costs with fifty viewers of a large fleet, by how many bindings change in it; what it would cost
// to count the whole fleet each second is in the same run.
func BenchmarkASecond(b *testing.B) {
	const clusters = 50
	workloads := 100_000
	if testing.Short() {
		workloads = 5_000
	}
	e := open(b, 0)
	var writes []engine.Write
	for i := range clusters {
		c := clusterOf(fmt.Sprint("m", i), metav1.ConditionTrue)
		writes = append(writes, engine.Create(keyOf(catalog.Clusters, c), c))
	}
	of := func(i int) *api.ResourceBinding {
		return bindingOf(fmt.Sprint("web-", i), fmt.Sprint("m", i%clusters), fmt.Sprint("m", (i+7)%clusters))
	}
	for i := range workloads {
		writes = append(writes, engine.Create(keyOf(catalog.Bindings, of(i)), of(i)))
	}
	require.NoError(b, e.Commit(writes...))

	b.Run("all counted", func(b *testing.B) {
		for b.Loop() {
			follow(e).draw()
		}
		report(b)
	})
	b.Run("first picture", func(b *testing.B) {
		var text []byte
		for b.Loop() {
			text = encode(follow(e).draw().whole(began))
		}
		b.ReportMetric(float64(len(text))/1000, "KB")
	})
	b.Run("search", func(b *testing.B) {
		h := New(e, clock.New())
		for b.Loop() {
			found, err := h.Search(b.Context(), "shop web-77")
			require.NoError(b, err)
			require.NotZero(b, found.All)
		}
	})
	for _, changed := range []int{0, 100, 1000, 5000} {
		b.Run(fmt.Sprint("changed/", changed), func(b *testing.B) {
			at := &stepped{now: began}
			h := New(e, at)
			s := newSession(h)
			var viewers []*Viewer
			for i := range 50 {
				v, err := h.Join(fmt.Sprint(i / MostOfUser))
				require.NoError(b, err)
				viewers = append(viewers, v)
			}
			s.welcome()
			sent, seconds := 0, 0
			for b.Loop() {
				b.StopTimer()
				for _, v := range viewers {
					for len(v.messages) > 0 {
						sent += len(<-v.messages)
					}
				}
				if seconds++; changed > 0 {
					stir(b, e, of, seconds, changed)
				}
				b.StartTimer()
				for range int(time.Second / beat) {
					at.now = at.now.Add(beat)
					require.NoError(b, s.beat())
				}
			}
			b.ReportMetric(float64(sent)/float64(seconds)/50/1000, "KB/s/viewer")
			report(b)
		})
	}
}

// stepped is a clock of which only the time is asked for. The mock sleeps at each step.
type stepped struct {
	clock.Clock
	now time.Time
}

func (s *stepped) Now() time.Time { return s.now }

// stir evicts bindings from a cluster, or ends that.
func stir(b *testing.B, e *engine.Engine, of func(int) *api.ResourceBinding, second, changed int) {
	b.Helper()
	writes := make([]engine.Write, changed)
	for i := range writes {
		o := of(i)
		if second%2 == 1 {
			evicting(o, o.Spec.Clusters[0].Name, states[i%3], time.Duration(i)*time.Second)
		}
		key := keyOf(catalog.Bindings, o)
		writes[i] = engine.Update(key, o, e.Table(catalog.Bindings.Name()).Version(key))
	}
	require.NoError(b, e.Commit(writes...))
}

// report tells what part of a core it would take, were it done each second.
func report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e7, "%core")
}
