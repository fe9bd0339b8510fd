package config_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
)

func differences(t *testing.T, from, to string) (lines []string) {
	t.Helper()
	before, after := resolved(t, from, nil), resolved(t, to, nil)
	for _, c := range config.Changes(&before, &after) {
		lines = append(lines, c.Field+": "+c.From+" -> "+c.To)
	}
	return lines
}

func TestWhatKarmadaWasBefore(t *testing.T) {
	require.Equal(t, []string{
		"failover: false -> true",
		"enableNoExecuteTaintEviction: false -> true",
		"failoverEvictionTimeout: 0s -> 5m",
		"defaultNotReadyTolerationSeconds: -1 -> 300",
		"defaultUnreachableTolerationSeconds: -1 -> 300",
		"targetsNeedTheirAPI: false -> true",
		"divisionMethod: webster -> floor",
		"evictionWorkers: 3 -> 0",
		"taintTerminatingClusters: false -> true",
	}, differences(t, "karmada", "karmada-legacy"))
}

func TestWhatLeewardDoesOtherwise(t *testing.T) {
	require.Equal(t, []string{
		"failover: false -> true",
		"enableNoExecuteTaintEviction: false -> true",
		"allowNoExecuteTaintPolicy: false -> true",
		"resourceEvictionRate: 0.5 -> 100",
		"evictionWorkers: 3 -> 10",
		"evictionOrder: arrival -> priority",
		"evictionBudgets: false -> true",
		"unhealthyClusterThreshold: 0 -> 0.55",
		"largeFleetSize: 0 -> 10",
		"secondaryEvictionRate: 0 -> 0.1",
		"blackoutThreshold: 0 -> 1",
		"stormCooldown: 0s -> 5m", "fleetBreakerShare: 0 -> 0.5",
		"taintRelistPeriod: 10s -> 0s",
		"wholeSecondTaintTimes: true -> false",
		"taintTimesForAllEffects: false -> true",
		"evictionNeedsDestination: false -> true",
		"keepLastCopy: false -> true",
		"handoverHealth: reported -> placement",
		"zeroReplicasNeedNoCluster: false -> true",
		"withdrawOnRecovery: false -> true",
		"destinationsMustHear: false -> true",
		"directPurgeTimeout: 0s -> 1m",
		"dependenciesStay: false -> true",
		"preserveOnlyDeleted: false -> true",
		"persistentFailoverTimers: false -> true",
		"applicationStartupGrace: 0s -> 5m",
		"applicationFailoverLimit: 0 -> 3",
		"applicationFailoverWindow: 0s -> 1h",
		"applicationCooldown: 0s -> 10m",
		"statefulFailoverInjection: false -> true",
		"evictionNeedsState: true -> false",
		"stateForAnyPurgeMode: false -> true",
		"policyTieBreak: undefined -> name",
		"policyRemoves: any -> own",
		"policyCleanup: Never -> OnChange",
		"tolerationMatch: first -> minimum",
		"validateTolerations: false -> true",
		"tolerationSource: appliedPlacement -> placement",
		"startFailureLimit: 0 -> 5",
		"capacityReservation: false -> true",
		"placementHonoursDeadlines: false -> true",
		"temporaryDestinationsLast: false -> true",
		"exactSpread: false -> true",
		"partialPlacement: false -> true",
		"scaleUpNeedsReady: false -> true",
		"retryForAnyGroup: false -> true",
		"preferNoSchedule: false -> true",
		"propagationPolicyPreemption: false -> true",
		"workloadAffinity: false -> true",
		"federatedQuotaEnforcement: false -> true",
		"failoverKeepsQuota: false -> true",
		"multiplePodTemplatesScheduling: false -> true",
		"exactComponentSets: false -> true",
		"concurrentReturns: 0 -> 10",
		"deschedulingInterval: 2m -> 0s",
		"repeatableRebalance: false -> true",
		"gracefulMoves: false -> true", "stableRegions: false -> true",
		"persistentClusterTimers: false -> true",
		"taintTerminatingClusters: false -> true",
		"clusterMonitorPeriod: 5s -> 0s",
		"nodeMonitorPeriod: 5s -> 0s", "zoneRateRecovers: false -> true", "nodeTaintsSurviveRestart: false -> true",
		"kubeAPIQPS: 20 -> 0", "kubeAPIBurst: 30 -> 0", "exactPodDeadlines: false -> true",
		"podTolerationMatch: first -> minimum", "podEvictionUntilDone: false -> true", "podEvictionSparesFinished: false -> true",
		"podEvictionNamesTaint: false -> true", "podGCPeriod: 20s -> 0s",
		"avoidTimedTolerations: false -> true", "schedulerNamesTaints: false -> true",
	}, differences(t, "karmada", "leeward"))
}

