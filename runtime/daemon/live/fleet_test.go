package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/journal"
)

// start is between two seconds: what is stamped must not be.
var start = time.Date(2026, 1, 1, 12, 0, 0, 700_000_000, time.UTC)

// fixture is an engine with a fleet that looks after it, and people and agents who write to it.
type fixture struct {
	*Fleet
	t      testing.TB
	clock  *clock.Mock
	engine *engine.Engine
	term   int64     // 0 where the engine is not shared
	record *recorder // nil: none is kept
	// heard hears every fact of the fleets that are opened, from their starts on; nil: there is no listener.
	heard func(time.Time, messages.Fact, journal.Phrase)
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := unopened(t)
	var err error
	f.engine, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: f.clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.engine.Close()) })
	f.open()
	t.Cleanup(func() { f.Close() })
	return f
}

// unopened has neither engine nor fleet.
func unopened(t testing.TB) *fixture {
	f := &fixture{t: t, clock: clock.NewMock()}
	f.clock.Set(start)
	return f
}

// open starts a fleet on what the engine holds.
func (f *fixture) open() {
	f.t.Helper()
	var err error
	f.Fleet, err = Open(f.t.Context(), f.configOn(f.engine))
	require.NoError(f.t, err)
	require.NoError(f.t, f.step())
}

// configOn is that of a fleet on an engine.
func (f *fixture) configOn(e *engine.Engine) Config {
	broken := func(v *invariant.Violation) { f.t.Errorf("%s", v) }
	c := Config{Engine: e, Term: f.term, Settings: settings(f.t), Clock: f.clock, Log: zerolog.Nop(), Broken: broken, Hear: f.heard}
	if f.record != nil {
		c.Decided, c.Recorded = f.record.decided, f.record.recorded
	}
	return c
}

func settings(t testing.TB) messages.Settings {
	t.Helper()
	s, problems := config.Resolve(config.Default, nil)
	require.Empty(t, problems)
	return s
}

// restart ends the fleet, as a crash would, and starts another.
func (f *fixture) restart() {
	f.t.Helper()
	f.Close()
	f.open()
}

// step has the fleet act until there is nothing more to do.
func (f *fixture) step() error { return f.Fleet.step(context.Background()) }

// pass lets time pass and the fleet act, as often as something is due.
func (f *fixture) pass(d time.Duration) {
	f.t.Helper()
	end := f.clock.Now().Add(d)
	for next, due := f.world.Next(); due && !next.After(end); next, due = f.world.Next() {
		f.clock.Set(actors.Later(next, f.clock.Now()))
		require.NoError(f.t, f.step())
	}
	f.clock.Set(end)
	require.NoError(f.t, f.step())
}

func (f *fixture) table(o api.Object) (*engine.Table, string) {
	r := catalog.Of(api.KeyOf(o))
	require.NotNil(f.t, r, api.KeyOf(o))
	return f.engine.Table(r.Name()), engine.Key(r.Name(), o.GetNamespace(), o.GetName())
}

// write puts objects as an API would, without letting the fleet act.
func (f *fixture) write(objects ...api.Object) {
	f.t.Helper()
	for _, o := range objects {
		table, key := f.table(o)
		old, version := table.Get(key)
		s := settings(f.t)
		admission.Default(o, &s, f.clock.Now().Truncate(time.Second))
		if old == nil {
			o.SetUID(uuid.NewUUID())
			o.SetGeneration(1)
		}
		require.NoError(f.t, f.engine.Commit(engine.Update(key, o, version)))
	}
}

// apply is write, and then the fleet acts.
func (f *fixture) apply(objects ...api.Object) {
	f.t.Helper()
	f.write(objects...)
	require.NoError(f.t, f.step())
}

// edit changes a copy of what is stored.
func edit[O api.Object](f *fixture, o O, change func(O)) {
	f.t.Helper()
	table, key := f.table(o)
	stored, version := table.Get(key)
	require.NotNil(f.t, stored, key)
	next := api.Copy(stored).(O)
	change(next)
	completed := settings(f.t)
	admission.Default(next, &completed, f.clock.Now().Truncate(time.Second))
	require.NoError(f.t, f.engine.Commit(engine.Update(key, next, version)))
}

// remove deletes an object as an API would: one with finalizers only begins to go.
func (f *fixture) remove(o api.Object) {
	f.t.Helper()
	table, key := f.table(o)
	stored, version := table.Get(key)
	require.NotNil(f.t, stored, key)
	write := engine.Delete(key, version)
	if len(stored.GetFinalizers()) > 0 {
		next := api.Shallow(stored)
		next.SetDeletionTimestamp(&metav1.Time{Time: f.clock.Now()})
		write = engine.Update(key, next, version)
	}
	require.NoError(f.t, f.engine.Commit(write))
	require.NoError(f.t, f.step())
}

func get[O api.Object](f *fixture, o O) O {
	table, key := f.table(o)
	stored, _ := table.Get(key)
	if stored == nil {
		var none O
		return none
	}
	return stored.(O)
}

func named[O api.Object](o O, apiVersion, kind, namespace, name string) O {
	o.SetNamespace(namespace)
	o.SetName(name)
	o.GetObjectKind().SetGroupVersionKind(catalog.Of(api.Key{APIVersion: apiVersion, Kind: kind}).Kind)
	return o
}

