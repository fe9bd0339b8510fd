package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"leeward/runtime/journal"
	"leeward/runtime/report"
)

// transcript holds a run against the transcript beside its scenario, or writes it.
func (r *replaying) transcript(t task, run *report.Run, stderr io.Writer) error {
	if !r.own(t) || run.Err != nil {
		return nil
	}
	var now bytes.Buffer
	if err := report.WriteStory(&now, run, journal.Style{}); err != nil {
		return err
	}
	recorded, found, err := readTranscript(t.transcript)
	switch {
	case err != nil:
		return err
	case found && bytes.Equal(recorded, now.Bytes()), !found && !r.update:
		return nil
	case r.update:
		return writeTranscript(t.transcript, now.Bytes(), stderr)
	}
	run.Expect(report.Expectation{
		Text: "transcript " + t.transcript,
		Reason: differences(t.transcript, recorded, now.Bytes()) +
			"accept it: leeward replay " + shellWord(t.scenario.File) + " --update",
	})
	return nil
}

func readTranscript(name string) (text []byte, found bool, err error) {
	text, err = os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read transcript: %w", err)
	}
	return text, true, nil
}

// writeTranscript replaces a transcript whole or not at all, also where it is interrupted.
func writeTranscript(name string, text []byte, stderr io.Writer) error {
	unfinished := name + ".tmp"
	if err := os.WriteFile(unfinished, text, 0o644); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	if err := os.Rename(unfinished, name); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	say(stderr, "wrote "+name+"\n")
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
