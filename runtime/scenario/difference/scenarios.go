package difference

import (
	"context"
	"fmt"
	"slices"

	"leeward/runtime/scenario"
	"leeward/runtime/scenario/assess"
)

// byName compares the scenarios that both sides have by the same name, in the order of A.
func (c *Config) byName(ctx context.Context) (*Difference, error) {
	d := c.empty()
	d.Outage = "the timeline of each scenario"
	for _, a := range c.A.Fleets {
		b := named(c.B.Fleets, a.Name)
		if b == nil {
			d.only("A", a.Name)
			continue
		}
		one, err := c.pair(ctx, a, b)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", a.Name, err)
		}
		one.Scenario = a.Name
		d.Scenarios, d.Differ, d.Verdict = append(d.Scenarios, one), d.Differ || one.Differ, d.Verdict.and(one.Verdict)
		for _, name := range one.By {
			if !slices.Contains(d.By, name) {
				d.By = append(d.By, name)
			}
		}
	}
	for _, b := range c.B.Fleets {
		if named(c.A.Fleets, b.Name) == nil {
			d.only("B", b.Name)
		}
	}
	if len(d.Scenarios) == 0 {
		return nil, &assess.Invalid{Problem: fmt.Errorf("no scenario has the same name on both sides: A has %s, B has %s", c.A.Fleets[0].Name, c.B.Fleets[0].Name)}
	}
	return d, nil
}

// only tells of a scenario that the other side has not.
func (d *Difference) only(side, name string) {
	d.Notes, d.Differ = append(d.Notes, fmt.Sprintf("scenario %s is in %s only", name, side)), true
}

// named is the first scenario of a name; nil: there is none.
func named(all []*scenario.Scenario, name string) *scenario.Scenario {
	if i := slices.IndexFunc(all, func(s *scenario.Scenario) bool { return s.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}
