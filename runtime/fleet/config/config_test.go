package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
)

// file makes overrides as a scenario file gives them, one per line from line 7 on.
func file(pairs ...any) (overrides []config.Override) {
	for i := 0; i < len(pairs); i += 2 {
		source := "outage.yaml:" + string('7'+rune(i/2))
		overrides = append(overrides, config.Override{Field: pairs[i].(string), Value: pairs[i+1], Source: source})
	}
	return overrides
}

func resolved(t *testing.T, profile string, overrides []config.Override) messages.Settings {
	t.Helper()
	s, problems := config.Resolve(profile, overrides)
	require.Empty(t, problems)
	return s
}

func TestOverridesOfEveryType(t *testing.T) {
	tests := []struct {
		name  string
		field string
		value any
		want  string
	}{
		{"a truth value", "keepLastCopy", false, "false"},
		{"a truth value as text", "keepLastCopy", "false", "false"},
		{"a duration", "gracefulEvictionTimeout", "20s", "20s"},
		{"a duration in days", "gracefulEvictionTimeout", "1d12h", "36h"},
		{"a duration of zero needs no unit", "gracefulEvictionTimeout", 0, "0s"},
		{"a whole number", "evictionWorkers", 50, "50"},
		{"a whole number that JSON made a float", "evictionWorkers", float64(1e6), "1000000"},
		{"a negative number where that means something", "defaultNotReadyTolerationSeconds", int64(-1), "-1"},
		{"a large number", "defaultNotReadyTolerationSeconds", uint64(9223372036), "9223372036"},
		{"a number", "resourceEvictionRate", 0.25, "0.25"},
		{"a word", "divisionMethod", "floor", "floor"},
		{"a word in another letter case", "noExecuteTaintEvictionPurgeMode", "directly", "Directly"},
		{"a condition status that YAML reads as a truth value", "missingConditionStatus", true, "True"},
		{"a word that may be empty", "missingConditionStatus", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := resolved(t, "leeward", file(test.field, test.value))
			require.Equal(t, test.want, config.String(&s, test.field))
		})
	}
}

func TestOfTwoOverridesTheLaterHolds(t *testing.T) {
	overrides := append(file("gracefulEvictionTimeout", "20s"), config.Override{Field: "gracefulEvictionTimeout", Value: "5s", Source: "--set"})
	require.Equal(t, 5*time.Second, resolved(t, "karmada", overrides).GracefulEvictionTimeout)
}

func TestFeatureGates(t *testing.T) {
	tests := []struct {
		name      string
		profile   string
		overrides []config.Override
		want      string
	}{
		{"off by default in karmada", "karmada", nil, "CustomizedClusterResourceModeling GracefulEviction"},
		{"on by default in leeward", "leeward", nil, "CustomizedClusterResourceModeling Failover FederatedQuotaEnforcement GracefulEviction MultiplePodTemplatesScheduling PropagationPolicyPreemption StatefulFailoverInjection WorkloadAffinity"},
		{"as Karmada's flag", "karmada", file("featureGates", "Failover=true,GracefulEviction=false"), "CustomizedClusterResourceModeling Failover"},
		{"with spaces and one alone", "karmada", file("featureGates", " Failover = true"), "CustomizedClusterResourceModeling Failover GracefulEviction"},
		{"as a map", "karmada", file("featureGates", map[string]any{"Failover": true, "GracefulEviction": "false"}), "CustomizedClusterResourceModeling Failover"},
		{"as fields", "karmada", file("failover", true, "gracefulEviction", false), "CustomizedClusterResourceModeling Failover"},
		{"asking for eviction asks for the gate", "karmada", file("enableNoExecuteTaintEviction", true), "CustomizedClusterResourceModeling Failover GracefulEviction"},
		{"a gate named outright holds", "karmada", file("failover", false, "enableNoExecuteTaintEviction", true), "CustomizedClusterResourceModeling GracefulEviction"},
		{"in the flag, too", "karmada", file("featureGates", "Failover=false", "enableNoExecuteTaintEviction", true), "CustomizedClusterResourceModeling GracefulEviction"},
		{"the other gate does not count", "karmada", file("featureGates", "GracefulEviction=true", "enableNoExecuteTaintEviction", true), "CustomizedClusterResourceModeling Failover GracefulEviction"},
		{"no eviction, no gate", "karmada", file("enableNoExecuteTaintEviction", false), "CustomizedClusterResourceModeling GracefulEviction"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := resolved(t, test.profile, test.overrides)
			require.Equal(t, test.want, strings.Join(gatesOn(t, &s), " "))
		})
	}
}

// gatesOn are the names of the gates that are on.
func gatesOn(t *testing.T, s *messages.Settings) (on []string) {
	t.Helper()
	for pair := range strings.SplitSeq(config.String(s, "featureGates"), ",") {
		name, value, _ := strings.Cut(pair, "=")
		if value == "true" {
			on = append(on, name)
		} else {
			require.Equal(t, "false", value, name)
		}
	}
	return on
}

