package telemetry

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

// TestStagesOfAFailover tells facts of one failover and what its stages are then said to have taken.
func TestStagesOfAFailover(t *testing.T) {
	f := newFixture(t)
	tell := func(after time.Duration, fact messages.Fact) {
		f.clock.Add(after)
		f.Hear(fact)
	}
	tell(0, &messages.EvictionStarted{Binding: "web", Cluster: "m1", Grounds: messages.Grounds{Taint: &failed, Deadline: start.Add(-10 * time.Second)}})
	tell(2*time.Second, &messages.Scheduled{Binding: "web"})
	tell(time.Second, &messages.Scheduled{Binding: "web"})
	tell(5*time.Second, &messages.HealthForgotten{Binding: "web", Cluster: "m1"}) // it starts again
	tell(time.Second, &messages.EvictionEnded{Binding: "web", Cluster: "m1", Reason: messages.EndedHealthy})
	tell(7*time.Second, &messages.HealthForgotten{Binding: "web", Cluster: "m1"})
	for stage, want := range map[string]float64{stageEvicted: 60, stagePlaced: 2, stageHealthy: 9, stageReleased: 7} {
		require.Equal(t, 1.0, f.value("failover_stage_seconds/"+stage), stage)
		require.Equal(t, want, f.sum("failover_stage_seconds/"+stage), stage)
	}
	require.Equal(t, 10.0, f.sum("eviction_lateness_seconds"))
	require.Empty(t, f.failovers)
}

// TestFailoversAreForgotten shows that nothing is kept of what is over, however it ends.
func TestFailoversAreForgotten(t *testing.T) {
	began := func(c messages.ClusterName) messages.Fact {
		return &messages.EvictionStarted{Binding: "web", Cluster: c, Task: api.GracefulEvictionTask{}}
	}
	for name, ends := range map[string][]messages.Fact{
		"it is withdrawn":         {&messages.EvictionWithdrawn{Binding: "web", Cluster: "m1"}},
		"the old copy remains":    {&messages.EvictionEnded{Binding: "web", Cluster: "m1"}, &messages.CopyPreserved{Binding: "web", Cluster: "m1"}},
		"the workload is deleted": {&messages.BindingDeleted{Binding: "web"}},
		"the cluster is gone":     {&messages.ClusterRemoved{Cluster: "m1"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Hear(began("m1"))
			for _, end := range ends {
				f.Hear(end)
			}
			require.Empty(t, f.failovers)
		})
	}
	f := newFixture(t)
	f.Hear(began("m1"))
	f.Hear(began("m2"))
	f.Hear(&messages.EvictionWithdrawn{Binding: "web", Cluster: "m1"})
	require.Len(t, slices.Collect(f.failovers["web"].Handovers()), 1, "the other one goes on")
	f.Hear(&messages.EvictionEnded{Binding: "other", Cluster: "m1", Reason: messages.EndedTimeout})
	require.Equal(t, 1.0, f.value("evictions_ended_total/timeout"), "one that began before the daemon did is counted all the same")
}
