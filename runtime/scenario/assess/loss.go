package assess

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
)

// Loss is one thing that fails: a cluster, or all clusters of a region, zone or provider.
type Loss struct{ Kind, Name string }

// ParseLoss reads "region=eu".
func ParseLoss(text string) (Loss, error) {
	kind, name, found := strings.Cut(text, "=")
	if !found || name == "" || !slices.Contains(Kinds(), kind) {
		return Loss{}, fmt.Errorf("%q: must be %s=NAME", text, strings.Join(Kinds(), "=NAME, "))
	}
	return Loss{kind, name}, nil
}

// String is "region eu".
func (l Loss) String() string { return l.Kind + " " + l.Name }

// Clusters are those of a fleet that fail, in order; none: there is no such cluster, region, zone or provider.
func (l Loss) Clusters(fleet *scenario.Scenario) (names []messages.ClusterName) {
	for _, d := range fleet.Objects {
		if c, is := d.Object.(*api.Cluster); is && slices.Contains(forecast.PartsOf(c, l.Kind), l.Name) {
			names = append(names, messages.ClusterName(c.Name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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
