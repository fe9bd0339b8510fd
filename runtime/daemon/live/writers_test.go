package live

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

var (
	writersSeeds = flag.Uint64("writers.seeds", 12, "how many seeds random writers try")
	writersFrom  = flag.Uint64("writers.from", 0, "the first of these seeds")
)

// writers are people, agents and other programs that write at random: between rounds of a fleet, while its machines decide, and
// between its reading of an object and its write of that.
type writers struct {
	*fixture
	store  *common
	random *rand.Rand
	// busy is how often of ten they write in the middle of a round.
	busy int
	did  []string
}

func newWriters(t testing.TB, seed uint64) *writers {
	t.Helper()
	f, c := newContended(t)
	w := &writers{fixture: f, store: c, random: rand.New(rand.NewPCG(seed, 3)), busy: int(seed % 4)}
	for _, name := range troubled {
		w.write(member(name))
	}
	for _, namespace := range []string{"default", "shop"} {
		p := tolerant(120)
		p.Namespace, p.Spec.ResourceSelectors[0].Name = namespace, ""
		w.write(p)
	}
	require.NoError(t, w.step())
	return w
}

// begin has them write in the middle of rounds.
func (w *writers) begin() {
	w.config.Hear = func(time.Time, messages.Fact, journal.Phrase) { w.interfere("while machines decide") }
	w.store.first = func(*engine.Proposal) { w.interfere("before a commit") }
}

func (w *writers) end() { w.config.Hear, w.store.first = nil, nil }

func (w *writers) interfere(when string) {
	if w.random.IntN(30) < w.busy {
		w.act(when)
	}
}

// act has one of them write something.
func (w *writers) act(when string) {
	acts := []struct {
		name string
		do   func()
	}{
		{"taint", w.taint}, {"untaint", w.untaint}, {"condition", w.condition}, {"label", w.label}, {"policy", w.policy},
		{"deployment", w.deployment}, {"deployment", w.deployment}, {"scale", w.scale}, {"delete deployment", w.deleteDeployment},
		{"tamper", w.tamper}, {"delete work", w.deleteWork}, {"delete binding", w.deleteBinding}, {"edit binding", w.editBinding},
		{"agent", w.agent}, {"agent", w.agent}, {"agent", w.agent},
	}
	a := acts[w.random.IntN(len(acts))]
	w.did = append(w.did, a.name+" "+when)
	alone := w.store.others
	w.store.others = true // they do not meet each other
	a.do()
	w.store.others = alone
}

func (w *writers) cluster() *api.Cluster { return member(troubled[w.random.IntN(len(troubled))]) }

func (w *writers) taint() {
	edit(w.fixture, w.cluster(), func(c *api.Cluster) {
		if taint.Find(c.Spec.Taints, failed.Key, failed.Effect) < 0 {
			c.Spec.Taints = append(slices.Clip(c.Spec.Taints), failed)
		}
	})
}

func (w *writers) untaint() {
	edit(w.fixture, w.cluster(), func(c *api.Cluster) {
		c.Spec.Taints, _ = taint.Remove(c.Spec.Taints, failed.Key, failed.Effect)
	})
}

func (w *writers) condition() {
	status := []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse}[w.random.IntN(2)]
	edit(w.fixture, w.cluster(), func(c *api.Cluster) {
		c.Status.Conditions = slices.Clone(c.Status.Conditions)
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: api.ConditionReady, Status: status, Reason: "Tested", LastTransitionTime: metav1.Time{Time: w.clock.Now().Truncate(time.Second)},
		})
	})
}

func (w *writers) label() {
	tier := fmt.Sprint(w.random.IntN(3))
	edit(w.fixture, w.cluster(), func(c *api.Cluster) { c.Labels = map[string]string{"tier": tier} })
}

func (w *writers) namespace() string { return []string{"default", "shop"}[w.random.IntN(2)] }

func (w *writers) policy() {
	p := tolerant(0)
	p.Namespace = w.namespace()
	seconds, groups := int64(w.random.IntN(300)), 1+w.random.IntN(3)
	edit(w.fixture, p, func(p *api.PropagationPolicy) {
		p.Spec.Placement.ClusterTolerations = []corev1.Toleration{{Key: failed.Key, Operator: corev1.TolerationOpExists, Effect: failed.Effect, TolerationSeconds: &seconds}}
		p.Spec.Placement.SpreadConstraints = []api.SpreadConstraint{{SpreadByField: "cluster", MinGroups: 1, MaxGroups: groups}}
		p.Generation++
	})
}

// template names one of four workloads, of two namespaces.
func (w *writers) template() *appsv1.Deployment {
	d := deployment(int32(w.random.IntN(5)), fmt.Sprint("nginx:", w.random.IntN(5)))
	d.Namespace, d.Name = w.namespace(), []string{"web", "api"}[w.random.IntN(2)]
	return d
}

