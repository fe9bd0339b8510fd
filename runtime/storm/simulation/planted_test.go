package simulation_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/world"
	"leeward/runtime/storm/simulation"
)

// fault is a way in which machines could be wrong, planted into what they hear.
type fault struct {
	name string
	// seeds is how many seeds it may take until an invariant is broken; broken is one that must be among those.
	seeds  uint64
	broken invariant.Name
	does   planting
}

var faults = []fault{
	{"news of taints is lost", 50, invariant.NeverLate, lost(func(m *messages.TaintsChanged) bool { return m.News })},
	{"the end of a taint is lost", 300, invariant.NeverEarly, lost(func(m *messages.TaintsChanged) bool { return len(m.Taints) == 0 })},
	{"a request for a permit is lost", 50, invariant.NeverLate, lost(always[*messages.RequestEviction])},
	{"a permit is lost", 50, invariant.NeverLate, lost(always[*messages.EvictionPermitted])},
	{"a verdict adds nothing", 50, invariant.TaintsFollow, wrong(func(m *messages.VerdictGiven) { m.Add = false })},
	{"a verdict removes nothing", 100, invariant.TaintsFollow, wrong(func(m *messages.VerdictGiven) { m.Remove = false })},
	{"a copy to run is never told", 50, invariant.CopiesAgree, lost(always[*messages.RunCopy])},
	{"a copy to run is told one too large", 50, invariant.CopiesAgree, wrong(func(m *messages.RunCopy) { m.Replicas++ })},
	{"a copy to remove is never told", 50, invariant.CopiesAgree, lost(always[*messages.RemoveCopy])},
	{"a placement loses a replica", 50, invariant.ReplicasConserved, wrong(func(m *messages.PlacementDecided) {
		if len(m.Targets) > 0 {
			m.Targets = append([]api.TargetCluster(nil), m.Targets...)
			m.Targets[0].Replicas--
		}
	})},
	{"the scheduler is not told what is being left", 300, invariant.OneTask, wrong(func(m *messages.PlaceBinding) { m.Evicting = nil })},
	{"clusters seem to have endless room", 300, invariant.NeverOversold, wrong(func(m *messages.ClusterViewed) {
		v := *m.View
		v.Resources = &api.ResourceSummary{Allocatable: corev1.ResourceList{"cpu": plenty, "memory": plenty, "pods": plenty}}
		m.View = &v
	})},
	{"a copy that starts is believed to serve", 50, invariant.BeliefFollows, believed},
	{"that the last copy is kept is ignored", 300, invariant.LastCopyKept, ignoring(messages.KindBinding, func(s *messages.Settings) { s.KeepLastCopy = false })},
	{"moves by choice are not told", 100, invariant.RemovedByTask, wrong(func(m *messages.PlacementDecided) {
		if m.Move == api.EvictionReasonReschedule {
			m.Leaving = nil
		}
	})},
	{"a scaling to zero is told the scheduler as one to one", 300, invariant.ScaledToZero, wrong(func(m *messages.PlaceBinding) {
		if m.HasReplicas {
			m.Replicas = max(m.Replicas, 1)
		}
	})},
	{"the scheduler is not told where dispatching is suspended", 300, invariant.DestinationsHear, wrong(func(m *messages.PlaceBinding) { m.Untold = nil })},
	{"that what takes over must be told is ignored", 300, invariant.DestinationsHear, ignoring(messages.KindBinding, func(s *messages.Settings) { s.DestinationsMustHear = false })},
	{"surplus replicas are counted for budgets", 300, invariant.BudgetsKept, wrong(func(m *messages.WorkloadObserved) { m.Shares = surplus(m.Shares) })},
	{"a report of an older placement is believed", 1000, invariant.BeliefFollows, outdated},
	{"permits seem to last", 300, invariant.PermitValid, wrong(func(m *messages.PlaceBinding) { m.Lapses = false })},
	{"a restart forgets what was permitted", 300, invariant.LimitsKept, lost(always[*messages.GovernorRestored])},
	{"there seem to be more copies than there are", 100, invariant.LimitsKept, wrong(func(m *messages.CopiesCounted) {
		m.Clusters, m.Priorities = slices.Clone(m.Clusters), slices.Clone(m.Priorities)
		for i := range m.Clusters {
			m.Clusters[i].Copies *= 10
		}
		for i := range m.Priorities {
			m.Priorities[i].Copies *= 10
		}
	})},
	{"the news of a workload under a budget is lost", 300, invariant.BudgetsKept, lost(always[*messages.WorkloadObserved])},
	{"every cluster seems to be well", 100, invariant.LimitsKept, wrong(func(m *messages.ClusterObserved) { m.Unhealthy = false })},
	{"a wake-up for a deadline is lost", 300, invariant.NeverLate, asleep},
	{"a hold is not heard of", 300, invariant.PermitValid, lost(always[*messages.HoldChanged])},
	{"how many may start at the same time is ignored", 300, invariant.StartsKept, ignoring(messages.KindScheduler, func(s *messages.Settings) { s.MaxStartingPerCluster = 0 })},
	{"that a cluster backs off is not heard", 1000, invariant.StartsKept, lost(always[*messages.StartsLimited])},
	{"a crash loses a task that was written", 300, invariant.TasksEnd, wrong(forgetful)},
	{"deadlines move with the clock", 300, invariant.NeverEarly, stepping},
	{"a report that was overtaken is believed", 50, invariant.BeliefFollows, overtaken},
	{"a permit that is not used does not come back", 300, invariant.PermitsSpent, lost(always[*messages.PermitReturned])},
	{"there seem to be any number of workers", 100, invariant.LimitsKept, ignoring(messages.KindGovernor, func(s *messages.Settings) { s.EvictionWorkers = 0 })},
	{"the rate of a storm replaces a stricter one", 1000, invariant.LimitsKept, stormy},
	{"a move by choice is taken for a failback", 100, invariant.FailsBack, wrong(func(m *messages.PlacementDecided) {
		if m.Move == api.EvictionReasonReschedule {
			m.Move = api.EvictionReasonFailback
		}
	})},
	{"a restart brings a place to return to that never was", 300, invariant.FailsBack, wrong(func(m *messages.BindingApplied) {
		if m.Recovered && m.Status != nil && len(m.Status.Home) == 0 {
			status := *m.Status
			status.Home = []api.PreferredShare{{TargetCluster: api.TargetCluster{Name: "m1", Replicas: 100}}}
			m.Status = &status
		}
	})},
	{"edited tolerations do not move the deadline", 100, invariant.DeadlinesFollow, uncounted},
	{"a budget is exceeded by one", 300, invariant.BudgetsKept, only(messages.KindGovernor, wrong(func(m *messages.BudgetsSet) { m.Budgets = loosened(m.Budgets) }))},
	{"a permit is used twice", 300, invariant.PermitValid, reused},
	{"a taint that is added again, later, is not told", 300, invariant.NeverEarly, untold},
	{"edited tolerations do not arm the timer", 100, invariant.NeverLate, disarmed},
	{"taints seem older than they are", 100, invariant.NeverEarly, wrong(func(m *messages.TaintsChanged) { m.Taints = older(m.Taints) })},
}

