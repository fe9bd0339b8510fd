package invariant_test

import (
	"testing"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

// zero scales the binding to zero, after other changes.
func zero(changes ...func(*api.ResourceBinding)) func(*api.ResourceBinding) {
	return func(b *api.ResourceBinding) {
		claimed()(b)
		b.Spec.Replicas, b.Spec.Clusters = 0, nil
		for _, change := range changes {
			change(b)
		}
	}
}

func TestScaledToZeroNothingRemains(t *testing.T) {
	placed := func(b *api.ResourceBinding) { b.Spec.Clusters = []api.TargetCluster{{Name: "m1", Replicas: 2}} }
	unsettled := func(b *api.ResourceBinding) { b.Generation++ }
	suspended := func(b *api.ResourceBinding) { b.Spec.Suspension = &api.Suspension{Scheduling: new(true)} }
	tasked := func(change ...func(*api.GracefulEvictionTask)) func(*api.ResourceBinding) {
		k := task("m1", start)
		k.Replicas = new(int32(2))
		for _, c := range change {
			c(&k)
		}
		return func(b *api.ResourceBinding) { b.Spec.GracefulEvictionTasks = []api.GracefulEvictionTask{k} }
	}
	kept := func(k *api.GracefulEvictionTask) { k.SuppressDeletion = new(true) }
	whole := func(k *api.GracefulEvictionTask) { k.Replicas = nil }
	strict := messages.Settings{ZeroReplicasNeedNoCluster: true}
	judge(t, map[string]ruling{
		"nothing remains":  {situation{binding: zero()}, invariant.ScaledToZero, false},
		"a target remains": {situation{binding: zero(placed)}, invariant.ScaledToZero, true},
		"a target of what Karmada could not schedule": {situation{binding: zero(placed, unsettled)}, invariant.ScaledToZero, false},
		"a target of what needs no cluster":           {situation{binding: zero(placed, unsettled), settings: strict}, invariant.ScaledToZero, true},
		"a target of what is not to be scheduled":     {situation{binding: zero(placed, suspended), settings: strict}, invariant.ScaledToZero, false},
		"a task remains":                                 {situation{binding: zero(tasked())}, invariant.ScaledToZero, true},
		"a task that a person suppresses":                {situation{binding: zero(tasked(kept)), facts: runs("m1")}, invariant.ScaledToZero, false},
		"a task of what has no replicas by its kind":     {situation{binding: zero(tasked(whole))}, invariant.ScaledToZero, false},
		"a copy runs":                                    {situation{binding: zero(), facts: runs("m3")}, invariant.ScaledToZero, true},
		"a copy ran":                                     {situation{binding: zero(), facts: and(runs("m3"), &messages.CopyStopped{Binding: "d/web", Cluster: "m3"})}, invariant.ScaledToZero, false},
		"a copy of what has no replicas by its kind":     {situation{binding: zero(), facts: []messages.Fact{&messages.CopyStarted{Binding: "d/web", Cluster: "m3"}}}, invariant.ScaledToZero, false},
		"replicas are asked for, and run where they may": {situation{binding: claimed(), facts: runs("m1", "m2")}, invariant.ScaledToZero, false},
	})
}
