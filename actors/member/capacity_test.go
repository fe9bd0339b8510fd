package member_test

import (
	"testing"
	"time"

	"leeward/messages"
	"leeward/messages/api"
)

func capacity(b messages.BindingName, replicas int32) *messages.SchedulableReplicasSet {
	return &messages.SchedulableReplicasSet{Binding: b, Replicas: replicas}
}

// crowded is a report of a copy that is out of capacity.
func crowded(h api.ResourceHealth, ready, unschedulable int32, placement int64) *messages.CopyReported {
	return &messages.CopyReported{Cluster: "m1", Health: h, Ready: ready, Unschedulable: unschedulable, Full: true, ForPlacement: placement}
}

func TestReplicasWithoutCapacityWait(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 4, 1), run("shop", 4, 1))
	d.Tell(capacity("web", 2)).Recorded().Told(web, crowded(api.Unhealthy, 2, 2, 1)).Told(shop)
	d.Tell(run("web", 2, 2)).Told(web, crowded(api.Healthy, 2, 0, 2))
	d.Tell(run("web", 1, 3)).Told(web, healthy(1, 3))
	d.Tell(run("web", 3, 4)).Told(web, crowded(api.Unhealthy, 2, 1, 4))
	d.Tell(capacity("web", -1)).Told(web, healthy(3, 4))
	d.Tell(capacity("api", 2)).Quiet()
}

func TestNewReplicasThatFindNoCapacityShowImmediately(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(capacity("web", 1), run("web", 2, 1)).Told(web, crowded(api.Unhealthy, 0, 1, 0))
	d.Advance(5*time.Second).Told(web, crowded(api.Unhealthy, 1, 1, 1))
	d.Tell(run("web", 3, 2)).Told(web, crowded(api.Unhealthy, 1, 2, 1))
}

func TestAnUnhealthyCopyWithoutCapacityIsUnhealthy(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 3, 1), force("web", api.Unhealthy))
	d.Tell(capacity("web", 2)).Told(web, crowded(api.Unhealthy, 0, 1, 1))
}
