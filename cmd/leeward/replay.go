package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/storm"
)

// replaying is one replay command: its flags.
type replaying struct {
	seed        seedFlag
	seeds       countFlag
	profile     string
	set         overrideFlag
	until       spanFlag
	update      bool
	determinism bool
	output      wordFlag
	html        string
	screen      bool
	with        []string
	// recorded are the recordings among the scenarios.
	recorded map[*scenario.Scenario]*incident.Incident
	jobs     countFlag
	// min is how many scenarios must run at least; 0: any number.
	min      countFlag
	logLevel wordFlag
	// axes are what a sweep varies; none: there is no sweep.
	axes sweepFlag
	// smallest is the file for the smallest scenario that fails in the same way; empty: it is not looked for.
	smallest string
	force    bool
	tries    countFlag
}

func replayCommand() *cobra.Command {
	r := &replaying{
		seeds:    1,
		tries:    shrinkTries,
		jobs:     countFlag(runtime.NumCPU()),
		output:   wordFlag{"text", []string{"text", "wide", "json", "timeline", "junit", "github"}},
		logLevel: wordFlag{"off", []string{"debug", "info", "warn", "error", "off"}},
	}
	c := &cobra.Command{
		Use:   "replay FILE|DIR...",
		Short: "Run scenarios on a virtual clock and check what they expect",
		Long: `Run scenarios on a virtual clock and check what they expect.

For the scenarios of one file it prints the timeline: every change, with its reasons. For several files or
seeds it prints one line for each scenario, and for one that fails its timeline and the command that repeats
it. Repeated changes of a flapping cluster are counted on one line; transcripts and -o wide have each.
A directory means all scenarios below it; other *.yaml, *.yml and *.json files there are skipped, with the
reason, and a misspelt Scenario is an error.

A recording (outage.jsonl, as leeward record writes it) is replayed like a scenario: what users and agents
did is repeated at its time, and a table compares the recorded decisions with those of the replay.

The transcript beside a scenario (first.golden beside first.yaml, with a section for each scenario of the
file) is part of its expectations, unless --seed, --profile, --set or --until changes the run.

` + exitCodes,
		Example: `  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml    # print the timeline
  leeward replay scenarios                               # check them all
  leeward replay scenarios --update                      # check them, and rewrite their transcripts
  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --seed 7 -o wide             # another order of messages, every fact
  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --seeds 1000                 # a thousand orders
  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --profile karmada            # what Karmada does
  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --set gracefulEvictionTimeout=20s --until 1h
  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --html first.html            # the viewer: a page with the timeline
  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --tui                        # the same on the terminal
  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml -o timeline                  # its data, for other tools
  leeward replay scenarios/recordings/nginx-is-evicted-from-a-failed-cluster.jsonl --with scenarios/recordings/patient-policy.yaml         # what another policy would have done
  leeward replay scenarios/handover/a-recovered-cluster-takes-its-replicas-back.yaml --sweep gracefulEvictionTimeout=5s,10m --sweep profile=karmada,leeward # a table
  leeward replay scenarios/recordings/karmada-failover.jsonl --sweep profile=karmada,leeward # and what other settings would have done
  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --set clusterFailureThreshold=2m --shrink small.yaml # why does it fail?
  leeward replay scenarios/recordings/nginx-is-evicted-from-a-failed-cluster.jsonl --with scenarios/recordings/patient-policy.yaml --shrink small.jsonl # and why does this differ?
  leeward replay scenarios --check-determinism -o junit`,
		Args:              arguments("a scenario file or a directory"),
		ValidArgsFunction: completeFiles,
		RunE:              r.run,
	}
	r.flags(c)
	return c
}

