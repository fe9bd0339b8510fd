package binding_test

import (
	"testing"
	"time"

	"leeward/messages"
	"leeward/messages/api"
)

func leftOn(c messages.ClusterName) *messages.CopyLeft { return &messages.CopyLeft{Cluster: c} }

func TestACopyThatAKillLeftIsRemoved(t *testing.T) {
	b := drive(t, settings())
	b.tell(stored(duplicated(), b.Now().Add(-time.Minute)), workload(2), claim("default/p", duplicated()))
	b.tell(leftOn("m4")).Told(memberAt("m4"), removal)
	b.tell(leftOn("m4"), leftOn("m1"), leftOn("m2")).Quiet()
	b.tell(&messages.CopyRemoved{Cluster: "m4"}).Told(memberAt("m4"))
}

// What follows a removal takes its place before an agent hears of that.
func TestACopyOfABindingThatIsCreatedAgainIsToldAgain(t *testing.T) {
	for _, replicas := range []int32{2, 0} {
		b := drive(t, settings())
		b.tell(workload(replicas), leftOn("m1"), leftOn("m2"), claim("default/p", divided())).
			Told(memberAt("m1"), removal).Told(memberAt("m2"), removal)
		placed := b.place("m1")
		placed.Targets = []api.TargetCluster{{Name: "m1", Replicas: replicas}}
		b.tell(placed).Told(memberAt("m1"), run(replicas, 1)).Told(memberAt("m2"))
	}
}

func TestACopyOfABindingThatIsCreatedAgainGoesAsItsPolicySays(t *testing.T) {
	yes, policy := true, divided()
	policy.PreserveResourcesOnDeletion = &yes
	b := drive(t, settings())
	b.tell(workload(2), leftOn("m1"), claim("default/p", policy)).
		Told(memberAt("m1"), &messages.RemoveCopy{Binding: name, Preserve: true})
}

func TestACopyThatNoBindingClaimsIsRemoved(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2), leftOn("m1")).Told(memberAt("m1"), removal)
	b.tell(&messages.CopyRemoved{Cluster: "m1"}, claim("default/p", divided()))
	b.tell(b.place("m1:2")).Told(memberAt("m1"), run(2, 1))
}

func TestACopyOfAWorkloadThatIsGoneIsRemoved(t *testing.T) {
	b := drive(t, settings())
	b.tell(stored(duplicated(), b.Now().Add(-time.Minute)))
	b.tell(&messages.WorkloadDeleted{})
	b.tell(leftOn("m4")).Told(memberAt("m4"), removal)
}
