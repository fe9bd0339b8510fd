package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// situation is one binding, d/web of two replicas on m1 and m2, and what is told of it at an instant.
type situation struct {
	binding  func(*api.ResourceBinding)
	m1       func(*api.Cluster)
	objects  []api.Object
	settings messages.Settings
	facts    []messages.Fact
	// reported is what the binding was told of a copy; nil: nothing.
	reported *messages.CopyReported
	// later is how long after the facts the invariants are asked again, and next the facts of then.
	later time.Duration
	next  []messages.Fact
}

// ruling is a situation in which an invariant is broken, or holds.
type ruling struct {
	situation
	name   invariant.Name
	breaks bool
}

func judge(t *testing.T, rulings map[string]ruling) {
	t.Helper()
	for name, r := range rulings {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, r.breaks, r.broken()[r.name] > 0, "%v", r.broken())
		})
	}
}

func (c *situation) broken() map[invariant.Name]int {
	s := store.New(1)
	for _, name := range []string{"m1", "m2", "m3"} {
		cluster := &api.Cluster{TypeMeta: metav1.TypeMeta{APIVersion: "cluster.karmada.io/v1alpha1", Kind: "Cluster"}}
		cluster.Name = name
		cluster.Status.Conditions = []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue}}
		if name == "m1" && c.m1 != nil {
			c.m1(cluster)
		}
		s.Put(cluster)
	}
	b := &api.ResourceBinding{TypeMeta: metav1.TypeMeta{APIVersion: "work.karmada.io/v1alpha2", Kind: "ResourceBinding"}}
	b.Namespace, b.Name = "d", "web"
	b.Spec.Replicas = 2
	b.Spec.Placement = &api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided}}
	b.Spec.Clusters = []api.TargetCluster{{Name: "m1", Replicas: 1}, {Name: "m2", Replicas: 1}}
	b.Generation, b.Status.SchedulerObservedGeneration = 1, 1
	b.Status.Conditions = []metav1.Condition{{Type: api.ConditionScheduled, Status: metav1.ConditionTrue}}
	if c.binding != nil {
		c.binding(b)
	}
	s.Put(b)
	for _, o := range c.objects {
		s.Put(o)
	}
	m := invariant.New(c.settings, nil)
	if c.reported != nil {
		m.Reported("d/web", c.reported)
	}
	m.Settled(start, s, entries(start, append([]messages.Fact{&messages.Restarted{}}, c.facts...)))
	m.Settled(start.Add(c.later), s, entries(start.Add(c.later), c.next))
	return m.Counters()
}

func entries(at time.Time, facts []messages.Fact) (news []journal.Entry) {
	for _, f := range facts {
		news = append(news, journal.Entry{At: at, Fact: f})
	}
	return news
}

func task(from string, at time.Time) api.GracefulEvictionTask {
	return api.GracefulEvictionTask{FromCluster: from, PurgeMode: api.PurgeGracefully, CreationTimestamp: &metav1.Time{Time: at}}
}

func leaving(tasks ...api.GracefulEvictionTask) func(*api.ResourceBinding) {
	return func(b *api.ResourceBinding) { b.Spec.GracefulEvictionTasks = tasks }
}

// early is an eviction for a taint that m1 does not have, or before its deadline.
func early(deadline time.Time) *messages.EvictionStarted {
	return &messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Grounds: messages.Grounds{
		Reason: api.EvictionReasonTaintUntolerated, Deadline: deadline, Taint: &corev1.Taint{Key: "down", Effect: corev1.TaintEffectNoExecute},
	}}
}

// applied has the binding go by a placement that tolerates everything for good.
func applied(b *api.ResourceBinding) {
	b.Annotations = map[string]string{api.AnnotationAppliedPlacement: `{"clusterTolerations":[{"operator":"Exists"}]}`}
}

func TestInvariants(t *testing.T) {
	byApplied := messages.Settings{TolerationSource: messages.SourceAppliedPlacement}
	reapplied := &messages.Scheduled{Binding: "d/web", Applied: &api.Placement{}}
	timeout := messages.Settings{GracefulEvictionTimeout: time.Minute}
	judge(t, map[string]ruling{
		"a task leaves a cluster that is no target":             {situation{binding: leaving(task("m3", start))}, invariant.OneTask, false},
		"a task leaves a target":                                {situation{binding: leaving(task("m1", start))}, invariant.OneTask, true},
		"two tasks leave one cluster":                           {situation{binding: leaving(task("m3", start), task("m3", start))}, invariant.OneTask, true},
		"replicas add up":                                       {situation{}, invariant.ReplicasConserved, false},
		"a replica is nowhere":                                  {situation{binding: func(b *api.ResourceBinding) { b.Spec.Clusters = b.Spec.Clusters[:1] }}, invariant.ReplicasConserved, true},
		"a task goes on until its time is up":                   {situation{binding: leaving(task("m3", start)), settings: timeout, later: time.Minute}, invariant.TasksEnd, false},
		"a task outlives its time":                              {situation{binding: leaving(task("m3", start)), settings: timeout, later: 2 * time.Minute}, invariant.TasksEnd, true},
		"an eviction before its deadline":                       {situation{facts: []messages.Fact{early(start.Add(time.Second))}}, invariant.NeverEarly, true},
		"an eviction for a taint that is tolerated for good":    {situation{binding: applied, m1: down, settings: byApplied, facts: []messages.Fact{early(start)}}, invariant.NeverEarly, true},
		"one that was not before a placement of the instant":    {situation{binding: applied, m1: down, settings: byApplied, facts: []messages.Fact{early(start), reapplied}}, invariant.NeverEarly, false},
		"an eviction for a taint that is not there":             {situation{facts: []messages.Fact{early(start)}}, invariant.NeverEarly, true},
		"nothing is asked of machines while the engine is away": {situation{binding: leaving(task("m1", start)), facts: []messages.Fact{&messages.Crashed{}}}, invariant.OneTask, false},
	})
}

// BenchmarkMonitor is what it costs to ask the invariants about a fact where nothing is wrong: a copy whose health changes. "x-store"
// is how many times as long that takes as to apply such a fact to the store, the least that a listener does.
func BenchmarkMonitor(b *testing.B) {
	s, m := fleet(0), invariant.New(messages.Settings{}, nil)
	health := func(ready int32) messages.Fact {
		return &messages.HealthChanged{Binding: "d/a", Cluster: "m1", Health: api.Healthy, Ready: ready}
	}
	var store float64
	b.Run("store", func(b *testing.B) {
		for ready := int32(0); b.Loop(); ready++ {
			s.Apply(start, health(ready))
		}
		store = float64(b.Elapsed()) / float64(b.N)
	})
	b.Run("laws", func(b *testing.B) {
		news := []journal.Entry{{At: start, Fact: health(1)}}
		b.ReportAllocs()
		for b.Loop() {
			m.Settled(start, s, news)
		}
		b.ReportMetric(float64(b.Elapsed())/float64(b.N)/store, "x-store")
	})
}