func (r *replaying) flags(c *cobra.Command) {
	f := c.Flags()
	f.Var(&r.seed, "seed", "seed of the order of messages, start-up times and other random values (default: the scenario's)")
	f.Var(&r.seeds, "seeds", "run each scenario under this many seeds, counting up from its first")
	profileFlag(c, &r.profile, "profile of settings (default: the scenario's)")
	f.Var(&r.set, "set", "setting to change, as field=value; may be given again")
	f.Var(&r.until, "until", "virtual time to run for, such as 90s, 15m or 2d (default: the scenario's)")
	f.BoolVar(&r.update, "update", false, "write the transcript beside each scenario")
	f.BoolVar(&r.determinism, "check-determinism", false, "run everything twice, on other CPU counts, and compare every byte")
	r.output.add(c, "output", "o", "text, wide (every fact), json, timeline (the JSON of the viewer, docs/viewer-data.md), junit, or github (annotations)")
	f.StringArrayVar(&r.with, "with", nil, "manifests that exist from the start of a recording, in place of those in it; may be given again")
	f.StringVar(&r.html, "html", "", "file to write the viewer to: a page with the timeline of every scenario, docs/viewer.md")
	f.BoolVar(&r.screen, "tui", false, "show the runs on the terminal, to step through and to ask why: ? lists the keys")
	f.Var(&r.min, "min", "fail when fewer scenarios ran, for example because files are missing (default: no limit)")
	f.Var(&r.jobs, "jobs", "scenarios to run at the same time")
	r.logLevel.add(c, "log-level", "", "log facts to standard error: debug, info, warn, error or off")
	f.Var(&r.axes, "sweep", "run under each of these values of a setting, of seed or of profile, and print a table; may be given again")
	f.StringVar(&r.smallest, "shrink", "", "file to write the smallest scenario to that fails in the same way as the first that fails, or the smallest recording whose replay differs")
	f.BoolVar(&r.force, "force", false, "replace the file of --shrink if it exists")
	f.Var(&r.tries, "tries", "smaller scenarios that --shrink tries at the most")
	completeFilesOf(c, "shrink", "yaml", "yml")
	completeBy(c, "sweep", completeSweep)
}

func (r *replaying) run(c *cobra.Command, paths []string) error {
	if c.Flags().Changed("shrink") {
		return r.shrink(c, paths)
	}
	if err := errors.Join(r.check(c), r.checkScreen(c)); err != nil {
		return misused(c, err)
	}
	if len(r.axes) > 0 {
		return r.sweep(c, paths)
	}
	scenarios, err := r.load(paths, c.ErrOrStderr())
	if err != nil {
		return r.atFault(c, err)
	}
	defer storm.CollectRarely(storm.MemoryThere())()
	tasks := r.tasks(scenarios)
	page, err := createPage(r.html)
	if err != nil {
		return internal(err)
	}
	defer page.discard()
	out := r.open(c.OutOrStdout(), c.ErrOrStderr(), page, tasks)
	var sum results
	take := func(i int, run *replay.Run) error {
		if err := r.transcribe(tasks, i, run, c.ErrOrStderr()); err != nil {
			return err
		}
		fresh := sum.add(run)
		switch {
		case !isInvalid(run.Err):
			return out.add(run)
		case fresh: // it never ran: there is nothing more to report
			return out.fault(run.Err)
		}
		return nil
	}
	err = replay.InOrder(r.workers(), len(tasks), func(i int) *replay.Run { return r.replay(tasks[i]) }, take)
	if err == nil {
		err = out.close()
	}
	if err != nil {
		return internal(err)
	}
	page.tell(c.ErrOrStderr())
	if r.determinism {
		sum.tellSame(c.ErrOrStderr())
	}
	if err := sum.exit(); err != nil {
		return err
	}
	return r.enough(sum.ran)
}

// atFault reports files that keep all from being run, where the report does, and returns the error.
func (r *replaying) atFault(c *cobra.Command, err error) error {
	out := r.open(c.OutOrStdout(), c.ErrOrStderr(), nil, nil)
	if out.faults == nil {
		return err
	}
	if wrong := errors.Join(out.fault(errors.Unwrap(err)), out.close()); wrong != nil {
		return internal(wrong)
	}
	return err
}

// enough fails where fewer scenarios ran than --min asks for.
func (r *replaying) enough(ran int) error {
	if ran >= int(r.min) {
		return nil
	}
	return &exitcode.Exit{Code: exitFailed, Err: fmt.Errorf("leeward: %s ran, and --min asks for %d", spelling.Count(ran, "scenario"), r.min)}
}

