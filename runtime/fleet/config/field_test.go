package config_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
)

func TestEveryFieldRefusesWhatIsNotOfItsType(t *testing.T) {
	wanted := map[string]string{
		"true or false": "true or false",
		"duration":      "a duration: give it a unit, such as 90s, 10m or 1d",
		"whole number":  "a whole number",
		"number":        "a number",
	}
	for _, f := range config.Fields() {
		t.Run(f.Name, func(t *testing.T) {
			want, known := wanted[f.Type()]
			if !known {
				want = "one of " + f.Type()
			}
			s, err := config.Profile("")
			require.NoError(t, err)
			require.EqualError(t, config.Set(&s, f.Name, "?"), fmt.Sprintf("%s: %q is not %s", f.Name, "?", want))
		})
	}
}

// Only a lease of no time, renewed at no time, makes no sense: every other field may be zero, off or,
// where it says so, empty.
func TestFieldsThatMayBeZero(t *testing.T) {
	refused := map[string]string{
		"startFailureWindow":                "startFailureWindow: 0s is out of range: it must be more than 0",
		"startBackoff":                      "startBackoff: 0s is out of range: it must be more than 0",
		"breakerWindow":                     "breakerWindow: 0s is out of range: it must be more than 0",
		"breakerCooldown":                   "breakerCooldown: 0s is out of range: it must be more than 0",
		"clusterLeaseDuration":              "clusterLeaseDuration: 0s is out of range: it must be more than 0",
		"nodeMonitorGracePeriod":            "nodeMonitorGracePeriod: 0s is out of range: it must be more than 0",
		"nodeStartupGracePeriod":            "nodeStartupGracePeriod: 0s is out of range: it must be more than 0",
		"clusterLeaseRenewIntervalFraction": "clusterLeaseRenewIntervalFraction: 0 is out of range: it must be more than 0, at most 1",
	}
	var zero messages.Settings
	for _, f := range config.Fields() {
		s, err := config.Profile("")
		require.NoError(t, err)
		err = config.Set(&s, f.Name, f.Of(&zero))
		switch {
		case refused[f.Name] != "":
			require.EqualError(t, err, refused[f.Name])
		case len(f.Words) > 0 && f.Words[0] != "":
			require.ErrorContains(t, err, `"" is not one of`, f.Name)
		default:
			require.NoError(t, err)
		}
	}
}

func TestDurationsAreWrittenBriefly(t *testing.T) {
	tests := map[time.Duration]string{
		0:                                     "0s",
		90 * time.Second:                      "1m30s",
		10 * time.Minute:                      "10m",
		time.Hour:                             "1h",
		time.Hour + time.Second:               "1h0m1s",
		time.Hour + 10*time.Minute:            "1h10m",
		10*time.Hour + 500*time.Millisecond:   "10h0m0.5s",
		1500 * time.Microsecond:               "1.5ms",
		24 * time.Hour * 365:                  "365d",
		2*time.Minute + 10*time.Second:        "2m10s",
		20*time.Minute + 100*time.Millisecond: "20m0.1s",
	}
	for d, want := range tests {
		s := messages.Settings{ConditionHold: d}
		require.Equal(t, want, config.String(&s, "conditionHold"))
		var back messages.Settings
		require.NoError(t, config.Set(&back, "conditionHold", want))
		require.Equal(t, d, back.ConditionHold)
	}
}

func TestFieldsAreTheCallersToKeep(t *testing.T) {
	config.Fields()[0].Name = "changed"
	require.Equal(t, "failover", config.Fields()[0].Name)
}

func ExampleResolve() {
	settings, problems := config.Resolve("karmada", []config.Override{
		{Field: "gracefulEvictionTimeout", Value: "20s", Source: "outage.yaml:7"},
		{Field: "enableNoExecuteTaintEviction", Value: true, Source: "outage.yaml:8"},
	})
	fmt.Println(settings.GracefulEvictionTimeout, settings.Failover, problems)

	_, problems = config.Resolve("karmada", []config.Override{
		{Field: "gracefulEvictionTimeout", Value: 20, Source: "outage.yaml:7"},
		{Field: "graceful-eviction-timeout", Value: "20s", Source: "--set"},
	})
	for _, problem := range problems {
		fmt.Println(problem)
	}
	// Output:
	// 20s true []
	// outage.yaml:7: gracefulEvictionTimeout: "20" is not a duration: give it a unit, such as 90s, 10m or 1d
	// --set: unknown field "graceful-eviction-timeout"; did you mean gracefulEvictionTimeout?
}

func TestSetTouchesNoOtherField(t *testing.T) {
	profiles := []messages.Settings{}
	for _, name := range config.Profiles() {
		profiles = append(profiles, resolved(t, name, nil))
	}
	for _, from := range profiles {
		for _, to := range profiles {
			for _, f := range config.Fields() {
				changed := from
				require.NoError(t, config.Set(&changed, f.Name, f.Of(&to)))
				require.Equal(t, f.Of(&to), f.Of(&changed))
				for _, c := range config.Changes(&from, &changed) {
					eviction := f.Name == "enableNoExecuteTaintEviction" && c.Field == "failover"
					require.True(t, c.Field == f.Name || eviction, "%s changed %s", f.Name, c.Field)
				}
			}
		}
	}
}