func TestErrorsNameSourceFieldAndValue(t *testing.T) {
	tests := []struct {
		name  string
		field string
		value any
		want  string
	}{
		{"a slip", "gracefullEvictionTimeout", "1s", `unknown field "gracefullEvictionTimeout"; did you mean gracefulEvictionTimeout?`},
		{"a Go name", "Failover", true, `unknown field "Failover"; did you mean failover?`},
		{"a flag", "enable-no-execute-taint-eviction", true, `unknown field "enable-no-execute-taint-eviction"; did you mean enableNoExecuteTaintEviction?`},
		{"a part of a name", "evictionTimeout", "1s", `unknown field "evictionTimeout"; did you mean failoverEvictionTimeout?`},
		{"another flag's own name", "feature-gates", "Failover=true", `unknown field "feature-gates"; did you mean featureGates?`},
		{"nothing like it", "x", 1, `unknown field "x"`},
		{"nothing at all", "", 1, `unknown field ""`},
		{"a truth value", "keepLastCopy", "yes", `keepLastCopy: "yes" is not true or false`},
		{"a duration without a unit", "gracefulEvictionTimeout", 20, `gracefulEvictionTimeout: "20" is not a duration: give it a unit, such as 90s, 10m or 1d`},
		{"a duration below zero", "conditionHold", "-1s", `conditionHold: -1s is out of range: it must be 0 or more`},
		{"a part of a worker", "evictionWorkers", 2.5, `evictionWorkers: "2.5" is not a whole number`},
		{"a number that does not fit", "defaultNotReadyTolerationSeconds", "9223372036854775808", `defaultNotReadyTolerationSeconds: "9223372036854775808" is not a whole number`},
		{"seconds that no duration holds", "defaultNotReadyTolerationSeconds", 9223372037, `defaultNotReadyTolerationSeconds: 9223372037 is out of range: it must be at most 9223372036`},
		{"no number", "resourceEvictionRate", "fast", `resourceEvictionRate: "fast" is not a number`},
		{"an infinite rate", "resourceEvictionRate", "Inf", `resourceEvictionRate: Inf is out of range: it must be 0 or more`},
		{"not even that", "resourceEvictionRate", "NaN", `resourceEvictionRate: NaN is out of range: it must be 0 or more`},
		{"no lease", "clusterLeaseDuration", "0s", `clusterLeaseDuration: 0s is out of range: it must be more than 0`},
		{"a late renewal", "clusterLeaseRenewIntervalFraction", 1.5, `clusterLeaseRenewIntervalFraction: 1.5 is out of range: it must be more than 0, at most 1`},
		{"a word", "noExecuteTaintEvictionPurgeMode", "Never", `noExecuteTaintEvictionPurgeMode: "Never" is not one of Gracefully, Directly`},
		{"a word that may be empty", "missingConditionStatus", "Maybe", `missingConditionStatus: "Maybe" is not one of "", True, False, Unknown`},
		{"no value", "conditionHold", nil, `conditionHold: a value is missing`},
		{"a list", "conditionHold", []any{"1s"}, `conditionHold: takes one value, not a list or a map`},
		{"a gate that is none", "featureGates", "Failovr=true", `featureGates: unknown gate "Failovr": the gates are CustomizedClusterResourceModeling, Failover, FederatedQuotaEnforcement, GracefulEviction, MultiplePodTemplatesScheduling, PropagationPolicyPreemption, StatefulFailoverInjection, WorkloadAffinity; did you mean Failover?`},
		{"a gate that Leeward has no use for", "featureGates", map[string]any{"PropagateDeps": true}, `featureGates: unknown gate "PropagateDeps": the gates are CustomizedClusterResourceModeling, Failover, FederatedQuotaEnforcement, GracefulEviction, MultiplePodTemplatesScheduling, PropagationPolicyPreemption, StatefulFailoverInjection, WorkloadAffinity`},
		{"a gate without a value", "featureGates", "Failover", `featureGates: "Failover" is not of the form Failover=true,GracefulEviction=true`},
		{"a gate with a wrong value", "featureGates", "Failover=on", `featureGates: failover: "on" is not true or false`},
		{"gates as a list", "featureGates", []any{"Failover=true"}, `featureGates: takes one value, not a list or a map`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := config.Resolve("karmada", file(test.field, test.value))
			require.Len(t, problems, 1)
			require.EqualError(t, problems[0], "outage.yaml:7: "+test.want)

			s := resolved(t, "karmada", nil)
			before := s
			require.EqualError(t, config.Set(&s, test.field, test.value), test.want)
			require.Equal(t, before, s, "nothing changes on an error")
		})
	}
}

