package telemetry

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/live"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/journal"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// fixture is a fleet that is measured.
type fixture struct {
	*Metrics
	t      testing.TB
	clock  *clock.Mock
	engine *engine.Engine
	// unmonitored is that of the fleet.
	unmonitored bool
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{t: t, clock: clock.NewMock()}
	f.clock.Set(start)
	dir := t.TempDir()
	f.Metrics = New(Config{Clock: f.clock, Build: build.Build{Version: "v1.2.3", Revision: "abc", GoVersion: "go1"}, StoreDir: dir})
	var err error
	f.engine, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: f.clock, Dir: dir, Committed: f.Committed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.engine.Close()) })
	return f
}

// write puts objects as an API would.
func (f *fixture) write(objects ...api.Object) {
	f.t.Helper()
	settings, err := config.Profile(config.Default)
	require.NoError(f.t, err)
	var batch []engine.Write
	for _, o := range objects {
		admission.Default(o, &settings, f.clock.Now())
		o.SetGeneration(1)
		batch = append(batch, engine.Create(engine.Key(catalog.Of(api.KeyOf(o)).Name(), o.GetNamespace(), o.GetName()), o))
	}
	require.NoError(f.t, f.engine.Commit(batch...))
}

// run starts a fleet on what was written. It has done what there is to do immediately.
func (f *fixture) run() {
	f.t.Helper()
	settings, err := config.Profile(config.Default)
	require.NoError(f.t, err)
	fleet, err := live.Open(f.t.Context(), live.Config{
		Engine: f.engine, Settings: settings, Clock: f.clock, Log: zerolog.Nop(), Broken: f.Broken, Unmonitored: f.unmonitored,
		Hear: func(_ time.Time, fact messages.Fact, _ journal.Phrase) { f.Hear(fact) },
	})
	require.NoError(f.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- fleet.Run(ctx) }()
	f.t.Cleanup(func() {
		cancel()
		require.NoError(f.t, <-ended)
	})
	f.Watch(f.engine, fleet)
}

// value returns what a metric shows, by its labels in their order: "evictions_blocked/NoClusterFit". Of a histogram it
// is the count.
func (f *fixture) value(of string) float64 {
	f.t.Helper()
	m := f.metric(of)
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
}

// sum returns the sum of a histogram.
func (f *fixture) sum(of string) float64 {
	f.t.Helper()
	return f.metric(of).GetHistogram().GetSampleSum()
}

func (f *fixture) metric(of string) *dto.Metric {
	f.t.Helper()
	name, labels, _ := strings.Cut(of, "/")
	families, err := f.Gatherer().Gather()
	require.NoError(f.t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "leeward_"+name && labelsOf(metric) == labels {
				return metric
			}
		}
	}
	f.t.Fatalf("no metric %s", of)
	return nil
}

func labelsOf(m *dto.Metric) string {
	var values []string
	for _, label := range m.GetLabel() {
		values = append(values, label.GetValue())
	}
	return strings.Join(values, "/")
}

func cluster(name string, ready metav1.ConditionStatus, taints ...corev1.Taint) *api.Cluster {
	c := &api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.APIVersion, c.Kind = catalog.Clusters.Kind.GroupVersion().String(), "Cluster"
	c.Spec.SyncMode, c.Spec.Taints = "Push", taints
	c.Status.Conditions = []metav1.Condition{{Type: api.ConditionReady, Status: ready}}
	c.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "apps/v1", Resources: []api.APIResource{{Kind: "Deployment", Name: "deployments"}}}}
	return c
}

// workload is a Deployment with a policy that duplicates it.
func workload(name string) []api.Object {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	d.APIVersion, d.Kind = "apps/v1", "Deployment"
	p := &api.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	p.APIVersion, p.Kind = "policy.karmada.io/v1alpha1", "PropagationPolicy"
	p.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: name}}
	return []api.Object{d, p}
}

// leaving is a binding that is placed on m1, which must be evicted from.
func leaving() *api.ResourceBinding {
	b := &api.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-deployment"}}
	b.APIVersion, b.Kind = api.WorkGroupVersion, "ResourceBinding"
	b.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	b.Spec.Clusters = []api.TargetCluster{{Name: "m1"}}
	return b
}

var failed = corev1.Taint{Key: "failed", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: start.Add(-time.Minute)}}

func TestAFleetIsMeasured(t *testing.T) {
	f := newFixture(t)
	f.write(cluster("m1", metav1.ConditionTrue, failed), cluster("m2", metav1.ConditionTrue), cluster("m3", metav1.ConditionFalse))
	f.write(workload("web")...)
	f.write(leaving())
	f.run()
	for metric, want := range map[string]float64{
		"clusters/True": 2, "clusters/False": 1, "clusters/Unknown": 0,
		"bindings_unschedulable":                   0,
		"evictions_started_total/TaintUntolerated": 1, "placements_total/eviction": 1,
		"eviction_tasks/TaintUntolerated": 1, "eviction_task_age_seconds": 1,
		"failover_stage_seconds/evicted": 1, "failover_stage_seconds/placed": 1, "eviction_lateness_seconds": 1,
		"governor_state//Normal": 1, "governor_state//Blackout": 0, "holds/fleet": 0,
		"store_objects/clusters.cluster.karmada.io": 3, "store_read_only": 0,
		"machines_answering": 1, "mailbox_messages": 0, "objects_refused_total": 0,
		"build_info/go1/abc/v1.2.3": 1,
	} {
		require.Equal(t, want, f.value(metric), metric)
	}
	for _, metric := range []string{"facts_total/Scheduled", "messages_total/binding", "deadlines_pending", "changes_written_total", "store_commit_seconds", "store_changes_total", "store_size_bytes"} {
		require.Positive(t, f.value(metric), metric)
	}
}

