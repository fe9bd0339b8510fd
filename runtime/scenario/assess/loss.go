package assess

import (
	"time"

	"leeward/messages"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
)

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
