package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/draft"
)

// drafting is one init command: its flags.
type drafting struct {
	files   []string
	out     string
	force   bool
	most    countFlag
	profile string
	set     overrideFlag
	seed    seedFlag
	kind    wordFlag
	startup spanFlag
	jobs    countFlag
}

func initCommand() *cobra.Command {
	d := &drafting{
		most: 5, seed: seedFlag{value: 1, set: true}, jobs: countFlag(runtime.NumCPU()), startup: spanFlag(30 * time.Second),
		kind: wordFlag{string(messages.OutagePower), []string{string(messages.OutagePower), string(messages.OutageNetwork), string(messages.OutageAPIServer)}},
	}
	c := &cobra.Command{
		Use:   "init -f FILE|DIR...",
		Short: "Write the first scenarios of a fleet: its worst outages, with expectations that hold today",
		Long: `Write the first scenarios of a fleet: the outages that leeward assess finds worst, each as a scenario, with expectations
that hold today: which workloads are evicted, and when, where they run in the end, and how many replicas are available.
leeward replay of the file passes as it is. Make of the expectations what you want to hold.

The fleet is read from files (-f): manifests, the output of kubectl get -o yaml, or one scenario, whose timeline is
ignored. Manifests are included, by paths relative to the file that is written (--out) or to this folder; what only a
scenario has is copied. Without --out it is written to standard output.

Exit codes:
  0  the scenarios were written
  1  interrupted
  2  a manifest, a scenario or the command line is invalid, or the file exists
  3  an internal error, or a file that cannot be read or written`,
		Example: `  leeward init -f docs/examples/fleet.yaml                       # print the scenarios
  leeward init -f docs/examples/fleet.yaml --out first.yaml && leeward replay first.yaml
  leeward init -f docs/examples/fleet.yaml --most 10 --kind network --profile karmada
  kubectl get clusters,clustertaintpolicies,resourcebindings -A -o yaml > dump.yaml && leeward init -f dump.yaml --out first.yaml`,
		Args: cobra.NoArgs,
		RunE: d.run,
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringArrayVarP(&d.files, "filename", "f", nil, "manifests, a dump, a scenario, or a directory of manifests; may be given again")
	f.StringVar(&d.out, "out", "", "file to write to (default: standard output)")
	f.BoolVar(&d.force, "force", false, "replace the file of --out if it exists")
	f.Var(&d.most, "most", "scenarios to write at the most, of the worst outages")
	f.Var(&d.kind, "kind", "what fails: power (copies die), network (the cluster is silent) or apiserver")
	f.Var(&d.startup, "startup", "virtual time that a copy takes to become healthy, where a scenario does not say it")
	f.StringVar(&d.profile, "profile", "", "profile of settings (default: the scenario's, or leeward)")
	f.Var(&d.set, "set", "setting to change, as field=value; may be given again")
	f.Var(&d.seed, "seed", "seed of the scenarios; expectations hold under the next two, too")
	f.Var(&d.jobs, "jobs", "outages that are assessed at the same time")
	for _, flag := range []string{"filename", "out"} {
		if err := c.MarkFlagFilename(flag, "yaml", "yml", "json"); err != nil {
			panic(fmt.Sprintf("complete --%s: %v", flag, err))
		}
	}
	complete(c, "profile", config.Profiles())
	complete(c, "kind", d.kind.choices)
	return c
}

func (d *drafting) run(c *cobra.Command, _ []string) error {
	if len(d.files) == 0 {
		return misused(c, errors.New("name files with -f: manifests, a dump or a scenario"))
	}
	if _, problems := config.Resolve(d.profile, d.set); len(problems) > 0 {
		return misused(c, errors.Join(problems...))
	}
	if d.out != "" {
		if err := mayWrite(d.out, d.force); err != nil {
			return err
		}
	}
	var files []string
	for _, path := range d.files {
		some, err := filesOf(path)
		if err != nil {
			return ofInput(err)
		}
		files = append(files, some...)
	}
	fleet, err := readFleet(files)
	if err != nil {
		return ofInput(err)
	}
	result, err := d.write(c, fleet, files)
	var wrong *assess.Invalid
	switch {
	case errors.As(err, &wrong), isInvalid(err):
		return invalid(fmt.Errorf("%s: %w", strings.Join(d.files, ", "), err))
	case errors.Is(err, context.Canceled):
		return &exitcode.Exit{Code: exitFailed, Err: errors.New("leeward: interrupted: nothing was written")}
	case err != nil:
		return internal(err)
	}
	return d.tell(c, result)
}

// write drafts the scenarios.
func (d *drafting) write(c *cobra.Command, fleet *scenario.Scenario, files []string) (*draft.Draft, error) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	progress := progressOn(c.ErrOrStderr())
	return draft.Write(ctx, draft.Config{
		Source: scenario.Disk, Fleet: fleet, Files: files, Dir: filepath.Dir(d.out), Most: int(d.most), Command: d.command(),
		Assess: assess.Config{
			Profile: d.profile, Set: d.set, Seed: d.seed.value, Outage: messages.OutageKind(d.kind.word), Startup: time.Duration(d.startup),
			Jobs: int(d.jobs), Progress: progress,
		},
	})
}

// tell writes the scenarios where they belong.
func (d *drafting) tell(c *cobra.Command, result *draft.Draft) error {
	stdout := c.OutOrStdout()
	if d.out == "" {
		if _, err := stdout.Write(result.YAML); err != nil {
			return internal(err)
		}
		return nil
	}
	if err := writeWhole(d.out, result.YAML, d.force); err != nil {
		return internal(err)
	}
	_, err := fmt.Fprintf(stdout, "wrote %s: %s, %s that hold today\nrun them: leeward replay %s\n", d.out,
		count(result.Scenarios, "scenario"), count(result.Expectations, "expectation"), shellWord(d.out))
	if err != nil {
		return internal(err)
	}
	return nil
}

// command repeats the command, without where it writes.
func (d *drafting) command() string {
	words := []string{"leeward init"}
	for _, file := range d.files {
		words = append(words, "-f "+shellWord(file))
	}
	if d.profile != "" {
		words = append(words, "--profile "+shellWord(d.profile))
	}
	for _, o := range overrides(d.set) {
		words = append(words, "--set "+shellWord(o))
	}
	return strings.ReplaceAll(strings.Join(words, " "), "\n", " ")
}
