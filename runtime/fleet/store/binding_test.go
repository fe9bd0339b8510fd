package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

var webKey = store.BindingKey(web)

func TestBindingCreated(t *testing.T) {
	tests := []struct {
		name        string
		binding     messages.BindingName
		policy      string
		annotations map[string]string
	}{
		{"by a PropagationPolicy", web, "PropagationPolicy default/web", map[string]string{
			"propagationpolicy.karmada.io/namespace": "default", "propagationpolicy.karmada.io/name": "web",
		}},
		{"by a ClusterPropagationPolicy", "role", "ClusterPropagationPolicy all", map[string]string{
			"clusterpropagationpolicy.karmada.io/name": "all",
		}},
		{"by nobody", web, "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := store.New(1)
			given := &api.BindingSpec{Replicas: 3}
			s.Apply(start, &messages.BindingCreated{Binding: test.binding, Policy: test.policy, UID: "u-1", Spec: given})
			b := s.Binding(test.binding)
			require.Equal(t, &api.BindingSpec{Replicas: 3, Resource: api.ObjectReference{UID: "u-1"}}, b.Spec)
			require.Equal(t, test.annotations, b.Meta.Annotations)
			require.Equal(t, start, b.Meta.CreationTimestamp.Time)
			require.EqualValues(t, 1, b.Meta.Generation)
			require.Empty(t, given.Resource.UID, "the fact stays as it was")
		})
	}
}

func TestAnObjectIsShownAsTheBindingThatItIs(t *testing.T) {
	local := &api.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	wide := &api.ClusterResourceBinding{ObjectMeta: metav1.ObjectMeta{Name: "role"}}
	require.Equal(t, &store.Binding{Meta: &local.ObjectMeta, Spec: &local.Spec, Status: &local.Status}, store.AsBinding(local))
	require.Equal(t, messages.BindingName("role"), store.AsBinding(wide).Name())
	require.Nil(t, store.AsBinding(&api.Cluster{}))
	require.Nil(t, store.AsBinding(nil))
}

func TestBindingUpdatedKeepsWhatIsDecidedAboutTheBinding(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1", "member2"), evicting("member2", api.PurgeGracefully))
	b := f.Binding(web)
	b.Spec.RequiredBy = []api.BindingSnapshot{{Name: "parent"}}
	f.apply(&messages.RescheduleRequested{Binding: web, At: start})
	before, generation := *b.Spec, b.Meta.Generation

	other := &api.Placement{}
	update := &messages.BindingUpdated{Binding: web, Policy: "ClusterPropagationPolicy all", Spec: &api.BindingSpec{
		Replicas: 5, Placement: other, Failover: &api.FailoverBehavior{}, Clusters: targets("nowhere"),
	}}
	f.apply(update)
	require.EqualValues(t, 5, b.Spec.Replicas)
	require.Same(t, other, b.Spec.Placement)
	require.NotNil(t, b.Spec.Failover)
	require.Equal(t, before.Clusters, b.Spec.Clusters)
	require.Equal(t, before.GracefulEvictionTasks, b.Spec.GracefulEvictionTasks)
	require.Equal(t, before.RequiredBy, b.Spec.RequiredBy)
	require.Equal(t, before.RescheduleTriggeredAt, b.Spec.RescheduleTriggeredAt)
	require.Equal(t, "all", b.Meta.Annotations["clusterpropagationpolicy.karmada.io/name"])
	require.Equal(t, generation+1, b.Meta.Generation)
	f.requireNoChange(webKey, update)

	update = &messages.BindingUpdated{Binding: web, Policy: "PropagationPolicy default/web", Spec: update.Spec}
	f.apply(update)
	require.Equal(t, map[string]string{
		"propagationpolicy.karmada.io/namespace": "default", "propagationpolicy.karmada.io/name": "web",
	}, b.Meta.Annotations, "only the policy that holds the claim is named")
	require.Equal(t, generation+1, b.Meta.Generation, "another policy with the same wishes is no change of spec")
}

