package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/lint"
)

// linting is one lint command: its flags.
type linting struct {
	from    fleetSource
	profile string
	set     overrideFlag
	output  wordFlag
	witness string
	fix     bool
	rules   bool
}

func lintCommand() *cobra.Command {
	l := &linting{output: wordFlag{"text", []string{"text", "json", "yaml", "sarif", "github"}}}
	c := &cobra.Command{
		Use:   "lint [-f FILE|DIR...]",
		Short: "Find policies, placements and budgets that do not do what they seem to",
		Long: `Find policies, placements, budgets and scenarios that are valid, and yet do not do what they seem to: conditions that
overlap, taints that no policy removes, tolerations that match nothing, placements that no cluster satisfies. Each finding
has its rule, severity, file and line, says why and what to change, and has a witness: a scenario that shows the fault.

` + fromFleetDoc + ` Each scenario
is linted with all that belongs to it, its timeline included, under its own profile; all other manifests together are one
fleet. Where no file was written, a finding names the object in place of file and line. Rules that need Clusters run where
Clusters are given. The annotation leeward.dev/lint-ignore: LW003,LW007 on an object suppresses what these rules find of it.

Exit codes:
  0  no finding of severity warning or error
  1  one at least, or the server refuses to list the fleet
  2  a manifest, a scenario or the command line is invalid
  3  an internal error, or a file that cannot be read or written`,
		Example: `  leeward lint                                      # the fleet of the current kubeconfig
  leeward lint -f docs/examples/fleet.yaml
  leeward lint scenarios/policies -o github         # annotations for a pull request
  leeward lint -f docs/examples --profile karmada -o sarif > lint.sarif
  leeward lint -f docs/examples/fleet.yaml --witness witnesses # one scenario per finding
  leeward lint -f docs/examples/taint-policy.yaml --fix # prints what it rewrites
  leeward lint --rules`,
		ValidArgsFunction: completeFiles,
		RunE:              l.run,
	}
	f := c.Flags()
	f.SortFlags = false
	l.from.add(c)
	profileFlag(c, &l.profile, "profile of settings (default: the scenario's, or leeward)")
	f.Var(&l.set, "set", "setting to change, as field=value; may be given again")
	f.StringVar(&l.witness, "witness", "", "directory to write one scenario per finding to, which shows the fault")
	f.BoolVar(&l.fix, "fix", false, "rewrite files where a fix is mechanical, comments kept; without it, text output only prints the difference")
	f.BoolVar(&l.rules, "rules", false, "list all rules, as text, JSON or YAML")
	l.output.add(c, "output", "o", "text, json, yaml, sarif or github")
	if err := c.MarkFlagDirname("witness"); err != nil {
		panic(fmt.Sprintf("complete --witness: %v", err))
	}
	return c
}

func (l *linting) run(c *cobra.Command, args []string) error {
	if l.rules {
		return l.printRules(c)
	}
	l.from.files = slices.Concat(l.from.files, args)
	if err := l.check(); err != nil {
		return misused(c, err)
	}
	fleets, err := l.read(c.Context(), c.ErrOrStderr())
	if err != nil {
		return err
	}
	report, err := lint.Run(fleets, lint.Options{Profile: l.profile, Set: l.set})
	if err != nil {
		return invalid(err)
	}
	if l.witness != "" {
		if err := writeWitnesses(l.witness, report); err != nil {
			return internal(err)
		}
	}
	if err := l.write(c.OutOrStdout(), report); err != nil {
		return err
	}
	diffs := c.ErrOrStderr()
	if l.output.word == "text" {
		diffs = c.OutOrStdout()
	}
	if err := l.mend(diffs, report); err != nil {
		return internal(err)
	}
	if report.Failed() {
		return &exitcode.Exit{Code: exitFailed}
	}
	return nil
}

// printRules lists the rules, in a form that is not about findings.
func (l *linting) printRules(c *cobra.Command) error {
	if l.output.word == "sarif" || l.output.word == "github" {
		return misused(c, errors.New("--rules lists rules, and no findings: -o must be text, json or yaml"))
	}
	rules := struct {
		Rules []lint.Rule `json:"rules"`
	}{lint.Rules()}
	return printed(c.OutOrStdout(), l.output.word, rules, lint.WriteRules)
}

// check reports what makes no sense.
func (l *linting) check() error {
	_, problems := config.Resolve(l.profile, l.set)
	if l.fix && l.from.live() {
		problems = append(problems, errors.New("--fix rewrites files: name them with -f"))
	}
	return errors.Join(append(problems, l.from.check())...)
}

// read returns the fleets to lint: of files, each scenario and the other manifests, or else that of a recording or a server. The error
// has its exit code.
func (l *linting) read(ctx context.Context, stderr io.Writer) ([]*scenario.Scenario, error) {
	if l.from.live() {
		fleet, err := l.from.read(ctx, stderr)
		return []*scenario.Scenario{fleet}, err
	}
	files, err := filesIn(l.from.files)
	if err != nil {
		return nil, ofInput(err)
	}
	switch fleet, err := soleRecording(files); {
	case err != nil:
		return nil, ofInput(err)
	case fleet != nil:
		return []*scenario.Scenario{fleet}, nil
	}
	fleets, apart, problems := lint.Read(fromDisk(mostRead), files)
	if len(problems) > 0 {
		return nil, invalid(problems)
	}
	if apart {
		say(stderr, "lint: some of these files define the same objects: each is linted by itself\n")
	}
	return fleets, nil
}

// write prints the report in the form that is asked for. The error has its exit code.
func (l *linting) write(stdout io.Writer, report *lint.Report) error {
	return printed(stdout, l.output.word, report, func(out io.Writer) error {
		switch l.output.word {
		case "sarif":
			return lint.WriteSARIF(out, report)
		case "github":
			return lint.WriteGitHub(out, report)
		}
		return lint.WriteText(out, report)
	})
}

// mend prints the difference that mechanical fixes make, and rewrites the files only with --fix.
func (l *linting) mend(out io.Writer, report *lint.Report) error {
	if !l.fix && l.output.word != "text" {
		return nil
	}
	of := map[string][]*lint.Finding{}
	var files []string
	for _, f := range report.Findings {
		if f.Edit == nil || f.Line == 0 {
			continue
		}
		if of[f.File] == nil {
			files = append(files, f.File)
		}
		of[f.File] = append(of[f.File], f)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		mended, changes := lint.Mend(data, of[file])
		if len(changes) == 0 {
			continue
		}
		if l.fix {
			if err := os.WriteFile(file, mended, info.Mode().Perm()); err != nil {
				return err
			}
		}
		text := fmt.Sprintf("--- %s\n+++ %s\n", file, file)
		for _, c := range changes {
			text += c.String()
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	return nil
}

// writeWitnesses writes a scenario for each finding, under its rule and number.
func writeWitnesses(dir string, report *lint.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	n := map[string]int{}
	for _, f := range report.Findings {
		name, text, err := f.Witness()
		if err != nil {
			return err
		}
		n[name]++
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.yaml", name, n[name])), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
