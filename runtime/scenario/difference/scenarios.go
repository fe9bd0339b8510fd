package difference

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"leeward/messages/spelling"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/assess"
)

// byName compares the scenarios that both sides have by the same name, of several files by that of the file, too, in the order of A.
func (c *Config) byName(ctx context.Context) (*Difference, error) {
	d := c.empty()
	d.Outage = "the timeline of each scenario"
	files := severalFiles(c.A.Fleets) && severalFiles(c.B.Fleets)
	a, err := c.A.named(files)
	if err != nil {
		return nil, err
	}
	b, err := c.B.named(files)
	if err != nil {
		return nil, err
	}
	if n := max(a.ofNodes, b.ofNodes); n > 0 {
		d.Notes = append(d.Notes, spelling.Count(n, "scenario of nodes is", "scenarios of nodes are")+" not compared")
	}
	for _, name := range a.names {
		a, b := a.of[name], b.of[name]
		if b == nil {
			d.only("A", name)
			continue
		}
		one, err := c.pair(ctx, a, b)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", name, err)
		}
		one.Scenario = name
		d.Scenarios, d.Differ, d.Verdict = append(d.Scenarios, one), d.Differ || one.Differ, d.Verdict.and(one.Verdict)
		for _, name := range one.By {
			if !slices.Contains(d.By, name) {
				d.By = append(d.By, name)
			}
		}
	}
	for _, name := range b.names {
		if a.of[name] == nil {
			d.only("B", name)
		}
	}
	if len(d.Scenarios) == 0 {
		return nil, &assess.Invalid{Problem: fmt.Errorf("no scenario has the same name on both sides: A has %s, as %s, B has %s, as %s", spelling.Count(len(c.A.Fleets), "scenario"), c.A.Fleets[0].Name, spelling.Count(len(c.B.Fleets), "scenario"), c.B.Fleets[0].Name)}
	}
	return d, nil
}

// only tells of a scenario that the other side has not.
func (d *Difference) only(side, name string) {
	d.Notes, d.Differ = append(d.Notes, fmt.Sprintf("scenario %s is in %s only", name, side)), true
}

// scenarios are those of a side by what they are called, in their order.
type scenarios struct {
	names []string
	of    map[string]*scenario.Scenario
	// ofNodes counts those that have no fleet, and are not compared.
	ofNodes int
}

// named are the scenarios of a side by their names, or with files by the names of their files, too.
func (s *Side) named(files bool) (*scenarios, error) {
	all := &scenarios{of: map[string]*scenario.Scenario{}}
	for _, one := range s.Fleets {
		if one.OfNodes {
			all.ofNodes++
			continue
		}
		name := one.Name
		if files {
			name = path.Base(filepath.ToSlash(one.File)) + " " + name
		}
		if other := all.of[name]; other != nil {
			return nil, &assess.Invalid{Problem: fmt.Errorf("%s: scenario %s is in %s and in %s: name one of these files", s.Name, name, other.File, one.File)}
		}
		all.names, all.of[name] = append(all.names, name), one
	}
	return all, nil
}

// severalFiles reports whether scenarios are of several files.
func severalFiles(all []*scenario.Scenario) bool {
	return slices.ContainsFunc(all, func(s *scenario.Scenario) bool { return s.File != all[0].File })
}
