package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/messages"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/whatif"
	"leeward/runtime/storm"
)

// wondering is one what-if command: its flags.
type wondering struct {
	from    fleetSource
	profile string
	config  configFlag
	seed    seedFlag
	kind    wordFlag
	lasts   spanFlag
	startup spanFlag
	by      string
	samples countFlag
	output  wordFlag
	// changes are in the order of the command line; problems are what is wrong with their values.
	changes  []*whatif.Change
	problems []error
}

// configFlag is a list of settings that hold before the changes.
type configFlag struct{ overrideFlag }

// Set reads one setting.
func (f *configFlag) Set(s string) error { return f.add(s, "--config") }

// changeFlag adds the changes of one flag to the list of all.
type changeFlag struct {
	name string
	of   *wondering
}

// Set reads one change. A problem is kept, so that every one is told.
func (f *changeFlag) Set(s string) error {
	c, err := whatif.Parse(f.name, s)
	if err != nil {
		f.of.problems = append(f.of.problems, fmt.Errorf("--%s %q: %w", f.name, s, err))
	} else {
		f.of.changes = append(f.of.changes, c)
	}
	return nil
}

func (*changeFlag) String() string { return "" }

func (f *changeFlag) Type() string { return "change" }

func whatIfCommand() *cobra.Command {
	w := &wondering{
		seed: seedFlag{value: 1, set: true}, startup: spanFlag(30 * time.Second), samples: 1,
		kind:   outageFlag(),
		output: wordFlag{"text", []string{"text", "wide", "json", "yaml"}},
	}
	c := &cobra.Command{
		Use:   "what-if -f FILE|DIR... CHANGE...",
		Short: "Predict what an outage, a taint, a policy or another change would do",
		Long: `Predict what changes would do to the workloads of a fleet: what would be evicted, when, why and where to, what would be
blocked or unschedulable, and when all would be available again. The changes are played on a copy of the fleet, on a virtual
clock, and compared with the same fleet without them. Nothing is written.

A change is a flag; several happen together. With @ and a duration at the end of its value, such as --drain eu-1@5m, it
happens so much later.

` + fromFleetDoc + `
With --apply the workloads of its bindings are listed, too: a policy may select others of them. That needs the right to list
their kinds.

Exit codes:
  0  nothing would change
  1  an eviction, a placement or availability would
  2  a manifest, a change or the command line is invalid
  3  an internal error, or a file that cannot be read`,
		Example: `  leeward what-if -f docs/examples/fleet.yaml --lose eu-1
  leeward what-if -f docs/examples/fleet.yaml --lose region=eu --for 20m --kind network --by region
  leeward what-if -f docs/examples/fleet.yaml --drain eu-1 --drain eu-2@10m --scale shop/web=12 -o wide
  leeward what-if -f docs/examples/fleet.yaml --condition us-1/Ready=False --set evictionWorkers=1 -o json
  leeward what-if -f docs/examples/fleet.yaml --taint eu-1=maintenance:NoExecute --taint eu-1=maintenance:NoExecute-@1h
  leeward what-if -f docs/examples/fleet.yaml --apply docs/examples/taint-policy.yaml --delete deployment/shop/cart --samples 5`,
		Args: filesByFlag,
		RunE: w.run,
	}
	w.addFlags(c)
	w.from.completeLosses(c, whatif.FlagLose)
	w.from.completeClusters(c, whatif.FlagDrain, "")
	w.from.completeClusters(c, whatif.FlagTaint, "=")
	w.from.completeClusters(c, whatif.FlagCondition, "/")
	return c
}

