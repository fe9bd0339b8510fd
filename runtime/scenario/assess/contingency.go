package assess

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
)

// Contingency is clusters that fail together.
type Contingency struct {
	// Name says what fails: "cluster eu-1", "region eu", "clusters eu-1 and us-1".
	Name string `json:"name"`
	// Kind is cluster, region, zone or provider.
	Kind string `json:"kind"`
	// Of are the names of what fails: one, or two of a pair.
	Of []string `json:"of"`
	// Clusters are those that fail, in order.
	Clusters []string `json:"clusters"`
}

// Pair reports whether two fail together.
func (c *Contingency) Pair() bool { return len(c.Of) > 1 }

// key is the same for contingencies that fail the same clusters.
func (c *Contingency) key() string { return strings.Join(c.Clusters, "\n") }

// contingencies are all that a fleet is assessed for: each cluster, then each region, zone and provider, then each two of a kind.
// What every cluster has is none: nothing would remain to fail over to.
func contingencies(clusters []*api.Cluster, pairs bool) (all []Contingency) {
	for _, kind := range []string{forecast.KindCluster, forecast.KindRegion, forecast.KindZone, forecast.KindProvider} {
		of := map[string][]string{}
		for _, c := range clusters {
			for _, name := range forecast.PartsOf(c, kind) {
				of[name] = append(of[name], c.Name)
			}
		}
		var single []Contingency
		for name, members := range of { // sorted below
			if len(members) < len(clusters) || len(clusters) == 1 && kind == forecast.KindCluster {
				single = append(single, Contingency{kind + " " + name, kind, []string{name}, members})
			}
		}
		slices.SortFunc(single, func(a, b Contingency) int { return cmp.Compare(a.Of[0], b.Of[0]) })
		all = append(all, single...)
		if pairs {
			all = append(all, paired(single, kind, len(clusters))...)
		}
	}
	slices.SortStableFunc(all, func(a, b Contingency) int { return cmp.Compare(len(a.Of), len(b.Of)) })
	return all
}

// paired are every two of a kind that leave a cluster.
func paired(single []Contingency, kind string, clusters int) (all []Contingency) {
	for i := range single {
		for j := i + 1; j < len(single); j++ {
			a, b := &single[i], &single[j]
			both := slices.Concat(a.Clusters, b.Clusters)
			slices.Sort(both)
			if both = slices.Compact(both); len(both) == clusters {
				continue
			}
			names := []string{a.Of[0], b.Of[0]}
			all = append(all, Contingency{kind + "s " + strings.Join(names, " and "), kind, names, both})
		}
	}
	return all
}

// Losing is the fleet as a scenario in which clusters fail together, with what an assessment takes for granted: a whole replay of it
// ends as the contingency does. Zero as lasts: the outage has no end.
func (c *Config) Losing(failed []messages.ClusterName, lasts time.Duration) (*scenario.Scenario, error) {
	ready, err := forecast.Prepare(c.Fleet, c.Profile, c.Set, c.Startup)
	if err != nil {
		return nil, err
	}
	s := *c.Fleet
	s.Profile, s.Config, s.Objects, s.Members = ready.Profile, ready.Config, ready.Objects, ready.Members
	s.Expect, s.Duration = nil, forecast.Lead+Horizon
	of := scenario.Outage{Target: scenario.Target{Clusters: failed}, Kind: c.Outage, For: lasts}
	s.Timeline = []scenario.Step{{At: forecast.Lead, Action: &of}}
	if lasts > 0 {
		s.Timeline = append(s.Timeline, scenario.Step{At: forecast.Lead + lasts, Action: &scenario.Outage{Target: of.Target, Kind: of.Kind, Over: true}})
	}
	return &s, nil
}
