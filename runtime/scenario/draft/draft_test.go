package draft

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/replay"
)

var update = flag.Bool("update", false, "write the golden file")

// draft writes the scenarios of files, for a file in dir.
func draft(t *testing.T, dir string, most int, files ...string) (*Draft, error) {
	t.Helper()
	source := scenario.Disk
	if all, _, _ := scenario.Find(files[0]); len(files) == 1 && len(all) > 0 {
		source.Scenario = all[0].Name
	}
	fleet, problems := source.Fleet(files)
	require.Empty(t, problems)
	return Write(context.Background(), Config{
		Source: scenario.Disk, Fleet: fleet, Files: files, Dir: dir, Most: most, Command: "a test",
		Assess: assess.Config{Seed: 1, Outage: messages.OutagePower, Startup: 30 * time.Second},
	})
}

// passes runs what was written, and holds it to its expectations.
func passes(t *testing.T, dir string, d *Draft) (all []*scenario.Scenario) {
	t.Helper()
	all, problems := scenario.Disk.Decode(filepath.Join(dir, "first.yaml"), d.YAML)
	require.Empty(t, problems)
	require.Len(t, all, len(d.Scenarios))
	expectations := 0
	for _, s := range all {
		for i := range uint64(orders) {
			run, err := replay.Play(s, replay.Options{Seed: s.Seed + i})
			require.NoError(t, err)
			require.True(t, run.Passed, "%s with seed %d: %v", s.Name, s.Seed+i, run.Expectations)
		}
		require.NotEmpty(t, s.Expect, s.Name)
		expectations += len(s.Expect)
	}
	require.Equal(t, d.Expectations, expectations)
	return all
}

func TestWhatIsWrittenOfAScenarioPasses(t *testing.T) {
	t.Chdir("../../..")
	d, err := draft(t, ".", 5, "docs/examples/fleet.yaml")
	require.NoError(t, err)
	require.Len(t, d.Scenarios, 5)
	all := passes(t, ".", d)
	names := map[string]bool{}
	for _, s := range all {
		require.False(t, names[s.Name], "%s twice", s.Name)
		names[s.Name] = true
	}
	require.True(t, names["lose-region-eu"])
	require.False(t, names["lose-provider-north"], "the same clusters as region eu")
	again, err := draft(t, ".", 5, "docs/examples/fleet.yaml")
	require.NoError(t, err)
	require.Equal(t, string(d.YAML), string(again.YAML), "the same, byte for byte")
	name := filepath.Join("runtime", "scenario", "draft", "testdata", "fleet.yaml")
	if *update {
		require.NoError(t, os.WriteFile(name, d.YAML, 0o600))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), string(d.YAML))
}

// manifests are a fleet without a scenario.
const manifests = `apiVersion: v1
kind: List
items:
- {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m1}, spec: {syncMode: Pull, region: eu}}
- {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m2}, spec: {syncMode: Push, region: us}}
- apiVersion: policy.karmada.io/v1alpha1
  kind: ClusterTaintPolicy
  metadata: {name: not-ready}
  spec:
    addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
    removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
    taints: [{key: not-ready, effect: NoExecute}]
`

const workloads2 = `{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: web}, spec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {namespace: shop, name: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}
`

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

func TestManifestsAreIncludedByPathsRelativeToTheFile(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"fleet/clusters.yaml": manifests, "fleet/apps/web.yaml": workloads2, "tests/README": ""})
	files := []string{filepath.Join(dir, "fleet", "clusters.yaml"), filepath.Join(dir, "fleet", "apps", "web.yaml")}
	d, err := draft(t, filepath.Join(dir, "tests"), 3, files...)
	require.NoError(t, err)
	require.Contains(t, string(d.YAML), "- ../fleet/clusters.yaml\n    - ../fleet/apps/web.yaml\n")
	require.Contains(t, string(d.YAML), "{name: m1, startup: 30s}")
	all := passes(t, filepath.Join(dir, "tests"), d)
	require.Len(t, all, 1, "the other cluster has no copy")
	require.Regexp(t, `available: 3`, string(d.YAML))
}

