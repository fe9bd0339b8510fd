package eviction_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/eviction"
	"leeward/messages/api"
)

func TestPurgeMode(t *testing.T) {
	cluster := func(mode api.PurgeMode) *api.FailoverBehavior {
		return &api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: mode}}
	}
	application := &api.FailoverBehavior{Application: &api.ApplicationFailover{PurgeMode: api.PurgeDirectly}}
	for _, c := range []struct {
		name     string
		failover *api.FailoverBehavior
		fallback api.PurgeMode
		want     api.PurgeMode
	}{
		{"no failover behaviour: the fallback", nil, api.PurgeDirectly, api.PurgeDirectly},
		{"application failover alone: the fallback", application, api.PurgeGracefully, api.PurgeGracefully},
		{"the policy wins", cluster(api.PurgeDirectly), api.PurgeGracefully, api.PurgeDirectly},
		{"the policy wins, gracefully", cluster(api.PurgeGracefully), api.PurgeDirectly, api.PurgeGracefully},
		{"the policy names none: Gracefully, whatever the fallback", cluster(""), api.PurgeDirectly, api.PurgeGracefully},
		{"an unknown fallback is Gracefully", nil, "Bogus", api.PurgeGracefully},
		{"no fallback is Gracefully", nil, "", api.PurgeGracefully},
		{"Never is not for clusters", cluster(api.PurgeNever), api.PurgeDirectly, api.PurgeGracefully},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, eviction.PurgeMode(c.failover, c.fallback))
		})
	}
}

func TestTaskForATaint(t *testing.T) {
	require.Equal(t, api.GracefulEvictionTask{
		FromCluster: "member2", PurgeMode: api.PurgeGracefully, Replicas: new(int32(2)),
		Reason: "TaintUntolerated", Producer: "TaintManager",
	}, eviction.ForTaint(eviction.Origin{Cluster: "member2", Replicas: 2, Before: []string{"member1", "member2"}}, nil, api.PurgeGracefully))

	state := map[string]string{"epoch": "7"}
	require.Equal(t, api.GracefulEvictionTask{
		FromCluster: "member2", PurgeMode: api.PurgeDirectly, PreservedLabelState: state,
		Reason: "TaintUntolerated", Producer: "TaintManager",
	}, eviction.ForTaint(eviction.Origin{Cluster: "member2", State: state}, nil, api.PurgeDirectly), "no replicas, no figure")

	require.Equal(t, api.GracefulEvictionTask{
		FromCluster: "member2", PurgeMode: api.PurgeGracefully, GracePeriodSeconds: new(int32(90)), Handover: api.HandoverGradual,
		Reason: "TaintUntolerated", Producer: "TaintManager",
	}, eviction.ForTaint(eviction.Origin{Cluster: "member2"}, &api.FailoverBehavior{Cluster: &api.ClusterFailover{GracePeriodSeconds: new(int32(90)), Handover: api.HandoverGradual}}, api.PurgeDirectly),
		"K34: a grace period, and a way, of the policy's own")
}

func TestTaskForAMove(t *testing.T) {
	direct := &api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: api.PurgeDirectly}}
	for _, c := range []struct {
		name     string
		reason   string
		failover *api.FailoverBehavior
		mode     api.PurgeMode
		producer string
	}{
		{"the scheduler moves it", api.EvictionReasonReschedule, nil, api.PurgeGracefully, "Scheduler"},
		{"a rebalancer has it moved", api.EvictionReasonRebalance, nil, api.PurgeGracefully, "WorkloadRebalancer"},
		{"no two copies may run at once", api.EvictionReasonReschedule, direct, api.PurgeDirectly, "Scheduler"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, api.GracefulEvictionTask{
				FromCluster: "member2", PurgeMode: c.mode, Replicas: new(int32(2)), Reason: c.reason, Producer: c.producer, Message: "why",
			}, eviction.ForMove(eviction.Origin{Cluster: "member2", Replicas: 2, Message: "why"}, c.reason, c.failover))
		})
	}
}

func TestTaskForAReturn(t *testing.T) {
	require.Equal(t, api.GracefulEvictionTask{
		FromCluster: "member2", FromAffinity: "backup", PurgeMode: api.PurgeGracefully, Replicas: new(int32(2)),
		Reason: "Failback", Producer: api.ProducerFailback,
	}, eviction.ForFailback(eviction.Origin{Cluster: "member2", Replicas: 2}, "backup"))
}

func TestUsersMayHoldEvictionsButNoMoveByChoice(t *testing.T) {
	for reason, want := range map[string]bool{
		api.EvictionReasonTaintUntolerated: true, api.EvictionReasonApplicationFailure: true,
		api.EvictionReasonFailback: false, api.EvictionReasonRebalance: false, api.EvictionReasonReschedule: false,
	} {
		require.Equal(t, want, eviction.Holdable(reason), reason)
	}
}

