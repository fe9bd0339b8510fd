package karmada

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/runtime/daemon/telemetry"
)

// overwrites has another controller place web.
func (s *stage) overwrites(by string, clusters ...string) {
	s.server.Change(by, ofBinding+"web-deployment", func(o *unstructured.Unstructured) {
		require.NoError(s.t, unstructured.SetNestedSlice(o.Object, placed64(clusters...), "spec", "clusters"))
	})
}

func placed64(names ...string) []any {
	all := []any{}
	for _, name := range names {
		all = append(all, map[string]any{"name": name, "replicas": int64(2)})
	}
	return all
}

// tasks has another controller write the graceful eviction tasks of a workload.
func (s *stage) tasks(by, name string, tasks ...map[string]any) {
	s.server.Change(by, ofBinding+name+"-deployment", func(o *unstructured.Unstructured) {
		all := []any{}
		for _, k := range tasks {
			all = append(all, k)
		}
		require.NoError(s.t, unstructured.SetNestedSlice(o.Object, all, "spec", "gracefulEvictionTasks"))
		if len(all) == 0 {
			unstructured.RemoveNestedField(o.Object, "spec", "gracefulEvictionTasks")
		}
	})
}

func task(from, reason, producer string) map[string]any {
	return map[string]any{"fromCluster": from, "reason": reason, "producer": producer, "replicas": int64(2)}
}

// stepsBack waits until a daemon has stepped back, and shows that it writes no more.
func (a *actor) stepsBack(why string) {
	t, s := a.stage.t, a.stage
	t.Helper()
	require.Eventually(t, func() bool { return a.why.Load() != nil }, 20*time.Second, time.Millisecond, "%s", s)
	require.ErrorContains(t, a.Ready(), "stepped back to shadow: another controller acts on these bindings: "+why)
	require.Equal(t, 1.0, modeOf(t, a.metrics, telemetry.SteppedBack))
	s.taint("m1", "failed")
	writes := a.faults.count()
	a.look(func(*deciding) {})
	s.clock.Add(time.Minute)
	a.look(func(*deciding) {})
	require.Equal(t, writes, a.faults.count())
	require.Contains(t, a.log.String(), "nothing is written any more")
}

func modeOf(t *testing.T, m *telemetry.Attached, mode string) float64 {
	t.Helper()
	families, err := m.Gatherer().Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() != "leeward_attach_mode" {
			continue
		}
		for _, one := range f.GetMetric() {
			if one.GetLabel()[0].GetValue() == mode {
				return one.GetGauge().GetValue()
			}
		}
	}
	return -1
}

// TestBesideAnotherControllerADaemonStepsBack: each of Karmada's controllers that Leeward acts in place of shows itself by what it writes.
func TestBesideAnotherControllerADaemonStepsBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why string
		act func(s *stage)
	}{
		"the scheduler": {"karmada-scheduler (it wrote shop/web-deployment", func(s *stage) { s.overwrites(scheduler, "m1", "m4") }},
		"the taint manager": {"karmada-controller-manager, taint manager", func(s *stage) {
			s.tasks(controllers, "web", task("m2", "TaintUntolerated", "TaintManager"))
		}},
		"graceful eviction": {"an unknown writer (it ended graceful evictions that Leeward had not ended 3 times", func(s *stage) {
			s.silent["m3"] = true
			s.taint("m2", "failed")
			s.until("m1:2 m3:2 -m2")
			for _, name := range s.bound {
				s.tasks(controllers, name)
			}
		}},
		"application failover": {"karmada-controller-manager, application failover", func(s *stage) {
			s.tasks(controllers, "web", task("m2", "ApplicationFailure", "resource-binding-application-failover-controller"))
		}},
		"another scheduler, that fights": {"other-scheduler (it wrote over what Leeward decided of shop/web-deployment 3 times", func(s *stage) {
			for n := range 3 { // of a person who edits it once, the word counts
				s.taint("m2", fmt.Sprintf("failed%d", n))
				s.until("m1:2 m3:2")
				s.taint("m2")
				s.overwrites("other-scheduler", "m1", "m2")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, opted, "web", "db", "api")
			a := s.acts(opted).leads()
			s.until("m1:2 m2:2")
			c.act(s)
			a.stepsBack(c.why)
		})
	}
}

