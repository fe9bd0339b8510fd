package lint

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// everything switches on, in profile leeward, what other settings depend on.
var everything = map[string]any{
	"enableDescheduler": true, "fleetEvictionRate": "1", "regionEvictionRate": "1", "clusterEvictionRate": "1", "evictionBurst": 2, "workloadAffinity": true,
	"propagationPolicyPreemption": true, "federatedQuotaEnforcement": true, "customizedClusterResourceModeling": true, "multiplePodTemplatesScheduling": true,
	"statefulFailoverInjection": true, "kubeAPIQPS": 20, "podTolerationRestriction": true, "extendedResourceToleration": true, "podEvictionsHonourBudgets": true,
}

// unshown are settings of which no scenario of the repository shows an effect with everything on and nothing else set, with the reason.
var unshown = map[string]string{
	"breakerCooldown":           "no breaker opens at the profile's shares",
	"breakerTrials":             "no breaker opens at the profile's shares",
	"nodeStartupGracePeriod":    "every node of a scenario reports at first",
	"secondaryNodeEvictionRate": "no scenario has a zone of more than 50 nodes",
	"zoneRateRecovers":          "no rate is 1",
	"podEvictionUntilDone":      "no API server refuses evictions for so long",
}

// depends are settings of which no scenario shows an effect with another one off, and which have one all the same, by that other one.
var depends = map[string]map[string]string{
	"failover": evictionsForOtherReasons, "enableTaintManager": evictionsForOtherReasons, "enableNoExecuteTaintEviction": evictionsForOtherReasons,
	"gracefulEviction":                {"applicationFailoverWindow": "purge mode Directly fails over, too"},
	"noExecuteTaintEvictionPurgeMode": {"dependenciesStay": "policies have purge modes of their own", "failoverKeepsQuota": "likewise"},
	"allowNoExecuteTaintPolicy":       {"unhealthyClusterThreshold": "users taint clusters, too", "unhealthyRegionThreshold": "likewise", "largeFleetSize": "likewise"},
	"evictionBurst":                   {"resourceEvictionRate": "the rates of fleet and region are slower than it in these scenarios", "evictionWorkers": "likewise"},
	"unhealthyClusterThreshold":       {"largeFleetSize": "unhealthyRegionThreshold asks it, too"},
	"keepLastCopy":                    {"failoverKeepsQuota": "another copy may run"},
}

var evictionsForOtherReasons = map[string]string{
	"wholeSecondTaintTimes":     "timeAdded has it",
	"handoverHealth":            "application failover and gracefulMoves hand over, too",
	"directPurgeTimeout":        "application failover purges, too",
	"dependenciesStay":          "application failover evicts, too",
	"preserveOnlyDeleted":       "application failover evicts, too",
	"tolerationMatch":           "placementHonoursDeadlines asks it, too",
	"maxStartingPerCluster":     "application failover starts copies, too",
	"startBackoff":              "application failover starts copies, too",
	"temporaryDestinationsLast": "it is about placements",
	"failoverKeepsQuota":        "application failover loses replicas, too",
	"concurrentReturns":         "handovers that are stored fail back, too",
	"stableRegions":             "it is about placements",
}

// effect is a scenario in which a setting changes what happens.
type effect struct{ value, file, scenario string }

// effects are read from testdata/effects.txt, which EFFECTS=1 writes in some minutes: for each setting an effect; and the settings that show none
// of theirs while another one is off.
type effects struct {
	shown   map[string]effect
	without map[string][]string // by "setting=value"
}

func readEffects(t *testing.T) *effects {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "effects.txt"))
	require.NoError(t, err)
	e := &effects{shown: map[string]effect{}, without: map[string][]string{}}
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); words[0] {
		case "shown":
			e.shown[words[1]] = effect{words[2], words[3], words[4]}
		case "without":
			e.without[words[1]] = words[2:]
		}
	}
	return e
}

// unset is a scenario without settings of its own, and without expectations.
func unset(s *scenario.Scenario) *scenario.Scenario {
	b := *s
	b.Config, b.Expect = nil, nil
	b.Timeline = slices.DeleteFunc(slices.Clone(s.Timeline), func(step scenario.Step) bool { _, is := step.Action.(*scenario.Config); return is })
	return &b
}

// outcome is what happens in a scenario under settings, in short.
func outcome(s *scenario.Scenario, more ...config.Override) (sum uint64) {
	defer func() {
		if recover() != nil { // such as a step that does not fit other settings
			sum = 1
		}
	}()
	run, err := replay.Play(s, replay.Options{Seed: s.Seed, Profile: "leeward", Set: append(overridden(everything, nil), more...), Unwatched: true})
	if err != nil {
		return 0
	}
	h := fnv.New64a()
	tell := func(v any) {
		text, _ := json.Marshal(v)
		_, _ = h.Write(text)
	}
	for i := range run.Events {
		tell(run.Events[i].At)
		tell(run.Events[i].Fact.Kind())
		tell(run.Events[i].Fact)
	}
	for _, o := range run.All() {
		tell(o)
	}
	return h.Sum64()
}

