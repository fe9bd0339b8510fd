package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// standing has d/web of one replica on m1, leaving m3, and what members report of it.
func standing(reports ...api.AggregatedStatusItem) *store.Store {
	s := fleet(0)
	b := &api.ResourceBinding{TypeMeta: metav1.TypeMeta{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding"}}
	b.Namespace, b.Name = "d", "web"
	b.Spec.Clusters = []api.TargetCluster{{Name: "m1", Replicas: 1}}
	b.Spec.GracefulEvictionTasks = []api.GracefulEvictionTask{task("m3", start)}
	b.Status.AggregatedStatus = reports
	s.Put(b)
	return s
}

func TestARealCopyIsWhatItsMemberReports(t *testing.T) {
	keeps := messages.Settings{KeepLastCopy: true}
	ended := []journal.Entry{{At: start, Fact: &messages.EvictionEnded{Binding: "d/web", Cluster: "m3", Reason: messages.EndedTimeout}}}
	for name, test := range map[string]struct {
		reports []api.AggregatedStatusItem
		broken  int
	}{
		"another serves":                 {[]api.AggregatedStatusItem{{ClusterName: "m1", Health: api.Healthy}}, 0},
		"another does not":               {[]api.AggregatedStatusItem{{ClusterName: "m1", Health: api.Unhealthy}}, 1},
		"no agent has reported":          {nil, 1},
		"only the old one itself serves": {[]api.AggregatedStatusItem{{ClusterName: "m3", Health: api.Healthy}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := standing(test.reports...)
			m := invariant.Watch(keeps, start, s)
			m.Meet(start, s)
			m.Heard(s, ended)
			require.Equal(t, test.broken, m.Counters()[invariant.LastCopyKept])
		})
	}
}

func TestAWatchGoesOnWhereAnotherEnded(t *testing.T) {
	settings := messages.Settings{GracefulEvictionTimeout: time.Minute, FleetBreakerShare: 1, BreakerWindow: time.Hour}
	s := standing()
	g := &api.Governor{TypeMeta: metav1.TypeMeta{APIVersion: api.LeewardGroupVersion, Kind: "Governor"}}
	g.Name, g.Status.Breaker, g.Status.Holds = api.GovernorName, &api.BreakerStatus{State: "Open"}, []api.HoldStatus{{Cluster: "m2"}}
	s.Put(g)
	m := invariant.Watch(settings, start, s)
	m.Meet(start, s)
	m.Look(start.Add(2*time.Minute), s)
	require.Equal(t, 1, m.Counters()[invariant.TasksEnd], "a task that was under way is known")
	m.Heard(s, []journal.Entry{{At: start, Fact: permits("d/a")}})
	require.Equal(t, 1, m.Counters()[invariant.LimitsKept], "the breaker was open")
	m.Heard(s, []journal.Entry{{At: start, Fact: &messages.EvictionsPermitted{Permits: []messages.Permit{{Binding: "d/b", Cluster: "m2"}}}}})
	require.Equal(t, 2, m.Counters()[invariant.LimitsKept], "m2 was held")
	require.Zero(t, m.Counters()[invariant.CopiesAgree], "nobody knows what real members run")
	require.NotContains(t, invariant.Watched(), invariant.CopiesAgree)
	require.NotContains(t, invariant.Watched(), invariant.BeliefFollows)
}
