package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

func TestARunBeginsWhenAllOfADumpHasHappened(t *testing.T) {
	for added, want := range map[string]string{
		"2020-01-01T00:00:00Z": "2026-01-01T00:00:00Z",
		"2027-03-04T05:06:07Z": "2027-03-04T05:07:00Z",
		"2027-03-04T05:07:00Z": "2027-03-04T05:07:00Z",
		"9998-03-04T05:06:07Z": "",
	} {
		file := filepath.Join(t.TempDir(), "s.yaml")
		require.NoError(t, os.WriteFile(file, []byte(`
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
spec: {syncMode: Push, taints: [{key: down, effect: NoExecute, timeAdded: "`+added+`"}]}
---
{apiVersion: leeward.dev/v1alpha1, kind: Scenario, metadata: {name: s}, spec: {duration: 1m}}
`), 0o600))
		scenarios, _, problems := scenario.Find(file)
		require.Empty(t, problems)
		run, err := replay.Play(scenarios[0], replay.Options{Seed: 1})
		if want == "" {
			require.EqualError(t, err, file+": Cluster m1: tells of "+added+", which is after 9000-01-01T00:00:00Z")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, run.Start.Format("2006-01-02T15:04:05Z"))
	}
}
