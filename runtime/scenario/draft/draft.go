// Package draft writes the first scenarios of a fleet: the outages that an assessment finds worst, with expectations that hold today.
package draft

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/replay"
)

const (
	// outageAt is when the outage begins: by then the fleet is at rest.
	outageAt = 10 * time.Minute
	// horizon is how far each scenario looks ahead to find when nothing more happens.
	horizon = 24 * time.Hour
	// orders is under how many seeds, counting up, each expectation must hold.
	orders = 3
)

// Config is what is written, and how.
type Config struct {
	Source scenario.Source
	// Fleet is what Files describe: a scenario, or manifests.
	Fleet *scenario.Scenario
	// Files can be included as they are; none: no file has the fleet in a form that a scenario includes, and it is written out.
	Files []string
	// Dir is the folder of the file that is written: what it includes is relative to it.
	Dir string
	// Assess is the assessment that finds the outages; its Fleet is this one.
	Assess assess.Config
	// Most is how many scenarios are written at the most.
	Most int
	// Command is what the file says that it was written by.
	Command string
}

// Draft is what was written.
type Draft struct {
	YAML []byte `json:"-"`
	// Scenarios are the names of what was written, the worst outage first.
	Scenarios    []string `json:"scenarios"`
	Expectations int      `json:"expectations"`
}

// Write returns the scenarios as one file. The error is an *assess.Invalid where the fleet or the settings are at fault.
func Write(ctx context.Context, c Config) (*Draft, error) {
	c.Assess.Fleet = c.Fleet
	a, err := assess.Run(ctx, c.Assess)
	if err != nil {
		return nil, err
	}
	if a.Fleet.Workloads == 0 {
		return nil, &assess.Invalid{Problem: errors.New("holds no workload that a policy propagates: no outage would change anything")}
	}
	f, err := c.base(a)
	if err != nil {
		return nil, err
	}
	d := &Draft{}
	var scenarios []*yaml.Node
	for _, o := range worst(a, c.Most) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, expectations, err := f.rehearse(o)
		if err != nil {
			return nil, fmt.Errorf("rehearse the loss of %s: %w", o.Name, err)
		}
		scenarios, d.Expectations = append(scenarios, s), d.Expectations+expectations
	}
	d.Scenarios = f.names
	head := fmt.Sprintf("# Written by %s: the outages that leeward assess finds worst, with what happens today.\n"+
		"# Make of the expectations what you want to hold, and run them again after each change of a policy.\n", c.Command)
	body, err := f.file(scenarios)
	d.YAML = append([]byte(head), body...)
	return d, err
}

// worst are the outages to rehearse: each set of clusters once, those that change something, the worst first.
func worst(a *assess.Assessment, most int) (all []*assess.Outcome) {
	for _, o := range a.Contingencies {
		if o.SameAs == "" && o.Changes() && len(all) < most {
			all = append(all, o)
		}
	}
	return all
}

// file is what all scenarios of the file have in common.
type file struct {
	*Config
	profile   string
	manifests []map[string]any
	include   []string
	fleet     []*yaml.Node
	config    []config.Override
	// names are those that scenarios have so far, in order.
	names []string
}

// rehearse returns the scenario of an outage, with the expectations that hold under each of some seeds.
func (f *file) rehearse(o *assess.Outcome) (*yaml.Node, int, error) {
	name := nameOf(o.Name)
	for i := 2; slices.Contains(f.names, name); i++ { // regions A_B and a-b
		name = fmt.Sprintf("%s-%d", nameOf(o.Name), i)
	}
	f.names = append(f.names, name)
	first, err := f.play(f.scenario(name, o, outageAt+horizon, nil), f.Assess.Seed)
	if err != nil {
		return nil, 0, err
	}
	seen := observe(first)
	candidates := seen.expectations()
	for i := range uint64(orders) {
		run, err := f.play(f.scenario(name, o, seen.end, candidates), f.Assess.Seed+i)
		if err != nil {
			return nil, 0, err
		}
		var held []*yaml.Node
		for j, e := range candidates {
			if run.Expectations[j].Passed {
				held = append(held, e)
			}
		}
		candidates = held
	}
	return f.scenario(name, o, seen.end, candidates), len(candidates), nil
}