func TestAPolicyClaimsABindingThatUsersMade(t *testing.T) {
	s := store.New(1)
	s.Put(&api.ResourceBinding{
		TypeMeta:   typeMeta(api.WorkGroupVersion, "ResourceBinding"),
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-deployment"},
		Spec:       api.BindingSpec{Clusters: targets("member1"), Resource: api.ObjectReference{UID: "u-1"}},
	})
	claim := &messages.BindingCreated{Binding: web, Spec: &api.BindingSpec{Replicas: 2}}
	s.Apply(start, claim)
	b := s.Binding(web)
	require.Equal(t, &api.BindingSpec{Replicas: 2, Clusters: targets("member1"), Resource: api.ObjectReference{UID: "u-1"}}, b.Spec)
	require.EqualValues(t, 2, b.Meta.Generation)
	version := s.Version(webKey)
	s.Apply(start, claim)
	require.Equal(t, version, s.Version(webKey))
}

func TestScheduled(t *testing.T) {
	f := newFleet(t)
	b := f.Binding(web)
	decision := f.placed("member1", "member3")
	decision.Affinity = "near"
	f.apply(decision)
	require.Equal(t, targets("member1", "member3"), b.Spec.Clusters)
	require.Same(t, placement, b.Applied)
	require.EqualValues(t, 2, b.Meta.Generation)
	require.EqualValues(t, 2, b.Status.SchedulerObservedGeneration)
	require.Equal(t, "near", b.Status.SchedulerObservedAffinityName)
	require.Equal(t, f.now, b.Status.LastScheduledTime.Time, "to the nanosecond")
	condition, since := f.condition("Scheduled")
	require.Equal(t, "True Success: placed on member1:2, member3:2", condition)

	version := f.Version(webKey)
	f.apply(f.placed("member1", "member3"))
	require.EqualValues(t, 2, b.Meta.Generation, "the same result is no change of spec")
	require.Greater(t, f.Version(webKey), version, "but it was scheduled anew")
	require.Equal(t, f.now, b.Status.LastScheduledTime.Time)
	_, again := f.condition("Scheduled")
	require.Equal(t, since, again, "it was True before")
}

func TestScheduledSaysWhere(t *testing.T) {
	tests := []struct {
		name     string
		clusters []api.TargetCluster
		message  string
	}{
		{"replicas are told", targets("member1"), "True Success: placed on member1:2"},
		{"copies without replicas are named alone", []api.TargetCluster{{Name: "a"}, {Name: "b"}}, "True Success: placed on a, b"},
		{"nothing to place", nil, "True Success: placed on no cluster"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFleet(t)
			f.apply(&messages.Scheduled{Binding: web, Clusters: test.clusters, Applied: placement})
			condition, _ := f.condition("Scheduled")
			require.Equal(t, test.message, condition)
		})
	}
}

func TestScheduleFailed(t *testing.T) {
	f := newFleet(t)
	b := f.Binding(web)
	f.apply(f.placed("member1"))
	wider := &api.Placement{}
	f.apply(&messages.BindingUpdated{Binding: web, Spec: &api.BindingSpec{Placement: wider}})

	short := &messages.ScheduleFailed{Binding: web, Reason: api.ReasonUnschedulable, Message: "2 of 5 replicas fit"}
	f.apply(short)
	condition, since := f.condition("Scheduled")
	require.Equal(t, "False Unschedulable: 2 of 5 replicas fit", condition)
	require.Equal(t, f.now, since)
	require.Equal(t, targets("member1"), b.Spec.Clusters, "the old result stands")
	require.Same(t, placement, b.Applied)
	require.Equal(t, []int64{3, 2}, []int64{b.Meta.Generation, b.Status.SchedulerObservedGeneration})
	f.requireNoChange(webKey, short)

	none := &messages.ScheduleFailed{Binding: web, Reason: api.ReasonNoClusterFit, Message: "0 of 3 clusters fit", Cleared: true}
	f.apply(none)
	condition, _ = f.condition("Scheduled")
	require.Equal(t, "False NoClusterFit: 0 of 3 clusters fit", condition)
	require.Empty(t, b.Spec.Clusters)
	require.Same(t, wider, b.Applied)
	require.Equal(t, []int64{4, 2}, []int64{b.Meta.Generation, b.Status.SchedulerObservedGeneration})
	f.requireNoChange(webKey, none)
}

func TestRescheduleRequested(t *testing.T) {
	f := newFleet(t)
	request := &messages.RescheduleRequested{Binding: web, At: start, By: "again"}
	f.apply(request)
	require.Equal(t, start, f.Binding(web).Spec.RescheduleTriggeredAt.Time)
	require.EqualValues(t, 2, f.Binding(web).Meta.Generation)
	f.requireNoChange(webKey, request)
}