// settled are settings that few cases have, for the faults that show under them.
var settled = map[string]map[string]any{
	"how many may start at the same time is ignored": {"maxStartingPerCluster": 1},
	"the rate of a storm replaces a stricter one": {
		"fleetEvictionRate": 0.01, "evictionBurst": 1, "largeFleetSize": 0, "unhealthyClusterThreshold": 0.3, "secondaryEvictionRate": 10.0, "blackoutThreshold": 0,
	},
	"that a cluster backs off is not heard": {"startFailureLimit": 1, "startBackoff": "1h", "gracefulEvictionTimeout": "10s"},
}

// set gives a case settings in place of its own.
func set(c *simulation.Case, values map[string]any) {
	for field, value := range values { // order-free: each is another field
		c.Config = slices.DeleteFunc(c.Config, func(one any) bool { return one.(map[string]any)[field] != nil })
		c.Config = append(c.Config, map[string]any{field: value})
	}
}

// enough is in how many seeds a fault is found until the test goes on to the next. With -v it tries all of them, and tells
// the figures of docs/simulation.md.
const enough = 3

func TestPlantedFaultsAreFound(t *testing.T) {
	if actorstest.RaceDetector {
		t.Skip("one goroutine tries thousands of seeds: without the race detector the same test takes a tenth of the time")
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			names := map[string]int{}
			for seed := range f.seeds {
				if names[string(f.broken)] == enough && !testing.Verbose() {
					break
				}
				c := simulation.Draw(seed)
				set(c, settled[f.name])
				found := simulation.TryWith(c, func() world.Tamper { return f.does(c) })
				if found != nil {
					names[found.Invariant]++
					for _, other := range found.Others {
						names[other]++
					}
				}
			}
			t.Logf("%d seeds: %v", f.seeds, names)
			require.Positive(t, names[string(f.broken)], "%v", names)
		})
	}
}

// What members report may come twice: that is no fault, and breaks no invariant.
func TestRepeatedReportsBreakNoInvariant(t *testing.T) {
	for name, repeats := range map[string]planting{
		"health": twice[*messages.CopyReported](), "removal": twice[*messages.CopyRemoved](),
		"silence": twice[*messages.ContactLost](), "return": twice[*messages.ContactRestored](),
		"conditions": twice[*messages.ConditionReported](), "wishes": twice[*messages.RunCopy](),
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range actorstest.Cases(40) {
				c := simulation.Draw(seed)
				require.Nil(t, simulation.TryWith(c, func() world.Tamper { return repeats(c) }), "seed %d", seed)
			}
		})
	}
}