// play runs a scenario as it is written.
func (f *file) play(s *yaml.Node, seed uint64) (*replay.Run, error) {
	text, err := f.file([]*yaml.Node{s})
	if err != nil {
		return nil, err
	}
	scenarios, problems := f.Source.Decode(filepath.Join(f.Dir, "draft.yaml"), text)
	if len(problems) > 0 {
		return nil, &assess.Invalid{Problem: problems}
	}
	return replay.Play(scenarios[0], replay.Options{Seed: seed})
}

// file writes scenarios and the manifests that they share.
func (f *file) file(scenarios []*yaml.Node) ([]byte, error) {
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	for _, s := range scenarios {
		if err := e.Encode(s); err != nil {
			return nil, err
		}
	}
	for _, m := range f.manifests {
		if err := e.Encode(m); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), e.Close()
}

// scenario is the document of an outage.
func (f *file) scenario(name string, o *assess.Outcome, duration time.Duration, expectations []*yaml.Node) *yaml.Node {
	spec := fields("description", f.description(o), "profile", f.profile, "seed", f.Assess.Seed, "duration", brief(duration))
	if len(f.config) > 0 {
		settings := fields()
		for _, s := range f.config {
			add(settings, s.Field, s.Value)
		}
		add(spec, "config", settings)
	}
	if len(f.include) > 0 {
		add(spec, "include", f.include)
	}
	if len(f.fleet) > 0 {
		add(spec, "fleet", list(f.fleet))
	}
	outage := flow(fields("cluster", flow(value(o.Clusters)), "kind", string(f.Assess.Outage)))
	add(spec, "timeline", list([]*yaml.Node{flow(fields("at", brief(outageAt), "outage", outage))}))
	if len(expectations) > 0 {
		add(spec, "expect", list(expectations))
	}
	return fields("apiVersion", scenario.APIVersion, "kind", scenario.Kind, "metadata", flow(fields("name", name)), "spec", spec)
}

// nameOf is that of the scenario of an outage: lose-region-eu.
func nameOf(lost string) string {
	return "lose-" + strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(lost)), "-.")
}

// description says what fails, and what that does today.
func (f *file) description(o *assess.Outcome) string {
	what := map[messages.OutageKind]string{messages.OutagePower: "power", messages.OutageNetwork: "network", messages.OutageAPIServer: "API server"}[f.Assess.Outage]
	text := fmt.Sprintf("%s loses its %s, without an end. Today: workloads (replicas) evicted %s, rescheduled %s, unschedulable %s, unavailable at the end %s.",
		strings.ToUpper(o.Name[:1])+o.Name[1:], what, o.Evicted, o.Rescheduled, o.Unschedulable, o.Unavailable)
	return text
}

// base reads what all scenarios have in common.
func (c *Config) base(a *assess.Assessment) (*file, error) {
	f := &file{Config: c, profile: a.Profile}
	// An assessment takes stored policies as admitted, so what admits them is on.
	f.set(config.Override{Field: "allowNoExecuteTaintPolicy", Value: true})
	for _, o := range slices.Concat(c.Fleet.Config, c.Assess.Set) {
		f.set(o)
	}
	switch {
	case c.Fleet.File == "" && len(c.Files) == 0:
		if err := f.writeOut(); err != nil {
			return nil, err
		}
	case c.Fleet.File == "":
		for _, name := range c.Files {
			relative, err := relativeTo(c.Dir, name)
			if err != nil {
				return nil, err
			}
			f.include = append(f.include, relative)
		}
	default:
		if err := f.takeOver(); err != nil {
			return nil, err
		}
	}
	f.startups()
	return f, nil
}

func (f *file) set(o config.Override) {
	f.config = slices.DeleteFunc(f.config, func(b config.Override) bool { return b.Field == o.Field })
	f.config = append(f.config, o)
}

// relativeTo returns a path as it is from a folder.
func relativeTo(dir, name string) (string, error) {
	from, err := filepath.Abs(cmp.Or(dir, "."))
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(from, to)
	return filepath.ToSlash(relative), err
}