// A dump of a fleet that runs has bindings with their copies.
func TestADumpIsIncluded(t *testing.T) {
	dumps, err := filepath.Glob("../../../scenarios/dumps/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, dumps)
	written := 0
	for _, file := range dumps[:min(len(dumps), 6)] {
		all, _, _ := scenario.Find(file)
		if len(all) == 0 || all[0].OfNodes {
			continue
		}
		d, err := draft(t, filepath.Dir(file), 2, file)
		var wrong *assess.Invalid
		if err != nil {
			require.ErrorAs(t, err, &wrong, file)
			continue
		}
		if len(d.Scenarios) > 0 {
			passes(t, filepath.Dir(file), d)
			written++
		}
	}
	require.Positive(t, written)
}

func TestAFleetWithNothingToLoseIsRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"clusters.yaml": manifests, "web.yaml": workloads2})
	_, err := draft(t, dir, 3, filepath.Join(dir, "clusters.yaml"))
	require.ErrorContains(t, err, "holds no workload")
	_, err = draft(t, dir, 3, filepath.Join(dir, "web.yaml"))
	require.ErrorContains(t, err, "holds no Cluster")
	var wrong *assess.Invalid
	require.ErrorAs(t, err, &wrong)
	ended, end := context.WithCancel(context.Background())
	end()
	fleet, _ := scenario.Disk.Fleet([]string{filepath.Join(dir, "clusters.yaml"), filepath.Join(dir, "web.yaml")})
	_, err = Write(ended, Config{Source: scenario.Disk, Fleet: fleet, Most: 1, Assess: assess.Config{Seed: 1, Outage: messages.OutagePower}})
	require.ErrorIs(t, err, context.Canceled)
}

func TestSettingsAreWritten(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"clusters.yaml": manifests, "web.yaml": workloads2})
	files := []string{filepath.Join(dir, "clusters.yaml"), filepath.Join(dir, "web.yaml")}
	fleet, problems := scenario.Disk.Fleet(files)
	require.Empty(t, problems)
	d, err := Write(context.Background(), Config{
		Source: scenario.Disk, Fleet: fleet, Files: files, Dir: dir, Most: 1, Command: "a test",
		Assess: assess.Config{
			Seed: 9, Outage: messages.OutageNetwork, Profile: "karmada", Startup: time.Second,
			Set: []config.Override{{Field: "enableNoExecuteTaintEviction", Value: "true"}, {Field: "evictionWorkers", Value: "3"}},
		},
	})
	require.NoError(t, err)
	s := passes(t, dir, d)[0]
	require.Equal(t, "karmada", s.Profile)
	require.EqualValues(t, 9, s.Seed)
	require.Len(t, s.Config, 3)
	require.Contains(t, string(d.YAML), "kind: network")
	require.Contains(t, string(d.YAML), "event: {kind: EvictionStarted, binding: shop/web-deployment, cluster: m")
}

func TestRegionsWithNamesThatAreAlikeHaveScenariosOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	alike := strings.NewReplacer("region: eu", "region: A_B", "region: us", "region: a-b").Replace(manifests)
	put(t, dir, map[string]string{"clusters.yaml": alike, "web.yaml": strings.Replace(workloads2, "minGroups: 1, maxGroups: 1", "minGroups: 2, maxGroups: 2", 1)})
	text := strings.Replace(alike, "{name: m2}", "{name: m3}", 1)
	text = text[strings.Index(text, "- {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m3}"):]
	text = "apiVersion: v1\nkind: List\nitems:\n" + text[:strings.Index(text, "\n")+1] + strings.NewReplacer("m3", "m4", "a-b", "A_B").Replace(text[:strings.Index(text, "\n")+1])
	put(t, dir, map[string]string{"more.yaml": text})
	d, err := draft(t, dir, 10, filepath.Join(dir, "clusters.yaml"), filepath.Join(dir, "web.yaml"), filepath.Join(dir, "more.yaml"))
	require.NoError(t, err)
	passes(t, dir, d)
	require.Contains(t, string(d.YAML), "lose-region-a-b}")
	require.Contains(t, string(d.YAML), "lose-region-a-b-2}")
}

func FuzzName(f *testing.F) {
	f.Add("region eu")
	f.Add("zone a/b ü")
	f.Fuzz(func(t *testing.T, of string) {
		n := nameOf(of)
		require.True(t, strings.HasPrefix(n, "lose"))
		require.Regexp(t, `^[a-z0-9.-]*$`, n)
	})
}
