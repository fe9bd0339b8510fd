package shrink

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

var update = flag.Bool("update", false, "write the golden file")

const first = "../../../scenarios/nginx-is-evicted-from-a-failed-cluster.yaml"

func find(t *testing.T, file string) []*scenario.Scenario {
	t.Helper()
	all, _, problems := scenario.Find(file)
	require.Empty(t, problems)
	return all
}

// play runs what Shrink wrote, alone.
func play(t *testing.T, r *Result) (*scenario.Scenario, *replay.Run) {
	t.Helper()
	alone := scenario.Source{Read: func(name string) ([]byte, error) { return nil, fmt.Errorf("%s is read", name) }}
	scenarios, problems := alone.Decode("small.yaml", r.Text)
	require.Empty(t, problems, string(r.Text))
	require.Len(t, scenarios, 1)
	run, err := replay.Play(scenarios[0], replay.Options{Seed: scenarios[0].Seed})
	require.NoError(t, err)
	return scenarios[0], run
}

func TestAScenarioThatFailsBecomesTheSmallestThatDoes(t *testing.T) {
	s := find(t, first)[0]
	c := Config{
		Source: scenario.Disk, Scenario: s, Seed: 7, Most: 2000,
		Set: []config.Override{{Field: "clusterFailureThreshold", Value: "2m", Source: "--set"}},
	}
	heard := 0
	c.Progress = func(tries, parts int) { heard++ }
	r, err := Shrink(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, r.Tries, heard)
	require.False(t, r.Bounded)
	small, run := play(t, r)
	require.EqualValues(t, 7, small.Seed)
	require.Equal(t, len(r.Fails), run.Failures())
	require.Equal(t, Size{Manifests: 3, Clusters: 5, Steps: 1, Expectations: 8, Settings: 1}, r.Before)
	again, err := Shrink(context.Background(), Config{Source: scenario.Disk, Scenario: find(t, first)[0], Seed: 7, Most: 2000, Set: c.Set})
	require.NoError(t, err)
	require.Equal(t, string(r.Text), string(again.Text), "the same, byte for byte")
	name := filepath.Join("testdata", "small.yaml")
	if *update {
		require.NoError(t, os.WriteFile(name, r.Text, 0o600))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), string(r.Text))
}

func TestAScenarioThatHoldsIsRefused(t *testing.T) {
	_, err := Shrink(context.Background(), Config{Source: scenario.Disk, Scenario: find(t, first)[0], Seed: 1, Most: 10})
	require.ErrorIs(t, err, ErrHolds)
}

func TestASearchThatEndsEarlyHasASmallerScenarioAllTheSame(t *testing.T) {
	late := []config.Override{{Field: "clusterFailureThreshold", Value: "2m"}}
	c := Config{Source: scenario.Disk, Scenario: find(t, first)[0], Seed: 1, Most: 5, Set: late}
	r, err := Shrink(context.Background(), c)
	require.NoError(t, err)
	require.True(t, r.Bounded)
	require.Equal(t, 5, r.Tries)
	play(t, r)
	ended, end := context.WithCancel(context.Background())
	end()
	c.Most = 2000
	r, err = Shrink(ended, c)
	require.NoError(t, err)
	require.True(t, r.Bounded)
	require.Equal(t, r.Before, r.After)
	_, run := play(t, r)
	require.Positive(t, run.Failures())
}

// An eviction that does not happen would not happen without the outage either.
func TestWhatDoesNotHappenKeepsItsReason(t *testing.T) {
	text, err := os.ReadFile(first)
	require.NoError(t, err)
	broken := strings.Replace(string(text), "tolerationSeconds: 60 #", "tolerationSeconds: 600 #", 1)
	broken = broken[:strings.Index(broken, "  expect:")] + "  expect: [{at: 6m40s, event: {kind: EvictionStarted, binding: deploy/nginx, cluster: member2}}]\n"
	file := filepath.Join(t.TempDir(), "broken.yaml")
	require.NoError(t, os.WriteFile(file, []byte(broken), 0o600))
	r, err := Shrink(context.Background(), Config{Source: scenario.Disk, Scenario: find(t, file)[0], Seed: 1, Most: 2000})
	require.NoError(t, err)
	small, _ := play(t, r)
	require.Len(t, small.Timeline, 1, "the outage")
	require.Contains(t, string(r.Text), "tolerationSeconds:", "and what it was tolerated by")
	require.Contains(t, string(r.Text), "ClusterTaintPolicy")
}

// some are the first scenarios of every so many files of the repository. To read all files takes longer than to run these.
func some(t *testing.T, every int) (all []*scenario.Scenario) {
	t.Helper()
	n := 0
	require.NoError(t, filepath.WalkDir("../../../scenarios", func(file string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte("kind: Scenario")) {
			return err
		}
		if n++; n%every == 0 {
			all = append(all, find(t, file)[0])
		}
		return nil
	}))
	require.Greater(t, len(all), 20)
	return all
}

