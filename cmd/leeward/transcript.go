package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"leeward/messages/spelling"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/report"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// transcripts are the recorded timelines that the scenarios of one file must have. They lie beside it: those of
// first.yaml in first.golden. That of one scenario is there alone; those of several are the sections
// of a txtar archive, each under its scenario's name.
type transcripts struct {
	name string
	// scenarios of the file, in its order.
	scenarios []string
	// timelines by scenario, read when the first is asked for; changed is set while some are not written yet.
	recorded map[string][]byte
	changed  bool
}

// transcriptsBeside returns the transcripts of every file that holds one of the scenarios.
func transcriptsBeside(scenarios []*scenario.Scenario) map[string]*transcripts {
	beside := map[string]*transcripts{}
	for _, s := range scenarios {
		t := beside[s.File]
		if t == nil {
			t = &transcripts{name: strings.TrimSuffix(s.File, filepath.Ext(s.File)) + ".golden"}
			beside[s.File] = t
		}
		t.scenarios = append(t.scenarios, s.Name)
	}
	return beside
}

// read reads the timelines. A file that is not there holds none.
func (t *transcripts) read() error {
	if t.recorded != nil {
		return nil
	}
	text, err := os.ReadFile(t.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read transcript: %w", err)
	}
	t.recorded = map[string][]byte{}
	switch {
	case err != nil:
	case len(t.scenarios) == 1:
		t.recorded[t.scenarios[0]] = text
	default:
		for _, section := range txtar.Parse(text).Files {
			t.recorded[section.Name] = section.Data
		}
	}
	return nil
}

// record takes a timeline over, to be written with the others of its file.
func (t *transcripts) record(scenario string, transcript []byte) {
	t.recorded[scenario] = transcript
	t.changed = true
}

// text is the whole file: every timeline of a scenario that there is.
func (t *transcripts) text() []byte {
	if len(t.scenarios) == 1 {
		return t.recorded[t.scenarios[0]]
	}
	archive := &txtar.Archive{}
	for _, name := range t.scenarios {
		if transcript, found := t.recorded[name]; found {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: transcript})
		}
	}
	return txtar.Format(archive)
}

// write replaces a file whose timelines changed, whole or not at all, also where it is interrupted.
func (t *transcripts) write(stderr io.Writer) error {
	if !t.changed {
		return nil
	}
	t.changed = false
	unfinished := t.name + ".tmp"
	if err := os.WriteFile(unfinished, t.text(), 0o644); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	if err := os.Rename(unfinished, t.name); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	say(stderr, "wrote "+t.name+"\n")
	return nil
}

// transcribe holds a run against its transcript, or records it, and writes what was recorded when it was the
// last of its file.
func (r *replaying) transcribe(tasks []task, i int, run *replay.Run, stderr io.Writer) error {
	t := tasks[i].transcripts
	if err := r.transcript(tasks[i], run); err != nil {
		return err
	}
	if i+1 < len(tasks) && tasks[i+1].transcripts == t {
		return nil
	}
	return t.write(stderr)
}

// transcript holds a run against the transcript of its scenario, or records it.
func (r *replaying) transcript(t task, run *replay.Run) error {
	if !r.own(t) || run.Err != nil {
		return nil
	}
	var now bytes.Buffer
	if err := report.WriteTranscript(&now, run, journal.Style{}); err != nil {
		return err
	}
	if err := t.transcripts.read(); err != nil {
		return err
	}
	recorded, found := t.transcripts.recorded[t.scenario.Name]
	switch {
	case found && bytes.Equal(recorded, now.Bytes()), !found && !r.update:
	case r.update:
		t.transcripts.record(t.scenario.Name, slices.Clone(now.Bytes()))
	default:
		run.Expect(replay.ExpectationResult{
			Text: "transcript " + t.transcripts.name, File: t.transcripts.name,
			Reason: differences(t.transcripts.name, recorded, now.Bytes()) +
				"accept it: leeward replay " + shellWord(t.scenario.File) + " --update",
		})
	}
	return nil
}

// differences returns the first lines in which two transcripts differ.
func differences(name string, recorded, now []byte) string {
	const most = 16
	text := string(diff.Diff(name, recorded, "this run", now))
	_, text, _ = strings.Cut(text, "\n") // the line that would be a command
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > most {
		lines = append(lines[:most], "...\n")
	}
	return strings.Join(lines, "")
}

// compare runs a task once more, on another number of CPUs, and makes any difference the run's error.
func (r *replaying) compare(t task, run *replay.Run) {
	cpus := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(otherThan(cpus))
	again := r.play(t)
	runtime.GOMAXPROCS(cpus)
	if err := sameRun(run, again); err != nil {
		run.Passed, run.Err = false, t.lost(err).Err
	}
}

// otherThan is another number of CPUs: one, or two if it is one.
func otherThan(cpus int) int { return max(1, 3-cpus) }

// tellSame says how many runs were made twice, where none came out otherwise.
func (o *results) tellSame(stderr io.Writer) {
	if len(o.errors) > 0 {
		return
	}
	cpus := runtime.GOMAXPROCS(0)
	say(stderr, fmt.Sprintf("deterministic: %s of %s, each made twice, on %d and on %s: every byte the same\n",
		spelling.Count(o.runs, "run"), spelling.Count(o.ran, "scenario"), cpus, spelling.Count(otherThan(cpus), "CPU")))
}

// sameRun returns an error that names the first line in which two runs differ, nil if none does.
func sameRun(run, again *replay.Run) error {
	first, err := everything(run)
	if err != nil {
		return err
	}
	second, err := everything(again)
	if err != nil {
		return err
	}
	if line, a, b := firstDifference(first, second); line > 0 {
		return fmt.Errorf("not deterministic: two runs differ in line %d:\n  %s\n  %s", line, a, b)
	}
	return nil
}

// everything is all that a run says: every fact with its number, the expectations and the objects.
func everything(run *replay.Run) ([]byte, error) {
	var text bytes.Buffer
	if err := report.WriteTranscript(&text, run, journal.Style{Wide: true}); err != nil {
		return nil, err
	}
	document, err := report.Encode(run)
	return append(text.Bytes(), document...), err
}

// firstDifference returns the first line in which two texts differ, counted from 1; 0 if none does.
func firstDifference(one, two []byte) (line int, a, b string) {
	if bytes.Equal(one, two) {
		return 0, "", ""
	}
	x, y := bytes.Split(one, []byte("\n")), bytes.Split(two, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return i + 1, string(x[i]), string(y[i])
		}
	}
	return min(len(x), len(y)) + 1, fmt.Sprintf("%d lines", len(x)), fmt.Sprintf("%d lines", len(y))
}
