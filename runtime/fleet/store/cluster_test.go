package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

var member1 = store.ClusterKey("member1")

func ready(status metav1.ConditionStatus, reason string) *messages.ConditionChanged {
	return &messages.ConditionChanged{Cluster: "member1", Type: "Ready", Status: status, Reason: reason, Message: "link"}
}

func TestConditionChanged(t *testing.T) {
	f := newFleet(t)
	conditions := func() []metav1.Condition { return f.Cluster("member1").Status.Conditions }
	f.apply(ready("True", "Up"))
	since := f.now
	require.Equal(t, []metav1.Condition{{
		Type: "Ready", Status: "True", Reason: "Up", Message: "link", LastTransitionTime: metav1.Time{Time: since},
	}}, conditions())

	f.apply(ready("True", "StillUp"))
	require.Equal(t, "StillUp", conditions()[0].Reason)
	require.Equal(t, since, conditions()[0].LastTransitionTime.Time, "a new reason is no transition")

	f.requireNoChange(member1, ready("True", "StillUp"))

	f.apply(ready("False", "Down"), &messages.ConditionChanged{Cluster: "member1", Type: "Disk", Status: "True"})
	require.Equal(t, f.now.Add(-time.Second), conditions()[0].LastTransitionTime.Time)
	require.Equal(t, "Disk", conditions()[1].Type)

	f.apply(&messages.ConditionRemoved{Cluster: "member1", Type: "Ready"})
	require.Len(t, conditions(), 1)
	require.Equal(t, "Disk", conditions()[0].Type)
	f.requireNoChange(member1, &messages.ConditionRemoved{Cluster: "member1", Type: "Ready"})
	require.EqualValues(t, 1, f.Cluster("member1").Generation, "status leaves the generation alone")
}

// Of a condition that comes and goes the last time counts.
func TestConditionRemovedKeepsItsTime(t *testing.T) {
	f := newFleet(t)
	disk := func() (removed []api.RemovedCondition) {
		f.apply(&messages.ConditionChanged{Cluster: "member1", Type: "Disk", Status: "True"})
		f.apply(&messages.ConditionRemoved{Cluster: "member1", Type: "Disk"})
		return f.Cluster("member1").Status.RemovedConditions
	}
	first := disk()
	require.Equal(t, []api.RemovedCondition{{Type: "Disk", At: metav1.Time{Time: f.now}}}, first)
	was := f.now
	require.Equal(t, []api.RemovedCondition{{Type: "Disk", At: metav1.Time{Time: f.now.Add(2 * time.Second)}}}, disk())
	require.Equal(t, was, first[0].At.Time, "who holds a list may keep it")
}

func TestReadyObserved(t *testing.T) {
	f := newFleet(t)
	found := func() *api.ReadyObservation { return f.Cluster("member1").Status.ReadyObservation }
	held := &messages.ReadyObserved{Cluster: "member1", Status: "False", Reason: "Down", Deadline: start.Add(time.Minute)}
	f.apply(held)
	require.Equal(t, &api.ReadyObservation{Status: "False", Reason: "Down", Since: metav1.Time{Time: f.now}}, found())
	f.apply(&messages.ReadyObserved{Cluster: "member1", Status: "True"})
	require.Nil(t, found(), "a probe that finds what is known")
	f.apply(held, &messages.ConditionChanged{Cluster: "member1", Type: "Disk", Status: "True"})
	require.NotNil(t, found())
	f.apply(ready("False", "Down"))
	require.Nil(t, found(), "what counts is no longer held back")
}

func TestDrains(t *testing.T) {
	f := newFleet(t)
	f.requireNoChange(member1, &messages.DrainMissed{Cluster: "member1"})
	f.apply(&messages.DrainProgressed{Cluster: "member1", Drain: api.Drain{Bindings: 2, Left: 1}})
	before := f.Cluster("member1").Status.Drain
	require.Equal(t, &api.Drain{Bindings: 2, Left: 1}, before)
	f.apply(&messages.DrainMissed{Cluster: "member1"})
	require.Equal(t, &api.Drain{Bindings: 2, Left: 1, Missed: true}, f.Cluster("member1").Status.Drain)
	require.False(t, before.Missed, "who holds a status may keep it")
	f.apply(&messages.DrainEnded{Cluster: "member1"})
	require.Nil(t, f.Cluster("member1").Status.Drain)
}

