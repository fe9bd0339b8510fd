package live

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/observed"
)

// common is a store in memory that others write to, too. It lets them write before it looks at a write of the fleet: then the
// write is of what the fleet has just read, and meets what it could not have heard of.
type common struct {
	mu      sync.Mutex
	version int64
	objects map[string]int64 // the version of each
	news    chan []engine.News
	// first is called with each proposal that others do not make. Nil: it is not called.
	first  func(*engine.Proposal)
	others bool // set while others write
	// refuses says why the store does not take a proposal. Nil: it takes all.
	refuses func(*engine.Proposal) error
}

func (c *common) Load(context.Context) (wal.State, error) { return wal.State{}, nil }

func (c *common) Propose(_ context.Context, p *engine.Proposal) (int64, error) {
	if c.first != nil && !c.others {
		c.others = true
		c.first(p)
		c.others = false
	}
	if c.refuses != nil {
		if err := c.refuses(p); err != nil {
			return 0, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range p.Writes {
		if actual := c.objects[w.Key]; actual != w.Expected {
			return c.version, &engine.Conflict{Key: w.Key, Expected: w.Expected, Actual: actual}
		}
	}
	var news []engine.News
	for _, w := range p.Writes {
		c.version++
		if c.objects[w.Key] = c.version; w.Object == nil {
			delete(c.objects, w.Key)
		}
		news = append(news, engine.News{Record: wal.Record{Version: c.version, Key: w.Key, Object: w.Object}, Proposal: p.ID})
	}
	c.news <- news
	return c.version, nil
}

func (c *common) Follow(ctx context.Context, _ int64, hear func([]engine.News) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case news := <-c.news:
			if err := hear(news); err != nil {
				return err
			}
		}
	}
}

func (c *common) Latest(context.Context) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version, nil
}

func (c *common) Close() error { return nil }

// newContended is newFixture on a store that others write to in the middle of the fleet's own writes.
func newContended(t testing.TB) (*fixture, *common) {
	t.Helper()
	c := &common{objects: map[string]int64{}, news: make(chan []engine.News, 1)}
	f := unopened(t)
	var err error
	f.engine, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Shared: c})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.engine.Close()) })
	f.open()
	t.Cleanup(func() { f.Close() })
	return f, c
}

// contended is running on such a store.
func contended(t testing.TB) (*fixture, *common) {
	t.Helper()
	f, c := newContended(t)
	f.apply(member("m1"), member("m2"), policy(), deployment(2, "nginx:1"))
	require.Equal(t, "m1:2", placed(f))
	f.serves("m1", 2)
	return f, c
}

// once has another writer do something just before the fleet's next write of an object is looked at.
func (c *common) once(f *fixture, o api.Object, do func()) {
	_, key := f.table(o)
	c.first = func(p *engine.Proposal) {
		for _, w := range p.Writes {
			if w.Key == key {
				c.first = nil
				do()
				return
			}
		}
	}
}

// TestADecisionThatMeetsAnEditAtItsCommitIsWrittenAndNotFlushedBefore has a client label a binding when the fleet has read it
// and is about to write an eviction into it.
func TestADecisionThatMeetsAnEditAtItsCommitIsWrittenAndNotFlushedBefore(t *testing.T) {
	f, c := contended(t)
	var flushed []string
	f.config.Flushed = func() { flushed = append(flushed, placed(f)) }
	c.once(f, binding(), func() {
		edit(f, binding(), func(b *api.ResourceBinding) { b.Labels = map[string]string{"team": "a"} })
	})
	conflicts := f.Stats().Conflicts
	putTaints(f, "m1", failed)
	require.Equal(t, conflicts+1, f.Stats().Conflicts)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.Equal(t, "a", get(f, binding()).Labels["team"])
	require.Equal(t, "m2:2 leaves m1", flushed[0], "nothing counts as flushed that is not committed")
}

// TestADecisionThatMeetsAnEditBeforeItsCommitIsNotFlushedBefore has the edit come while the machines decide.
func TestADecisionThatMeetsAnEditBeforeItsCommitIsNotFlushedBefore(t *testing.T) {
	f := running(t)
	var flushed []string
	f.config.Flushed = func() { flushed = append(flushed, placed(f)) }
	f.config.Hear = func(_ time.Time, fact messages.Fact, _ journal.Phrase) {
		if _, evicts := fact.(*messages.EvictionStarted); evicts {
			edit(f, binding(), func(b *api.ResourceBinding) { b.Labels = map[string]string{"team": "a"} })
		}
	}
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.Equal(t, "a", get(f, binding()).Labels["team"])
	require.Equal(t, "m2:2 leaves m1", flushed[0], "nothing counts as flushed that is not committed")
}