func setTo(field, value string) config.Override {
	return config.Override{Field: field, Value: value, Source: "test"}
}

// allOn are the settings with everything on.
func allOn(t *testing.T) messages.Settings {
	t.Helper()
	s, problems := config.Resolve("leeward", overridden(everything, nil))
	require.Empty(t, problems)
	return s
}

// others are values of a setting that differ from what it is, of those listed.
func others(f config.Field, from *messages.Settings, values ...string) (differing []string) {
	for _, v := range values {
		s := *from
		if config.Set(&s, f.Name, v) == nil && f.Of(&s) != f.Of(from) && !slices.Contains(differing, f.Of(&s)) {
			differing = append(differing, f.Of(&s))
		}
	}
	return differing
}

// Every setting does something, as a scenario shows, or LW020 knows what it depends on: of each setting that shows nothing while another one is
// off, lint says so, or depends says why not.
func TestEverySettingDoesSomethingOrIsJudged(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	if os.Getenv("EFFECTS") != "" {
		writeEffects(t)
	}
	e := readEffects(t)
	files := map[string][]*scenario.Scenario{}
	for _, f := range config.Fields() {
		shown, is := e.shown[f.Name]
		if reason := unshown[f.Name]; reason != "" || !is {
			require.NotEmpty(t, reason, "%s: no scenario shows it: write one, and run this test with EFFECTS=1", f.Name)
			require.False(t, is, "%s is shown", f.Name)
			continue
		}
		if files[shown.file] == nil {
			all, _, problems := scenario.Find(filepath.Join(root, shown.file))
			require.Empty(t, problems)
			files[shown.file] = all
		}
		at := slices.IndexFunc(files[shown.file], func(s *scenario.Scenario) bool { return s.Name == shown.scenario })
		require.GreaterOrEqual(t, at, 0, "%s: EFFECTS=1", shown.scenario)
		s := unset(files[shown.file][at])
		require.NotEqual(t, outcome(s), outcome(s, setTo(f.Name, shown.value)), "%s=%s in %s: EFFECTS=1", f.Name, shown.value, shown.scenario)
	}
	base := allOn(t)
	for _, off := range sortedNames(e.without) {
		field, value, _ := strings.Cut(off, "=")
		u := &unit{Scenario: &scenario.Scenario{OfNodes: true}, settings: base}
		require.NoError(t, config.Set(&u.settings, field, value))
		for _, name := range e.without[off] {
			judged := slices.ContainsFunc(idle, func(s idleSettings) bool { return s.has(name) && s.when(u) })
			require.NotEqual(t, judged, depends[field][name] != "", "%s with %s: judged %t", name, off, judged)
		}
	}
}

// mostEffects is how many effects of a setting are tried while others are off.
const mostEffects = 12

// writeEffects looks for effects in all scenarios of the repository.
func writeEffects(t *testing.T) {
	t.Helper()
	found, _, problems := scenario.Find(filepath.Join(root, "scenarios"))
	require.Empty(t, problems)
	plain := make([]uint64, len(found))
	for i, s := range found {
		found[i] = unset(s)
		plain[i] = outcome(found[i])
	}
	base, out := allOn(t), &strings.Builder{}
	type at struct {
		scenario int
		value    string
	}
	all := map[string][]at{}
	for _, f := range config.Fields() {
		values := others(f, &base, append(slices.Clone(f.Words), "0", "true", "false", "1", "0.5", "3", "9", "1m", "7m")...)
		for i := 0; i < len(found) && len(all[f.Name]) < mostEffects; i++ {
			differs := func(v string) bool { return outcome(found[i], setTo(f.Name, v)) != plain[i] }
			if n := slices.IndexFunc(values, differs); n >= 0 {
				all[f.Name] = append(all[f.Name], at{i, values[n]})
			}
		}
		if len(all[f.Name]) > 0 {
			a := all[f.Name][0]
			file, err := filepath.Rel(root, found[a.scenario].File)
			require.NoError(t, err)
			fmt.Fprintln(out, "shown", f.Name, a.value, filepath.ToSlash(file), found[a.scenario].Name)
		}
	}
	for _, switched := range config.Fields() {
		for _, off := range others(switched, &base, append(slices.Clone(switched.Words), "false", "0")...) {
			alone := map[int]uint64{}
			var idle []string
			for _, f := range config.Fields() {
				shows := func(a at) bool {
					if _, known := alone[a.scenario]; !known {
						alone[a.scenario] = outcome(found[a.scenario], setTo(switched.Name, off))
					}
					return outcome(found[a.scenario], setTo(switched.Name, off), setTo(f.Name, a.value)) != alone[a.scenario]
				}
				if f.Name != switched.Name && len(all[f.Name]) > 0 && !slices.ContainsFunc(all[f.Name], shows) {
					idle = append(idle, f.Name)
				}
			}
			if len(idle) > 0 {
				fmt.Fprintln(out, "without", switched.Name+"="+off, strings.Join(idle, " "))
			}
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join("testdata", "effects.txt"), []byte(out.String()), 0o600))
}