func TestTaskForAnApplication(t *testing.T) {
	left := eviction.Origin{Cluster: "member2", Replicas: 2}
	stateless := left
	stateless.Before = []string{"member1", "member2"}
	stateful := stateless
	stateful.State = map[string]string{"epoch": "7"}
	grace := new(int32(90))
	for _, c := range []struct {
		name     string
		left     eviction.Origin
		mode     api.PurgeMode
		graceful bool
		want     api.GracefulEvictionTask
	}{
		{"Gracefully takes the grace period and the way", left, api.PurgeGracefully, true,
			api.GracefulEvictionTask{PurgeMode: api.PurgeGracefully, GracePeriodSeconds: grace, Handover: api.HandoverGradual}},
		{"no mode is Gracefully", left, "", true,
			api.GracefulEvictionTask{PurgeMode: api.PurgeGracefully, GracePeriodSeconds: grace, Handover: api.HandoverGradual}},
		{"Never waits for a person", left, api.PurgeNever, true,
			api.GracefulEvictionTask{PurgeMode: api.PurgeNever, SuppressDeletion: new(true)}},
		{"Directly adds nothing, and needs no feature", left, api.PurgeDirectly, false,
			api.GracefulEvictionTask{PurgeMode: api.PurgeDirectly}},
		{"preserved state keeps where it ran before", stateful, api.PurgeDirectly, true,
			api.GracefulEvictionTask{PurgeMode: api.PurgeDirectly, PreservedLabelState: stateful.State, ClustersBeforeFailover: stateful.Before}},
		{"so does state that could not be read", stateless, api.PurgeDirectly, true,
			api.GracefulEvictionTask{PurgeMode: api.PurgeDirectly, ClustersBeforeFailover: stateless.Before}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.FromCluster, c.want.Replicas = "member2", new(int32(2))
			c.want.Reason, c.want.Producer = "ApplicationFailure", api.ProducerApplicationFailover
			a := &api.ApplicationFailover{PurgeMode: c.mode, GracePeriodSeconds: grace, Handover: api.HandoverGradual}
			got, err := eviction.ForApplication(c.left, a, api.ProducerApplicationFailover, c.graceful)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := eviction.ForApplication(left, &api.ApplicationFailover{}, api.ProducerClusterApplicationFailover, false)
	require.ErrorIs(t, err, eviction.ErrNoGrace)
}

func TestOnlyDirectlyDeletesTheOldCopyImmediately(t *testing.T) {
	for mode, keeps := range map[api.PurgeMode]bool{api.PurgeGracefully: true, api.PurgeNever: true, api.PurgeDirectly: false, "": true} {
		require.Equal(t, keeps, eviction.KeepsCopy(&api.GracefulEvictionTask{PurgeMode: mode}), mode)
	}
}

func TestCopies(t *testing.T) {
	b := []api.TargetCluster{{Name: "b", Replicas: 2}}
	leaving := func(from string, mode api.PurgeMode) []api.GracefulEvictionTask {
		return []api.GracefulEvictionTask{{FromCluster: from, PurgeMode: mode}}
	}
	for _, c := range []struct {
		name string
		spec api.BindingSpec
		want []string
	}{
		{"19.8 the owner on b, a Gracefully task for a", api.BindingSpec{Clusters: b, GracefulEvictionTasks: leaving("a", api.PurgeGracefully)}, []string{"b", "a"}},
		{"19.8 its attached ConfigMap binding", api.BindingSpec{RequiredBy: []api.BindingSnapshot{{Name: "owner", Clusters: b}}}, []string{"b"}},
		{"Never keeps the old copy", api.BindingSpec{Clusters: b, GracefulEvictionTasks: leaving("a", api.PurgeNever)}, []string{"b", "a"}},
		{"Directly does not", api.BindingSpec{Clusters: b, GracefulEvictionTasks: leaving("a", api.PurgeDirectly)}, []string{"b"}},
		{"a cluster may come twice", api.BindingSpec{Clusters: b, GracefulEvictionTasks: leaving("b", "")}, []string{"b", "b"}},
		{"nowhere", api.BindingSpec{}, nil},
		{
			"all of them, until who asks has seen enough",
			api.BindingSpec{
				Clusters:              []api.TargetCluster{{Name: "a"}, {Name: "b"}},
				RequiredBy:            []api.BindingSnapshot{{Clusters: []api.TargetCluster{{Name: "c"}, {Name: "d"}}}, {Clusters: []api.TargetCluster{{Name: "e"}}}},
				GracefulEvictionTasks: []api.GracefulEvictionTask{{FromCluster: "f"}, {FromCluster: "g", PurgeMode: api.PurgeDirectly}, {FromCluster: "h"}, {FromCluster: "i"}},
			},
			[]string{"a", "b", "c", "d", "e", "f", "h", "i"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, slices.Collect(eviction.Copies(&c.spec)))
			for enough := range len(c.want) {
				var seen []string
				for cluster := range eviction.Copies(&c.spec) {
					if seen = append(seen, cluster); len(seen) > enough {
						break
					}
				}
				require.Equal(t, c.want[:enough+1], seen)
			}
		})
	}
}
