package main

import (
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario/difference"
)

// diffing is one diff command: its flags.
type diffing struct {
	from    fleetSource
	profile string
	set     []string
	with    []string
	lose    []string
	kind    wordFlag
	lasts   spanFlag
	startup spanFlag
	seed    seedFlag
	jobs    countFlag
	output  wordFlag
}

func diffCommand() *cobra.Command {
	d := &diffing{
		seed: seedFlag{value: 1, set: true}, jobs: countFlag(runtime.NumCPU()), startup: spanFlag(30 * time.Second),
		kind:   outageFlag(),
		output: wordFlag{"text", []string{"text", "wide", "json", "yaml", "github"}},
	}
	c := &cobra.Command{
		Use:   "diff [A B | REVISION..REVISION] [-f FLEET]",
		Short: "Predict what differs when the same outage is played under two sides",
		Long: `Predict what differs when the same outage is played under two sides, A and B: in outcome first, then the first decision that
differs, with both reasons. B is judged against A: better, worse, mixed or same, and by which figure. Both sides
run on a virtual clock, with the same seed. Nothing is written, and each line that is a prediction says so.

The sides are one of:
  A B                     two scenarios, recordings (.jsonl), or files or directories of manifests; main:FILE is that of a
                          git revision
  A B with a fleet        one fleet (-f, or a server by --context or --kubeconfig), and two files or directories of
                          manifests on top of it
  flags with two sides    one fleet, scenario or recording (-f, or else a server), and --profile a..b, --set field=a..b or
                          --with a.yaml..b.yaml. An empty side (field=..b) is the fleet as it is
  -f FILE                 the fleet of a server, as it is and with these manifests on top, as kubectl diff compares them
  REVISION..REVISION -f   files or directories of two git revisions; an empty side is HEAD
A value without .. is for both sides. A server is that of a kubeconfig, leewardd's or Karmada's; its objects are only listed.

What fails is the timeline of a scenario or a recording. Without a timeline it is what --lose names, or else each
cluster, region, zone and provider in turn, as in leeward assess, and the contingencies are compared. Where files hold several
scenarios, those of the same name are compared. Of two recordings, what was decided then is compared, too.

Exit codes:
  0  no difference
  1  they differ, or the server refuses to list its fleet
  2  a manifest, a scenario, a revision or the command line is invalid
  3  an internal error, or a file that cannot be read`,
		Example: `  leeward diff -f docs/examples/fleet.yaml --with ..docs/examples/fleet-policies.yaml
  leeward diff -f docs/examples/fleet.yaml --with ..docs/examples/fleet-policies.yaml --lose cluster=eu-2 --for 20m
  leeward diff -f docs/examples/fleet.yaml --profile karmada..leeward --lose region=eu
  leeward diff -f scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --set allowNoExecuteTaintPolicy=true --set evictionWorkers=1..10 # its own timeline
  leeward diff -f docs/examples/fleet.yaml --set evictionWorkers=1..10 -o wide
  leeward diff -f docs/examples/fleet-policies.yaml # the fleet of the current kubeconfig, as it is and with this applied
  leeward diff main:docs/examples/fleet.yaml docs/examples/fleet.yaml
  leeward diff main..HEAD -f docs/examples/fleet.yaml -o github # a comment for a pull request
  leeward diff docs/examples/taint-policy.yaml docs/examples/fleet-policies.yaml -f docs/examples/fleet.yaml --lose provider=north`,
		Args:              cobra.MaximumNArgs(2),
		RunE:              d.run,
		ValidArgsFunction: completeFiles,
	}
	d.flags(c)
	return c
}

func (d *diffing) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	d.from.add(c)
	f.StringVar(&d.profile, "profile", "", "profile of settings, or two, as a..b (default: the fleet's, or leeward)")
	f.StringArrayVar(&d.set, "set", nil, "setting to change, as field=value or field=a..b; may be given again")
	f.StringArrayVar(&d.with, "with", nil, "manifests on top of the fleet, as FILE or A..B; may be given again")
	f.StringArrayVar(&d.lose, "lose", nil, "what fails, as cluster=, zone=, region= or provider=NAME; several fail together")
	d.kind.add(c, "kind", "", "what an outage is: power (copies die), network (the cluster is silent) or apiserver")
	f.Var(&d.lasts, "for", "with --lose: how long the outage lasts (default: it has no end)")
	f.Var(&d.startup, "startup", "without a timeline: virtual time that a copy takes to become healthy, where a scenario does not say it")
	f.Var(&d.seed, "seed", "seed of both sides")
	f.Var(&d.jobs, "jobs", "contingencies that run at the same time")
	d.output.add(c, "output", "o", "text, wide, json, yaml, or github: a comment in Markdown")
	completeFilesOf(c, "with", "yaml", "yml", "json")
	var pairs []string
	for _, a := range config.Profiles() {
		pairs = append(pairs, a)
		for _, b := range config.Profiles() {
			if a != b {
				pairs = append(pairs, a+sidesApart+b)
			}
		}
	}
	complete(c, "profile", pairs)
	d.from.completeLosses(c, "lose")
}

func (d *diffing) run(c *cobra.Command, args []string) error {
	sides, err := d.parse(args)
	if err != nil {
		return misused(c, err)
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	stderr := c.ErrOrStderr()
	if err := sides.read(ctx, stderr); err != nil {
		return err
	}
	progress, wipe := progressOn(stderr)
	result, err := difference.Run(ctx, difference.Config{
		A: sides.a.side, B: sides.b.side, Lose: sides.lose, Seed: d.seed.value, Outage: messages.OutageKind(d.kind.word), For: time.Duration(d.lasts),
		Startup: time.Duration(d.startup), Jobs: int(d.jobs), Progress: progress,
	})
	wipe()
	if err != nil {
		return unfinished(err, sides, "compared to its end")
	}
	err = printed(c.OutOrStdout(), d.output.word, result, func(out io.Writer) error {
		if d.output.word == "github" {
			return difference.WriteGitHub(out, result)
		}
		return difference.WriteText(out, result, d.output.word == "wide")
	})
	if err == nil && result.Differ {
		err = &exitcode.Exit{Code: exitFailed}
	}
	return err
}

// sidesApart is between the two sides of a value.
const sidesApart = ".."

// cutSides reads "a..b". Two is false where there is no .. that is not a part of a path, such as "../fleet.yaml".
func cutSides(text string) (a, b string, two bool) {
	for at := 0; at+len(sidesApart) <= len(text); at++ {
		rest, ofPath := strings.CutPrefix(text[at:], sidesApart)
		switch {
		case !ofPath, at > 0 && text[at-1] == '/', at == 0 && (rest == "" || rest[0] == '/'):
			continue
		}
		return text[:at], rest, true
	}
	return text, text, false
}
