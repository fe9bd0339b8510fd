package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages"
	"leeward/messages/api"
)

func TestHealthChanged(t *testing.T) {
	f := newFleet(t)
	b := f.Binding(web)
	since := start.Add(time.Nanosecond)
	ill := &messages.HealthChanged{Binding: web, Cluster: "member2", Health: api.Unhealthy, Ready: 1, Since: since}
	f.apply(ill, healthy("member3", 2), healthy("member1", 2))
	require.Equal(t, []api.AggregatedStatusItem{
		{ClusterName: "member1", Applied: true, Health: api.Healthy, ReadyReplicas: 2},
		{ClusterName: "member2", Applied: true, Health: api.Unhealthy, ReadyReplicas: 1, UnhealthySince: &metav1.MicroTime{Time: since}},
		{ClusterName: "member3", Applied: true, Health: api.Healthy, ReadyReplicas: 2},
	}, b.Status.AggregatedStatus, "in the order of the clusters' names, to the nanosecond")

	edited := healthy("member3", 2)
	edited.Revision = 2
	f.apply(edited)
	require.EqualValues(t, 2, b.Status.AggregatedStatus[2].Revision, "the version that serves")

	for _, again := range []messages.Fact{ill, edited} {
		f.requireNoChange(webKey, again)
	}
	f.apply(healthy("member2", 2))
	require.Nil(t, b.Status.AggregatedStatus[1].UnhealthySince)
	require.EqualValues(t, 1, b.Meta.Generation, "status leaves the generation alone")
}

func TestHealthForgotten(t *testing.T) {
	f := newFleet(t)
	f.apply(healthy("member1", 2), healthy("member2", 2), &messages.HealthForgotten{Binding: web, Cluster: "member1"})
	items := f.Binding(web).Status.AggregatedStatus
	require.Len(t, items, 1)
	require.Equal(t, "member2", items[0].ClusterName)
	f.requireNoChange(webKey, &messages.HealthForgotten{Binding: web, Cluster: "member1"})
}

func TestFullyApplied(t *testing.T) {
	const yes = "True FullyAppliedSuccess: every cluster has applied its copy"
	const no = "False FullyAppliedFailed: not every cluster has applied its copy"
	place := (&fleet{}).placed("member1", "member2")
	all := []messages.Fact{place, healthy("member1", 2), healthy("member2", 0)}
	tests := []struct {
		name  string
		facts []messages.Fact
		want  string
	}{
		{"nothing is said before the first placement", nil, ""},
		{"no copy yet", []messages.Fact{place}, no},
		{"one copy of two", all[:2], no},
		{"all copies, ready or not", all, yes},
		{"copies that were there first", []messages.Fact{all[1], all[2], place}, yes},
		{"a report of a copy that is expected nowhere", all[1:2], no},
		{"a copy is forgotten", append(all[:3:3], &messages.HealthForgotten{Binding: web, Cluster: "member2"}), no},
		{"a cluster being left gracefully still counts", append(all[:2:2], evicting("member2", api.PurgeGracefully)), no},
		{"a cluster being left directly does not", append(all[:2:2], evicting("member2", api.PurgeDirectly)), yes},
		{"the cluster is left", append(all[:2:2], evicting("member2", api.PurgeNever), &messages.EvictionEnded{
			Binding: web, Cluster: "member2",
		}), yes},
		{"the cluster is a target again", append(all[:2:2], evicting("member2", api.PurgeDirectly), &messages.EvictionWithdrawn{
			Binding: web, Cluster: "member2", Clusters: targets("member1", "member2"),
		}), no},
		{"a copy is refused", append(all[:2:2], &messages.HealthChanged{Binding: web, Cluster: "member2", Health: api.Unknown, Refused: "no quota"}),
			"False FullyAppliedFailed: member2 did not apply its copy: no quota"},
		{"a copy was refused", append(all[:2:2], &messages.HealthChanged{Binding: web, Cluster: "member2", Health: api.Unknown, Refused: "no quota"}, all[2]), yes},
		{"a copy is refused that was not", append(all[:3:3], &messages.HealthChanged{Binding: web, Cluster: "member1", Health: api.Unknown, Refused: "no quota"}),
			"False FullyAppliedFailed: member1 did not apply its copy: no quota"},
		{"the result is void", append(all[:3:3], &messages.ScheduleFailed{Binding: web, Cleared: true}), no},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFleet(t)
			f.apply(test.facts...)
			got, _ := f.condition("FullyApplied")
			require.Equal(t, test.want, got)
		})
	}
}

func TestFullyAppliedExpectsDependants(t *testing.T) {
	f := newFleet(t)
	f.Binding(web).Spec.RequiredBy = []api.BindingSnapshot{{Name: "parent", Clusters: targets("member2")}}
	f.apply(f.placed("member1"), healthy("member1", 2))
	got, _ := f.condition("FullyApplied")
	require.Contains(t, got, "False")
	f.apply(healthy("member2", 2))
	got, since := f.condition("FullyApplied")
	require.Contains(t, got, "True")
	require.Equal(t, f.now, since)
}

func TestWhatACopySaysIsShownWithItsReplicas(t *testing.T) {
	f := newFleet(t)
	said := &messages.StatusChanged{Binding: web, Cluster: "member1", Status: []byte(`{"step":7,"readyReplicas":9}`)}
	f.requireNoChange(webKey, said)
	f.apply(f.placed("member1"), healthy("member1", 2), said)
	shown := f.Get(webKey).(*api.ResourceBinding).Status.AggregatedStatus[0].Status
	require.JSONEq(t, `{"step":7,"availableReplicas":2,"readyReplicas":2,"replicas":2,"updatedReplicas":2}`, string(shown.Raw))
	f.apply(&messages.StatusChanged{Binding: web, Cluster: "member1"})
	require.Nil(t, f.Binding(web).Status.AggregatedStatus[0].Status)
}

func TestWhatCopiesSaidIsKnownWithoutCounts(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1"), healthy("member1", 2))
	said := func(raw string) *runtime.RawExtension {
		b := f.Binding(web)
		items := slices.Clone(b.Status.AggregatedStatus)
		items[0].Status = nil
		if raw != "" {
			items[0].Status = &runtime.RawExtension{Raw: []byte(raw)}
		}
		b.Status.AggregatedStatus = items
		return f.Said(b)[0].Status
	}
	require.Nil(t, said(""))
	require.Nil(t, said(`{"availableReplicas":2,"readyReplicas":2,"replicas":2,"updatedReplicas":2}`), "the control plane's own")
	require.JSONEq(t, `{"step":7}`, string(said(`{"step":7,"readyReplicas":2}`).Raw))
	require.Equal(t, `[1]`, string(said(`[1]`).Raw))
	for n := range 5000 { // more than is remembered
		require.JSONEq(t, fmt.Sprintf(`{"step":%d}`, n), string(said(fmt.Sprintf(`{"step":%d,"replicas":2}`, n)).Raw))
	}
}