func TestWhatLeewardDoesOtherwiseWithNodes(t *testing.T) {
	require.Equal(t, []string{
		"nodeMonitorPeriod: 5s -> 0s", "zoneRateRecovers: false -> true", "nodeTaintsSurviveRestart: false -> true",
		"kubeAPIQPS: 20 -> 0", "kubeAPIBurst: 30 -> 0", "exactPodDeadlines: false -> true",
		"podTolerationMatch: first -> minimum", "podEvictionUntilDone: false -> true", "podEvictionSparesFinished: false -> true",
		"podEvictionNamesTaint: false -> true", "podGCPeriod: 20s -> 0s",
		"avoidTimedTolerations: false -> true", "schedulerNamesTaints: false -> true",
	}, differences(t, "kubernetes", "leeward"))
}

func TestWhatTheProfilesShare(t *testing.T) {
	shared := map[string]string{
		"gracefulEviction": "true", "enableTaintManager": "true", "noExecuteTaintEvictionPurgeMode": "Gracefully",
		"gracefulEvictionTimeout": "10m", "conditionHold": "0s", "missingConditionStatus": "",
		"numericTolerations": "false", "clusterMonitorGracePeriod": "40s", "clusterStartupGracePeriod": "1m",
		"clusterFailureThreshold": "30s", "clusterSuccessThreshold": "30s",
		"clusterLeaseDuration": "40s", "clusterLeaseRenewIntervalFraction": "0.25",
	}
	for _, profile := range config.Profiles() {
		s := resolved(t, profile, nil)
		for field, value := range shared {
			require.Equal(t, value, config.String(&s, field), "%s: %s", profile, field)
		}
	}
}

func TestProfileNames(t *testing.T) {
	byDefault, err := config.Profile("")
	require.NoError(t, err)
	require.Equal(t, resolved(t, config.Default, nil), byDefault)

	tests := map[string]string{
		"karmeda": `unknown profile "karmeda": the profiles are karmada, karmada-legacy, kubernetes, leeward; did you mean karmada?`,
		"ocm":     `unknown profile "ocm": the profiles are karmada, karmada-legacy, kubernetes, leeward`,
	}
	for name, want := range tests {
		_, err := config.Profile(name)
		require.EqualError(t, err, want)
	}
}

// A tag that is misspelt would be read as if it were not there.
func TestFieldsFollowTheSettings(t *testing.T) {
	fields, settings := config.Fields(), reflect.TypeFor[messages.Settings]()
	comments := config.Comments()
	require.Len(t, fields, settings.NumField())
	require.Len(t, comments, settings.NumField())
	tag := regexp.MustCompile(`^((flag:"--[^"]+"|cures:"K\d+(,K\d+)*"|in:"[^"]+"|words:"[^"]+")( |$))*$`)
	for i, f := range fields {
		of := settings.Field(i)
		require.Equal(t, of.Name, strings.ToUpper(f.Name[:1])+f.Name[1:])
		require.Regexp(t, `^[A-Z].*\.( Zero: [A-Z].*\.)?$`, comments[i], f.Name)
		require.Regexp(t, tag, string(of.Tag), f.Name)
		require.Equal(t, of.Tag.Get("in"), f.Range(), f.Name)
		require.Equal(t, f.Type() == "duration" || strings.HasSuffix(f.Type(), "number"), f.Range() != "", f.Name)
		require.Equal(t, of.Type.Kind() == reflect.String, len(f.Words) > 0, f.Name)
	}
}
