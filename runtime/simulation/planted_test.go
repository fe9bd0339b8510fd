package simulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/invariant"
	"leeward/runtime/simulation"
	"leeward/runtime/world"
)

// fault is a way in which machines could be wrong, planted into what they hear.
type fault struct {
	name string
	// seeds is how many seeds it may take until a law is broken; law is one that must be among those.
	seeds uint64
	law   invariant.Law
	does  world.Tamper
}

// lost loses messages of a type that meet a condition.
func lost[M messages.Message](when func(M) bool) world.Tamper {
	return func(_ messages.Address, m messages.Message) []messages.Message {
		if m, is := m.(M); is && when(m) {
			return nil
		}
		return []messages.Message{m}
	}
}

// wrong changes a copy of each message of a type.
func wrong[T any, M interface {
	*T
	messages.Message
}](change func(M)) world.Tamper {
	return func(_ messages.Address, m messages.Message) []messages.Message {
		if given, is := m.(M); is {
			c := *given
			change(&c)
			return []messages.Message{M(&c)}
		}
		return []messages.Message{m}
	}
}

func always[M any](M) bool { return true }

// twice repeats messages of a type.
func twice[M messages.Message](_ messages.Address, m messages.Message) []messages.Message {
	if _, is := m.(M); is {
		return []messages.Message{m, m}
	}
	return []messages.Message{m}
}

var plenty = resource.MustParse("1000Gi")

// believed has each copy be healthy as it was last told to run.
func believed() world.Tamper {
	type place struct {
		binding messages.BindingName
		cluster messages.ClusterName
	}
	told := map[place]*messages.RunCopy{}
	return func(to messages.Address, m messages.Message) []messages.Message {
		switch given := m.(type) {
		case *messages.RunCopy:
			told[place{given.Binding, messages.ClusterName(to.Name)}] = given
		case *messages.CopyReported:
			if last := told[place{messages.BindingName(to.Name), given.Cluster}]; last != nil {
				c := *given
				c.Health, c.Ready, c.ForPlacement = api.Healthy, last.Replicas, last.Placement
				return []messages.Message{&c}
			}
		}
		return []messages.Message{m}
	}
}

// older are taints that were added a minute earlier.
func older(taints []corev1.Taint) []corev1.Taint {
	taints = slices.Clone(taints)
	for i := range taints {
		if added := taints[i].TimeAdded; added != nil {
			taints[i].TimeAdded = &metav1.Time{Time: added.Add(-time.Minute)}
		}
	}
	return taints
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
	{"a copy that starts is believed to serve", 300, invariant.LastCopyKept, believed()},
	{"moves by choice are not told", 100, invariant.LeftByTask, wrong(func(m *messages.PlacementDecided) {
		if m.Move == api.EvictionReasonReschedule {
			m.Leaving = nil
		}
	})},
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
	{"taints seem older than they are", 100, invariant.NeverEarly, wrong(func(m *messages.TaintsChanged) { m.Taints = older(m.Taints) })},
}

func TestPlantedFaultsAreFound(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			laws := map[string]int{}
			for seed := range f.seeds {
				found := simulation.TryWith(simulation.Draw(seed), f.does)
				if found != nil {
					laws[found.Law]++
				}
			}
			t.Logf("%d seeds: %v", f.seeds, laws)
			require.Positive(t, laws[string(f.law)], "%v", laws)
		})
	}
}

// What members report may come twice: that is no fault, and breaks no law.
func TestRepeatedReportsBreakNoLaw(t *testing.T) {
	for name, tamper := range map[string]world.Tamper{
		"health": twice[*messages.CopyReported], "removal": twice[*messages.CopyRemoved],
		"silence": twice[*messages.ContactLost], "return": twice[*messages.ContactRestored],
		"conditions": twice[*messages.ConditionReported], "wishes": twice[*messages.RunCopy],
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				require.Nil(t, simulation.TryWith(simulation.Draw(seed), tamper), "seed %d", seed)
			}
		})
	}
}