// TestAWorkThatItsAgentReportsOnAtItsCommitIsStillRewritten has an agent write the status of a Work when the fleet has read it
// and is about to write a new template into it.
func TestAWorkThatItsAgentReportsOnAtItsCommitIsStillRewritten(t *testing.T) {
	f, c := contended(t)
	c.once(f, work("m1"), func() {
		edit(f, work("m1"), func(w *api.Work) { w.Status.ManifestStatuses[0].Health = api.Unhealthy })
	})
	f.apply(deployment(2, "nginx:2"))
	w := get(f, work("m1"))
	require.Nil(t, c.first, "they met")
	require.Contains(t, string(w.Spec.Workload.Manifests[0].Raw), "nginx:2")
	require.Equal(t, api.Unhealthy, w.Status.ManifestStatuses[0].Health)
	require.EqualValues(t, 2, w.Generation)
}

// TestAStatusThatMeetsAnEditAtItsCommitIsOfTheNewestGeneration has a client edit a workload when the fleet has read it and is
// about to write its status.
func TestAStatusThatMeetsAnEditAtItsCommitIsOfTheNewestGeneration(t *testing.T) {
	f, c := contended(t)
	generation := func(d *appsv1.Deployment) { d.Generation++ }
	edit(f, deployment(2, ""), generation)
	c.once(f, deployment(2, ""), func() { edit(f, deployment(2, ""), generation) })
	require.NoError(t, f.step())
	require.Nil(t, c.first, "they met")
	f.pass(time.Second)
	d := get(f, deployment(2, ""))
	require.EqualValues(t, 3, d.Generation)
	require.EqualValues(t, 3, d.Status.ObservedGeneration)
}

// TestAWorkThatIsBeingDeletedIsNotRewritten has a workload come back before the agent has let its old copy go.
func TestAWorkThatIsBeingDeletedIsNotRewritten(t *testing.T) {
	f := running(t)
	f.remove(deployment(2, "nginx:1"))
	leaving := get(f, work("m1"))
	require.NotNil(t, leaving.DeletionTimestamp)
	f.apply(deployment(3, "nginx:2"))
	require.Equal(t, "m1:3", placed(f))
	f.pass(time.Minute)
	require.Equal(t, leaving.Spec, get(f, work("m1")).Spec)
	require.Equal(t, leaving.Generation, get(f, work("m1")).Generation)
	f.lets("m1")
	next := get(f, work("m1"))
	require.Nil(t, next.DeletionTimestamp)
	require.NotEqual(t, leaving.UID, next.UID)
	require.Contains(t, string(next.Spec.Workload.Manifests[0].Raw), "nginx:2")
}

// TestWorkloadsOfOneNameInTwoNamespacesHaveTheirOwnWorks shows what the Works of a cluster are told apart by: all of them share
// its one namespace.
func TestWorkloadsOfOneNameInTwoNamespacesHaveTheirOwnWorks(t *testing.T) {
	f := running(t)
	p, d := policy(), deployment(5, "nginx:5")
	p.Namespace, d.Namespace = "shop", "shop"
	p.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"m1"}}
	f.apply(p, d)
	ask := map[string]string{} // by the binding that a Work names
	for _, o := range f.engine.Table(catalog.Works.Name()).Snapshot().Under("", "") {
		w := o.(*api.Work)
		cluster, binding, _ := observed.Copy(w)
		require.EqualValues(t, "m1", cluster)
		ask[string(binding)] = string(w.Spec.Workload.Manifests[0].Raw)
	}
	require.Len(t, ask, 2)
	require.Contains(t, ask["default/web-deployment"], `"namespace":"default"`)
	require.Contains(t, ask["default/web-deployment"], "nginx:1")
	require.Contains(t, ask["shop/web-deployment"], `"namespace":"shop"`)
	require.Contains(t, ask["shop/web-deployment"], "nginx:5")
}

// TestTheStatusOfAWorkloadIsOfItsNewestGeneration edits what changes no copy.
func TestTheStatusOfAWorkloadIsOfItsNewestGeneration(t *testing.T) {
	f := running(t)
	edit(f, deployment(2, ""), func(d *appsv1.Deployment) { d.Generation++ })
	require.NoError(t, f.step())
	require.EqualValues(t, 2, get(f, deployment(2, "")).Status.ObservedGeneration)
}

// unheard deletes an object as an API would, without letting the fleet act.
func unheard(f *fixture, o api.Object) {
	f.t.Helper()
	table, key := f.table(o)
	_, version := table.Get(key)
	require.NoError(f.t, f.engine.Commit(engine.Delete(key, version)))
}

func label(f *fixture) {
	f.t.Helper()
	edit(f, binding(), func(b *api.ResourceBinding) { b.Labels = map[string]string{"team": "a"} })
}

