package invariant_test

import (
	"testing"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

func TestWhatTakesOverIsToldToRun(t *testing.T) {
	suspended := func(on ...string) func(*api.ResourceBinding) {
		return func(b *api.ResourceBinding) {
			b.Spec.Suspension = &api.Suspension{DispatchingOnClusters: &api.SuspensionClusters{ClusterNames: on}}
			b.Spec.Clusters = []api.TargetCluster{{Name: "m2", Replicas: 2}}
		}
	}
	to := func(before []api.TargetCluster, takeovers ...messages.Takeover) *messages.Scheduled {
		return &messages.Scheduled{Binding: "d/web", Before: before, Clusters: []api.TargetCluster{{Name: "m2", Replicas: 2}}, Takeovers: takeovers}
	}
	fromM1 := messages.Takeover{From: "m1", By: []api.TargetCluster{{Name: "m2", Replicas: 1}}}
	before := []api.TargetCluster{{Name: "m1", Replicas: 2}}
	both := []api.TargetCluster{{Name: "m1", Replicas: 1}, {Name: "m2", Replicas: 1}}
	must := messages.Settings{DestinationsMustHear: true, EvictionNeedsDestination: true, KeepLastCopy: true}
	edited := &messages.BindingUpdated{Binding: "d/web"}
	judge(t, map[string]ruling{
		"it comes to one that hears":           {situation{binding: suspended("m3"), settings: must, facts: []messages.Fact{to(before, fromM1)}}, invariant.DestinationsHear, false},
		"it comes to one that is told nothing": {situation{binding: suspended("m2"), settings: must, facts: []messages.Fact{to(before)}}, invariant.DestinationsHear, true},
		"so it may, as in Karmada":             {situation{binding: suspended("m2"), facts: []messages.Fact{to(before)}}, invariant.DestinationsHear, false},
		"it is suspended in that instant":      {situation{binding: suspended("m2"), settings: must, facts: []messages.Fact{edited, to(before)}}, invariant.DestinationsHear, false},
		"it returns to where a copy runs":      {situation{binding: suspended("m2"), settings: must, facts: and(runs("m2"), to(before))}, invariant.DestinationsHear, false},
		"what runs there is scaled":            {situation{binding: suspended("m2"), settings: must, facts: []messages.Fact{to(both)}}, invariant.DestinationsHear, false},
		"what runs there takes over":           {situation{binding: suspended("m2"), settings: must, facts: []messages.Fact{to(both, fromM1)}}, invariant.DestinationsHear, true},
	})
}

// What took over is known from the task while that lasts: the old copy goes an instant later.
func TestAnOldCopyWaitsUntilWhatTakesOverIsTold(t *testing.T) {
	leaving := task("m1", start)
	leaving.ReplacedBy = []api.TargetCluster{{Name: "m2", Replicas: 2}}
	suspended := func(b *api.ResourceBinding) {
		b.Spec.Suspension = &api.Suspension{Dispatching: new(true)}
		b.Spec.Clusters = []api.TargetCluster{{Name: "m2", Replicas: 2}}
		b.Spec.GracefulEvictionTasks = []api.GracefulEvictionTask{leaving}
	}
	resumed := func(b *api.ResourceBinding) {
		suspended(b)
		b.Spec.Suspension = nil
	}
	told := &messages.CopyStarted{Binding: "d/web", Cluster: "m2", Replicas: 2}
	less := &messages.CopyStarted{Binding: "d/web", Cluster: "m2", Replicas: 1}
	ended := func(why string) []messages.Fact {
		return []messages.Fact{&messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: why}}
	}
	must := messages.Settings{DestinationsMustHear: true, EvictionNeedsDestination: true, KeepLastCopy: true}
	judge(t, map[string]ruling{
		"it was told":                    {situation{binding: suspended, settings: must, facts: []messages.Fact{told}, next: ended(messages.EndedHealthy)}, invariant.DestinationsHear, false},
		"it was told before to run one":  {situation{binding: suspended, settings: must, facts: []messages.Fact{less}, next: ended(messages.EndedHealthy)}, invariant.DestinationsHear, true},
		"it was not, and the time is up": {situation{binding: suspended, settings: must, next: ended(messages.EndedTimeout)}, invariant.DestinationsHear, true},
		"so it may be, as in Karmada":    {situation{binding: suspended, next: ended(messages.EndedTimeout)}, invariant.DestinationsHear, false},
		"nothing is suspended":           {situation{binding: resumed, settings: must, next: ended(messages.EndedTimeout)}, invariant.DestinationsHear, false},
		"the cluster is removed":         {situation{binding: suspended, settings: must, next: ended("cluster removed")}, invariant.DestinationsHear, false},
	})
}
