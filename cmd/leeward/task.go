package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// task is one scenario under one seed.
type task struct {
	scenario *scenario.Scenario
	seed     uint64
	// transcripts are those beside the scenario's file.
	transcripts *transcripts
}

// loadScenarios reads all scenarios, or returns every problem of all files, as validate does. Of the paths, some need hold
// none.
func loadScenarios(paths []string, mayHoldNone map[string]bool, stderr io.Writer) ([]*scenario.Scenario, error) {
	var all []*scenario.Scenario
	var problems manifest.Problems
	for _, path := range paths {
		scenarios, skipped, wrong := scenario.Find(path)
		tellSkipped(stderr, skipped)
		if len(wrong) == 1 && wrong[0].Message == scenario.NoScenario && mayHoldNone[path] {
			wrong = nil
		}
		all, problems = append(all, scenarios...), append(problems, wrong...)
	}
	if len(problems) == 0 {
		return all, nil
	}
	settings, _ := config.Resolve("", nil)
	v := &validating{}
	v.report(problems)
	for _, s := range all {
		v.scenario(s)
	}
	for _, name := range spoilt(problems, all) {
		if data, err := os.ReadFile(name); err == nil {
			v.manifests(name, data, &settings)
		}
	}
	return nil, ofInput(errors.Join(v.problems...))
}

// mostSkipped is how many files that are skipped are told of one directory.
const mostSkipped = 50

// tellSkipped says which files hold nothing to run, and why.
func tellSkipped(stderr io.Writer, skipped []scenario.Skipped) {
	for i, s := range skipped {
		if i == mostSkipped {
			say(stderr, fmt.Sprintf("skipped %d more\n", len(skipped)-i))
			return
		}
		say(stderr, fmt.Sprintf("skipped %s: %s\n", s.File, journal.Printable(s.Reason)))
	}
}

// spoilt are the files with problems that no scenario can be read from.
func spoilt(problems manifest.Problems, scenarios []*scenario.Scenario) []string {
	var files []string
	for _, p := range problems {
		readable := slices.ContainsFunc(scenarios, func(s *scenario.Scenario) bool { return s.File == p.File })
		if !readable && !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	return files
}

// tasks are all that must be run, in order.
func (r *replaying) tasks(scenarios []*scenario.Scenario) []task {
	beside := transcriptsBeside(scenarios)
	var tasks []task
	for _, s := range scenarios {
		first := s.Seed
		if r.seed.set {
			first = r.seed.value
		}
		for i := range uint64(r.seeds) {
			tasks = append(tasks, task{s, first + i, beside[s.File]})
		}
	}
	return tasks
}

// own reports whether a task is what its scenario asks for, so that its transcript counts.
func (r *replaying) own(t task) bool { return t.seed == t.scenario.Seed && !r.overrides() }

// play runs a task once.
func (r *replaying) play(t task) (run *replay.Run) {
	defer func() {
		if p := recover(); p != nil {
			run = t.lost(fmt.Errorf("panic: %v", p))
		}
	}()
	run, err := replay.Play(t.scenario, replay.Options{
		Seed: t.seed, Profile: r.profile, Set: r.set, Until: time.Duration(r.until),
	})
	if err != nil {
		return t.lost(err)
	}
	r.hold(t.scenario, run)
	if r.axes == nil { // of a sweep only figures are wanted
		run.Explained = r.explain(t, run)
	}
	return run
}

// lost is a run that came to nothing.
func (t task) lost(err error) *replay.Run {
	s := t.scenario
	if !isInvalid(err) {
		err = fmt.Errorf("replay %s of %s with seed %d: %w", s.Name, s.File, t.seed, err)
	}
	return &replay.Run{Name: s.Name, Description: s.Description, File: s.File, Seed: t.seed, Profile: s.Profile, Err: err}
}

// isInvalid reports whether an error is the scenario's fault.
func isInvalid(err error) bool {
	return errors.As(err, new(*world.Invalid))
}

// command returns what repeats a task.
func (r *replaying) command(t task) string {
	words := []string{"leeward", "replay", shellWord(t.scenario.File), "--seed", strconv.FormatUint(t.seed, 10)}
	if r.profile != "" {
		words = append(words, "--profile", shellWord(r.profile))
	}
	for _, o := range r.set {
		words = append(words, "--set", shellWord(fmt.Sprintf("%s=%v", o.Field, o.Value)))
	}
	if r.until != 0 {
		words = append(words, "--until", span.String(time.Duration(r.until)))
	}
	for _, file := range r.with {
		words = append(words, "--with", shellWord(file))
	}
	if r.determinism {
		words = append(words, "--check-determinism")
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word that a shell would take apart.
func shellWord(s string) string {
	special := func(r rune) bool {
		isPlain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !isPlain && !strings.ContainsRune("-_./=:,@%+", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
