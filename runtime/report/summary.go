package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"leeward/messages/spelling"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// Summary writes one line per scenario, and the whole timeline of the first seed under which it failed.
// The runs of one scenario must come one behind the other.
type Summary struct {
	W      io.Writer
	Colour bool

	// seeds are the runs of the scenario at hand; only failed keeps its events.
	seeds  []replay.Run
	failed *replay.Run
	total  tally
}

// Add takes the next run.
func (s *Summary) Add(r *replay.Run) error {
	if len(s.seeds) > 0 && !s.seeds[0].SameScenario(r) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if !r.Passed && s.failed == nil {
		s.failed = r
	}
	lean := *r
	lean.Events, lean.Objects, lean.Tier = nil, nil, nil
	s.seeds = append(s.seeds, lean)
	s.total.add(r)
	return nil
}

// Close writes the rest and the verdict on all.
func (s *Summary) Close() error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.total.write(s.W, painter(s.Colour))
}

// flush writes the scenario at hand.
func (s *Summary) flush() error {
	seeds, failed := s.seeds, s.failed
	s.seeds, s.failed = nil, nil
	if len(seeds) == 0 {
		return nil
	}
	paint := painter(s.Colour)
	if _, err := fmt.Fprintln(s.W, line(seeds, paint)); err != nil || failed == nil {
		return err
	}
	if _, err := fmt.Fprintln(s.W); err != nil {
		return err
	}
	if err := WriteTranscript(s.W, failed, journal.Style{Colour: s.Colour, Fold: true}); err != nil {
		return err
	}
	if err := writeVerdict(s.W, failed, paint); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.W)
	return err
}

// line is one scenario in a summary of many: figures first, because they are short.
func line(seeds []replay.Run, paint painting) string {
	var took time.Duration
	var failed []string
	for i := range seeds {
		took += seeds[i].Elapsed
		if !seeds[i].Passed {
			failed = append(failed, strconv.FormatUint(seeds[i].Seed, 10))
		}
	}
	sign, figures, end := paint(green, held), fmt.Sprintf("%3d %-12s", len(seeds[0].Expectations), spelling.Plural(len(seeds[0].Expectations), "expectation")), ""
	if len(seeds) > 1 {
		figures += fmt.Sprintf("  %4d seeds", len(seeds))
	}
	if len(failed) > 0 {
		sign = paint(red, broken)
	}
	if len(failed) > 0 && len(seeds) > 1 {
		end = fmt.Sprintf("  fails under %d: %s", len(failed), shortList(failed))
	}
	return fmt.Sprintf("%s  %s  %8s  %s%s", sign, figures, rounded(took), title(&seeds[0]), end)
}

// title is a scenario's file, and its name where the file has another.
func title(r *replay.Run) string {
	if strings.TrimSuffix(filepath.Base(r.File), filepath.Ext(r.File)) == r.Name {
		return r.File
	}
	return r.File + "  " + journal.Printable(r.Name)
}

// tally counts what was seen.
type tally struct {
	last                                  *replay.Run
	scenarios, runs, failed, expectations int
	took                                  time.Duration
}

func (t *tally) add(r *replay.Run) {
	if t.last == nil || !t.last.SameScenario(r) {
		t.scenarios++
	}
	t.last = r
	t.runs++
	t.expectations += len(r.Expectations)
	t.took += r.Elapsed
	if !r.Passed {
		t.failed++
	}
}

// write says what came of all. The time is that of all runs together, however many ran in parallel.
func (t *tally) write(w io.Writer, paint painting) error {
	verdict := paint(green, "all held")
	if t.failed > 0 {
		verdict = paint(red, fmt.Sprintf("%d failed", t.failed))
	}
	_, err := fmt.Fprintf(w, "\n%s, %s, %s: %s, in %s\n", spelling.Count(t.scenarios, "scenario"),
		spelling.Count(t.runs, "run"), spelling.Count(t.expectations, "expectation"), verdict, rounded(t.took))
	return err
}

// shortList names the first ten.
func shortList(words []string) string {
	const most = 10
	if len(words) <= most {
		return strings.Join(words, " ")
	}
	return strings.Join(words[:most], " ") + " ..."
}

// rounded writes a wall-clock time to three digits or so.
func rounded(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.Round(time.Microsecond).String()
}
