package sweep_test

import (
	"bytes"
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
	"leeward/runtime/scenario/sweep"
)

var update = flag.Bool("update", false, "write the golden files")

func TestAxesThatMakeNoSenseAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		"":                                "not of the form",
		"gracefulEvictionTimeout":         "not of the form",
		"=1":                              "not of the form",
		"evictionWorkers=":                "not of the form",
		"evictionWorkers=1,,2":            "value 2 of evictionWorkers is empty",
		"evictionWorkers=1,1":             "the value 1 is given twice",
		"evictionWorkrs=1":                "evictionWorkrs",
		"profile=nonesuch":                `unknown profile "nonesuch"`,
		"seed=-1":                         `seed "-1": must be a whole number`,
		"seed=99999999999999999999999999": "must be a whole number",
	} {
		_, err := sweep.ParseAxis(text)
		require.ErrorContains(t, err, says, text)
	}
}

func axis(t *testing.T, text string) sweep.Axis {
	t.Helper()
	a, err := sweep.ParseAxis(text)
	require.NoError(t, err)
	return a
}

func TestVariantsAreAllCombinationsTheLastAxisFirst(t *testing.T) {
	axes := []sweep.Axis{axis(t, "profile=karmada,leeward"), axis(t, "seed=7,9"), axis(t, "gracefulEvictionTimeout=5s")}
	all, err := sweep.Variants(axes)
	require.NoError(t, err)
	var names []string
	for _, v := range all {
		names = append(names, v.String())
	}
	require.Equal(t, []string{
		"profile=karmada, seed=7, gracefulEvictionTimeout=5s", "profile=karmada, seed=9, gracefulEvictionTimeout=5s",
		"profile=leeward, seed=7, gracefulEvictionTimeout=5s", "profile=leeward, seed=9, gracefulEvictionTimeout=5s",
	}, names)
	o := all[1].Apply(replay.Options{Seed: 1, Profile: "leeward", Set: []config.Override{{Field: "evictionWorkers", Value: "3"}}})
	require.Equal(t, replay.Options{Seed: 9, Profile: "karmada", Set: []config.Override{
		{Field: "evictionWorkers", Value: "3"}, {Field: "gracefulEvictionTimeout", Value: "5s", Source: "--sweep"},
	}}, o)
}

func TestASweepIsBounded(t *testing.T) {
	many := sweep.Axis{Field: sweep.Seed}
	for i := range 1000 {
		many.Values = append(many.Values, fmt.Sprint(i))
	}
	all, err := sweep.Variants([]sweep.Axis{many})
	require.NoError(t, err)
	require.Len(t, all, 1000)
	_, err = sweep.Variants([]sweep.Axis{many, {Field: sweep.Profile, Values: []string{"karmada", "leeward"}}})
	require.ErrorContains(t, err, "more than 1000 variants")
	_, err = sweep.Variants([]sweep.Axis{many, many})
	require.ErrorContains(t, err, "seed is given twice")
	_, err = sweep.Variants(nil)
	require.ErrorContains(t, err, "needs a field")
}

