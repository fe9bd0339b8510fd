package karmada_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

func TestWorkersRestAndPrioritiesCountAsInTheQueueOfKarmada(t *testing.T) {
	require.Equal(t, 2*time.Second, karmada.Of(&messages.Settings{ResourceEvictionRate: 0.5}).WorkerRests())
	require.Equal(t, 30*time.Minute, karmada.Of(&messages.Settings{}).WorkerRests())
	require.Equal(t, int32(9), karmada.Of(&messages.Settings{EvictionOrder: messages.EvictByPriority}).QueuePriority(9))
	require.Zero(t, karmada.Of(&messages.Settings{EvictionOrder: messages.EvictByArrival}).QueuePriority(9), "K32")
}

func TestTheSchedulersWays(t *testing.T) {
	theirs := karmada.Of(&messages.Settings{})
	require.True(t, theirs.ZeroReplicasNeedCluster() && theirs.ClearsTargets())
	require.False(t, theirs.RetriesForAnyGroup() || theirs.RetriesForGoneCluster() || theirs.FailoverKeepsQuota() || theirs.MovesGracefully())
	own := karmada.Of(&messages.Settings{
		ZeroReplicasNeedNoCluster: true, KeepLastCopy: true, RetryForAnyGroup: true, FailoverKeepsQuota: true, GracefulMoves: true,
	})
	require.False(t, own.ZeroReplicasNeedCluster() || own.ClearsTargets())
	require.True(t, own.RetriesForAnyGroup() && own.RetriesForGoneCluster() && own.FailoverKeepsQuota() && own.MovesGracefully())
}

func TestPlacingIsKarmadasUnlessASettingSaysOtherwise(t *testing.T) {
	require.Equal(t, karmada.Placing{}, karmada.Of(&messages.Settings{}).Placing())
	s := messages.Settings{TaintTerminatingClusters: true}
	require.False(t, karmada.Of(&s).Placing().EvictsDeleted, "no taint evicts")
	for name, c := range map[string]struct {
		s    messages.Settings
		want karmada.Placing
	}{
		"taints":    {messages.Settings{TolerationMatch: messages.MatchMinimum, NumericTolerations: true}, karmada.Placing{Taints: taint.Rule{Match: messages.MatchMinimum, Numeric: true}}},
		"deadlines": {messages.Settings{PlacementHonoursDeadlines: true}, karmada.Placing{HonoursDeadlines: true}},
		"spread":    {messages.Settings{ExactSpread: true}, karmada.Placing{ExactSpread: true}},
		"regions":   {messages.Settings{StableRegions: true}, karmada.Placing{StableRegions: true}},
		"partial":   {messages.Settings{PartialPlacement: true}, karmada.Placing{Partial: true}},
		"ready":     {messages.Settings{ScaleUpNeedsReady: true}, karmada.Placing{ReadyOnly: true}},
		"API":       {messages.Settings{TargetsNeedTheirAPI: true}, karmada.Placing{NeedsAPI: true}},
		"preferred": {messages.Settings{PreferNoSchedule: true}, karmada.Placing{AvoidsPreferred: true}},
		"temporary": {messages.Settings{TemporaryDestinationsLast: true}, karmada.Placing{AvoidsTemporary: true}},
		"sets":      {messages.Settings{ExactComponentSets: true}, karmada.Placing{ExactSets: true}},
		"deletions": {
			messages.Settings{TaintTerminatingClusters: true, Failover: true, EnableTaintManager: true, EnableNoExecuteTaintEviction: true},
			karmada.Placing{EvictsDeleted: true},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, karmada.Of(&c.s).Placing()) })
	}
}