// TestABindingThatIsEditedWhenItsWorkloadIsGoneEndsAllTheSame has the news of the edit come with that of the deletion, and only
// when the binding is about to be deleted, too.
func TestABindingThatIsEditedWhenItsWorkloadIsGoneEndsAllTheSame(t *testing.T) {
	ends := map[string]func(*fixture, *common){
		"heard together": func(f *fixture, _ *common) {
			unheard(f, deployment(2, ""))
			label(f)
		},
		"at its commit": func(f *fixture, c *common) {
			c.once(f, binding(), func() { label(f) })
			unheard(f, deployment(2, ""))
		},
		"made and edited again": func(f *fixture, _ *common) {
			unheard(f, deployment(2, ""))
			label(f)
			unheard(f, binding())
			made := binding()
			made.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
			f.write(made)
			label(f)
			unheard(f, binding())
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			f, c := contended(t)
			end(f, c)
			require.NoError(t, f.step())
			require.Nil(t, c.first, "they met")
			require.Nil(t, get(f, binding()))
			require.NotNil(t, get(f, work("m1")).DeletionTimestamp)
			f.lets("m1")
			f.pass(time.Minute)
			require.Empty(t, all[*api.Work](f, catalog.Works))
			f.apply(deployment(3, "nginx:2"))
			require.Equal(t, "m1:3", placed(f))
			require.Contains(t, string(get(f, work("m1")).Spec.Workload.Manifests[0].Raw), "nginx:2")
		})
	}
}

// A binding that people make is not the one that ends, though they make and edit it before the machines have heard of that.
func TestABindingThatIsMadeInThePlaceOfOneThatEndsStays(t *testing.T) {
	f := running(t)
	unheard(f, deployment(2, ""))
	unheard(f, binding())
	made := binding()
	made.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	f.write(made)
	label(f)
	require.NoError(t, f.step())
	b := get(f, binding())
	require.NotNil(t, b)
	require.Equal(t, "a", b.Labels["team"])
	require.Empty(t, b.Spec.Clusters)
	require.NotNil(t, f.world.Store().Binding("default/web-deployment"))
}

// The word of a binding that has ended is not held against one of its name that is made later: what is wrong with that may be mended.
func TestABindingThatIsMadeAfterOneHasEndedMayBeMended(t *testing.T) {
	f := running(t)
	f.remove(deployment(2, ""))
	f.lets("m1")
	require.Nil(t, get(f, binding()))
	made := binding()
	made.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	made.Spec.Placement = &api.Placement{ClusterTolerations: []corev1.Toleration{{Operator: "Perhaps"}}}
	f.apply(made)
	require.Nil(t, f.world.Store().Binding("default/web-deployment"), "it is refused")
	edit(f, binding(), func(b *api.ResourceBinding) { b.Spec.Placement = nil })
	require.NoError(t, f.step())
	require.NotNil(t, get(f, binding()))
	require.NotNil(t, f.world.Store().Binding("default/web-deployment"))
}

// An agent that reports on a Work just when an override is to rewrite it delays that, and no more.
func TestAWorkThatItsAgentReportsOnUnheardIsRewrittenAfterwards(t *testing.T) {
	f := running(t)
	f.write(fromRegistry("eu", "eu.io", nil))
	f.take()
	edit(f, work("m1"), func(w *api.Work) { w.Status.Conditions[0].Message = "unheard" })
	require.NoError(t, f.settle())
	_, err := f.flush()
	require.NoError(t, err)
	require.Equal(t, "nginx:1 x2", asked(f, "m1"), "the report comes first")
	require.NoError(t, f.step())
	require.Equal(t, "eu.io/nginx:1 x2", asked(f, "m1"))
	require.Equal(t, "unheard", get(f, work("m1")).Status.Conditions[0].Message)
}

// TestACopyThatIsNotWantedBeforeItsWorkIsWrittenMayComeLater scales a workload to zero while it is placed first.
func TestACopyThatIsNotWantedBeforeItsWorkIsWrittenMayComeLater(t *testing.T) {
	f := newFixture(t)
	f.apply(member("m1"), policy())
	scale := func(replicas int32) {
		edit(f, deployment(2, ""), func(d *appsv1.Deployment) { d.Spec.Replicas = &replicas })
	}
	f.config.Hear = func(_ time.Time, fact messages.Fact, _ journal.Phrase) {
		if _, wants := fact.(*messages.CopyWanted); wants {
			f.config.Hear = nil
			scale(0)
		}
	}
	f.apply(deployment(2, "nginx:1"))
	require.Empty(t, placed(f))
	require.Nil(t, get(f, work("m1")), "it was never written")
	scale(2)
	require.NoError(t, f.step())
	require.Equal(t, "m1:2", placed(f))
	require.NotNil(t, get(f, work("m1")))
}

// A binding that people delete just when it ends is heard of, if they create it again.
func TestABindingThatIsDeletedTwiceMayBeMadeAgain(t *testing.T) {
	f, c := contended(t)
	c.once(f, binding(), func() { unheard(f, binding()) })
	f.remove(deployment(2, ""))
	require.Nil(t, c.first, "they met")
	require.Nil(t, get(f, binding()))
	f.lets("m1")
	made := binding()
	made.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	made.Spec.Placement = &api.Placement{ClusterTolerations: []corev1.Toleration{{Operator: "Perhaps"}}}
	f.apply(made)
	require.Nil(t, f.world.Store().Binding("default/web-deployment"), "it is refused")
	edit(f, binding(), func(b *api.ResourceBinding) { b.Spec.Placement = nil })
	require.NoError(t, f.step())
	require.NotNil(t, f.world.Store().Binding("default/web-deployment"))
}
