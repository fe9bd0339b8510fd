package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"leeward/cmd/internal/exitcode"
	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/difference"
)

// diffing is one diff command: its flags.
type diffing struct {
	files   []string
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
		kind:   wordFlag{string(messages.OutagePower), []string{string(messages.OutagePower), string(messages.OutageNetwork), string(messages.OutageAPIServer)}},
		output: wordFlag{"text", []string{"text", "wide", "json", "yaml", "github"}},
	}
	c := &cobra.Command{
		Use:   "diff [A B | REVISION..REVISION]",
		Short: "Predict what differs when the same outage is played under two sides",
		Long: `Predict what differs when the same outage is played under two sides, A and B: in outcome first, then the first decision that
differs, with both reasons. B is judged against A: better, worse, mixed or same, and by which figure. Both sides
run on a virtual clock, with the same seed. Nothing is written, and each line that is a prediction says so.

The sides are one of:
  A B                     two scenarios, two recordings (.jsonl), or two files or directories of manifests
  A B -f FLEET            one fleet, and two files or directories of manifests on top of it
  -f FLEET                one fleet, scenario or recording, with flags of which a value has two sides: --profile a..b,
                          --set field=a..b, --with a.yaml..b.yaml. An empty side (field=..b) is the fleet as it is
  REVISION..REVISION -f   files or directories of two git revisions; an empty side is HEAD
A value without .. is for both sides.

What fails is the timeline of a scenario or a recording. Without a timeline it is what --lose names, or else each
cluster, region, zone and provider in turn, as in leeward assess, and the contingencies are compared.

Exit codes:
  0  no difference
  1  they differ
  2  a manifest, a scenario, a revision or the command line is invalid
  3  an internal error, or a file that cannot be read`,
		Example: `  leeward diff -f docs/examples/fleet.yaml --with ..docs/examples/fleet-policies.yaml
  leeward diff -f docs/examples/fleet.yaml --with ..docs/examples/fleet-policies.yaml --lose cluster=eu-2 --for 20m
  leeward diff -f docs/examples/fleet.yaml --profile karmada..leeward --lose region=eu
  leeward diff -f scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --set allowNoExecuteTaintPolicy=true --set evictionWorkers=1..10 # its own timeline
  leeward diff -f docs/examples/fleet.yaml --set evictionWorkers=1..10 -o wide
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
	f.StringArrayVarP(&d.files, "filename", "f", nil, "the fleet of both sides: manifests, a dump, a scenario, a recording or a directory; may be given again")
	f.StringVar(&d.profile, "profile", "", "profile of settings, or two, as a..b (default: the fleet's, or leeward)")
	f.StringArrayVar(&d.set, "set", nil, "setting to change, as field=value or field=a..b; may be given again")
	f.StringArrayVar(&d.with, "with", nil, "manifests on top of the fleet, as FILE or A..B; may be given again")
	f.StringArrayVar(&d.lose, "lose", nil, "what fails, as cluster=, zone=, region= or provider=NAME; several fail together")
	f.Var(&d.kind, "kind", "what an outage is: power (copies die), network (the cluster is silent) or apiserver")
	f.Var(&d.lasts, "for", "with --lose: how long the outage lasts (default: it has no end)")
	f.Var(&d.startup, "startup", "without a timeline: virtual time that a copy takes to become healthy, where a scenario does not say it")
	f.Var(&d.seed, "seed", "seed of both sides")
	f.Var(&d.jobs, "jobs", "contingencies that run at the same time")
	f.VarP(&d.output, "output", "o", "text, wide, json, yaml, or github: a comment in Markdown")
	if err := c.MarkFlagFilename("filename", "yaml", "yml", "json", "jsonl"); err != nil {
		panic(fmt.Sprintf("complete --filename: %v", err))
	}
	if err := c.MarkFlagFilename("with", "yaml", "yml", "json"); err != nil {
		panic(fmt.Sprintf("complete --with: %v", err))
	}
	var pairs, losses []string
	for _, a := range config.Profiles() {
		pairs = append(pairs, a)
		for _, b := range config.Profiles() {
			if a != b {
				pairs = append(pairs, a+sidesApart+b)
			}
		}
	}
	for _, kind := range assess.Kinds() {
		losses = append(losses, kind+"=")
	}
	complete(c, "profile", pairs)
	complete(c, "lose", losses)
	complete(c, "kind", d.kind.choices)
	complete(c, "output", d.output.choices)
}

func (d *diffing) run(c *cobra.Command, args []string) error {
	sides, err := d.parse(args)
	if err != nil {
		return misused(c, err)
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	stderr := c.ErrOrStderr()
	of := difference.Config{
		Lose: sides.lose, Seed: d.seed.value, Outage: messages.OutageKind(d.kind.word), For: time.Duration(d.lasts),
		Startup: time.Duration(d.startup), Jobs: int(d.jobs),
	}
	if of.A, err = sides.a.read(ctx, stderr); err == nil {
		of.B, err = sides.b.read(ctx, stderr)
	}
	if err != nil {
		return ofInput(err)
	}
	if isTerminal(stderr) {
		of.Progress = func(done, of int) { say(stderr, fmt.Sprintf("\r\x1b[K%d of %d", done, of)) }
	}
	result, err := difference.Run(ctx, of)
	if of.Progress != nil {
		say(stderr, "\r\x1b[K")
	}
	var wrong *assess.Invalid
	var fault *world.Invalid
	switch {
	case errors.As(err, &wrong), errors.As(err, &fault):
		return invalid(fmt.Errorf("leeward: %w", err))
	case errors.Is(err, context.Canceled):
		return &exitcode.Exit{Code: exitFailed, Err: errors.New("leeward: interrupted: nothing was compared to its end")}
	case err != nil:
		return internal(err)
	}
	if err := d.write(c.OutOrStdout(), result); err != nil {
		return internal(err)
	}
	if result.Differ {
		return &exitcode.Exit{Code: exitFailed}
	}
	return nil
}

// write prints the difference in the form that is asked for.
func (d *diffing) write(stdout io.Writer, result *difference.Difference) error {
	out := bufio.NewWriter(stdout)
	var err error
	switch d.output.word {
	case "json":
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		err = e.Encode(result)
	case "yaml":
		var text []byte
		if text, err = yaml.Marshal(result); err == nil {
			_, err = out.Write(text)
		}
	case "github":
		err = difference.WriteGitHub(out, result)
	default:
		err = difference.WriteText(out, result, d.output.word == "wide")
	}
	if err != nil {
		return err
	}
	return out.Flush()
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
