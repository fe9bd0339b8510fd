package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// incidentFile was recorded from a daemon with five simulated members, of which one failed for a while.
var (
	incidentFile  = filepath.Join("..", "..", "scenarios", "recordings", "nginx-is-evicted-from-a-failed-cluster.jsonl")
	patientPolicy = filepath.Join("..", "..", "scenarios", "recordings", "patient-policy.yaml")
)

// play replays the incident, and returns the code and the verdict.
func play(t *testing.T, args ...string) (code int, verdict string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code = execute(append([]string{"replay", incidentFile}, args...), &stdout, &stderr)
	require.Empty(t, stderr.String())
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	return code, lines[len(lines)-1]
}

func TestARecordedIncidentGoesAsItWentUnderTheSamePolicyAndOtherwiseUnderAnother(t *testing.T) {
	for _, c := range []struct {
		name, verdict string
		args          []string
	}{
		{"as it was", "compared: 1 same", nil},
		{"in another order of messages", "compared: 1 same", []string{"--seed", "7"}},
		{"as Karmada decides", "compared: 1 same", []string{"--profile", "karmada", "--set", "enableNoExecuteTaintEviction=true"}},
		{"as Karmada decides where nobody asked it to evict", "compared: 1 recorded only", []string{"--profile", "karmada"}},
		{"with a policy that outlasts the outage", "compared: 1 recorded only", []string{"--with", patientPolicy}},
	} {
		code, verdict := play(t, c.args...)
		require.Equal(t, exitHeld, code, c.name)
		require.Equal(t, c.verdict, verdict, c.name)
	}
}

// karmadaFile was recorded from a real Karmada: eight applications, a taint set by hand, one of a policy, and an agent
// that fell silent.
var karmadaFile = filepath.Join("..", "..", "scenarios", "recordings", "karmada-failover.jsonl")

// What its header says of a recording, profile and settings, is found out where it is missing, and told.
func TestAFailoverOfARealKarmadaGoesAsItWentAlsoWhereNothingSaysWhatItRanWith(t *testing.T) {
	data, err := os.ReadFile(karmadaFile)
	require.NoError(t, err)
	settings := regexp.MustCompile(`,"config":\[[^]]*\]`)
	require.True(t, settings.Match(data))
	for name, header := range map[string]*regexp.Regexp{
		"as its header says": regexp.MustCompile(`\z`),
		"without settings":   settings,
		"without a profile":  regexp.MustCompile(`,"profile":"karmada"` + settings.String()),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "karmada.jsonl")
			require.NoError(t, os.WriteFile(file, header.ReplaceAll(data, nil), 0o600))
			var stdout, stderr strings.Builder
			require.Equal(t, exitHeld, execute([]string{"replay", file}, &stdout, &stderr), stderr.String())
			require.True(t, strings.HasSuffix(strings.TrimSpace(stdout.String()), "compared: 13 same"), stdout.String())
			require.Equal(t, name != "as its header says", strings.Contains(stdout.String(), "assumed: gracefulEvictionTimeout=30s"))
		})
	}
}

func TestARecordingWhoseReplayDiffersIsShrunk(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small.jsonl")
	code, verdict := play(t, "--with", patientPolicy, "--shrink", small)
	require.Equal(t, exitHeld, code, "a verdict is no failure")
	require.Equal(t, "repeat: leeward replay "+small, verdict)
	var stdout, stderr strings.Builder
	require.Equal(t, exitHeld, execute([]string{"replay", small}, &stdout, &stderr), stderr.String())
	require.Contains(t, stdout.String(), "compared: 1 recorded only\n")
	for args, says := range map[string]string{
		small + ".yaml": "a recording becomes a smaller one, in a .jsonl file, and a scenario a .yaml file",
		small + " --force --profile karmada --set enableNoExecuteTaintEviction=true": "the replay evicts as was recorded: there is nothing to shrink",
	} {
		require.Equal(t, exitInvalid, execute(append([]string{"replay", incidentFile, "--shrink"}, strings.Fields(args)...), &stdout, &stderr))
		require.Contains(t, stderr.String(), says)
	}
}
