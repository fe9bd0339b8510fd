package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

func TestAReturnIsStoredUntilItStartsOrIsDropped(t *testing.T) {
	for _, end := range []messages.Fact{&messages.FailbackCancelled{Binding: web}, &messages.FailbackStarted{Binding: web}} {
		f := newFleet(t)
		plan := &messages.FailbackScheduled{Binding: web, Affinity: "home", At: start.Add(time.Minute)}
		f.apply(plan)
		require.Equal(t, start.Add(time.Minute), f.Binding(web).Status.ReturnAt.Time)
		f.requireNoChange(webKey, plan)
		f.apply(end)
		require.Nil(t, f.Binding(web).Status.ReturnAt)
		f.requireNoChange(webKey, end)
	}
}

func TestHomeIsStoredWithTheReturnOfEachShare(t *testing.T) {
	f := newFleet(t)
	away := &messages.FailbackTargetsChanged{Binding: web, Clusters: targets("member1", "member2")}
	f.apply(away)
	plan := &messages.ShareFailbackScheduled{Binding: web, Cluster: "member2", At: start.Add(time.Minute)}
	f.apply(plan)
	require.Equal(t, []api.PreferredShare{
		{TargetCluster: away.Clusters[0]}, {TargetCluster: away.Clusters[1], ReturnAt: &metav1.MicroTime{Time: plan.At}},
	}, f.Binding(web).Status.Home)
	f.requireNoChange(webKey, plan)
	f.requireNoChange(webKey, &messages.ShareFailbackScheduled{Binding: web, Cluster: "member9", At: plan.At})
	for _, end := range []messages.Fact{
		&messages.ShareFailbackCancelled{Binding: web, Cluster: "member2"}, &messages.FailbackStarted{Binding: web, Clusters: away.Clusters[1:]},
	} {
		f.apply(plan, end)
		require.Nil(t, f.Binding(web).Status.Home[1].ReturnAt)
		f.requireNoChange(webKey, end)
	}
	f.apply(&messages.FailbackTargetsChanged{Binding: web})
	require.Nil(t, f.Binding(web).Status.Home)
	f.requireNoChange(webKey, &messages.FailbackTargetsChanged{Binding: web})
}

func TestWhoWaitsToShrinkIsStored(t *testing.T) {
	f := newFleet(t)
	f.apply(&messages.ScaleDownBlocked{Binding: web, Reason: api.EvictionReasonFailback, Clusters: targets("member1")})
	require.Equal(t, &api.Shrinking{
		Reason: api.EvictionReasonFailback, Since: metav1.MicroTime{Time: f.now}, Clusters: targets("member1"),
	}, f.Binding(web).Status.Shrinking)
	f.apply(&messages.ScaleDownEnded{Binding: web})
	require.Nil(t, f.Binding(web).Status.Shrinking)
	f.requireNoChange(webKey, &messages.ScaleDownEnded{Binding: web})
}

func TestAnOldCopyIsStoredAsKeptUntilItIsJudged(t *testing.T) {
	for _, end := range []messages.Fact{
		&messages.OriginalReleased{Binding: web, Cluster: "member2"}, &messages.FailbackStarted{Binding: web, Clusters: targets("member2")},
	} {
		f := newFleet(t)
		f.requireNoChange(webKey, &messages.OriginalKept{Binding: web, Cluster: "member2"})
		f.apply(&messages.FailbackTargetsChanged{Binding: web, Clusters: targets("member2")}, &messages.OriginalKept{Binding: web, Cluster: "member2"})
		require.True(t, f.Binding(web).Status.Home[0].Kept)
		f.apply(end)
		require.False(t, f.Binding(web).Status.Home[0].Kept)
	}
}