func TestAScenarioThatIsTakenApartIsTheSameWhenWritten(t *testing.T) {
	for _, s := range some(t, 10) {
		p, err := takeApart(scenario.Disk, s)
		require.NoError(t, err, s.File)
		p.override(&Config{Seed: s.Seed})
		text, err := p.yaml()
		require.NoError(t, err)
		again, problems := scenario.Disk.Decode("other.yaml", text)
		require.Empty(t, problems, "%s: %s\n%s", s.File, s.Name, text)
		require.Len(t, again, 1)
		run, err := replay.Play(s, replay.Options{Seed: s.Seed})
		require.NoError(t, err)
		other, err := replay.Play(again[0], replay.Options{Seed: s.Seed})
		require.NoError(t, err)
		require.Equal(t, run.Passed, other.Passed, "%s: %s", s.File, s.Name)
		require.Len(t, other.Events, len(run.Events), "%s: %s", s.File, s.Name)
		require.Len(t, other.Objects, len(run.Objects))
	}
}

func TestWhateverFailsStillFailsInTheSameWay(t *testing.T) {
	shrunk := 0
	for _, s := range some(t, 20) {
		c := Config{Source: scenario.Disk, Scenario: s, Seed: s.Seed, Most: 15, Profile: "karmada"}
		if s.Profile == "karmada" {
			c.Profile = "leeward"
		}
		run, err := replay.Play(s, replay.Options{Seed: c.Seed, Profile: c.Profile})
		if err != nil || run.Failures() == 0 {
			continue
		}
		r, err := Shrink(context.Background(), c)
		require.NoError(t, err, "%s: %s", s.File, s.Name)
		small, again := play(t, r)
		require.Equal(t, failures(s, run), failures(small, again), "%s: %s", s.File, s.Name)
		shrunk++
	}
	require.Greater(t, shrunk, 4)
}

func TestWhatIsInOtherFilesIsWrittenIntoOne(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"policies/a.yaml": "{apiVersion: policy.karmada.io/v1alpha1, kind: PropagationPolicy, metadata: {name: web}, spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]}}\n",
		"web.yaml": `apiVersion: v1
kind: List
items:
- &web # a comment
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, labels: {"yes": "no", version: "1.0", "on": "y"}}
  spec: {replicas: 2, selector: &same {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1.5}}}]}}}
- <<: *web
  metadata: {name: other}
`,
		"later.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n",
		"s.yaml": `apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: other}
spec: {fleet: [{name: x}]}
---
apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  include: [policies/*.yaml, web.yaml, web.yaml]
  fleet: [{name: "m{1..3}"}]
  timeline: [{at: 10s, apply: {file: later.yaml}}]
  expect:
  - {at: 1m, binding: {name: web, clusters: [m1]}}
`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s := find(t, filepath.Join(dir, "s.yaml"))[1]
	p, err := takeApart(scenario.Disk, s)
	require.NoError(t, err)
	require.Equal(t, Size{Manifests: 3, Clusters: 3, Steps: 1, Expectations: 1}, p.size())
	text, err := p.yaml()
	require.NoError(t, err)
	for _, dropped := range []string{"#", "&", "*web", "<<", "include"} {
		require.NotContains(t, string(text), dropped)
	}
	require.Contains(t, string(text), `"yes": "no"`)
	require.Contains(t, string(text), "cpu: 1.5")
	r, err := Shrink(context.Background(), Config{Source: scenario.Disk, Scenario: s, Seed: 1, Most: 2000})
	require.NoError(t, err)
	require.Equal(t, "2 manifests, 2 clusters, 1 expectation", r.After.String())
	play(t, r)
}

// Whatever the file is, to take it apart ends, and what was a scenario is one when it is written.
func FuzzTakeApart(f *testing.F) {
	text, err := os.ReadFile(first)
	require.NoError(f, err)
	f.Add(string(text))
	head := "apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: "
	f.Add(head + "{fleet: [{name: 'a{1..3}'}], timeline: [{at: 1s, cordon: {cluster: a1}}], expect: [{at: 1s, taint: {cluster: a1, key: k}}]}\n")
	f.Add(head + "{fleet: [&x {name: x}], config: {evictionWorkers: 0x10, allowNoExecuteTaintPolicy: yes}, timeline: [{at: 1s, apply: {apiVersion: v1, kind: Namespace, metadata: {name: 1e3}}}]}\n")
	f.Add("a: &a [*a]\n")
	f.Add("kind: List\napiVersion: v1\nitems: [{kind: List, items: [1]}]\n---\n" + head + "{seed: 18446744073709551615}\n")
	f.Fuzz(func(t *testing.T, data string) {
		source := scenario.Source{
			Read: func(name string) ([]byte, error) {
				if name != "f.yaml" {
					return nil, os.ErrNotExist
				}
				return []byte(data), nil
			},
			Glob: func(string) ([]string, error) { return nil, nil },
		}
		scenarios, problems := source.Decode("f.yaml", []byte(data))
		if len(problems) > 0 {
			_, _ = takeApart(source, &scenario.Scenario{File: "f.yaml", Name: "s"})
			return
		}
		for _, s := range scenarios {
			p, err := takeApart(source, s)
			require.NoError(t, err)
			text, err := p.yaml()
			require.NoError(t, err)
			again, problems := source.Decode("g.yaml", text)
			require.Empty(t, problems, string(text))
			require.Len(t, again, 1)
			require.Len(t, again[0].Objects, len(s.Objects))
			require.Len(t, again[0].Timeline, len(s.Timeline))
			require.Len(t, again[0].Expect, len(s.Expect))
		}
	})
}