func TestWhoEndsOneOfSeveralEvictionsIsKnown(t *testing.T) {
	t.Parallel()
	s := newStageAmong(t, []string{"m1", "m2", "m3", "m4"}, opted, "web")
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.silent["m3"], s.silent["m4"] = true, true
	s.taint("m2", "failed")
	s.until("m1:2 m3:2 -m2")
	s.taint("m1", "failed")
	s.until("m3:2 m4:2 -m2 -m1")
	s.tasks(controllers, "web", task("m1", "TaintUntolerated", "TaintManager"))
	a.stepsBack("karmada-controller-manager, graceful eviction (it wrote shop/web-deployment: it ended the task for m2); start the karmada-controller-manager with --controllers=*,-gracefulEviction")
}

// TestWhereUsersPlaceAWorkloadItRuns: their word is not undone, and from there Leeward decides again.
func TestWhereUsersPlaceAWorkloadItRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.overwrites("kubectl-edit", "m2", "m3")
	s.until("m2:2 m3:2")
	s.taint("m2", "failed")
	s.until("m1:2 m3:2")
	require.NoError(t, a.Ready())
	require.Contains(t, a.log.String(), `"by":"kubectl-edit","message":"others wrote where this binding runs: their word counts"`)
}

// TestBesideAControllerThatHasJustActedADaemonDoesNotBegin: it does when that has been quiet for a time.
func TestBesideAControllerThatHasJustActedADaemonDoesNotBegin(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	s.overwrites(scheduler, "m1", "m3")
	s.clock.Add(quiet - time.Second)
	refused := s.acts(opted)
	err := <-refused.ended
	require.ErrorAs(t, err, new(*Rival))
	require.ErrorContains(t, err, "karmada-scheduler (it wrote shop/web-deployment at 2026-11-28T06:00:00Z; Leeward acts when none was written for 2m0s); stop it, or use another --scheduler-name, then start leewardd again")
	s.clock.Add(2 * time.Second)
	s.acts(opted).leads()
	s.until("m1:2 m3:2")
}

// TestATaintManagerThatHasJustActedIsSeenByWhatRemains: a task that it wrote, or, once that has ended, the clusters that it wrote.
func TestATaintManagerThatHasJustActedIsSeenByWhatRemains(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	s.overwrites(controllers, "m1")
	s.tasks(controllers, "web", task("m2", "TaintUntolerated", "TaintManager"))
	theirs := func(c *Config, _ *faults) { c.Act.ApplicationFailover = false }
	require.ErrorContains(t, <-s.acts(opted, theirs).ended, "karmada-controller-manager, taint manager (it wrote shop/web-deployment at 2026-11-28T06:00:00Z: a task for m2")
	s.tasks(controllers, "web")
	require.ErrorContains(t, <-s.acts(opted).ended, "karmada-controller-manager, taint manager or application failover (it wrote shop/web-deployment at 2026-11-28T06:00:00Z: it took a cluster off")
	s.acts(opted, theirs).leads() // it may have been application failover
	s.until("m1:2 m2:2")
}

// TestASchedulerThatRunsKeepsADaemonFromItsName: its Lease is fresh, or is renewed.
func TestASchedulerThatRunsKeepsADaemonFromItsName(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "web")
	lease := func() {
		s.server.Put("/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-scheduler", textOf(t, object("coordination.k8s.io/v1", "Lease", "karmada-system", "karmada-scheduler", map[string]any{
			"spec": map[string]any{"holderIdentity": "host-1", "leaseDurationSeconds": 15, "renewTime": s.clock.Now().UTC().Format("2006-01-02T15:04:05.000000Z")},
		})))
	}
	lease()
	s.clock.Add(14 * time.Second)
	refused := s.acts("default-scheduler")
	err := <-refused.ended
	require.ErrorContains(t, err, "karmada-scheduler (host-1 holds the Lease karmada-system/karmada-scheduler, renewed at 2026-11-28T06:00:00Z)")
	s.clock.Add(2 * time.Second)
	a := s.acts("default-scheduler").leads()
	s.until("m1:2 m2:2")
	lease()
	require.Eventually(t, func() bool {
		s.clock.Add(pulsePeriod)
		return a.why.Load() != nil
	}, 20*time.Second, time.Millisecond)
	a.stepsBack("karmada-scheduler (host-1 holds the Lease")
	s.acts(opted).leads() // which has no bindings of its name
}