func TestAnEvictionThatWaitsIsHeldByItsReason(t *testing.T) {
	f := newFixture(t)
	f.write(cluster("m1", metav1.ConditionTrue, failed))
	f.write(workload("web")...)
	f.write(leaving())
	f.run()
	require.Equal(t, 1.0, f.value("evictions_blocked/NoClusterFit"))
	require.Equal(t, 1.0, f.value("evictions_delayed_total/NoClusterFit"))
}

func TestAClusterFromWhichNothingEvictsIsMeasured(t *testing.T) {
	f := newFixture(t)
	f.write(cluster("m1", metav1.ConditionFalse), cluster("m2", metav1.ConditionFalse))
	f.write(workload("web")...)
	f.write(leaving())
	f.run()
	const metric = "workloads_stay/m1/no ClusterTaintPolicy adds NoExecute for it"
	require.Equal(t, 1.0, f.value(metric))
}

func TestAClusterThatBacksOffIsMeasured(t *testing.T) {
	f := newFixture(t)
	soon := metav1.MicroTime{Time: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	g := &api.Governor{TypeMeta: metav1.TypeMeta{APIVersion: api.LeewardGroupVersion, Kind: "Governor"}}
	g.Name, g.Status.Starts = api.GovernorName, []api.StartBackoff{{Cluster: "m1", Most: 1, Level: 1, Since: &soon, Until: &soon}}
	f.write(g)
	f.run()
	require.Equal(t, 1.0, f.value("starts_limited/m1"))
}

func TestABindingThatBreaksAnInvariantIsCounted(t *testing.T) {
	f := newFixture(t)
	b := leaving()
	b.Spec.GracefulEvictionTasks = []api.GracefulEvictionTask{{FromCluster: "m1"}}
	f.write(b)
	f.run()
	require.Equal(t, 1.0, f.value("invariants_broken_total/"+string(invariant.OneTask)), "m1 is left, and a target")
	require.Equal(t, 0.0, f.value("invariants_broken_total/"+string(invariant.ReplicasConserved)))
	require.Positive(t, f.value("invariant_monitor_bytes"), "it knows the binding")
}

func TestBeforeAFleetRunsOnlyTheProcessIsMeasured(t *testing.T) {
	f := newFixture(t)
	f.Restarted()
	f.Reloaded(true)
	f.Reloaded(false)
	require.Equal(t, 1.0, f.value("machine_restarts_total"))
	require.Equal(t, 1.0, f.value("config_reloads_total/applied"))
	require.Equal(t, 1.0, f.value("config_reloads_total/refused"))
}

func TestMachinesThatDoNotAnswerAreOmitted(t *testing.T) {
	f := newFixture(t)
	fleet, err := live.Open(t.Context(), live.Config{Engine: f.engine, Clock: f.clock, Log: zerolog.Nop()})
	require.NoError(t, err)
	defer fleet.Close()
	f.Watch(f.engine, fleet) // which no cluster runs
	f.patience = 0
	require.Zero(t, f.value("machines_answering"))
	require.Equal(t, 0.0, f.value("store_read_only"))
}

func TestNamesFollowTheRulesOfPrometheus(t *testing.T) {
	f := newFixture(t)
	f.write(cluster("m1", metav1.ConditionTrue, failed), cluster("m2", metav1.ConditionTrue))
	f.write(workload("web")...)
	f.run()
	problems, err := testutil.GatherAndLint(f.Gatherer())
	require.NoError(t, err)
	require.Empty(t, problems)
	for _, d := range definitions {
		require.True(t, slices.Contains([]string{counter, gauge, histogram}, d.kind), d.name)
	}
}

func TestAMonitorThatIsTurnedOffFindsNothingAndCostsNothing(t *testing.T) {
	f := newFixture(t)
	f.unmonitored = true
	b := leaving()
	b.Spec.GracefulEvictionTasks = []api.GracefulEvictionTask{{FromCluster: "m1"}}
	f.write(b)
	f.run()
	require.Equal(t, 1.0, f.value("machines_answering"))
	require.Equal(t, 0.0, f.value("invariants_broken_total/"+string(invariant.OneTask)), "m1 is left, and a target")
	require.Equal(t, 0.0, f.value("invariant_monitor_seconds_total"))
	require.Equal(t, 0.0, f.value("invariant_monitor_bytes"))
}
