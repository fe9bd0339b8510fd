package storm_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/storm"
)

// ticking is a clock that every reading moves on by a microsecond.
func ticking() func() time.Duration {
	var readings atomic.Int64
	return func() time.Duration { return time.Duration(readings.Add(1)) * time.Microsecond }
}

// small is a storm in which six of twenty clusters fail, with these changes.
func small(t *testing.T, changes ...func(*storm.Config)) storm.Config {
	c := storm.Config{
		Fleet: storm.Fleet{
			Clusters: 20, Bindings: 300, Regions: 4, Seed: 1,
			Placements: mix(t, "dynamic", storm.IsPlacement), Tolerations: mix(t, "none", storm.IsToleration),
		},
		Kill: kill(t, "30%"), Pattern: storm.Burst, Seed: 1, Lanes: 1, Clock: ticking(),
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

func mix(t *testing.T, text string, known func(string) error) storm.Mix {
	t.Helper()
	m, err := storm.ParseMix(text, known)
	require.NoError(t, err)
	return m
}

func kill(t *testing.T, text string) storm.Kill {
	t.Helper()
	k, err := storm.ParseKill(text)
	require.NoError(t, err)
	return k
}

func run(t *testing.T, c storm.Config) *storm.Report {
	t.Helper()
	s, err := storm.New(c)
	require.NoError(t, err)
	defer s.Close()
	r, err := s.Run(context.Background())
	require.NoError(t, err)
	return r
}

func override(field, value string) config.Override {
	return config.Override{Field: field, Value: value, Source: "test"}
}

func TestNothingIsLost(t *testing.T) {
	for name, change := range map[string]func(*storm.Config){
		"in a burst":                   func(*storm.Config) {},
		"on several lanes":             func(c *storm.Config) { c.Lanes = 3 },
		"in a cascade":                 func(c *storm.Config) { c.Pattern = storm.Cascade },
		"when clusters flap":           func(c *storm.Config) { c.Pattern = storm.Flapping },
		"when a region fails":          func(c *storm.Config) { c.Kill = kill(t, "region=region2") },
		"when most of the fleet fails": func(c *storm.Config) { c.Kill = kill(t, "70%") },
		"of any placement": func(c *storm.Config) {
			c.Fleet.Placements = mix(t, "duplicated,static,dynamic,aggregated", storm.IsPlacement)
		},
		"that is tolerated for a while": func(c *storm.Config) { c.Fleet.Tolerations = mix(t, "none,30s,5m,forever", storm.IsToleration) },
		"that flaps and is tolerated": func(c *storm.Config) {
			c.Pattern, c.Fleet.Tolerations = storm.Flapping, mix(t, "30s,5m", storm.IsToleration)
		},
		"of copies that take their time": func(c *storm.Config) { c.Fleet.Startup = 20 * time.Second },
		"at the pace of the settings":    func(c *storm.Config) { c.Paced = true },
		"as Karmada would":               func(c *storm.Config) { c.Profile, c.Kill = "karmada", kill(t, "region=region1") },
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, small(t, change))
			require.True(t, r.Passed(), "%+v", r.Checks)
			require.Positive(t, r.Rates.Released.Count)
			require.Equal(t, r.Rates.Evicted.Count, r.Rates.Released.Count+r.Rates.Withdrawn)
			require.Zero(t, r.Series.Points[len(r.Series.Points)-1].Backlog-r.Rates.Withdrawn)
		})
	}
}

func TestAReportTellsOfTheWholeStorm(t *testing.T) {
	r := run(t, small(t, func(c *storm.Config) { c.Fleet.Tolerations = mix(t, "30s", storm.IsToleration) }))
	require.Equal(t, storm.Shape{Clusters: 20, Regions: 4, Bindings: 300, Replicas: 900}, r.Fleet)
	require.Equal(t, storm.Outage{Pattern: storm.Burst, Kill: "30%", Failed: 6}, r.Outage)
	require.Equal(t, "leeward", r.Profile)
	require.Equal(t, storm.Seconds(30*time.Second), r.FleetTime, "the toleration")
	require.Positive(t, r.Elapsed)
	before, after := 0, 0
	for i, c := range r.Load {
		require.Equal(t, i < 6, c.Failed, "failed ones come first")
		require.Equal(t, c.Failed, c.After == 0, "%+v", c)
		before, after = before+c.Before, after+c.After
	}
	require.Equal(t, []int{900, 900}, []int{before, after})
	for i, l := range r.Latencies {
		require.Positive(t, l.Min, "%+v", l)
		require.LessOrEqual(t, l.P50, l.P99)
		require.LessOrEqual(t, l.P99, l.Max)
		if i > 0 {
			require.GreaterOrEqual(t, l.Mean, r.Latencies[i-1].Mean, "stages come in order")
		}
		require.Zero(t, r.FleetLatencies[i].Max, "by the fleet's time all happens when the toleration ends")
	}
	var messages int
	for _, m := range r.Machines {
		messages += m.Messages
	}
	require.InDelta(t, r.Costs.MessagesPerFailover, float64(messages)/float64(r.Rates.Released.Count), 0.001)
	require.Positive(t, r.Costs.BytesPerBinding)
}

