package karmada

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"leeward/messages/api"
)

// edit has Karmada's detector write a field of the spec of all bindings.
func (s *stage) edit(value any, field ...string) {
	for _, name := range s.bound {
		s.server.Change(karmadas, ofBinding+name+"-deployment", func(o *unstructured.Unstructured) {
			require.NoError(s.t, unstructured.SetNestedField(o.Object, value, append([]string{"spec"}, field...)...))
		})
	}
}

// tolerates has the policy tolerate the taint failed for some time.
func (s *stage) tolerates(seconds int64) {
	s.edit([]any{map[string]any{"key": "failed", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}}, "placement", "clusterTolerations")
}

// rounds lets the machines take in what they have heard, twice: the first may come before the news.
func (a *actor) rounds() {
	for range 2 {
		a.look(func(*deciding) {})
	}
}

func TestDeadlinesAreExactAcrossRestarts(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	s.tolerates(60)
	first := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.clock.Add(time.Second)
	s.taint("m2", "failed") // since the start
	s.clock.Add(29 * time.Second)
	first.rounds()
	first.stop()
	s.clock.Add(29*time.Second + 999*time.Millisecond)
	second := s.acts(opted).leads()
	second.rounds()
	require.Equal(t, "m1:2 m2:2", s.is("web"))
	s.clock.Add(time.Millisecond)
	s.until("m1:2 m3:2")
	require.Contains(t, second.log.String(), `"because":"taint failed:NoExecute; by user; toleration 60s; deadline`)
}

func TestNothingIsEvictedWithoutADestination(t *testing.T) {
	t.Parallel()
	s := newStageAmong(t, []string{"m1", "m2"}, opted, "web")
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.taint("m2", "failed")
	require.Eventually(t, func() bool { return strings.Contains(a.log.String(), "eviction blocked") }, 20*time.Second, time.Millisecond)
	s.clock.Add(time.Hour)
	a.rounds()
	require.Contains(t, s.is("web"), "m1:2 m2:2")
	s.edit([]any{"m1", "m2", "m4"}, "placement", "clusterAffinity", "clusterNames")
	s.until("m1:2 m4:2")
}

// TestAHoldBlocksAnEviction: the annotation needs no kind of Leeward's own.
func TestAHoldBlocksAnEviction(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	hold := func(text string) {
		s.server.Change("kubectl", ofBinding+"web-deployment", func(o *unstructured.Unstructured) {
			annotations := o.GetAnnotations()
			delete(annotations, api.AnnotationHold)
			if text != "" {
				annotations[api.AnnotationHold] = text
			}
			o.SetAnnotations(annotations)
		})
	}
	hold(`{"reason":"release day"}`)
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.taint("m2", "failed")
	require.Eventually(t, func() bool { return strings.Contains(a.log.String(), "eviction blocked") }, 20*time.Second, time.Millisecond, "%s", &a.log)
	hold("")
	s.until("m1:2 m3:2")
}

// TestADrainIsKnownAfterARestart: its annotation needs no field of Leeward's own.
func TestADrainIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	s.server.Change("kubectl", clusters+"/m2", func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{api.AnnotationDrain: ""}) })
	s.acts(opted)
	s.until("m1:2 m3:2")
	s.server.Change("kubectl", clusters+"/m3", func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{api.AnnotationDrain: ""}) })
	s.server.Change("kubectl", clusters+"/m2", func(o *unstructured.Unstructured) { o.SetAnnotations(nil) })
	s.until("m1:2 m2:2")
}

// TestAnApplicationThatIsNotHealthyFailsOver counts from when it was so, also across a restart: that is not Karmada's to tell.
func TestAnApplicationThatIsNotHealthyFailsOver(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	s.edit(map[string]any{"decisionConditions": map[string]any{"tolerationSeconds": int64(60)}, "purgeMode": "Gracefully", "gracePeriodSeconds": int64(600)}, "failover", "application")
	first := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.ill["m2"] = true
	require.Eventually(t, func() bool {
		s.karmada()
		return strings.Contains(textOf(t, s.server.Get(ofBinding+"web-deployment").Object), "unhealthySince")
	}, 20*time.Second, time.Millisecond, "%s", &first.log)
	s.clock.Add(30 * time.Second)
	first.rounds()
	first.stop()
	s.clock.Add(29 * time.Second)
	second := s.acts(opted).leads()
	second.rounds()
	require.Equal(t, "m1:2 m2:2", s.is("web"))
	s.clock.Add(time.Second)
	s.until("m1:2 m3:2")
	require.Contains(t, second.log.String(), "eviction started")
}

// TestWhatTheDetectorWritesIsScheduled: a workload that is scaled, a new one, and one that is deleted.
func TestWhatTheDetectorWritesIsScheduled(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web", "db")
	s.server.Change(karmadas, ofBinding+"db-deployment", func(o *unstructured.Unstructured) {
		unstructured.RemoveNestedField(o.Object, "spec", "clusters")
		unstructured.RemoveNestedField(o.Object, "status")
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", api.AnnotationAppliedPlacement)
		require.NoError(t, unstructured.SetNestedField(o.Object, []any{"m1", "m2"}, "spec", "placement", "clusterAffinity", "clusterNames"))
	})
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.edit(int64(5), "replicas")
	s.until("m1:5 m2:5")
	o := s.server.Get(ofBinding + "db-deployment")
	var b api.ResourceBinding
	require.NoError(t, json.Unmarshal([]byte(textOf(t, o.Object)), &b))
	require.NotEmpty(t, b.Annotations[api.AnnotationAppliedPlacement], "without it Karmada's taint manager evicts nothing")
	require.Equal(t, api.ConditionScheduled, b.Status.Conditions[0].Type)
	require.Equal(t, api.ReasonSuccess, b.Status.Conditions[0].Reason)
	require.Equal(t, s.clock.Now().UTC(), b.Status.LastScheduledTime.UTC())
	s.server.Remove(ofBinding + "db-deployment")
	s.bound = []string{"web"}
	s.taint("m2", "failed")
	s.until("m1:5 m3:5")
	require.Eventually(t, func() (so bool) {
		a.look(func(d *deciding) {
			so = d.twin.world.Store().Binding("shop/db-deployment") == nil && len(d.acting.writes.of) == 0 && len(d.twin.wrote) == 0
		})
		return so
	}, 20*time.Second, time.Millisecond)
}