func (w *writers) deployment() {
	d := w.template()
	if get(w.fixture, d) == nil {
		w.write(d)
		return
	}
	edit(w.fixture, d, func(is *appsv1.Deployment) {
		is.Spec = d.Spec
		is.Generation++
	})
}

func (w *writers) scale() {
	if d := w.template(); get(w.fixture, d) != nil {
		edit(w.fixture, d, func(is *appsv1.Deployment) {
			is.Spec.Replicas = d.Spec.Replicas
			is.Generation++
		})
	}
}

func (w *writers) deleteDeployment() { w.delete(w.template()) }

// delete takes an object out of the store, or begins to, as an API does.
func (w *writers) delete(o api.Object) {
	table, key := w.table(o)
	is, version := table.Get(key)
	if is == nil {
		return
	}
	write := engine.Delete(key, version)
	if len(is.GetFinalizers()) > 0 {
		next := api.Shallow(is)
		next.SetDeletionTimestamp(&metav1.Time{Time: w.clock.Now()})
		write = engine.Update(key, next, version)
	}
	require.NoError(w.t, w.engine.Commit(write))
}

// work is one of the Works, nil where there is none.
func (w *writers) work() *api.Work {
	works := all[*api.Work](w.fixture, catalog.Works)
	if len(works) == 0 {
		return nil
	}
	return works[w.random.IntN(len(works))]
}

func (w *writers) tamper() {
	if is := w.work(); is != nil && is.DeletionTimestamp == nil {
		edit(w.fixture, is, func(o *api.Work) {
			o.Spec.Workload.Manifests = []api.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 9}}`)}}}
			o.Generation++
		})
	}
}

func (w *writers) deleteWork() {
	if is := w.work(); is != nil {
		w.delete(is)
	}
}

func (w *writers) binding() *api.ResourceBinding {
	d := w.template()
	return named(&api.ResourceBinding{}, api.WorkGroupVersion, "ResourceBinding", d.Namespace, d.Name+"-deployment")
}

func (w *writers) deleteBinding() { w.delete(w.binding()) }

func (w *writers) editBinding() {
	if b := w.binding(); get(w.fixture, b) != nil {
		edit(w.fixture, b, func(b *api.ResourceBinding) { b.Labels = map[string]string{"team": fmt.Sprint(w.random.IntN(3))} })
	}
}

func (w *writers) agent() {
	if is := w.work(); is != nil {
		w.obeys(is)
	}
}

// obeys has an agent do what a Work says, and reports whether there was anything to do.
func (w *writers) obeys(is *api.Work) bool {
	_, key := w.table(is)
	switch {
	case is.DeletionTimestamp != nil:
		require.NoError(w.t, w.engine.Commit(engine.Delete(key, engine.VersionOf(is))))
	case len(is.Status.Conditions) == 0 || is.Status.Conditions[0].ObservedGeneration != is.Generation:
		edit(w.fixture, is, func(o *api.Work) {
			o.Status = api.WorkStatus{
				Conditions: []metav1.Condition{{Type: api.ConditionApplied, Status: metav1.ConditionTrue, ObservedGeneration: o.Generation}},
				ManifestStatuses: []api.ManifestStatus{{
					Health: api.Healthy, Status: &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"readyReplicas":%d}`, replicasOf(o))},
				}},
			}
		})
	default:
		return false
	}
	return true
}

// settles has agents do all that there is to do, and time pass until nothing more comes of it.
func (w *writers) settles() {
	w.t.Helper()
	for range 4 {
		for again := true; again; {
			again = false
			require.NoError(w.t, w.step())
			for _, is := range all[*api.Work](w.fixture, catalog.Works) {
				again = w.obeys(is) || again
			}
		}
		w.pass(10 * time.Minute)
	}
}

func all[O api.Object](f *fixture, r *catalog.Resource) (list []O) {
	for _, o := range f.engine.Table(r.Name()).Snapshot().Under("", "") {
		list = append(list, o.(O))
	}
	return list
}

