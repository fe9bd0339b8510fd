package karmada_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

func TestPoliciesActInAnOrderAndRemoveWhatTheSettingsLetThem(t *testing.T) {
	own := karmada.Of(&messages.Settings{PolicyTieBreak: messages.TieByName, PolicyRemoves: messages.RemovesOwn, PolicyCleanup: api.CleanupOnChange})
	theirs := karmada.Of(&messages.Settings{PolicyTieBreak: messages.TieUndefined, PolicyRemoves: messages.RemovesAny})
	require.Equal(t, policy.Order{Tie: messages.TieByName, Seed: 7}, own.PolicyOrder(7))
	require.Equal(t, policy.Order{Tie: messages.TieUndefined, Seed: 7}, theirs.PolicyOrder(7))
	require.False(t, own.PoliciesRemoveAny())
	require.True(t, theirs.PoliciesRemoveAny())
	require.Equal(t, api.CleanupOnChange, own.Cleanup(""))
	require.Equal(t, api.CleanupNever, own.Cleanup(api.CleanupNever), "a policy's own word holds")
	require.Empty(t, theirs.Cleanup(""))
}

func TestWhatTheSystemDoesByItselfToClusters(t *testing.T) {
	own := karmada.Of(&messages.Settings{
		MissingConditionStatus: metav1.ConditionUnknown, FailoverEvictionTimeout: time.Minute, TaintTerminatingClusters: true,
		PersistentClusterTimers: true,
	})
	require.Equal(t, metav1.ConditionUnknown, own.MissingCondition())
	require.Zero(t, own.NotReadyEvictsAfter(), "feature gate Failover is off")
	require.Equal(t, time.Minute, karmada.Of(&messages.Settings{Failover: true, FailoverEvictionTimeout: time.Minute}).NotReadyEvictsAfter())
	require.True(t, own.TaintsDeleted())
	require.True(t, own.PersistentClusterTimers())
	theirs := karmada.Of(&messages.Settings{})
	require.Empty(t, theirs.MissingCondition())
	require.False(t, theirs.TaintsDeleted() || theirs.PersistentClusterTimers())
}