// TestBindingsOfAnotherSchedulerAreNotTouched: they are compared.
func TestBindingsOfAnotherSchedulerAreNotTouched(t *testing.T) {
	t.Parallel()
	s := newStage(t, "default-scheduler", "web")
	a := s.acts(opted).leads()
	s.taint("m2", "failed")
	require.Eventually(t, func() (so bool) {
		a.look(func(d *deciding) { so = len(d.compare.open) == 1 })
		return so
	}, 20*time.Second, time.Millisecond)
	s.overwrites(scheduler, "m1", "m3")
	require.Eventually(t, func() (so bool) {
		a.look(func(d *deciding) {
			b := d.twin.world.Store().Binding(web)
			so = len(d.twin.seen) > 0 && len(b.Spec.Clusters) == 2
		})
		return so
	}, 20*time.Second, time.Millisecond)
	require.NoError(t, a.Ready())
	require.Zero(t, a.faults.count())
}

// TestApplicationFailoverMayRemainKarmadas: its eviction is taken over. Leeward schedules the rest, and ends it.
func TestApplicationFailoverMayRemainKarmadas(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	a := s.acts(opted, func(c *Config, _ *faults) { c.Act.ApplicationFailover = false }).leads()
	s.until("m1:2 m2:2")
	s.silent["m3"] = true
	s.server.Change(controllers, ofBinding+"web-deployment", func(o *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedSlice(o.Object, placed64("m1"), "spec", "clusters"))
		require.NoError(t, unstructured.SetNestedSlice(o.Object, []any{task("m2", "ApplicationFailure", "resource-binding-application-failover-controller")}, "spec", "gracefulEvictionTasks"))
	})
	s.until("m1:2 m3:2 -m2")
	tasks, _, _ := unstructured.NestedSlice(s.server.Get(ofBinding+"web-deployment").Object, "spec", "gracefulEvictionTasks")
	require.Equal(t, "2026-11-28T06:00:00Z", tasks[0].(map[string]any)["creationTimestamp"], "which the graceful eviction controller sets")
	s.heals("m3")
	s.until("m1:2 m3:2")
	require.NoError(t, a.Ready())
}

// TestGracefulEvictionMayRemainKarmadas: its controller ends what Leeward began, and Leeward ends nothing.
func TestGracefulEvictionMayRemainKarmadas(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web", "db")
	a := s.acts(opted, func(c *Config, _ *faults) { c.Act.GracefulEviction = false }).leads()
	s.until("m1:2 m2:2")
	s.silent["m3"] = true
	s.taint("m2", "failed")
	s.until("m1:2 m3:2 -m2")
	s.tasks(controllers, "db") // it is over sooner than Leeward thinks
	s.heals("m3")
	s.karmada()
	a.rounds()
	require.Equal(t, "m1:2 m3:2 -m2", s.is("web"))
	s.tasks(controllers, "web")
	s.until("m1:2 m3:2")
	require.NoError(t, a.Ready())
	require.NotContains(t, a.log.String(), "others wrote")
}

// TestOneDaemonActsForSeveralSchedulerNames: a policy that was cut over by its name stays so when the fleet is.
func TestOneDaemonActsForSeveralSchedulerNames(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web", "db")
	s.server.Change(karmadas, ofBinding+"db-deployment", func(o *unstructured.Unstructured) {
		unstructured.RemoveNestedField(o.Object, "spec", "schedulerName")
	})
	a := s.acts(opted + ",default-scheduler").leads()
	s.taint("m2", "failed")
	s.until("m1:2 m3:2")
	require.NoError(t, a.Ready())
}

// TestOfDaemonsWithOtherSchedulerNamesOneActs: what rates, breakers and the Governor count is one for the fleet.
func TestOfDaemonsWithOtherSchedulerNamesOneActs(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "web")
	first := s.acts(opted).leads()
	second := s.acts("default-scheduler")
	require.Eventually(t, func() bool { return strings.Contains(second.log.String(), `"message":"leader"`) }, 20*time.Second, time.Millisecond)
	s.taint("m2", "failed")
	first.rounds()
	require.Equal(t, "m1:2 m2:2", strings.TrimSuffix(s.is("web"), " ?"))
	first.stop()
	second.leads()
	s.until("m1:2 m3:2")
}