// problems are what is otherwise in the store than machines wish, or than it must be.
func (w *writers) problems() (found []string) {
	complain := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	same := func(what string, ours, stored any) {
		if !equality.Semantic.DeepEqual(ours, stored) {
			complain("%s: machines have %+v, the store has %+v", what, ours, stored)
		}
	}
	wished := w.world.Store()
	for _, c := range all[*api.Cluster](w.fixture, catalog.Clusters) {
		ours := wished.Cluster(messages.ClusterName(c.Name))
		same(c.Name+" taints", ours.Spec.Taints, c.Spec.Taints)
		same(c.Name+" conditions", ours.Status.Conditions, c.Status.Conditions)
		same(c.Name+" labels", ours.Labels, c.Labels)
	}
	bindings, wanted := map[messages.BindingName]*api.ResourceBinding{}, map[string]*int32{}
	for _, b := range all[*api.ResourceBinding](w.fixture, catalog.Bindings) {
		name := messages.NameBinding(b.Namespace, b.Name)
		bindings[name] = b
		ours, there := wished.Snapshot(store.BindingKey(name)).(*api.ResourceBinding)
		if !there {
			complain("binding %s is stored, and machines have none", name)
			continue
		}
		same(string(name)+" spec", ours.Spec, b.Spec)
		same(string(name)+" status", ours.Status, b.Status)
		for i := range b.Spec.Clusters {
			t := &b.Spec.Clusters[i]
			wanted[workKey(messages.ClusterName(t.Name), name)] = &t.Replicas
		}
		for _, k := range b.Spec.GracefulEvictionTasks {
			wanted[workKey(messages.ClusterName(k.FromCluster), name)] = nil
		}
	}
	wished.EachBinding(func(b *store.Binding) {
		if bindings[b.Name()] == nil {
			complain("machines have binding %s, and none is stored", b.Name())
		}
	})
	templates := map[messages.BindingName]*appsv1.Deployment{}
	for _, d := range all[*appsv1.Deployment](w.fixture, catalog.Of(api.Key{APIVersion: "apps/v1", Kind: "Deployment"})) {
		name := messages.NameBinding(d.Namespace, d.Name+"-deployment")
		templates[name] = d
		if bindings[name] == nil {
			complain("deployment %s/%s has no binding", d.Namespace, d.Name)
		}
		if d.Status.ObservedGeneration != d.Generation {
			complain("deployment %s/%s: generation %d, observed %d", d.Namespace, d.Name, d.Generation, d.Status.ObservedGeneration)
		}
	}
	for name := range bindings {
		if templates[name] == nil {
			complain("binding %s has no workload", name)
		}
	}
	for _, is := range all[*api.Work](w.fixture, catalog.Works) {
		_, key := w.table(is)
		cluster, name, ours := observed.Copy(is)
		replicas, runs := wanted[key]
		delete(wanted, key)
		switch {
		case !ours || workKey(cluster, name) != key:
			complain("work %s is that of %s on %s", key, name, cluster)
			continue
		case !runs:
			complain("work %s is of no copy", key)
			continue
		case is.DeletionTimestamp != nil:
			complain("work %s is being deleted", key)
		}
		if d := templates[name]; d != nil {
			n := replicasOf(is)
			if replicas != nil {
				n = *replicas
			}
			m := manifest{replicas: n}
			raw, err := m.render(d)
			require.NoError(w.t, err)
			if !asksFor(is, raw) {
				complain("work %s asks for %s, and not for %s", key, is.Spec.Workload.Manifests, raw)
			}
		}
	}
	for key := range wanted {
		complain("work %s is missing", key)
	}
	slices.Sort(found)
	return found
}

// running is what the store says of where copies run, and each Work with its version.
func (w *writers) running() (list []string) {
	for _, b := range all[*api.ResourceBinding](w.fixture, catalog.Bindings) {
		list = append(list, fmt.Sprintf("%s/%s %+v %+v", b.Namespace, b.Name, b.Spec.Clusters, b.Spec.GracefulEvictionTasks))
	}
	for _, is := range all[*api.Work](w.fixture, catalog.Works) {
		list = append(list, fmt.Sprintf("%s/%s %d", is.Namespace, is.Name, engine.VersionOf(is)))
	}
	return list
}

// TestRandomWritersLeaveWhatTheMachinesWish has people, agents and other programs write at random, also in the middle of the
// fleet's own writes. When all is done, the store has what the machines wish, each copy has a Work of its own, and a restart
// moves nothing. Many seeds: go test ./runtime/daemon/live -run RandomWriters -writers.seeds 1000
func TestRandomWritersLeaveWhatTheMachinesWish(t *testing.T) {
	conflicts := uint64(0)
	for seed := *writersFrom; seed < *writersFrom+*writersSeeds; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWriters(t, seed)
			w.begin()
			for range 40 {
				w.act("between rounds")
				if w.random.IntN(4) > 0 {
					require.NoError(t, w.step())
				}
				if w.random.IntN(6) == 0 {
					w.pass(time.Duration(w.random.IntN(200)) * time.Second)
				}
			}
			w.end()
			w.settles()
			require.Empty(t, w.problems(), w.did)
			conflicts += w.Stats().Conflicts
			before := w.running()
			w.restart()
			require.Equal(t, before, w.running(), "a restart moves nothing, and writes no Work")
			require.Empty(t, w.problems())
		})
	}
	require.Positive(t, conflicts, "writers and the fleet met")
}