func (w *wondering) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	w.from.add(c)
	w.from.addScenario(c)
	change := func(name, usage string) { f.Var(&changeFlag{name, w}, name, usage+"; may be given again") }
	change(whatif.FlagLose, "what fails: the name of a cluster, region=NAME, zone=NAME, provider=NAME or cluster=NAME, or several names with commas")
	f.Var(&w.lasts, "for", "how long what fails stays so (default: without an end)")
	w.kind.add(c, "kind", "", "how it fails: power (copies die), network (the cluster is silent) or apiserver")
	change(whatif.FlagTaint, "taint to add, as CLUSTER=key[=value]:Effect, or with - at the end to remove")
	change(whatif.FlagCondition, "condition to report, as CLUSTER/TYPE=STATUS")
	change(whatif.FlagDrain, "cluster to drain")
	change(whatif.FlagApply, "file of manifests to apply")
	change(whatif.FlagDelete, "object to delete, as KIND/NAME or KIND/NAMESPACE/NAME")
	change(whatif.FlagSet, "setting to change, as field=value")
	change(whatif.FlagScale, "workload to scale, as [KIND/]NAMESPACE/NAME=REPLICAS")
	profileFlag(c, &w.profile, "profile of settings (default: the scenario's, or leeward)")
	f.Var(&w.config, "config", "setting of the fleet before the changes, as field=value; may be given again")
	f.Var(&w.seed, "seed", "seed of start-up times and of what Karmada leaves to chance")
	f.Var(&w.startup, "startup", "virtual time that a copy takes to become healthy, where a scenario does not say it")
	f.StringVar(&w.by, "by", forecast.ByNamespace, "what groups: namespace, label:KEY, region or cluster")
	f.Var(&w.samples, "samples", "seeds to draw, of which the median and the worst time are told")
	w.output.add(c, "output", "o", "text, wide, json or yaml")
}

// check reports every problem of the command line.
func (w *wondering) check(c *cobra.Command) error {
	problems := w.problems
	if err := w.from.check(); err != nil {
		problems = append(problems, err)
	}
	label, is := strings.CutPrefix(w.by, "label:")
	if w.by != forecast.ByNamespace && w.by != forecast.KindRegion && w.by != forecast.KindCluster && (!is || label == "") {
		problems = append(problems, fmt.Errorf("--by %q: want namespace, label:KEY, region or cluster", w.by))
	}
	lost := slices.ContainsFunc(w.changes, func(c *whatif.Change) bool { return c.Flag == whatif.FlagLose })
	for _, flag := range []string{"for", "kind"} {
		if c.Flags().Changed(flag) && !lost && len(w.problems) == 0 {
			problems = append(problems, fmt.Errorf("--%s says how something fails: name it with --lose", flag))
		}
	}
	if len(w.problems) == 0 {
		problems = append(problems, w.asked(nil).Misused())
	}
	_, wrong := config.Resolve(w.profile, w.config.overrideFlag)
	return errors.Join(append(problems, wrong...)...)
}

func (w *wondering) run(c *cobra.Command, _ []string) error {
	if err := w.check(c); err != nil {
		return misused(c, err)
	}
	defer storm.CollectRarely(storm.MemoryThere())()
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	stderr := c.ErrOrStderr()
	w.from.templates = c.Flags().Changed(whatif.FlagApply)
	fleet, err := w.from.read(ctx, stderr)
	if err != nil {
		return err
	}
	asked := w.asked(fleet)
	progress, wipe := progressOn(stderr)
	asked.Progress = progress
	result, err := whatif.Run(ctx, *asked)
	wipe()
	if err != nil {
		return unfinished(err, &w.from, "predicted to its end")
	}
	err = printed(c.OutOrStdout(), w.output.word, result, func(out io.Writer) error { return whatif.WriteText(out, result, w.output.word == "wide") })
	if err != nil {
		return err
	}
	if result.Changed {
		return &exitcode.Exit{Code: exitFailed}
	}
	return nil
}

// asked is the question about a fleet.
func (w *wondering) asked(fleet *scenario.Scenario) *whatif.Config {
	return &whatif.Config{
		Fleet: fleet, Profile: w.profile, Set: w.config.overrideFlag, Seed: w.seed.value, Startup: time.Duration(w.startup), Changes: w.changes,
		Outage: whatif.Outage{Kind: messages.OutageKind(w.kind.word), For: time.Duration(w.lasts)}, By: w.by, Samples: int(w.samples), Read: manifestsOf,
	}
}

// manifestsOf reads the manifests of a file or a directory.
func manifestsOf(file string) ([]manifest.Document, error) {
	fleet, err := fleetOf([]string{file}, "")
	if err != nil {
		return nil, err
	}
	if fleet.Name != "" {
		return nil, errors.New("holds a Scenario: want manifests")
	}
	return fleet.Objects, nil
}
