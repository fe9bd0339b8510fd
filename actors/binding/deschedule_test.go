package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func descheduling(s *messages.Settings) {
	s.EnableDescheduler, s.UnschedulableThreshold = true, 5*time.Minute
}

func sweeping(s *messages.Settings) { s.DeschedulingInterval = 2 * time.Minute }

// aggregated is a policy whose replicas go where there is capacity.
func aggregated() *api.PropagationSpec {
	spec := divided()
	spec.Placement.ReplicaScheduling.ReplicaDivisionPreference = api.Aggregated
	return spec
}

// crowded is a report of a cluster that has no capacity for so many of the replicas.
func crowded(cluster string, ready, unschedulable int32, placement int64) *messages.CopyReported {
	r := report(cluster, api.Unhealthy, ready, placement)
	r.Unschedulable, r.Full = unschedulable, true
	if unschedulable == 0 {
		r.Health = api.Healthy
	}
	return r
}

func waits(cluster string, replicas int32, since time.Time) api.UnschedulableReplicas {
	return api.UnschedulableReplicas{ClusterName: cluster, Replicas: replicas, Since: metav1.NewMicroTime(since)}
}

func lacking(cluster messages.ClusterName, replicas int32, waiting ...api.UnschedulableReplicas) *messages.UnschedulableChanged {
	return &messages.UnschedulableChanged{Binding: name, Cluster: cluster, Replicas: replicas, Waiting: append([]api.UnschedulableReplicas{}, waiting...)}
}

func givenUp(cluster messages.ClusterName, before, replicas int32, since time.Time, clusters ...string) *messages.BindingDescheduled {
	return &messages.BindingDescheduled{
		Binding: name, Cluster: cluster, Before: before, Replicas: replicas, Since: since,
		Clusters: targets(clusters...), Waiting: []api.UnschedulableReplicas{},
	}
}

// crammed is a binding of four replicas on m1, which has capacity for two.
func crammed(t *testing.T, s messages.Settings, policy *api.PropagationSpec) *subject {
	t.Helper()
	b := placed(t, s, policy, "m1:4")
	b.tell(crowded("m1", 2, 2, 1)).Recorded(&messages.HealthChanged{Binding: name, Cluster: "m1", Health: api.Unhealthy, Ready: 2, Since: b.Now()},
		lacking("m1", 2, waits("m1", 2, b.Now())))
	return b
}

func TestReplicasThatWaitTooLongGoElsewhere(t *testing.T) {
	b := crammed(t, settings(descheduling), aggregated())
	since := b.Now()
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Full)
	b.approach(5 * time.Minute)
	b.advance(1).Recorded(givenUp("m1", 4, 2, since, "m1:2")).Told(memberAt("m1"), run(2, 2))
	require.Equal(t, targets("m1:2"), b.asked.Targets)
	b.tell(crowded("m1", 2, 0, 2)).Recorded(health("m1", api.Healthy, 2))
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Full, "two fit, no more")
	b.tell(b.place("m1:2", "m2:2")).Told(memberAt("m2"), run(2, 3)).Sleeps()
	b.tell(report("m1", api.Healthy, 2, 2))
	require.Empty(t, b.asked.Full)
}

func TestReplicasAreLookedForNowAndThen(t *testing.T) {
	b := crammed(t, settings(descheduling, sweeping), aggregated())
	b.advance(time.Minute + 1)
	b.tell(crowded("m1", 1, 3, 1))
	b.QuietFor(5*time.Minute - 2)
	b.advance(1).Told(memberAt("m1"), run(2, 2))
	b.tell(crowded("m1", 1, 1, 2))
	b.QuietFor(2*time.Minute - 1)
	b.advance(1).Told(memberAt("m1"), run(1, 3))
}

func TestAShareIsNotLoweredBelowWhatServes(t *testing.T) {
	b := crammed(t, settings(descheduling), aggregated())
	b.tell(crowded("m1", 3, 2, 1))
	b.advance(5*time.Minute).Told(memberAt("m1"), run(3, 2))
	b.tell(crowded("m1", 3, 1, 2)).Recorded(lacking("m1", 1, waits("m1", 1, b.Now())))
	b.advance(5 * time.Minute).Recorded().Told(memberAt("m1"))
}

func TestAClusterThatStartsNothingIsEvictedFrom(t *testing.T) {
	b := placed(t, settings(descheduling), aggregated(), "m1:2", "m2:2")
	b.tell(crowded("m1", 0, 2, 1))
	since := b.Now()
	b.advance(5*time.Minute).Recorded(givenUp("m1", 2, 0, since, "m2:2")).Told(memberAt("m1"), removal).Told(clusterAt("m1"), left)
	b.tell(b.place("m2:4"))
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).Recorded(&messages.HealthForgotten{Binding: name, Cluster: "m1"})
}

func TestACopyThatGoesWaitsNoMore(t *testing.T) {
	b := crammed(t, settings(descheduling), aggregated())
	b.tell(b.place("m2:4"))
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).Recorded(&messages.HealthForgotten{Binding: name, Cluster: "m1"}, lacking("m1", 0))
	b.QuietFor(time.Hour)
}

func TestWhoIsNotDescheduled(t *testing.T) {
	suspended := aggregated()
	yes := true
	suspended.Suspension = &api.Suspension{Scheduling: &yes}
	for _, c := range []struct {
		name     string
		settings messages.Settings
		policy   *api.PropagationSpec
	}{
		{"nobody, without a descheduler", settings(), aggregated()},
		{"replicas that static weights divide", settings(descheduling), divided()},
		{"copies", settings(descheduling), duplicated()},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := crammed(t, c.settings, c.policy)
			b.QuietFor(time.Hour)
			if !c.settings.EnableDescheduler {
				require.Empty(t, b.asked.Full)
			}
		})
	}
	t.Run("what no cluster would take", func(t *testing.T) {
		b := crammed(t, settings(descheduling), aggregated())
		b.tell(claim("default/p", suspended))
		b.QuietFor(time.Hour)
	})
}

func TestARestartKeepsTheTimeOfThoseThatWait(t *testing.T) {
	since := actorstest.Start.Add(-time.Minute)
	spec := &api.BindingSpec{
		Resource: api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, Replicas: 4,
		Placement: &aggregated().Placement, Clusters: targets("m1:4"),
	}
	status := &api.BindingStatus{
		LastScheduledTime: &metav1.Time{Time: since}, Unschedulable: []api.UnschedulableReplicas{waits("m1", 2, since)},
		AggregatedStatus: []api.AggregatedStatusItem{{ClusterName: "m1", Applied: true, Health: api.Unhealthy, ReadyReplicas: 2}},
	}
	b := drive(t, settings(descheduling))
	b.tell(&messages.BindingApplied{Spec: spec, Status: status, Managed: true})
	b.tell(crowded("m1", 2, 2, 1)).Recorded()
	b.QuietFor(4*time.Minute - 1)
	b.advance(1).Recorded(givenUp("m1", 4, 2, since, "m1:2"))
}

func TestTheDeschedulerIsSwitchedOnAndOff(t *testing.T) {
	b := crammed(t, settings(), aggregated())
	b.QuietFor(time.Hour)
	b.tell(&messages.SettingsChanged{Settings: settings(descheduling)}).Told(memberAt("m1"), run(2, 2))
	b.tell(&messages.WorkloadDeleted{}).Sleeps()
}
