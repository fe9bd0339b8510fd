package invariant_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/store"
)

func TestWhatUsersHoldStays(t *testing.T) {
	held := func(until time.Duration) *api.Hold {
		return &api.Hold{Reason: "repair", Until: &metav1.Time{Time: start.Add(until)}}
	}
	on := func(h *api.Hold) func(*api.ResourceBinding) {
		return func(b *api.ResourceBinding) { b.Annotations = h.Annotate(b.Annotations) }
	}
	released := func(b *api.ResourceBinding) {
		on(&api.Hold{Reason: "repair"})(b)
		b.Annotations[api.AnnotationRelease] = "urgent"
	}
	cluster := func(c *api.Cluster) { c.Annotations = held(time.Hour).Annotate(nil) }
	paused := &api.Governor{TypeMeta: metav1.TypeMeta{APIVersion: store.GovernorKey.APIVersion, Kind: store.GovernorKey.Kind}, Spec: api.GovernorSpec{Pause: held(time.Hour)}}
	paused.Name = store.GovernorKey.Name
	leave := func(reason string) []messages.Fact {
		return []messages.Fact{&messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Task: task("m1", start), Grounds: messages.Grounds{Reason: reason}}}
	}
	taint, unhealthy := leave(api.EvictionReasonTaintUntolerated), leave(api.EvictionReasonApplicationFailure)
	judge(t, map[string]ruling{
		"nothing is held":                       {situation{facts: taint}, invariant.PermitValid, false},
		"the workload is held":                  {situation{binding: on(&api.Hold{Reason: "repair"}), facts: taint}, invariant.PermitValid, true},
		"it is evicted because it is unhealthy": {situation{binding: on(held(time.Hour)), facts: unhealthy}, invariant.PermitValid, true},
		"it moves by choice":                    {situation{binding: on(held(time.Hour)), facts: leave(api.EvictionReasonReschedule)}, invariant.PermitValid, false},
		"the hold is over":                      {situation{binding: on(held(0)), facts: taint}, invariant.PermitValid, false},
		"a user released it":                    {situation{binding: released, facts: taint}, invariant.PermitValid, false},
		"its cluster is held":                   {situation{m1: cluster, facts: taint}, invariant.PermitValid, true},
		"evictions are paused":                  {situation{objects: []api.Object{paused}, facts: taint}, invariant.PermitValid, true},
		"what is held is there no longer":       {situation{binding: on(held(time.Hour)), facts: []messages.Fact{&messages.EvictionStarted{Binding: "d/gone", Cluster: "m1", Grounds: messages.Grounds{Reason: api.EvictionReasonTaintUntolerated}}}}, invariant.PermitValid, false},
	})
}
