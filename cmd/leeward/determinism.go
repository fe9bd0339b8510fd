package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"

	"leeward/messages/spelling"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/report"
	"leeward/runtime/scenario/replay"
)

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
