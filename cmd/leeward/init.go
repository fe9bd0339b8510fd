package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/messages"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/draft"
)

// drafting is one init command: its flags.
type drafting struct {
	from    fleetSource
	out     string
	force   bool
	most    countFlag
	profile string
	set     overrideFlag
	seed    seedFlag
	kind    wordFlag
	startup spanFlag
	jobs    countFlag
	output  wordFlag
}

func initCommand() *cobra.Command {
	d := &drafting{
		most: 5, seed: seedFlag{value: 1, set: true}, jobs: countFlag(runtime.NumCPU()), startup: spanFlag(30 * time.Second),
		kind:   outageFlag(),
		output: wordFlag{"text", []string{"text", "json", "yaml"}},
	}
	c := &cobra.Command{
		Use:   "init [-f FILE|DIR...]",
		Short: "Write the first scenarios of a fleet: its worst outages, with expectations that hold today",
		Long: `Write the first scenarios of a fleet: the outages that leeward assess finds worst, each as a scenario, with expectations
that hold today: which workloads are evicted, and when, where they run in the end, and how many replicas are available.
leeward replay of the file passes as it is. Make of the expectations what you want to hold.

` + fromFleetDoc + ` Manifests
are included, by paths relative to the file that is written (--out) or to this folder; what a scenario, an export, a
recording or a server has is written into the file. Without --out it is written to standard output.

Exit codes:
  0  the scenarios were written
  1  the server refuses to list the fleet
  2  a manifest, a scenario or the command line is invalid, or the file exists
  3  an internal error, or a file that cannot be read or written`,
		Example: `  leeward init --out first.yaml                                  # the fleet of the current kubeconfig
  leeward init -f docs/examples/fleet.yaml                       # print the scenarios
  leeward init -f docs/examples/fleet.yaml --out first.yaml && leeward replay first.yaml
  leeward init -f docs/examples/fleet.yaml --most 10 --kind network --profile karmada
  kubectl get clusters,clustertaintpolicies,propagationpolicies,resourcebindings,deployments -A -o yaml > dump.yaml && leeward init -f dump.yaml --out first.yaml`,
		Args: filesByFlag,
		RunE: d.run,
	}
	f := c.Flags()
	f.SortFlags = false
	d.from.add(c)
	d.from.addScenario(c)
	f.StringVar(&d.out, "out", "", "file to write to (default: standard output)")
	f.BoolVar(&d.force, "force", false, "replace the file of --out if it exists")
	f.Var(&d.most, "most", "scenarios to write at the most, of the worst outages")
	d.kind.add(c, "kind", "", "what fails: power (copies die), network (the cluster is silent) or apiserver")
	f.Var(&d.startup, "startup", "virtual time that a copy takes to become healthy, where a scenario does not say it")
	profileFlag(c, &d.profile, "profile of settings (default: the scenario's, or leeward)")
	f.Var(&d.set, "set", "setting to change, as field=value; may be given again")
	f.Var(&d.seed, "seed", "seed of the scenarios; expectations hold under the next two, too")
	f.Var(&d.jobs, "jobs", "outages that are assessed at the same time")
	d.output.add(c, "output", "o", "with --out, how to tell what was written: text, json or yaml")
	completeFilesOf(c, "out", "yaml", "yml")
	return c
}

func (d *drafting) run(c *cobra.Command, _ []string) error {
	_, problems := config.Resolve(d.profile, d.set)
	if d.output.word != "text" && d.out == "" {
		problems = append(problems, errors.New("-o is for --out: without it, the scenarios themselves are written, in YAML"))
	}
	if err := errors.Join(append(problems, d.from.check())...); err != nil {
		return misused(c, err)
	}
	if d.out != "" {
		if err := mayWrite(d.out, d.force); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	fleet, err := d.from.read(ctx, c.ErrOrStderr())
	if err != nil {
		return err
	}
	files, err := d.included()
	if err != nil {
		return ofInput(err)
	}
	progress, wipe := progressOn(c.ErrOrStderr())
	result, err := draft.Write(ctx, draft.Config{
		Source: scenario.Disk, Fleet: fleet, Files: files, Dir: filepath.Dir(d.out), Most: int(d.most), Command: d.command(),
		Assess: assess.Config{
			Profile: d.profile, Set: d.set, Seed: d.seed.value, Outage: messages.OutageKind(d.kind.word), Startup: time.Duration(d.startup),
			Jobs: int(d.jobs), Progress: progress,
		},
	})
	wipe()
	if err != nil {
		return unfinished(err, &d.from, "written")
	}
	return d.tell(c, result)
}

// included are the files that a scenario can include; none where one is an export, a recording, a pipe or standard input, or where there
// are no files.
func (d *drafting) included() ([]string, error) {
	files, err := filesIn(d.from.files)
	if slices.ContainsFunc(files, func(name string) bool { return name == stdin || filepath.Ext(name) == ".jsonl" || isPipe(name) }) {
		return nil, err
	}
	return files, err
}

// written is what was written where.
type written struct {
	File string `json:"file"`
	*draft.Draft
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
	return printed(stdout, d.output.word, &written{d.out, result}, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "wrote %s: %s, %s that hold today\nrun them: leeward replay %s\n", d.out,
			spelling.Count(len(result.Scenarios), "scenario"), spelling.Count(result.Expectations, "expectation"), shellWord(d.out))
		return err
	})
}

// command repeats the command, without where it writes.
func (d *drafting) command() string {
	words := append([]string{"leeward init"}, d.from.words()...)
	if d.profile != "" {
		words = append(words, "--profile "+shellWord(d.profile))
	}
	for _, o := range overrides(d.set) {
		words = append(words, "--set "+shellWord(o))
	}
	return strings.ReplaceAll(strings.Join(words, " "), "\n", " ")
}