// check reports what makes no sense, or not together.
func (r *replaying) check(c *cobra.Command) error {
	if r.update && (r.overrides() || r.seed.set || r.seeds > 1) {
		return errors.New("--update writes the transcript of the unchanged scenario: omit --seed, --seeds, --profile, --set, --until and --with")
	}
	if r.html != "" && r.seeds > 1 {
		return errors.New("--html shows each scenario under one seed: omit --seeds")
	}
	_, problems := config.Resolve(r.profile, r.set)
	for _, flag := range []string{"force", "tries"} {
		if r.smallest == "" && c.Flags().Changed(flag) {
			problems = append(problems, fmt.Errorf("--%s is for --shrink", flag))
		}
	}
	return errors.Join(problems...)
}

// checkScreen reports what does not go with --tui.
func (r *replaying) checkScreen(c *cobra.Command) error {
	if !r.screen {
		return nil
	}
	for _, other := range []string{"output", "sweep", "update", "check-determinism", "seeds"} {
		if c.Flags().Changed(other) {
			return fmt.Errorf("--tui shows runs on the terminal: omit --%s", other)
		}
	}
	return needsTerminal("--tui", c.OutOrStdout())
}

// overrides reports whether flags change what a scenario asks for, apart from its seed.
func (r *replaying) overrides() bool {
	return r.profile != "" || len(r.set) > 0 || r.until != 0 || len(r.with) > 0
}

// workers is how many tasks may run at the same time. A check of determinism changes the number of CPUs, so it
// must be alone.
func (r *replaying) workers() int {
	if r.determinism {
		return 1
	}
	return int(r.jobs)
}

// replay runs one task. Whatever goes wrong in it is the run's error.
func (r *replaying) replay(t task) *replay.Run {
	started := time.Now()
	run := r.play(t)
	run.Elapsed = time.Since(started)
	if r.determinism && run.Err == nil {
		r.compare(t, run)
	}
	run.Repeat = r.command(t)
	return run
}

// results is what came of all runs.
type results struct {
	failed bool
	// errors are why runs ended early, each once: the same may happen under a thousand seeds.
	errors []error
	said   map[string]bool
	// ran counts the scenarios that were run, under however many seeds, and runs those that came to their end.
	ran, runs int
	last      *replay.Run
}

// add takes the next run, and reports whether its error is one that no run before had.
func (o *results) add(run *replay.Run) (fresh bool) {
	o.failed = o.failed || !run.Passed
	if o.last == nil || o.last.File != run.File || o.last.Name != run.Name {
		o.ran++
	}
	o.last = run
	if run.Err == nil {
		o.runs++
	}
	if run.Err == nil || o.said[run.Err.Error()] {
		return false
	}
	if o.said == nil {
		o.said = map[string]bool{}
	}
	o.said[run.Err.Error()] = true
	o.errors = append(o.errors, run.Err)
	return true
}

// exit says how the command ends: what is our fault comes before what is the scenario's.
func (o *results) exit() error {
	all := errors.Join(o.errors...)
	for _, err := range o.errors {
		if !isInvalid(err) {
			return internal(all)
		}
	}
	switch {
	case all != nil:
		return invalid(all)
	case o.failed:
		return &exitcode.Exit{Code: exitFailed}
	}
	return nil
}

// complete offers the words that a flag takes.
func complete(c *cobra.Command, flag string, words []string) {
	completeBy(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeBy has a function offer the values of a flag.
func completeBy(c *cobra.Command, flag string, offer cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(fmt.Sprintf("complete --%s: %v", flag, err))
	}
}

// completeFilesOf offers files with these endings for a flag.
func completeFilesOf(c *cobra.Command, flag string, endings ...string) {
	if err := c.MarkFlagFilename(flag, endings...); err != nil {
		panic(fmt.Sprintf("complete --%s: %v", flag, err))
	}
}

// completeFiles offers directories and the files that may hold scenarios.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json", "jsonl"}, cobra.ShellCompDirectiveFilterFileExt
}
