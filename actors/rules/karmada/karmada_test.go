package karmada_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/karmada"
	"leeward/messages"
	"leeward/messages/api"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

func TestTimesAreWholeSecondsInKarmadaOnly(t *testing.T) {
	require.Equal(t, at(1.9), karmada.Of(&messages.Settings{}).Time(at(1.9)))
	require.Equal(t, at(1), karmada.Of(&messages.Settings{WholeSecondTaintTimes: true}).Time(at(1.9)))
}

func TestDeadlinesAreNoticedAtRelistsOrByOldTimers(t *testing.T) {
	w := karmada.Of(&messages.Settings{TaintRelistPeriod: 10 * time.Second})
	require.True(t, w.Relists())
	require.False(t, karmada.Of(&messages.Settings{}).Relists())
	none := time.Time{}
	for name, c := range map[string]struct {
		deadline, timer time.Time
		news            bool
		noticed         time.Time
	}{
		"news is noticed immediately":                    {at(4), none, true, at(4)},
		"no deadline stays none":                         {none, at(30), false, none},
		"one that is new waits for the next look":        {at(4), none, false, at(10)},
		"one that is later than the look is exact":       {at(25), none, false, at(25)},
		"one that moved away is exact":                   {at(40), at(30), false, at(40)},
		"one that moved closer waits for the look":       {at(4), at(30), false, at(10)},
		"one that moved closer is seen by the old timer": {at(4), at(6), false, at(6)},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.noticed, w.Noticed(at(3), c.deadline, c.timer, noon, c.news))
		})
	}
}

func TestTolerationsComeFromThePlacementOrFromTheAppliedOne(t *testing.T) {
	wanted := &api.Placement{ClusterTolerations: []corev1.Toleration{{Key: "wanted"}}}
	applied := &api.Placement{ClusterTolerations: []corev1.Toleration{{Key: "applied"}}}
	own := karmada.Of(&messages.Settings{TolerationSource: messages.SourcePlacement})
	theirs := karmada.Of(&messages.Settings{TolerationSource: messages.SourceAppliedPlacement})
	found, known := own.Tolerations(wanted, applied)
	require.Equal(t, wanted.ClusterTolerations, found)
	require.True(t, known)
	found, known = theirs.Tolerations(wanted, applied)
	require.Equal(t, applied.ClusterTolerations, found)
	require.True(t, known)
	_, known = theirs.Tolerations(wanted, nil)
	require.False(t, known, "K24")
	_, known = own.Tolerations(nil, applied)
	require.True(t, known, "no placement has no tolerations")
}

func TestUnhealthyCountsFromItsFirstReportOrFromTheFirstSight(t *testing.T) {
	exact := karmada.Of(&messages.Settings{PersistentFailoverTimers: true})
	evict, _ := exact.Unhealthy(noon, noon, 0, noon)
	require.True(t, exact.PersistentTimers() && evict)
	theirs := karmada.Of(&messages.Settings{})
	evict, recheck := theirs.Unhealthy(noon, noon, 0, noon)
	require.False(t, theirs.PersistentTimers() || evict, "the first sight evicts nobody")
	require.Zero(t, recheck)
	evict, recheck = theirs.Unhealthy(noon, noon, 30, at(0.5))
	require.False(t, evict)
	require.Equal(t, at(30.5), recheck, "whole seconds from each look")
	evict, _ = theirs.Unhealthy(noon, noon, 30, at(30))
	require.True(t, evict)
	evict, recheck = theirs.Unhealthy(at(60), noon, 30, at(1))
	require.False(t, evict)
	require.Equal(t, at(90), recheck, "a grace of its start is exact")
}

func TestWhatElseKarmadaDoesItsOwnWay(t *testing.T) {
	theirs, own := karmada.Of(&messages.Settings{}), karmada.Of(&messages.Settings{
		StateForAnyPurgeMode: true, PreserveOnlyDeleted: true, PlacementHonoursDeadlines: true,
		NumericTolerations: true,
	})
	require.True(t, theirs.PreservesState(api.PurgeDirectly))
	require.False(t, theirs.PreservesState(api.PurgeGracefully))
	require.True(t, own.PreservesState(api.PurgeGracefully))
	require.True(t, theirs.PreservesEvicted())
	require.False(t, own.PreservesEvicted())
	require.True(t, theirs.ReturnsInNoTime())
	require.False(t, own.ReturnsInNoTime())
	require.False(t, karmada.Of(&messages.Settings{TaintRelistPeriod: time.Second}).ReturnsInNoTime())
	require.True(t, own.Rule().Numeric)
	require.False(t, theirs.DependenciesStay() || theirs.WithdrawsOnRecovery())
	require.True(t, karmada.Of(&messages.Settings{WithdrawOnRecovery: true}).WithdrawsOnRecovery())
	require.True(t, karmada.Of(&messages.Settings{DependenciesStay: true}).DependenciesStay())
	require.Equal(t, messages.HealthOfPlacement, karmada.Of(&messages.Settings{HandoverHealth: messages.HealthOfPlacement}).HandoverHealth())
}

func TestWhatKarmadaDoesNotWaitFor(t *testing.T) {
	theirs := karmada.Of(&messages.Settings{EvictionNeedsState: true})
	require.Equal(t, []bool{false, true, true, true}, []bool{theirs.KeepsLastCopy(), theirs.EvictsToNowhere(), theirs.ChoosesUntold(), theirs.WaitsForState()})
	ours := karmada.Of(&messages.Settings{KeepLastCopy: true, EvictionNeedsDestination: true, DestinationsMustHear: true})
	require.Equal(t, []bool{true, false, false, false}, []bool{ours.KeepsLastCopy(), ours.EvictsToNowhere(), ours.ChoosesUntold(), ours.WaitsForState()})
}
