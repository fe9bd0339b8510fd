package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func severalTemplates(s *messages.Settings) { s.MultiplePodTemplatesScheduling = true }

// cluster of rays: a head and so many workers, in place of the binding's Deployment.
func rays(workers int32) *messages.WorkloadApplied {
	return &messages.WorkloadApplied{Workload: &messages.Workload{
		Binding: name, APIVersion: "ray.io/v1", Kind: "RayCluster", Namespace: "default", Name: "web", UID: "u",
		Set: messages.NewComponentSet([]api.Component{{Name: "head", Replicas: 1}, {Name: "workers", Replicas: workers}}),
	}}
}

// whole is the scheduler's choice of clusters for all components of the last word.
func (s *subject) whole(clusters ...string) *messages.PlacementDecided {
	s.t.Helper()
	p := s.place(clusters...)
	for i := range p.Targets {
		p.Targets[i].Components = s.asked.Set.Targets
	}
	return p
}

// placedWhole returns a binding of three pods that runs on a cluster.
func placedWhole(t *testing.T, s messages.Settings, cluster string) *subject {
	t.Helper()
	b := drive(t, s)
	b.tell(rays(2), claim("default/p", duplicated()))
	b.tell(b.whole(cluster))
	b.tell(report(cluster, api.Healthy, 3, 1))
	return b
}

func TestASetIsAskedForAndRunsWhole(t *testing.T) {
	b := drive(t, settings(severalTemplates))
	created := actorstest.FactsOf[*messages.BindingCreated](b.tell(rays(2), claim("default/p", duplicated())).Facts())
	require.Equal(t, rays(2).Workload.Set.Components, created[0].Spec.Components)
	require.Equal(t, rays(2).Workload.Set, b.asked.Set)
	require.False(t, b.asked.HasReplicas)
	n := b.tell(b.whole("m1"))
	require.Equal(t, &messages.RunCopy{Binding: name, Replicas: 3, Placement: 1}, actorstest.MailTo(n.Mail(), memberAt("m1"))[0])
	require.Equal(t, b.asked.Set.Targets, actorstest.FactsOf[*messages.Scheduled](n.Facts())[0].Clusters[0].Components)
}

func TestWithoutTheGateThereAreNoComponents(t *testing.T) {
	b := drive(t, settings())
	created := actorstest.FactsOf[*messages.BindingCreated](b.tell(rays(2), claim("default/p", duplicated())).Facts())
	require.Empty(t, created[0].Spec.Components)
	require.Nil(t, b.asked.Set)

	n := b.tell(&messages.SettingsChanged{Settings: settings(severalTemplates)})
	require.Equal(t, []string{"components"}, actorstest.FactsOf[*messages.BindingUpdated](n.Facts())[0].Changed)
	require.NotNil(t, b.asked.Set)
	b.tell(&messages.SettingsChanged{Settings: settings()})
	require.Nil(t, b.asked.Set)
}

func TestTheHandoverOfASetEndsWhenAllItsPodsAreReady(t *testing.T) {
	b := placedWhole(t, settings(severalTemplates), "m1")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.whole("m2"))
	b.tell(report("m2", api.Healthy, 2, 2)).Told(memberAt("m1"))
	b.tell(report("m2", api.Healthy, 3, 2)).Told(memberAt("m1"), removal)
}

func TestASetThatGrowsIsToldToItsMembers(t *testing.T) {
	b := placedWhole(t, settings(severalTemplates), "m1")
	n := b.tell(rays(5))
	require.Equal(t, []string{"components"}, actorstest.FactsOf[*messages.BindingUpdated](n.Facts())[0].Changed)
	require.Equal(t, rays(2).Workload.Set.Targets, b.asked.Targets[0].Components, "as scheduled")
	b.tell(b.whole("m1")).Told(memberAt("m1"), &messages.RunCopy{Binding: name, Replicas: 6, Placement: 2})
	b.tell(rays(5)).Quiet()
}

func TestASetComesBackWhole(t *testing.T) {
	b := placedWhole(t, settings(severalTemplates, withdrawing), "m1")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(b.whole("m2"))
	facts := actorstest.FactsOf[*messages.EvictionWithdrawn](b.tell(healed("m1")).Facts())
	require.Equal(t, []api.TargetCluster{{Name: "m1", Components: rays(2).Workload.Set.Targets}}, facts[0].Clusters)
}

func TestAManifestOfSeveralComponents(t *testing.T) {
	components := rays(2).Workload.Set.Components
	for title, c := range map[string]struct {
		spec api.BindingSpec
		set  bool
	}{
		"several go whole":                      {api.BindingSpec{Components: components}, true},
		"several go whole, whatever is divided": {api.BindingSpec{Components: components, Replicas: 3}, true},
		"one goes whole":                        {api.BindingSpec{Components: components[:1]}, true},
		"one that has replicas is divided":      {api.BindingSpec{Components: components[:1], Replicas: 1}, false},
		"none":                                  {api.BindingSpec{Replicas: 1}, false},
	} {
		t.Run(title, func(t *testing.T) {
			b := drive(t, settings(severalTemplates))
			c.spec.Placement = &api.Placement{}
			b.tell(&messages.BindingApplied{Spec: &c.spec, Managed: true})
			require.Equal(t, c.set, b.asked.Set != nil)
			require.Equal(t, c.spec.Replicas > 0 && !c.set, b.asked.HasReplicas)
		})
	}
}

func TestARestartFindsTheSetThatRan(t *testing.T) {
	set := rays(2).Workload.Set
	b := drive(t, settings(severalTemplates))
	n := b.tell(&messages.BindingApplied{
		Managed: true,
		Spec: &api.BindingSpec{
			Components: set.Components, Placement: &api.Placement{},
			Clusters:              []api.TargetCluster{{Name: "m2", Components: set.Targets}},
			GracefulEvictionTasks: []api.GracefulEvictionTask{{FromCluster: "m1", Reason: api.EvictionReasonTaintUntolerated}},
		},
		Status: &api.BindingStatus{AggregatedStatus: []api.AggregatedStatusItem{
			{ClusterName: "m1", Health: api.Healthy, ReadyReplicas: 3}, {ClusterName: "m2", Health: api.Unhealthy},
		}},
	})
	for _, m := range []string{"m1", "m2"} {
		run := actorstest.MailTo(n.Mail(), memberAt(m))[0].(*messages.RunCopy)
		require.Equal(t, int32(3), run.Replicas, m)
		require.True(t, run.Adopt)
	}
	require.Equal(t, set.Targets, b.asked.Targets[0].Components)
	b.advance(time.Second)
}

func TestASetThatIsLostWithAClusterKeepsItsQuotaUntilItIsReplaced(t *testing.T) {
	b := placedWhole(t, settings(severalTemplates, func(s *messages.Settings) { s.FailoverKeepsQuota = true }), "m1")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1"))
	require.EqualValues(t, 1, b.asked.Unreplaced)
	b.tell(b.whole("m2"))
	b.tell(&messages.RescheduleTriggered{At: b.Now()})
	require.EqualValues(t, 0, b.asked.Unreplaced)
}
