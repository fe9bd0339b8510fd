package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"leeward/messages/manifest"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/scenario/sweep"
)

// sweepFlag is a list of fields with the values that they take.
type sweepFlag []sweep.Axis

func (f *sweepFlag) Set(s string) error {
	a, err := sweep.ParseAxis(s)
	if err == nil {
		*f = append(*f, a)
	}
	return err
}

func (f *sweepFlag) String() string { return "" }

func (*sweepFlag) Type() string { return "field=a,b,c" }

// swept is one variant of a task.
type swept struct {
	task
	variant sweep.Variant
	as      replaying
	// of is the recording that it replays, and with the manifests in place of those in it; nil: it is a scenario.
	of   *incident.Incident
	with []manifest.Document
}

// play runs it. What happened in a recording depends on the settings that it is replayed under.
func (s *swept) play() *replay.Run {
	if s.of != nil {
		s.scenario = s.of.Scenario(incident.Under{With: s.with, Profile: s.as.profile, Set: s.as.set})
		s.as.recorded = map[*scenario.Scenario]*incident.Incident{s.scenario: s.of}
	}
	return s.as.play(s.task)
}

// sweep runs each scenario under each variant, and prints a table.
func (r *replaying) sweep(c *cobra.Command, paths []string) error {
	variants, err := r.checkSweep(c)
	if err != nil {
		return misused(c, err)
	}
	scenarios, err := r.load(paths, c.ErrOrStderr())
	if err != nil {
		return err
	}
	runs, err := r.variantsOf(scenarios, variants)
	if err != nil {
		return invalid(err)
	}
	table := sweep.NewTable(r.axes)
	progress, wipe := progressOn(c.ErrOrStderr())
	var sum results
	take := func(i int, run *replay.Run) error {
		if progress != nil {
			progress(i+1, len(runs))
		}
		sum.add(run)
		table.Add(runs[i].variant, run, runs[i].as.command(runs[i].task))
		return nil
	}
	play := func(i int) *replay.Run { return runs[i].play() }
	err = replay.InOrder(int(r.jobs), len(runs), play, take)
	if wipe(); err != nil {
		return internal(err)
	}
	out := bufio.NewWriter(c.OutOrStdout())
	write := table.WriteText
	if r.output.word == "json" {
		write = table.WriteJSON
	}
	if err := errors.Join(write(out), out.Flush()); err != nil {
		return internal(err)
	}
	if err := sum.exit(); err != nil {
		return err
	}
	return r.enough(sum.ran)
}

// checkSweep reports what makes no sense together, and returns the variants.
func (r *replaying) checkSweep(c *cobra.Command) ([]sweep.Variant, error) {
	if r.output.word != "text" && r.output.word != "json" {
		return nil, errors.New("--sweep writes a table: -o must be text or json")
	}
	for _, flag := range []string{"update", "html", "seeds", "check-determinism", "log-level"} {
		if c.Flags().Changed(flag) {
			return nil, fmt.Errorf("--sweep writes a table: omit --%s", flag)
		}
	}
	for _, a := range r.axes {
		switch {
		case a.Field == sweep.Seed && r.seed.set:
			return nil, errors.New("--sweep gives the seeds: omit --seed")
		case a.Field == sweep.Profile && r.profile != "":
			return nil, errors.New("--sweep gives the profiles: omit --profile")
		}
	}
	return sweep.Variants(r.axes)
}

// variantsOf are all runs of a sweep, in order. The error has each problem of their settings once: nothing has run yet.
func (r *replaying) variantsOf(scenarios []*scenario.Scenario, variants []sweep.Variant) (runs []swept, err error) {
	if len(scenarios)*len(variants) > sweep.Most {
		return nil, fmt.Errorf("leeward: --sweep: %s under %s are more than %d runs", spelling.Count(len(scenarios), "scenario"), spelling.Count(len(variants), "variant"), sweep.Most)
	}
	with, err := manifests(r.with)
	if err != nil {
		return nil, err
	}
	var problems []error
	said := map[string]bool{}
	for _, s := range scenarios {
		for _, v := range variants {
			seed := s.Seed
			if r.seed.set {
				seed = r.seed.value
			}
			o := v.Apply(replay.Options{Seed: seed, Profile: r.profile, Set: r.set})
			as := replaying{profile: o.Profile, set: o.Set, until: r.until, with: r.with, axes: r.axes}
			runs = append(runs, swept{task: task{s, o.Seed, nil}, variant: v, as: as, of: r.recorded[s], with: with})
			_, wrong := config.Resolve(cmp.Or(o.Profile, s.Profile), slices.Concat(s.Config, o.Set))
			for _, p := range wrong {
				if !said[p.Error()] {
					said[p.Error()] = true
					problems = append(problems, p)
				}
			}
		}
	}
	return runs, errors.Join(problems...)
}

// completeSweep offers the fields that a sweep may take.
func completeSweep(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	fields := []string{sweep.Profile + "=", sweep.Seed + "="}
	for _, f := range config.Fields() {
		fields = append(fields, f.Name+"=")
	}
	return fields, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}
