package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"leeward/messages/spelling"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// Signs and colours of a verdict.
const (
	held, broken = "✓", "✗"

	green = "\x1b[32m"
	red   = "\x1b[31m"
	bold  = "\x1b[1m"
	plain = "\x1b[0m"
)

// Transcript writes the whole timeline of each run with its verdict.
type Transcript struct {
	W     io.Writer
	Style journal.Style

	total tally
}

// Add writes the next run.
func (s *Transcript) Add(r *replay.Run) error {
	if s.total.runs > 0 {
		if _, err := fmt.Fprintln(s.W); err != nil {
			return err
		}
	}
	s.total.add(r)
	if err := WriteTranscript(s.W, r, s.Style); err != nil {
		return err
	}
	return writeVerdict(s.W, r, painter(s.Style.Colour))
}

// Close writes the verdict on all, if there was more than one.
func (s *Transcript) Close() error {
	if s.total.runs < 2 {
		return nil
	}
	return s.total.write(s.W, painter(s.Style.Colour))
}

// WriteTranscript writes one run: what it is, its timeline, and its expectations with a check mark each.
// With the zero Style it is the scenario's transcript, the same bytes on every machine.
func WriteTranscript(w io.Writer, r *replay.Run, s journal.Style) error {
	var out bytes.Buffer
	paint := painter(s.Colour)
	fmt.Fprintf(&out, "%s  profile %s  seed %d\n", paint(bold, journal.Printable(r.Name)), r.Profile, r.Seed)
	tellLines(&out, "", r.Description)
	if len(r.Events) > 0 {
		fmt.Fprintln(&out)
	}
	if err := journal.WriteText(&out, r.Start, r.Events, s); err != nil {
		return fmt.Errorf("write the timeline of %s: %w", r.Name, err)
	}
	tellComparisons(&out, r)
	tellExpectations(&out, r, paint)
	_, err := w.Write(out.Bytes())
	return err
}

func tellExpectations(out *bytes.Buffer, r *replay.Run, paint painting) {
	if len(r.Expectations) > 0 {
		fmt.Fprintln(out)
	}
	for _, e := range r.Expectations {
		if e.Passed {
			fmt.Fprintf(out, "%s  %s\n", paint(green, held), journal.Printable(e.Text))
			continue
		}
		fmt.Fprintf(out, "%s  %s\n", paint(red, broken), journal.Printable(e.Text))
		tellLines(out, "   ", e.Reason)
	}
	if r.Err != nil {
		fmt.Fprintf(out, "\n%s  the run ended early:\n", paint(red, broken))
		tellLines(out, "   ", r.Err.Error())
	}
}

// tellLines writes a text of any number of lines behind an indent.
func tellLines(out *bytes.Buffer, indent, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintln(out, strings.TrimRight(indent+journal.Printable(strings.TrimSuffix(line, "\n")), " "))
	}
}

// writeVerdict writes one line, and one more that says how to run a failed run again.
func writeVerdict(w io.Writer, r *replay.Run, paint painting) error {
	text := paint(green, "passed") + ": " + spelling.Count(len(r.Expectations), "expectation") + " held"
	if r.Compared != nil && len(r.Expectations) == 0 {
		text = paint(green, "compared") + ": " + agreements(r.Compared)
	}
	if !r.Passed {
		text = paint(red, "failed") + ": " + complaint(r)
		text += explained(r) + repeated(r)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", text)
	return err
}

func complaint(r *replay.Run) string {
	if r.Err != nil {
		return "1 error"
	}
	return fmt.Sprintf("%d of %s", r.Failures(), spelling.Count(len(r.Expectations), "expectation"))
}

// painting colours a text, or leaves it as it is.
type painting func(colour, text string) string

func painter(colours bool) painting {
	if !colours {
		return func(_, text string) string { return text }
	}
	return func(colour, text string) string { return colour + text + plain }
}