func TestStartUpTimesAreTheFleetsOwn(t *testing.T) {
	r := run(t, small(t, func(c *storm.Config) { c.Fleet.Startup = 20 * time.Second }))
	require.Zero(t, r.FleetLatencies[0].Max)
	require.InDelta(t, float64(20*time.Second), float64(r.FleetLatencies[3].P50), float64(20*time.Millisecond))
}

func TestThePaceIsOmittedUnlessAskedFor(t *testing.T) {
	slow := func(c *storm.Config) { c.Set = []config.Override{override("resourceEvictionRate", "1")} }
	require.Zero(t, run(t, small(t, slow)).FleetTime)
	require.Positive(t, run(t, small(t, slow, func(c *storm.Config) { c.Paced = true })).FleetTime)
}

func TestTheSameSeedFailsTheSameClusters(t *testing.T) {
	failed := func(seed uint64) (names []string) {
		for _, c := range run(t, small(t, func(c *storm.Config) { c.Seed = seed })).Load[:6] {
			names = append(names, c.Cluster)
		}
		return names
	}
	require.Equal(t, failed(1), failed(1))
	require.NotEqual(t, failed(1), failed(2))
}

func TestWhatHasNoPlaceIsFound(t *testing.T) {
	r := run(t, small(t, func(c *storm.Config) { c.Kill = kill(t, "19") }))
	require.False(t, r.Passed())
	require.True(t, r.Checks[0].Passed, "it keeps what it has")
	require.Regexp(t, `^not so for 300: default/app0000001-deployment \(\w+\), .*, \.\.\.$`, r.Checks[1].Detail)
	require.Positive(t, r.Rates.Held)
}

func TestAnInterruptedStormReportsWhatWasDone(t *testing.T) {
	s, err := storm.New(small(t))
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := s.Run(ctx)
	require.NoError(t, err)
	require.True(t, r.Interrupted)
	require.Empty(t, r.Checks)
}

func TestProgressIsThatOfTheStorm(t *testing.T) {
	s, err := storm.New(small(t))
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, storm.Progress{Workloads: 300}, s.Progress())
	r, err := s.Run(context.Background())
	require.NoError(t, err)
	p := s.Progress()
	require.True(t, p.Struck)
	require.EqualValues(t, r.Rates.Released.Count, p.Released)
}

const ownFleet = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: a}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: b}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {clusterNames: [a, b]}, spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}
`

func fleetOf(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	source := scenario.Source{Read: func(string) ([]byte, error) { return []byte(text), nil }}
	fleet, problems := source.Fleet([]string{"fleet.yaml"})
	require.Empty(t, problems)
	return fleet
}

func TestManifestsAreAFleet(t *testing.T) {
	r := run(t, small(t, func(c *storm.Config) { c.Manifests, c.Kill, c.Seed = fleetOf(t, ownFleet), kill(t, "1"), 2 }))
	require.True(t, r.Passed(), "%+v", r.Checks)
	require.Equal(t, storm.Shape{Files: []string{"fleet.yaml"}, Clusters: 2, Bindings: 1, Replicas: 2}, r.Fleet)
	require.Equal(t, 2, r.Load[0].After+r.Load[1].After)
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for want, change := range map[string]func(*storm.Config){
		"clusters must be 2 or more, not 1":                func(c *storm.Config) { c.Fleet.Clusters, c.Fleet.Regions = 1, 1 },
		"21 regions are more than there are clusters (20)": func(c *storm.Config) { c.Fleet.Regions = 21 },
		"21 clusters are to fail, but there are 20":        func(c *storm.Config) { c.Kill = kill(t, "21") },
		`no cluster is in region "nowhere"`:                func(c *storm.Config) { c.Kill = kill(t, "region=nowhere") },
		`test: unknown field "evictionWorker"`:             func(c *storm.Config) { c.Set = []config.Override{override("evictionWorker", "1")} },
		`unknown profile "karma"`:                          func(c *storm.Config) { c.Profile = "karma" },
	} {
		s, err := storm.New(small(t, change))
		if err == nil {
			_, err = s.Run(context.Background())
			s.Close()
		}
		var invalid *storm.Invalid
		require.ErrorAs(t, err, &invalid)
		require.ErrorContains(t, err, want)
	}
}
