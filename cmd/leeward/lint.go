package main

import (
	"bufio"
	"bytes"
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
	files   []string
	profile string
	set     overrideFlag
	output  wordFlag
	witness string
	fix     bool
	rules   bool
}

func lintCommand() *cobra.Command {
	l := &linting{output: wordFlag{"text", []string{"text", "json", "sarif", "github"}}}
	c := &cobra.Command{
		Use:   "lint -f FILE|DIR...",
		Short: "Find policies, placements and budgets that do not do what they seem to",
		Long: `Find policies, placements, budgets and scenarios that are valid, and yet do not do what they seem to: conditions that
overlap, taints that no policy removes, tolerations that match nothing, placements that no cluster satisfies. Each finding
has its rule, severity, file and line, says why and what to change, and has a witness: a scenario that shows the fault.

A scenario is linted with all that belongs to it, under its own profile; all other manifests together are one fleet. A
directory means all *.yaml, *.yml and *.json files below it. Rules that need Clusters run where Clusters are given. The
annotation leeward.dev/lint-ignore: LW003,LW007 on an object suppresses what these rules find of it.

Exit codes:
  0  no finding of severity warning or error
  1  one at least
  2  a manifest, a scenario or the command line is invalid
  3  an internal error, or a file that cannot be read or written`,
		Example: `  leeward lint -f docs/examples/fleet.yaml
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
	f.StringArrayVarP(&l.files, "filename", "f", nil, "manifests, a dump, scenarios, or a directory; may be given again, or as arguments")
	f.StringVar(&l.profile, "profile", "", "profile of settings (default: the scenario's, or leeward)")
	f.Var(&l.set, "set", "setting to change, as field=value; may be given again")
	f.StringVar(&l.witness, "witness", "", "directory to write one scenario per finding to, which shows the fault")
	f.BoolVar(&l.fix, "fix", false, "rewrite files where a fix is mechanical, comments kept; without it, text output only prints the difference")
	f.BoolVar(&l.rules, "rules", false, "list all rules")
	f.VarP(&l.output, "output", "o", "text, json, sarif or github")
	if err := c.MarkFlagFilename("filename", "yaml", "yml", "json"); err != nil {
		panic(fmt.Sprintf("complete --filename: %v", err))
	}
	if err := c.MarkFlagDirname("witness"); err != nil {
		panic(fmt.Sprintf("complete --witness: %v", err))
	}
	complete(c, "profile", config.Profiles())
	complete(c, "output", l.output.choices)
	return c
}

func (l *linting) run(c *cobra.Command, args []string) error {
	if l.rules {
		return lint.WriteRules(c.OutOrStdout())
	}
	paths := slices.Concat(l.files, args)
	if len(paths) == 0 {
		return misused(c, errors.New("name files with -f: manifests, a dump or scenarios"))
	}
	if _, problems := config.Resolve(l.profile, l.set); len(problems) > 0 {
		return misused(c, errors.Join(problems...))
	}
	files, err := lintFiles(paths)
	if err != nil {
		return ofInput(err)
	}
	fleets, apart, problems := lint.Read(scenario.Disk, files)
	if len(problems) > 0 {
		return invalid(problems)
	}
	if apart {
		say(c.ErrOrStderr(), "lint: some of these files define the same objects: each is linted by itself\n")
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
		return internal(err)
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

// lintFiles are the files that paths name. In a directory, configuration files of leewardd hold nothing to lint.
func lintFiles(paths []string) (files []string, err error) {
	for _, path := range paths {
		some, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, file := range some {
			if file != path {
				data, err := os.ReadFile(file)
				if err != nil {
					return nil, err
				}
				if fields, _ := config.Read(bytes.NewReader(data), file); isConfiguration(fields) {
					continue
				}
			}
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

func (l *linting) write(stdout io.Writer, report *lint.Report) error {
	out := bufio.NewWriter(stdout)
	write := map[string]func(io.Writer, *lint.Report) error{
		"text": lint.WriteText, "json": lint.WriteJSON, "sarif": lint.WriteSARIF, "github": lint.WriteGitHub,
	}[l.output.word]
	if err := write(out, report); err != nil {
		return err
	}
	return out.Flush()
}

// mend prints the difference that mechanical fixes make, and rewrites the files only with --fix.
func (l *linting) mend(out io.Writer, report *lint.Report) error {
	if !l.fix && l.output.word != "text" {
		return nil
	}
	of := map[string][]*lint.Finding{}
	var files []string
	for _, f := range report.Findings {
		if f.Edit == nil {
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
