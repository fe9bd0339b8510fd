package journal

import (
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"leeward/messages"
	"leeward/messages/api"
)

// Style says how a timeline looks. The zero Style is the story, as transcripts keep it.
type Style struct {
	// Wide tells every fact, with its number and its JSON.
	Wide bool
	// Colour is for terminals only.
	Colour bool
}

// Columns of a timeline: time, subject, verb, what and why. They are tab stops: a longer cell pushes
// only the rest of its own line, so a change elsewhere never moves a line of a transcript.
var stops = [...]int{0, 10, 36, 48, 68}

// ANSI colours.
const (
	plain  = "\x1b[0m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

// WriteText writes one line per fact. The story leaves out what follows from a fact told already:
// copies that start and stop as they were told to, and health that was never lost.
func WriteText(w io.Writer, start time.Time, entries []Entry, s Style) error {
	l := &line{style: s, teller: teller{start}, ill: map[copyOf]bool{}}
	for i := range entries {
		text, err := l.of(&entries[i])
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// copyOf is one binding's copy on one cluster.
type copyOf struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

// line writes one timeline, line by line, into the same memory.
type line struct {
	style  Style
	teller teller
	ill    map[copyOf]bool
	buf    []byte
	// column is where the next cell begins at the earliest.
	column int
}

// of returns an entry's line, or nothing where the story does without it.
func (l *line) of(e *Entry) ([]byte, error) {
	p := l.teller.tell(e.Fact)
	recovered := l.recovered(e.Fact)
	l.buf, l.column = l.buf[:0], 0
	if l.style.Wide {
		return l.wide(e, p)
	}
	if p.level == zerolog.DebugLevel && !recovered {
		return nil, nil
	}
	l.cells(e.At, p)
	l.buf = append(l.buf, '\n')
	return l.buf, nil
}

// wide begins with the entry's number and ends with all that is known.
func (l *line) wide(e *Entry, p phrase) ([]byte, error) {
	number := strconv.FormatUint(e.Seq, 10)
	l.buf = append(l.buf, strings.Repeat(" ", max(0, 6-len(number)))+number+"  "...)
	l.cells(e.At, p)
	l.buf = append(l.buf, ' ', ' ')
	text, err := AppendJSON(l.buf, l.teller.start, e)
	l.buf = append(text, '\n')
	return l.buf, err
}

// recovered reports whether a copy is healthy again that the story said was not.
func (l *line) recovered(f messages.Fact) bool {
	h, ok := f.(*messages.HealthChanged)
	if !ok {
		return false
	}
	c := copyOf{h.Binding, h.Cluster}
	before := l.ill[c]
	l.ill[c] = h.Health != api.Healthy
	return before && h.Health == api.Healthy
}

func (l *line) cells(at time.Time, p phrase) {
	tone := cyan
	if p.level == zerolog.WarnLevel {
		tone = yellow
	}
	l.cell(0, dim, l.teller.at(at))
	l.cell(1, bold, p.subject)
	l.cell(2, tone, p.verb)
	l.cell(3, "", p.what)
	if p.what == "" {
		l.cell(3, dim, p.why)
		return
	}
	l.cell(4, dim, p.why)
}

// cell writes one cell at its tab stop, or two blanks behind what is there already.
func (l *line) cell(column int, colour, text string) {
	if text == "" {
		return
	}
	text = printable(text)
	at := max(stops[column], l.column)
	for range at - l.width() {
		l.buf = append(l.buf, ' ')
	}
	l.column = at + utf8.RuneCountInString(text) + 2
	if !l.style.Colour || colour == "" {
		l.buf = append(l.buf, text...)
		return
	}
	l.buf = append(append(append(l.buf, colour...), text...), plain...)
}

// width is how many columns the line has so far.
func (l *line) width() int { return max(0, l.column-2) }

// printable keeps a text on its line and its control characters off the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