// TestACopyThatIsWantedAgainBeforeItIsDeletedGoesOn: Karmada does not come to delete its Work, and there is no other.
func TestACopyThatIsWantedAgainBeforeItIsDeletedGoesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.taint("m2", "failed")
	s.until("m1:2 m3:2")
	s.taint("m2")
	require.Eventually(t, func() (so bool) {
		a.look(func(d *deciding) { so = len(d.twin.world.Store().Cluster("m2").Spec.Taints) == 0 })
		return so
	}, 20*time.Second, time.Millisecond)
	s.overwrites("kubectl-edit", "m1", "m2")
	require.Eventually(t, func() (so bool) {
		a.look(func(d *deciding) { so = api.FindTarget(d.twin.world.Store().Binding(web).Spec.Clusters, "m2") >= 0 })
		return so
	}, 20*time.Second, time.Millisecond)
	s.taint("m2", "again")
	require.Eventually(t, func() bool { return strings.HasPrefix(s.is("web"), "m1:2 m3:2") }, 20*time.Second, time.Millisecond, "%s", s)
	s.until("m1:2 m3:2")
}

// TestAFailoverTakesAFewRequests counts them: of Leeward, and of the stand-in for what remains of Karmada.
func TestAFailoverTakesAFewRequests(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 12 {
		names = append(names, fmt.Sprintf("w%02d", n))
	}
	s := newStage(t, opted, names...)
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	before := a.faults.count()
	s.taint("m2", "failed")
	require.Eventually(t, func() bool {
		s.clock.Add(10 * time.Millisecond)
		s.karmada()
		return !slices.ContainsFunc(s.bound, func(name string) bool { return s.is(name) != "m1:2 m3:2" })
	}, 20*time.Second, time.Millisecond, "%s", s)
	a.stop()
	made := a.faults.count() - before
	t.Logf("%d failovers: %d requests of Leeward, %d of them conflicts", len(names), made, a.faults.conflicts)
	require.LessOrEqual(t, made-a.faults.conflicts, 4*len(names))
}

// theirs has Karmada's taint manager, scheduler and graceful eviction controller do one step each, as they do where Leeward is stopped.
func (s *stage) theirs(name string) {
	s.server.Change(karmadas, ofBinding+name+"-deployment", func(o *unstructured.Unstructured) {
		var b api.ResourceBinding
		require.NoError(s.t, json.Unmarshal([]byte(textOf(s.t, o.Object)), &b))
		all, tasks := b.Spec.Clusters, b.Spec.GracefulEvictionTasks
		healthy := !slices.ContainsFunc(all, func(c api.TargetCluster) bool {
			return !slices.ContainsFunc(b.Status.AggregatedStatus, func(i api.AggregatedStatusItem) bool { return i.ClusterName == c.Name && i.Health == api.Healthy })
		})
		switch on := api.FindTarget(all, "m2"); {
		case on >= 0:
			all = slices.Delete(all, on, on+1)
			tasks = append(tasks, api.GracefulEvictionTask{FromCluster: "m2", Reason: "TaintUntolerated", Producer: "TaintManager", PurgeMode: "Gracefully", Replicas: new(int32(2))})
		case len(all) < 2:
			all = append(all, api.TargetCluster{Name: "m3", Replicas: 2})
		case b.Status.SchedulerObservedGeneration != b.Generation:
			require.NoError(s.t, unstructured.SetNestedField(o.Object, b.Generation, "status", "schedulerObservedGeneration"))
			return
		case healthy:
			tasks = nil
		}
		var spec map[string]any
		require.NoError(s.t, utiljson.Unmarshal([]byte(textOf(s.t, map[string]any{"clusters": all, "gracefulEvictionTasks": tasks})), &spec))
		for field, value := range spec {
			if value == nil {
				unstructured.RemoveNestedField(o.Object, "spec", field)
				continue
			}
			o.Object["spec"].(map[string]any)[field] = value
		}
	})
}

// TestKarmadaGoesOnFromWhatIsThere: Leeward is stopped in the middle of a storm, some workloads evicted and others not. Karmada's own
// controllers do the rest, with nothing to migrate.
func TestKarmadaGoesOnFromWhatIsThere(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 20 {
		names = append(names, fmt.Sprintf("w%02d", n))
	}
	s := newStage(t, opted, names...)
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.silent["m3"] = true
	s.taint("m2", "failed")
	evicted := func() int {
		n := 0
		for _, name := range names {
			if strings.HasPrefix(s.is(name), "m1:2 m3:2 -m2") {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return evicted() >= 5 }, 20*time.Second, time.Millisecond, "%s", s)
	a.stop()
	require.Less(t, evicted(), len(names), "the clock of the limiter is held")
	s.heals("m3")
	for range 6 {
		for _, name := range names {
			s.theirs(name)
		}
		s.karmada()
	}
	for _, name := range names {
		require.Equal(t, "m1:2 m3:2", strings.TrimSuffix(s.is(name), " ?"))
	}
}
