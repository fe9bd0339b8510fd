package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

func TestARunBeginsWhenAllOfADumpHasHappened(t *testing.T) {
	cluster := func(added string) string {
		return `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
spec: {syncMode: Push, taints: [{key: down, effect: NoExecute, timeAdded: "` + added + `"}]}
---
{apiVersion: leeward.dev/v1alpha1, kind: Scenario, metadata: {name: s}, spec: {duration: 1m}}
`
	}
	begins(t, cluster, "Cluster m1")
}

func TestARunOfNodesBeginsWhenAllOfADumpHasHappened(t *testing.T) {
	for object, manifest := range map[string]string{
		"Node n1": `{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [{key: down, effect: NoExecute, timeAdded: "INSTANT"}]}}`,
		"Node n2": `{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "INSTANT"}]}}`,
		"Node n3": `{apiVersion: v1, kind: Node, metadata: {name: n3}, status: {conditions: [{type: Ready, status: "True", lastHeartbeatTime: "INSTANT"}]}}`,
		"Pod web": `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}, status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "INSTANT"}]}}`,
	} {
		begins(t, func(at string) string {
			return strings.ReplaceAll(manifest, "INSTANT", at) + "\n---\n" +
				"{apiVersion: leeward.dev/v1alpha1, kind: Scenario, metadata: {name: s}, spec: {duration: 1m, nodes: [{name: other}]}}\n"
		}, object)
	}
}

// begins requires that a run begins when what its manifests tell of has happened.
func begins(t *testing.T, manifests func(at string) string, object string) {
	t.Helper()
	for added, want := range map[string]string{
		"2020-01-01T00:00:00Z": "2026-01-01T00:00:00Z",
		"2027-03-04T05:06:07Z": "2027-03-04T05:07:00Z",
		"2027-03-04T05:07:00Z": "2027-03-04T05:07:00Z",
		"9998-03-04T05:06:07Z": "",
	} {
		file := filepath.Join(t.TempDir(), "s.yaml")
		require.NoError(t, os.WriteFile(file, []byte(manifests(added)), 0o600))
		scenarios, _, problems := scenario.Find(file)
		require.Empty(t, problems)
		run, err := replay.Play(scenarios[0], replay.Options{Seed: 1})
		if want == "" {
			require.EqualError(t, err, file+": "+object+": tells of "+added+", which is after 9000-01-01T00:00:00Z")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, run.Start.Format("2006-01-02T15:04:05Z"))
	}
}