func TestEviction(t *testing.T) {
	graceful := evicting("member2", api.PurgeGracefully)
	end := &messages.EvictionEnded{Binding: web, Cluster: "member3"}
	withdrawal := &messages.EvictionWithdrawn{Binding: web, Cluster: "member2", Clusters: targets("member1", "member2")}
	steps := []struct {
		name     string
		fact     messages.Fact
		clusters []string
		tasks    []string
		kept     bool
	}{
		{
			name: "the cluster becomes a task", fact: graceful,
			clusters: []string{"member1"}, tasks: []string{"member2 Gracefully"},
		},
		{
			name: "a second start changes nothing", fact: graceful,
			clusters: []string{"member1"}, tasks: []string{"member2 Gracefully"}, kept: true,
		},
		{
			name: "a cluster that is no target any more still gets its task", fact: evicting("member3", api.PurgeDirectly),
			clusters: []string{"member1"}, tasks: []string{"member2 Gracefully", "member3 Directly"},
		},
		{
			name: "an end takes the task", fact: end,
			clusters: []string{"member1"}, tasks: []string{"member2 Gracefully"},
		},
		{
			name: "it ends once", fact: end,
			clusters: []string{"member1"}, tasks: []string{"member2 Gracefully"}, kept: true,
		},
		{
			name: "a stale decision puts the cluster back beside its task", fact: (&fleet{}).placed("member1", "member2"),
			clusters: []string{"member1", "member2"}, tasks: []string{"member2 Gracefully"},
		},
		{
			name: "the first task wins", fact: evicting("member2", api.PurgeDirectly),
			clusters: []string{"member1"}, tasks: []string{"member2 Gracefully"},
		},
		{
			name: "a withdrawal brings the cluster back", fact: withdrawal,
			clusters: []string{"member1", "member2"},
		},
		{
			name: "it is withdrawn once", fact: withdrawal,
			clusters: []string{"member1", "member2"}, kept: true,
		},
	}
	f := newFleet(t)
	f.apply(f.placed("member1", "member2"))
	b := f.Binding(web)
	for _, step := range steps {
		version, generation := f.Version(webKey), b.Meta.Generation
		f.apply(step.fact)
		require.Equal(t, targets(step.clusters...), b.Spec.Clusters, step.name)
		require.Equal(t, step.tasks, tasks(b), step.name)
		require.Equal(t, step.kept, f.Version(webKey) == version, step.name)
		require.Equal(t, step.kept, b.Meta.Generation == generation, step.name)
		require.LessOrEqual(t, b.Meta.Generation, generation+1, step.name)
	}
}

func tasks(b *store.Binding) (list []string) {
	for _, t := range b.Spec.GracefulEvictionTasks {
		list = append(list, t.FromCluster+" "+string(t.PurgeMode))
	}
	return list
}

func TestReplicasReleased(t *testing.T) {
	f := newFleet(t)
	release := &messages.ReplicasReleased{Binding: web, Cluster: "member2", Before: 2, Replicas: 1}
	f.requireNoChange(webKey, release)
	f.apply(f.placed("member1", "member2"), evicting("member2", api.PurgeGracefully))
	b := f.Binding(web)
	before, tasks := b.Meta.Generation, b.Spec.GracefulEvictionTasks
	f.apply(release)
	require.EqualValues(t, 1, *b.Spec.GracefulEvictionTasks[0].Replicas)
	require.EqualValues(t, 2, *tasks[0].Replicas, "who holds a spec may keep it")
	require.Equal(t, before+1, b.Meta.Generation)
}

func TestBindingDeleted(t *testing.T) {
	f := newFleet(t)
	f.apply(&messages.BindingDeleted{Binding: web})
	require.Nil(t, f.Get(webKey))
	f.apply(healthy("member1", 2), &messages.BindingDeleted{Binding: web}) // a report that crossed the deletion
	require.Nil(t, f.Get(webKey))
}

func TestOwnerIsThePolicyThatTheAnnotationsName(t *testing.T) {
	for want, annotations := range map[messages.PropagationName]map[string]string{
		"":            nil,
		"default/web": {annotation("propagationpolicy", "namespace"): "default", annotation("propagationpolicy", "name"): "web"},
		"all":         {annotation("clusterpropagationpolicy", "name"): "all"},
	} {
		b := store.Binding{Meta: &metav1.ObjectMeta{Annotations: annotations}}
		require.Equal(t, want, b.Owner())
	}
}

func annotation(policy, field string) string { return policy + ".karmada.io/" + field }