func TestResolveReportsEveryProblem(t *testing.T) {
	overrides := append(file(
		"keepLastCopy", "yes",
		"conditionHold", "1s",
		"featureGates", map[string]any{"B": true, "A": true, "Failover": "x"},
	), config.Override{Field: "evictionWorkers", Value: -1, Source: "--set"})
	_, problems := config.Resolve("leward", overrides)
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	require.Equal(t, []string{
		`unknown profile "leward": the profiles are karmada, karmada-legacy, kubernetes, leeward; did you mean leeward?`,
		`outage.yaml:7: keepLastCopy: "yes" is not true or false`,
		`--set: evictionWorkers: -1 is out of range: it must be 0 or more`,
		`outage.yaml:9: featureGates: unknown gate "A": the gates are CustomizedClusterResourceModeling, Failover, FederatedQuotaEnforcement, GracefulEviction, MultiplePodTemplatesScheduling, PropagationPolicyPreemption, StatefulFailoverInjection, WorkloadAffinity`,
		`outage.yaml:9: featureGates: unknown gate "B": the gates are CustomizedClusterResourceModeling, Failover, FederatedQuotaEnforcement, GracefulEviction, MultiplePodTemplatesScheduling, PropagationPolicyPreemption, StatefulFailoverInjection, WorkloadAffinity`,
		`outage.yaml:9: featureGates: failover: "x" is not true or false`,
	}, texts)
}

func TestParseOverride(t *testing.T) {
	o, err := config.ParseOverride("featureGates=Failover=true", "--set")
	require.NoError(t, err)
	require.Equal(t, config.Override{Field: "featureGates", Value: "Failover=true", Source: "--set"}, o)
	for _, text := range []string{"failover", "=true", ""} {
		_, err := config.ParseOverride(text, "--set")
		require.ErrorContains(t, err, "is not of the form field=value", "%q", text)
	}
}

func TestChanges(t *testing.T) {
	before := resolved(t, "karmada", nil)
	after := before
	require.NoError(t, config.Set(&after, "enableNoExecuteTaintEviction", true))
	require.NoError(t, config.Set(&after, "gracefulEvictionTimeout", "20s"))
	require.Equal(t, []*messages.SettingChanged{
		{Field: "failover", From: "false", To: "true"},
		{Field: "enableNoExecuteTaintEviction", From: "false", To: "true"},
		{Field: "gracefulEvictionTimeout", From: "10m", To: "20s"},
	}, config.Changes(&before, &after))
	require.Empty(t, config.Changes(&after, &after))
	require.Empty(t, config.String(&after, "noSuchField"))
}

func TestSettingsAreDescribedByTheNearestProfileAndWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		profile string
		set     []config.Override
		differs []string
	}{
		"a profile":               {"karmada-legacy", nil, nil},
		"a profile with settings": {"karmada", []config.Override{{Field: "gracefulEvictionTimeout", Value: "20s"}, {Field: "failover", Value: true}}, []string{"failover=true", "gracefulEvictionTimeout=20s"}},
		"the default with a gate": {"leeward", []config.Override{{Field: "failover", Value: false}}, []string{"failover=false"}},
	} {
		s := resolved(t, c.profile, c.set)
		profile, differs := config.Describe(&s)
		require.Equal(t, c.profile, profile, name)
		require.Equal(t, c.differs, differs, name)
		var again []config.Override
		for _, text := range differs {
			o, err := config.ParseOverride(text, "status")
			require.NoError(t, err)
			again = append(again, o)
		}
		require.Equal(t, s, resolved(t, profile, again), name)
	}
}

// What is printed can be read back: every field of every profile, into settings that differ.
func TestValuesRoundTrip(t *testing.T) {
	for _, profile := range config.Profiles() {
		want := resolved(t, profile, nil)
		var got messages.Settings
		for _, f := range config.Fields() {
			require.NoError(t, config.Set(&got, f.Name, f.Of(&want)))
			require.Equal(t, f.Of(&want), f.Of(&got), "%s", f.Name)
		}
		got.Failover = want.Failover // asking for eviction turned it on
		require.Equal(t, want, got, "%s", profile)
	}
}

func FuzzSet(f *testing.F) {
	for i, field := range config.Fields() {
		s, _ := config.Profile(config.Profiles()[i%3])
		f.Add(field.Name, field.Of(&s))
	}
	f.Add("featureGates", "Failover=true,GracefulEviction=false")
	f.Add("Failover", "1")
	f.Fuzz(func(t *testing.T, field, value string) {
		s, err := config.Profile("")
		require.NoError(t, err)
		before := s
		if err := config.Set(&s, field, value); err != nil {
			require.Equal(t, before, s)
			return
		}
		text := config.String(&s, field)
		again := before
		require.NoError(t, config.Set(&again, field, text))
		require.Equal(t, text, config.String(&again, field))
		require.Empty(t, config.Changes(&s, &again))
	})
}
