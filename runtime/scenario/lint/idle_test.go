package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// evicting are the settings without which nothing evicts.
var evicting = map[string]any{"failover": true, "enableTaintManager": true, "enableNoExecuteTaintEviction": true}

// asleep, by the reason of idle settings, are settings with which they do nothing, and with which they do something again.
var asleep = map[string]struct{ asleep, awake map[string]any }{
	"nothing evicts for taints": {map[string]any{"enableNoExecuteTaintEviction": false}, nil},
	"fleetEvictionRate, regionEvictionRate and clusterEvictionRate are 0": {
		map[string]any{"fleetEvictionRate": 0, "regionEvictionRate": 0, "clusterEvictionRate": 0}, map[string]any{"fleetEvictionRate": "0.001"},
	},
	"evictionWorkers is 0": {map[string]any{"evictionWorkers": 0}, map[string]any{"evictionWorkers": 1}},
	"unhealthyClusterThreshold, unhealthyRegionThreshold and blackoutThreshold are 0": {
		map[string]any{"unhealthyClusterThreshold": 0, "unhealthyRegionThreshold": 0, "blackoutThreshold": 0}, map[string]any{"unhealthyClusterThreshold": "0.3"},
	},
	"fleetBreakerShare, regionBreakerShare and priorityBreakerShare are 0": {
		map[string]any{"fleetBreakerShare": 0, "regionBreakerShare": 0, "priorityBreakerShare": 0}, map[string]any{"fleetBreakerShare": "0.1"},
	},
	"startFailureLimit is 0":        {map[string]any{"startFailureLimit": 0}, map[string]any{"startFailureLimit": 1}},
	"applicationFailoverLimit is 0": {map[string]any{"applicationFailoverLimit": 0}, map[string]any{"applicationFailoverLimit": 1}},
	"applicationFailoverWindow is 0": {
		map[string]any{"applicationFailoverWindow": "0s"}, map[string]any{"applicationFailoverWindow": "2h"},
	},
	"enableDescheduler is false": {map[string]any{"enableDescheduler": false}, map[string]any{"enableDescheduler": true}},
	"failover is false: ClusterTaintPolicies are accepted and ignored": {
		map[string]any{"enableNoExecuteTaintEviction": false, "failover": false}, map[string]any{"failover": true},
	},
	"enableTaintManager or failover is false":                                         {map[string]any{"enableTaintManager": false}, map[string]any{"enableTaintManager": true}},
	"secondaryEvictionRate is 0: evictions stop in a fleet of any size":               {map[string]any{"secondaryEvictionRate": 0, "unhealthyClusterThreshold": "0.3"}, map[string]any{"secondaryEvictionRate": 1, "unhealthyClusterThreshold": "0.3"}},
	"failover is false: no cluster is tainted for it":                                 {map[string]any{"enableNoExecuteTaintEviction": false, "failover": false}, map[string]any{"failover": true}},
	"statefulFailoverInjection is false":                                              {map[string]any{"statefulFailoverInjection": false}, map[string]any{"statefulFailoverInjection": true}},
	"federatedQuotaEnforcement is false":                                              {map[string]any{"federatedQuotaEnforcement": false}, map[string]any{"federatedQuotaEnforcement": true}},
	"multiplePodTemplatesScheduling is false":                                         {map[string]any{"multiplePodTemplatesScheduling": false}, map[string]any{"multiplePodTemplatesScheduling": true}},
	"defaultTolerationSeconds is false":                                               {map[string]any{"defaultTolerationSeconds": false}, map[string]any{"defaultTolerationSeconds": true}},
	"kubeAPIQPS is 0":                                                                 {map[string]any{"kubeAPIQPS": 0}, map[string]any{"kubeAPIQPS": "0.01"}},
	"secondaryNodeEvictionRate is 0: no more nodes are tainted in a zone of any size": {map[string]any{"secondaryNodeEvictionRate": 0}, map[string]any{"secondaryNodeEvictionRate": "0.5"}},
	"neither nodeEvictionRate nor secondaryNodeEvictionRate is 1":                     {map[string]any{"nodeEvictionRate": "0.5"}, map[string]any{"nodeEvictionRate": 1}},
	noNodes: {},
}

// onNodes are the reasons of settings that only do nothing where clusters have nodes.
var onNodes = []string{
	"defaultTolerationSeconds is false", "kubeAPIQPS is 0", "secondaryNodeEvictionRate is 0: no more nodes are tainted in a zone of any size",
	"neither nodeEvictionRate nor secondaryNodeEvictionRate is 1",
}

// overridden are settings in the order of their names, on top of those that evict.
func overridden(base, more map[string]any) (all []config.Override) {
	for _, settings := range []map[string]any{base, more} {
		for _, name := range sortedNames(settings) {
			all = append(all, config.Override{Field: name, Value: settings[name], Source: "test"})
		}
	}
	return all
}

// idly is what lint finds in a scenario that has a setting and others that put it to sleep.
func idly(t *testing.T, profile, field, value string, others map[string]any, nodes bool) []*Finding {
	t.Helper()
	var text strings.Builder
	cluster := "{name: m1}"
	if nodes {
		cluster = "{name: m1, nodes: [{name: n1}]}"
	}
	fmt.Fprintf(&text, "apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  profile: %s\n  fleet: [%s]\n  config:\n    %s: %s\n", profile, cluster, field, value)
	settings := maps.Clone(evicting)
	maps.Copy(settings, others)
	for _, o := range overridden(settings, nil) {
		if o.Field != field {
			fmt.Fprintf(&text, "    %s: %v\n", o.Field, o.Value)
		}
	}
	return linted(t, Options{}, text.String()).Findings
}