// table runs the scenarios of a file under all variants.
func table(t *testing.T, file string, axes ...string) *sweep.Table {
	t.Helper()
	t.Chdir("../../..")
	var all []sweep.Axis
	for _, text := range axes {
		all = append(all, axis(t, text))
	}
	variants, err := sweep.Variants(all)
	require.NoError(t, err)
	scenarios, _, problems := scenario.Find(file)
	require.Empty(t, problems)
	result := sweep.NewTable(all)
	for _, s := range scenarios {
		for _, v := range variants {
			run, err := replay.Play(s, v.Apply(replay.Options{Seed: s.Seed}))
			if err != nil {
				run = &replay.Run{Name: s.Name, File: s.File, Err: err}
			}
			result.Add(v, run, "leeward replay "+file)
		}
	}
	return result
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("runtime", "scenario", "sweep", "testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(name, got, 0o600))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestATableSaysWhatEachVariantDoes(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		axes []string
	}{
		"handover": {"scenarios/handover/a-share-that-moves-is-a-handover.yaml", []string{"gracefulEvictionTimeout=5s,10m", "seed=1,2"}},
		"outages":  {"scenarios/outages/the-replicas-of-a-dead-region-serve-no-users.yaml", []string{"profile=karmada,leeward"}},
	} {
		t.Run(name, func(t *testing.T) {
			var text, document bytes.Buffer
			result := table(t, c.file, c.axes...)
			require.NoError(t, result.WriteText(&text))
			require.NoError(t, result.WriteJSON(&document))
			golden(t, name+".golden", text.Bytes())
			golden(t, name+".json", document.Bytes())
			for _, r := range result.Runs {
				require.Equal(t, r.Error != "" || r.Figures.Failed > 0, !r.Passed)
			}
		})
	}
}

func TestPodsAreCountedInAScenarioOfNodes(t *testing.T) {
	files, err := filepath.Glob("../../../scenarios/nodes/*.yaml")
	require.NoError(t, err)
	evicted, refused := 0, 0
	for _, file := range files[:min(len(files), 40)] {
		scenarios, _, problems := scenario.Find(file)
		require.Empty(t, problems)
		for _, s := range scenarios {
			if !s.OfNodes {
				continue
			}
			run, err := replay.Play(s, replay.Options{Seed: s.Seed})
			require.NoError(t, err)
			f := sweep.Measure(run)
			evicted, refused = evicted+f.Evictions, refused+f.Unschedulable
			require.Nil(t, f.Lowest, s.Name)
			require.False(t, f.Disturbed)
		}
	}
	require.Positive(t, evicted)
	require.Positive(t, refused)
}

func TestAWorkloadThatIsScaledUpIsNotMissedUntilItStarted(t *testing.T) {
	const file = `apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  duration: 20m
  fleet: [{name: m1, startup: 10s}]
  timeline:
  - {at: 1m, scale: {workload: web, replicas: 4}}
  - {at: 5m, outage: {cluster: m1, kind: power, for: 1m}}
---
{apiVersion: policy.karmada.io/v1alpha1, kind: PropagationPolicy, metadata: {name: web}, spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}
`
	play := func(text string) sweep.Figures {
		scenarios, problems := scenario.Disk.Decode("s.yaml", []byte(text))
		require.Empty(t, problems)
		run, err := replay.Play(scenarios[0], replay.Options{Seed: 1})
		require.NoError(t, err)
		return sweep.Measure(run)
	}
	f := play(file)
	require.True(t, f.Disturbed)
	require.Zero(t, *f.Lowest)
	require.Equal(t, 70.0, *f.After, "a minute without power, and ten seconds to start")
	f = play(strings.Replace(file, "  - {at: 5m, outage: {cluster: m1, kind: power, for: 1m}}\n", "", 1))
	require.False(t, f.Disturbed)
	require.Equal(t, 1.0, *f.Lowest)
	require.Nil(t, f.After)
	f = play(strings.Replace(file, ", for: 1m", "", 1))
	require.True(t, f.Disturbed)
	require.Nil(t, f.After, "never")
}

func FuzzAxis(f *testing.F) {
	f.Add("evictionWorkers=1,2")
	f.Add("seed=1,2,18446744073709551615")
	f.Add("profile=karmada,leeward")
	f.Add("=,")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := sweep.ParseAxis(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		all, err := sweep.Variants([]sweep.Axis{a})
		if err != nil {
			require.Greater(t, len(a.Values), sweep.Most)
			return
		}
		require.Len(t, all, len(a.Values))
		for _, v := range all {
			o := v.Apply(replay.Options{})
			_, _ = config.Resolve(o.Profile, o.Set) // which tells what is wrong, and does not panic
		}
	})
}
