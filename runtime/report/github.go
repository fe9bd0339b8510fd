package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// GitHub writes workflow commands, which GitHub shows as annotations beside the lines that they are about: one for each
// expectation that failed, each run that was not carried through and each file that is at fault. Then it writes the
// verdict on all. Source: GitHub Actions, workflow commands.
type GitHub struct {
	W io.Writer

	total tally
}

// mostText is how many bytes of a message are shown: GitHub takes 64 KiB at most.
const mostText = 16 << 10

// Add takes the next run.
func (g *GitHub) Add(r *replay.Run) error {
	g.total.add(r)
	title := fmt.Sprintf("%s (seed %d)", r.Name, r.Seed)
	if r.Err != nil {
		return g.annotate(r.File, r.Line, title, r.Err.Error()+repeated(r))
	}
	why := explained(r)
	for i := range r.Expectations {
		e := &r.Expectations[i]
		if e.Passed {
			continue
		}
		file, line := e.Place(r)
		if err := g.annotate(file, line, title, e.Text+"\n"+e.Reason+why+repeated(r)); err != nil {
			return err
		}
		why = "" // told once
	}
	return nil
}

// Fault takes what keeps a file from being run.
func (g *GitHub) Fault(f Fault) error { return g.annotate(f.File, f.Line, "invalid", f.Message) }

// Close writes the verdict.
func (g *GitHub) Close() error { return g.total.write(g.W, painter(false)) }

func (g *GitHub) annotate(file string, line int, title, message string) error {
	var properties []string
	if file != "" {
		properties = append(properties, "file="+property.Replace(filepath.ToSlash(file)))
	}
	if line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d", line))
	}
	properties = append(properties, "title="+property.Replace(title))
	if len(message) > mostText {
		message = strings.ToValidUTF8(message[:mostText], "") + "..."
	}
	_, err := fmt.Fprintf(g.W, "::error %s::%s\n", strings.Join(properties, ","), data.Replace(message))
	return err
}

// data and property escape what a command may not hold as it is. Without that a text could begin a command of its own.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// explained is why what failed first is as it is, as far as that is known.
func explained(r *replay.Run) string {
	var text strings.Builder
	for _, line := range r.Explained {
		text.WriteString("\n" + journal.Printable(line))
	}
	return text.String()
}

// repeated is the line that says how to run a run again, if that is known.
func repeated(r *replay.Run) string {
	if r.Repeat == "" {
		return ""
	}
	return "\nrepeat: " + r.Repeat
}