// member is a cluster that its agent reports as Ready, with capacity.
func member(name string) *api.Cluster {
	c := named(&api.Cluster{}, api.ClusterGroupVersion, "Cluster", "", name)
	c.Spec.SyncMode = api.Pull
	c.Status.Conditions = []metav1.Condition{ready(metav1.ConditionTrue)}
	capacity := resource.MustParse("100")
	c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: corev1.ResourceList{corev1.ResourceCPU: capacity, corev1.ResourcePods: capacity}}
	c.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "apps/v1", Resources: []api.APIResource{{Name: "deployments", Kind: "Deployment"}}}}
	return c
}

func ready(status metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: api.ConditionReady, Status: status, Reason: "Tested", LastTransitionTime: metav1.Time{Time: start.Truncate(time.Second)}}
}

func policy() *api.PropagationPolicy {
	p := named(&api.PropagationPolicy{}, api.PolicyGroupVersion, "PropagationPolicy", "default", "web")
	p.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}
	p.Spec.Placement.SpreadConstraints = []api.SpreadConstraint{{SpreadByField: "cluster", MinGroups: 1, MaxGroups: 1}}
	return p
}

func deployment(replicas int32, image string) *appsv1.Deployment {
	d := named(&appsv1.Deployment{}, "apps/v1", "Deployment", "default", "web")
	d.Spec.Replicas = &replicas
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: image}}
	return d
}

func binding() *api.ResourceBinding {
	return named(&api.ResourceBinding{}, api.WorkGroupVersion, "ResourceBinding", "default", "web-deployment")
}

func work(cluster string) *api.Work {
	return named(&api.Work{}, api.WorkV1alpha1GroupVersion, "Work", "karmada-es-"+cluster, workName("default/web-deployment"))
}

func lease(cluster string) *coordinationv1.Lease {
	return named(&coordinationv1.Lease{}, "coordination.k8s.io/v1", "Lease", api.LeaseNamespace, cluster)
}

// serves has the agent of a cluster report its copy, of the Work as it is now, as healthy.
func (f *fixture) serves(cluster string, replicas int32) {
	f.t.Helper()
	edit(f, work(cluster), func(w *api.Work) { w.Status = served(w, replicas) })
	require.NoError(f.t, f.step())
}

// served is what an agent says of a copy of which so many replicas serve.
func served(w *api.Work, replicas int32) api.WorkStatus {
	return api.WorkStatus{
		Conditions: []metav1.Condition{{Type: api.ConditionApplied, Status: metav1.ConditionTrue, ObservedGeneration: w.Generation}},
		ManifestStatuses: []api.ManifestStatus{{
			Health: api.Healthy, Status: &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"readyReplicas":%d}`, replicas)},
		}},
	}
}

// obeys has an agent do what a Work says, and reports whether there was anything to do.
func (f *fixture) obeys(w *api.Work) bool {
	f.t.Helper()
	switch {
	case w.DeletionTimestamp != nil:
		_, key := f.table(w)
		require.NoError(f.t, f.engine.Commit(engine.Delete(key, engine.VersionOf(w))))
	case len(w.Status.Conditions) == 0 || w.Status.Conditions[0].ObservedGeneration != w.Generation:
		edit(f, w, func(w *api.Work) { w.Status = served(w, replicasOf(w)) })
	default:
		return false
	}
	return true
}

// lets has the agent of a cluster let a Work go that is being deleted.
func (f *fixture) lets(cluster string) {
	f.t.Helper()
	w := get(f, work(cluster))
	require.NotNil(f.t, w)
	require.NotNil(f.t, w.DeletionTimestamp)
	table, key := f.table(w)
	_, version := table.Get(key)
	require.NoError(f.t, f.engine.Commit(engine.Delete(key, version)))
	require.NoError(f.t, f.step())
}

// running is a fleet of two clusters with a workload of two replicas that serves on the first.
func running(t testing.TB) *fixture {
	t.Helper()
	f := newFixture(t)
	f.apply(member("m1"), member("m2"), policy(), deployment(2, "nginx:1"))
	require.Equal(t, "m1:2", placed(f))
	f.serves("m1", 2)
	return f
}

// placed is where the workload is, as targets says it.
func placed(f *fixture) string {
	b := get(f, binding())
	if b == nil {
		return "nowhere"
	}
	return targets(&b.Spec)
}

// targets are those of a binding: "m1:2", and "m1:2 leaves m2" with a task.
func targets(b *api.BindingSpec) string {
	var words []string
	for _, c := range b.Clusters {
		words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
	}
	for _, k := range b.GracefulEvictionTasks {
		words = append(words, "leaves "+k.FromCluster)
	}
	return strings.Join(words, " ")
}

// events are the Events of an object: "Reason: message".
func (f *fixture) events(o api.Object) []string {
	var told []string
	for _, e := range f.engine.Table(catalog.Events.Name()).Snapshot().Under("", "") {
		if e := e.(*corev1.Event); e.InvolvedObject.Name == o.GetName() && e.InvolvedObject.Kind == o.GetObjectKind().GroupVersionKind().Kind {
			require.Equal(f.t, get(f, o).GetUID(), e.InvolvedObject.UID)
			told = append(told, e.Reason+": "+e.Message)
		}
	}
	slices.Sort(told)
	return told
}

func putTaints(f *fixture, cluster string, taints ...corev1.Taint) {
	f.t.Helper()
	edit(f, member(cluster), func(c *api.Cluster) { c.Spec.Taints = append(c.Spec.Taints, taints...) })
	require.NoError(f.t, f.step())
}

var failed = corev1.Taint{Key: "failed", Effect: corev1.TaintEffectNoExecute}

func conditionOf(f *fixture, cluster string) metav1.ConditionStatus {
	return meta.FindStatusCondition(get(f, member(cluster)).Status.Conditions, api.ConditionReady).Status
}
