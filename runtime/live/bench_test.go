package live

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/runtime/catalog"
	"leeward/runtime/engine"
)

// agents run what Works ask for, of all clusters at once: a new copy serves at once, one that is to go is gone at once.
type agents struct {
	engine *engine.Engine
	cursor *engine.Cursor
}

func (a *agents) run(ctx context.Context) error {
	for {
		changes, err := a.cursor.Next(ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		var expired *engine.Expired
		if errors.As(err, &expired) {
			changes = a.list()
		} else if err != nil {
			return err
		}
		var batch []engine.Write
		last := map[string]int{}
		for i := range changes {
			last[changes[i].Key] = i
		}
		for i, c := range changes {
			if write, needed := answer(c); needed && last[c.Key] == i {
				batch = append(batch, write)
			}
		}
		for part := range slices.Chunk(batch, flushAtOnce) {
			a.commit(part)
		}
	}
}

// list is for an agent that has fallen behind.
func (a *agents) list() (all []engine.Change) {
	var snapshot engine.Snapshot
	snapshot, a.cursor = a.engine.Table(works.Name()).SnapshotAndWatch()
	for key, o := range snapshot.Under("", "") {
		all = append(all, engine.Change{Key: key, Version: engine.VersionOf(o), Object: o})
	}
	return all
}

// commit leaves out what was written meanwhile: that is answered when it is read.
func (a *agents) commit(batch []engine.Write) {
	var conflict *engine.Conflict
	if err := a.engine.Commit(batch...); errors.As(err, &conflict) {
		for _, w := range batch {
			_ = a.engine.Commit(w)
		}
	}
}

func answer(c engine.Change) (engine.Write, bool) {
	w, _ := c.Object.(*api.Work)
	switch {
	case w == nil:
		return engine.Write{}, false
	case w.DeletionTimestamp != nil:
		return engine.Delete(c.Key, c.Version), true
	}
	if len(w.Status.Conditions) > 0 && w.Status.Conditions[0].ObservedGeneration == w.Generation {
		return engine.Write{}, false
	}
	next := *w
	next.Status = api.WorkStatus{
		Conditions: []metav1.Condition{{Type: api.ConditionApplied, Status: metav1.ConditionTrue, ObservedGeneration: w.Generation}},
		ManifestStatuses: []api.ManifestStatus{{
			Health: api.Healthy, Status: &apiruntime.RawExtension{Raw: []byte(`{"readyReplicas":3}`)},
		}},
	}
	return engine.Update(c.Key, &next, c.Version), true
}

// BenchmarkFailover fails three of ten clusters of a fleet that runs on an engine, and waits for the last old copy to
// be gone: objects, Works, Events and all.
func BenchmarkFailover(b *testing.B) {
	for _, size := range []struct{ clusters, bindings int }{{20, 2_000}, {200, 20_000}, {200, 100_000}} {
		b.Run(fmt.Sprintf("%d on %d", size.bindings, size.clusters), func(b *testing.B) {
			if testing.Short() && size.bindings > 20_000 {
				b.Skip("takes its time")
			}
			for b.Loop() {
				b.StopTimer()
				s := newStorm(b, size.clusters, size.bindings)
				before := usage()
				b.StartTimer()
				moved := s.fail(size.clusters * 3 / 10)
				b.StopTimer()
				b.ReportMetric(float64(moved)/s.took.Seconds(), "failovers/s")
				b.ReportMetric(float64((usage()-before).Microseconds())/float64(moved), "µs-CPU/failover")
				b.ReportMetric(float64(s.live)/float64(size.bindings), "B/binding")
				s.end()
				b.StartTimer()
			}
		})
	}
}

type storm struct {
	b      testing.TB
	engine *engine.Engine
	fleet  *Fleet
	took   time.Duration
	live   uint64
	cancel context.CancelFunc
	done   chan error
}

func newStorm(b testing.TB, clusters, bindings int) *storm {
	s := &storm{b: b, done: make(chan error, 2)}
	var resources []engine.Resource
	for _, r := range catalog.All {
		resources = append(resources, engine.Resource{Name: r.Name(), Kind: r.Kind, New: func() engine.Object { return r.New() }})
	}
	var err error
	s.engine, err = engine.Open(engine.Config{Resources: resources, Clock: clock.New()})
	require.NoError(b, err)
	now := time.Now()
	set := settings(b)
	set.EvictionWorkers = 0 // permits without limit
	put := func(o api.Object) {
		admission.Default(o, &set, now)
		o.SetUID(newUID())
		o.SetGeneration(1)
		r := catalog.Of(api.KeyOf(o))
		require.NoError(b, s.engine.Commit(engine.Create(engine.Key(r.Name(), o.GetNamespace(), o.GetName()), o)))
	}
	for i := range clusters {
		c := member(fmt.Sprintf("m%03d", i))
		c.Status.ResourceSummary.Allocatable[corev1.ResourceCPU] = resource.MustParse("1000000")
		c.Status.ResourceSummary.Allocatable[corev1.ResourcePods] = resource.MustParse("1000000")
		put(c)
	}
	all := policy()
	all.Spec.ResourceSelectors[0].Name = ""
	all.Spec.Placement.SpreadConstraints[0].MaxGroups = 2
	put(all)
	for i := range bindings {
		d := deployment(3, "nginx:1")
		d.Name = fmt.Sprintf("web-%06d", i)
		put(d)
	}
	works := s.engine.Table(works.Name())
	_, cursor := works.SnapshotAndWatch()
	s.fleet, err = Open(Config{Engine: s.engine, Settings: set, Clock: clock.New(), Log: zerolog.Nop(), Lanes: 2})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() { s.done <- s.fleet.Run(ctx) }()
	go func() { s.done <- (&agents{s.engine, cursor}).run(ctx) }()
	s.await(func() bool {
		healthy := 0
		for _, o := range s.engine.Table(bindingResource.Name()).Snapshot().Under("", "") {
			if rb := o.(*api.ResourceBinding); len(rb.Status.AggregatedStatus) == len(rb.Spec.Clusters) && len(rb.Spec.Clusters) > 0 {
				healthy++
			}
		}
		return healthy == bindings
	})
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.live = m.HeapAlloc
	return s
}

var (
	clusterResource = catalog.Of(api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"})
	bindingResource = catalog.Of(api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding"})
)

func usage() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// await looks at the engine after each commit until a condition holds.
func (s *storm) await(holds func() bool) {
	feed := s.engine.Follow()
	defer feed.Close()
	for !holds() {
		select {
		case <-feed.News():
			feed.Take()
		case err := <-s.done:
			require.NoError(s.b, err)
			require.Fail(s.b, "somebody stopped")
		}
	}
}

// fail taints clusters and returns how many copies they had, once all of them are gone.
func (s *storm) fail(clusters int) (moved int) {
	table := s.engine.Table(clusterResource.Name())
	began := time.Now()
	var writes []engine.Write
	prefixes := []string{}
	for key, o := range table.Snapshot().Under("", "") {
		if len(writes) == clusters {
			break
		}
		c := *o.(*api.Cluster)
		c.Spec.Taints = append(c.Spec.Taints, failed)
		writes = append(writes, engine.Update(key, &c, engine.VersionOf(o)))
		prefixes = append(prefixes, engine.Key(works.Name(), api.WorkNamespacePrefix+c.Name, ""))
	}
	for _, p := range prefixes {
		for range s.engine.Table(works.Name()).Snapshot().Under(p, "") {
			moved++
		}
	}
	require.NoError(s.b, s.engine.Commit(writes...))
	s.await(func() bool {
		snapshot := s.engine.Table(works.Name()).Snapshot()
		for _, p := range prefixes {
			for range snapshot.Under(p, "") {
				return false
			}
		}
		return true
	})
	s.took = time.Since(began)
	return moved
}

func (s *storm) end() {
	s.cancel()
	require.NoError(s.b, <-s.done)
	require.NoError(s.b, <-s.done)
	require.NoError(s.b, s.engine.Close())
}
