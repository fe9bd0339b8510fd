package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/scheduler"
	"leeward/messages"
	"leeward/messages/api"
)

type driver = actorstest.Driver[messages.ToScheduler]

func bindingAt(name messages.BindingName) messages.Address {
	return messages.Address{Kind: messages.KindBinding, Name: string(name)}
}

// drive returns a scheduler that has seen some clusters.
func drive(t *testing.T, s messages.Settings, clusters ...messages.ToScheduler) *driver {
	t.Helper()
	d := actorstest.Drive(t, scheduler.New(s, 1))
	d.Tell(clusters...).Quiet()
	return d
}

// settings reserve capacity and keep the last copy, unless changed.
func settings(changes ...func(*messages.Settings)) messages.Settings {
	s := messages.Settings{
		DivisionMethod: messages.DivideWebster, TolerationMatch: messages.MatchMinimum,
		CapacityReservation: true, KeepLastCopy: true,
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func noReservation(s *messages.Settings) { s.CapacityReservation = false }
func clearing(s *messages.Settings)      { s.KeepLastCopy = false }

// cluster is a new view of a cluster with so many cpus, and perhaps the keys of NoExecute taints.
func cluster(name messages.ClusterName, cpus string, taints ...string) *messages.ClusterViewed {
	v := &messages.ClusterView{Name: name, Resources: &api.ResourceSummary{Allocatable: corev1.ResourceList{
		"cpu": resource.MustParse(cpus), "pods": resource.MustParse("1000"),
	}}}
	v.Conditions = []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue}}
	for _, key := range taints {
		v.Taints = append(v.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
	}
	return &messages.ClusterViewed{View: v, SpecChanged: true}
}

// status is the view of a cluster of which only the status changed.
func status(name messages.ClusterName, cpus string) *messages.ClusterViewed {
	m := cluster(name, cpus)
	m.SpecChanged = false
	return m
}

// anyOne runs all replicas on one cluster; everywhere on all; aggregated on as few as it takes.
func anyOne() *api.Placement {
	return &api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: 1, MaxGroups: 1}}}
}

func everywhere() *api.Placement { return &api.Placement{} }

func aggregated() *api.Placement {
	return &api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Aggregated,
	}}
}

// ask is a binding's first word: so many replicas of one cpu each.
func ask(name messages.BindingName, replicas int32, p *api.Placement) *messages.PlaceBinding {
	return &messages.PlaceBinding{
		Binding: name, Request: 1, APIVersion: "apps/v1", Kind: "Deployment", HasReplicas: true, Replicas: replicas, Placement: p,
		Requirements: &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("1")}},
		Since:        actorstest.Start,
	}
}

// again is the binding's next word, once it carried out a decision.
func again(m *messages.PlaceBinding, clusters ...string) *messages.PlaceBinding {
	next := *m
	next.Request++
	next.Applied, next.Targets, next.LastScheduled = m.Placement, targets(clusters...), actorstest.Start
	return &next
}

// leaving adds to a word the clusters that the binding must leave.
func leaving(m *messages.PlaceBinding, clusters ...messages.ClusterName) *messages.PlaceBinding {
	m.Leaving = clusters
	return m
}

var targets = actorstest.Targets

// decided is the one decision that a binding was told in this step.
func decided(t *testing.T, n *actorstest.Network, name messages.BindingName) *messages.PlacementDecided {
	t.Helper()
	told := actorstest.MailTo(n.Mail(), bindingAt(name))
	require.Len(t, told, 1, "decisions for %s", name)
	return told[0].(*messages.PlacementDecided)
}