func TestTaints(t *testing.T) {
	f := newFleet(t)
	add := func(key, value string, effect corev1.TaintEffect, at time.Time, by string) *messages.TaintAdded {
		return &messages.TaintAdded{Cluster: "member1", Taint: taint(key, value, effect, at), Cause: api.TaintCause{By: by}}
	}
	remove := func(key string, effect corev1.TaintEffect) *messages.TaintRemoved {
		return &messages.TaintRemoved{Cluster: "member1", Taint: corev1.Taint{Key: key, Effect: effect}}
	}
	steps := []struct {
		name       string
		fact       messages.Fact
		taints     []corev1.Taint
		causes     []string
		generation int64
		kept       bool
	}{
		{
			name: "a taint goes to the end", fact: add("down", "", "NoExecute", start, "policy"),
			taints: []corev1.Taint{taint("down", "", "NoExecute", start)}, causes: []string{"down:NoExecute policy"}, generation: 2,
		},
		{
			name: "the same key with another effect is another taint", fact: add("down", "", "NoSchedule", start, "user"),
			taints:     []corev1.Taint{taint("down", "", "NoExecute", start), taint("down", "", "NoSchedule", start)},
			causes:     []string{"down:NoExecute policy", "down:NoSchedule user"},
			generation: 3,
		},
		{
			name: "a new value and time stay in place", fact: add("down", "v", "NoExecute", start.Add(1), "policy"),
			taints:     []corev1.Taint{taint("down", "v", "NoExecute", start.Add(1)), taint("down", "", "NoSchedule", start)},
			causes:     []string{"down:NoExecute policy", "down:NoSchedule user"},
			generation: 4,
		},
		{
			name: "a cause alone is status", fact: add("down", "v", "NoExecute", start.Add(1), "user"),
			taints:     []corev1.Taint{taint("down", "v", "NoExecute", start.Add(1)), taint("down", "", "NoSchedule", start)},
			causes:     []string{"down:NoSchedule user", "down:NoExecute user"},
			generation: 4,
		},
		{
			name: "the same again changes nothing", fact: add("down", "v", "NoExecute", start.Add(1), "user"),
			taints:     []corev1.Taint{taint("down", "v", "NoExecute", start.Add(1)), taint("down", "", "NoSchedule", start)},
			causes:     []string{"down:NoSchedule user", "down:NoExecute user"},
			generation: 4, kept: true,
		},
		{
			name:       "a taint that is adopted keeps its value and time",
			fact:       &messages.TaintAdopted{Cluster: "member1", Taint: corev1.Taint{Key: "down", Effect: "NoExecute"}, Cause: api.TaintCause{By: "policy"}},
			taints:     []corev1.Taint{taint("down", "v", "NoExecute", start.Add(1)), taint("down", "", "NoSchedule", start)},
			causes:     []string{"down:NoSchedule user", "down:NoExecute policy"},
			generation: 4,
		},
		{
			name: "a taint goes with its cause", fact: remove("down", "NoExecute"),
			taints: []corev1.Taint{taint("down", "", "NoSchedule", start)}, causes: []string{"down:NoSchedule user"}, generation: 5,
		},
		{
			name: "what is not there cannot go", fact: remove("down", "NoExecute"),
			taints: []corev1.Taint{taint("down", "", "NoSchedule", start)}, causes: []string{"down:NoSchedule user"}, generation: 5, kept: true,
		},
	}
	for _, step := range steps {
		before := f.Version(member1)
		f.apply(step.fact)
		c := f.Cluster("member1")
		require.Equal(t, step.taints, c.Spec.Taints, step.name)
		require.Equal(t, step.causes, causes(c), step.name)
		require.Equal(t, step.generation, c.Generation, step.name)
		require.Equal(t, step.kept, f.Version(member1) == before, step.name)
	}
}

func causes(c *api.Cluster) (list []string) {
	for _, cause := range c.Status.TaintCauses {
		list = append(list, cause.Key+":"+string(cause.Effect)+" "+cause.By)
	}
	return list
}

func TestLabelsSpecAndCapacity(t *testing.T) {
	f := newFleet(t)
	cpu := func(n string) *api.ResourceSummary {
		return &api.ResourceSummary{Allocatable: corev1.ResourceList{"cpu": resource.MustParse(n)}}
	}
	facts := []messages.Fact{
		&messages.LabelsChanged{Cluster: "member1", Labels: map[string]string{"tier": "gold"}},
		&messages.ClusterSpecChanged{Cluster: "member1", Provider: "p1", Region: "eu", Zones: []string{"a"}},
		&messages.CapacityChanged{Cluster: "member1", Summary: cpu("1")},
		&messages.ResourceModelsChanged{Cluster: "member1", Models: []api.ResourceModel{{Grade: 1}}},
		&messages.EnablementsChanged{Cluster: "member1", APIs: []api.APIEnablement{{GroupVersion: "apps/v1"}}},
	}
	f.apply(facts...)
	c := f.Cluster("member1")
	require.Equal(t, map[string]string{"tier": "gold"}, c.Labels)
	require.Equal(t, []any{"p1", "eu", []string{"a"}}, []any{c.Spec.Provider, c.Spec.Region, c.Spec.Zones})
	require.Equal(t, cpu("1"), c.Status.ResourceSummary)
	require.Equal(t, "apps/v1", c.Status.APIEnablements[0].GroupVersion)
	require.Len(t, c.Spec.ResourceModels, 1)
	require.EqualValues(t, 3, c.Generation, "of the five only the spec counts")
	for _, fact := range facts {
		f.requireNoChange(member1, fact)
	}
	f.requireNoChange(member1, &messages.CapacityChanged{Cluster: "member1", Summary: cpu("1000m")})
}

func TestAClusterLeavesOnce(t *testing.T) {
	f := newFleet(t)
	f.apply(&messages.ClusterLeaving{Cluster: "member1"})
	leftAt := f.now
	f.requireNoChange(member1, &messages.ClusterLeaving{Cluster: "member1"})
	require.Equal(t, leftAt, f.Cluster("member1").DeletionTimestamp.Time)
	require.EqualValues(t, 2, f.Cluster("member1").Generation)

	f.apply(&messages.ClusterRemoved{Cluster: "member1"})
	require.Nil(t, f.Cluster("member1"))
	f.apply(ready("False", "Late"), &messages.ClusterRemoved{Cluster: "member1"}) // nothing left to change
	require.Nil(t, f.Get(member1))
}
