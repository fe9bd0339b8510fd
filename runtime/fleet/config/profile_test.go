package config_test

import (
	"go/ast"
	"go/parser"
	"go/token"
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

// The table is checked against messages.Settings: one row per field, in order, with the flags and the
// faults that its comments name.
func TestFieldsFollowTheSettings(t *testing.T) {
	fields, settings := config.Fields(), reflect.TypeFor[messages.Settings]()
	comments := settingsComments(t)
	require.Len(t, fields, settings.NumField())
	for i, f := range fields {
		goName := settings.Field(i).Name
		require.Equal(t, goName, strings.ToUpper(f.Name[:1])+f.Name[1:])
		require.NotEmpty(t, f.Meaning, f.Name)
		for _, fault := range regexp.MustCompile(`K\d+`).FindAllString(comments[goName], -1) {
			require.Contains(t, f.Cures, fault, f.Name)
		}
		if f.Flag != "" && !strings.Contains(comments[goName], "likewise") {
			flag, _, _ := strings.Cut(f.Flag, " ")
			require.Contains(t, comments[goName], flag, f.Name)
		}
		if settings.Field(i).Type.Kind() == reflect.String {
			require.NotEmpty(t, f.Words, f.Name)
		}
	}
}

// settingsComments returns the comment of each field of messages.Settings; fields in a row without a
// comment of their own share the one above.
func settingsComments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../messages/settings.go", nil, parser.ParseComments)
	require.NoError(t, err)
	comments, last := map[string]string{}, ""
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			if f.Doc != nil {
				last = f.Doc.Text()
			}
			if len(f.Names) == 1 {
				comments[f.Names[0].Name] = last
			}
		}
		return true
	})
	return comments
}
