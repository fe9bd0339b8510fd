package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// unhealthyEviction is the fact that a binding leaves a cluster for its health.
func unhealthyEviction(cluster messages.ClusterName) *messages.EvictionStarted {
	f := evicting(cluster, api.PurgeGracefully)
	f.Task.Reason, f.Task.Producer = api.EvictionReasonApplicationFailure, api.ProducerApplicationFailover
	return f
}

func TestTheHistoryTellsEveryDeparture(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1", "member2"), unhealthyEviction("member1"))
	began := f.now
	next := f.placed("member2", "member3")
	next.Takeovers = []messages.Takeover{{From: "member1", By: targets("member3")}}
	f.apply(next)
	record := api.FailoverRecord{
		FromCluster: "member1", Reason: api.EvictionReasonApplicationFailure, Producer: api.ProducerApplicationFailover,
		StartTime: metav1.MicroTime{Time: began}, ToClusters: targets("member3"),
	}
	b := f.Binding(web)
	require.Equal(t, []api.FailoverRecord{record}, b.Status.FailoverHistory)

	shown := f.Get(webKey)
	f.apply(&messages.EvictionEnded{Binding: web, Cluster: "member1", Reason: messages.EndedHealthy})
	require.Nil(t, shown.(*api.ResourceBinding).Status.FailoverHistory[0].CompletionTime, "what was shown stays")
	record.CompletionTime, record.Outcome = &metav1.MicroTime{Time: f.now}, "healthy"
	require.Equal(t, []api.FailoverRecord{record}, b.Status.FailoverHistory)
}

func TestTheHistoryTellsAWithdrawal(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1"), unhealthyEviction("member1"),
		&messages.EvictionWithdrawn{Binding: web, Cluster: "member1", Clusters: targets("member1")})
	require.Equal(t, "withdrawn", f.Binding(web).Status.FailoverHistory[0].Outcome)
}

func TestTheHistoryTellsNothingOfAnEvictionThatNoClientHasSeen(t *testing.T) {
	for name, committed := range map[string]bool{"it was committed": true, "it was not": false} {
		f := newFleet(t)
		f.apply(f.placed("member1"))
		commit := func() {
			f.Committed(webKey, &row{f.Snapshot(webKey).DeepCopyObject().(api.Object), 1}, f.Version(webKey))
		}
		commit()
		f.apply(unhealthyEviction("member1"))
		if committed {
			commit()
		}
		f.apply(&messages.EvictionWithdrawn{Binding: web, Cluster: "member1", Clusters: targets("member1")})
		require.Equal(t, committed, len(f.Binding(web).Status.FailoverHistory) == 1, name)
	}
}

func TestTheHistoryTellsATaskThatUsersDeleted(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1"), unhealthyEviction("member1"))
	f.Binding(web).Spec.GracefulEvictionTasks = nil
	deleted := &messages.EvictionEnded{Binding: web, Cluster: "member1", Reason: messages.EndedDeleted}
	f.apply(deleted)
	require.Equal(t, "deleted", f.Binding(web).Status.FailoverHistory[0].Outcome)
	f.requireNoChange(webKey, deleted)
}

func TestAnEvictionFromAClusterThatIsBeingEvictedFromIsTheSame(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1"), unhealthyEviction("member1"), f.placed("member1"), unhealthyEviction("member1"))
	require.Len(t, f.Binding(web).Status.FailoverHistory, 1)
}

func TestALateWordAboutADepartureThatIsOverChangesNothing(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1"), unhealthyEviction("member1"),
		&messages.EvictionEnded{Binding: web, Cluster: "member1", Reason: messages.EndedHealthy})
	late := f.placed("member3")
	late.Takeovers = []messages.Takeover{{From: "member1", By: targets("member3")}}
	f.apply(late)
	require.Nil(t, f.Binding(web).Status.FailoverHistory[0].ToClusters)
}