// played is the run of a witness under more settings.
func played(t *testing.T, f *Finding, more []config.Override) *replay.Run {
	t.Helper()
	_, text, err := f.Witness()
	require.NoError(t, err)
	scenarios, problems := scenario.Disk.Decode("w.yaml", []byte(text))
	require.Empty(t, problems, text)
	run, err := replay.Play(scenarios[0], replay.Options{Seed: 1, Set: more, Unwatched: true})
	require.NoError(t, err)
	return run
}

// told are the facts of a run but for its settings, as JSON.
func told(t *testing.T, run *replay.Run) string {
	t.Helper()
	var all strings.Builder
	for _, e := range run.Events {
		text, err := json.Marshal(e.Fact)
		require.NoError(t, err)
		fmt.Fprintln(&all, e.At, e.Fact.Kind(), string(text))
	}
	return all.String()
}

// valueOf is a value of a setting: that of the profile, or another one where that is off.
func valueOf(f config.Field, profile string) string {
	values := valuesOf(f, profile)
	return values[slices.IndexFunc(values, func(v string) bool { return !slices.Contains(off, v) })]
}

// another is a value that the profile does not have.
func another(f config.Field, profile string) string {
	settings, _ := config.Profile(profile)
	values := slices.DeleteFunc(valuesOf(f, profile), func(v string) bool { return v == f.Of(&settings) })
	return values[len(values)-1]
}

// valuesOf are values of a setting that do not switch it off, that of the profile first.
func valuesOf(f config.Field, profile string) (values []string) {
	settings, _ := config.Profile(profile)
	for _, value := range append([]string{f.Of(&settings)}, append(slices.Clone(f.Words), "1m", "7m", "true", "1", "0.5", "9", "false")...) {
		if config.Set(&settings, f.Name, value) == nil && (value == "false" || !slices.Contains(off, f.Of(&settings))) {
			values = append(values, value)
		}
	}
	return values
}

// A setting that does nothing has a witness that holds, whatever its value is, and that fails when what it depends on is set.
func TestSettingsThatDoNothingAreFoundAndTheirWitnessesFailWhereTheyDoSomething(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	fields := config.Fields()
	for i := range idle {
		s := &idle[i]
		of := asleep[s.why]
		for _, field := range fields {
			if !s.has(field.Name) {
				continue
			}
			for _, profile := range []string{"karmada-legacy", "karmada", "leeward"} {
				found := idly(t, profile, field.Name, valueOf(field, profile), of.asleep, slices.Contains(onNodes, s.why))
				at := slices.IndexFunc(found, func(f *Finding) bool { return f.Field == "spec.config."+field.Name })
				require.GreaterOrEqual(t, at, 0, "%s in %s", field.Name, profile)
				require.Contains(t, found[at].Why, s.why)
				other := []config.Override{{Field: field.Name, Value: another(field, profile), Source: "test"}}
				require.Equal(t, told(t, played(t, found[at], nil)), told(t, played(t, found[at], other)), "%s in %s", field.Name, profile)
				if s.why == noNodes && field.Name != ofNodeTier()[0] {
					continue // all have the same witness
				}
				holds(t, found[at])
				if s.why != noNodes {
					run := played(t, found[at], overridden(evicting, of.awake))
					require.Positive(t, run.Failures(), "%s in %s: with %v the witness must fail", field.Name, profile, of.awake)
				}
				awake := idly(t, profile, field.Name, valueOf(field, profile), of.awake, slices.Contains(onNodes, s.why))
				require.Equal(t, s.why == noNodes, slices.ContainsFunc(awake, func(f *Finding) bool { return f.Why == found[at].Why }), "%s in %s, awake", field.Name, profile)
			}
		}
	}
}

// alone are settings whose comments name another one that they do not depend on, with the reason.
var alone = map[string]string{
	"startFailureLimit":                 "it limits whatever the window and the back-off are",
	"clusterLeaseDuration":              "a product of two, none of which may be 0",
	"clusterLeaseRenewIntervalFraction": "a product of two, none of which may be 0",
}

// The comment of a setting says which others it is about: it does nothing without one of these, or alone says why it does.
func TestEverySettingThatNamesAnotherIsJudged(t *testing.T) {
	names := map[string]bool{}
	for _, f := range config.Fields() {
		names[f.Name] = true
	}
	word := regexp.MustCompile(`[a-z]+[A-Z][A-Za-z]*`)
	for i, f := range config.Fields() {
		var others []string
		for _, w := range word.FindAllString(config.Comments()[i], -1) {
			if names[w] && w != f.Name {
				others = append(others, w)
			}
		}
		known := slices.ContainsFunc(idle, func(s idleSettings) bool { return s.has(f.Name) })
		if len(others) > 0 && !known {
			require.NotEmpty(t, alone[f.Name], "%s names %s", f.Name, strings.Join(others, ", "))
		} else {
			require.Empty(t, alone[f.Name], "%s: is judged, or names no other", f.Name)
		}
	}
}
