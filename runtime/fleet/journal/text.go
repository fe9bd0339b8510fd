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

// Style says how a timeline looks. The zero Style is the timeline as transcripts keep it.
type Style struct {
	// Wide tells every fact, with its number and its JSON.
	Wide bool
	// Colour is for terminals only.
	Colour bool
	// Fold tells on one line, which counts, what a cluster that flaps repeats. Transcripts have every time.
	Fold bool
}

// Columns of a timeline: time, subject, verb, what and why. They are tab stops: a longer cell pushes
// only the rest of its own line, so a change elsewhere never moves a line of a transcript.
var stops = [...]int{0, 10, 36, 56, 76}

// ANSI colours.
const (
	plain  = "\x1b[0m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

// WriteText writes one line per fact. The timeline leaves out what follows from a fact told already:
// copies that start and stop as they were told to, and health that was never lost; what is created at
// one instant it tells kind by kind.
func WriteText(w io.Writer, start time.Time, entries []Entry, s Style) error {
	l := &line{style: s, teller: teller{start}, health: map[copyOf]api.ResourceHealth{}}
	if s.Fold {
		l.fold(entries)
	}
	for len(entries) > 0 {
		text, told, err := l.next(entries)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		entries = entries[told:]
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
	// health is how each copy was that has been healthy since it started.
	health  map[copyOf]api.ResourceHealth
	folding folding
	buf     []byte
	// column is where the next cell begins at the earliest.
	column int
}

// next returns the line of the first entry, or nothing where the timeline omits it, and how many
// entries it tells.
func (l *line) next(entries []Entry) (text []byte, told int, err error) {
	l.buf, l.column = l.buf[:0], 0
	e := &entries[0]
	p := l.teller.tell(e.Fact)
	if l.style.Wide {
		return l.wide(e, p)
	}
	if !l.tells(e.Fact, p) {
		return nil, 1, nil
	}
	if l.style.Fold {
		if count, folded := l.counted(e.Fact); folded {
			return l.told(e.At, count), 1, nil
		}
	}
	told = 1
	if names := created(entries); len(names) > 1 {
		told, p = len(names), creation(e.Fact.(*messages.ObjectApplied), names)
	}
	return l.told(e.At, p), told, nil
}

// told is the line of a phrase; nothing where it is empty.
func (l *line) told(at time.Time, p Phrase) []byte {
	if p.verb == "" {
		return nil
	}
	l.cells(at, p)
	l.buf = append(l.buf, '\n')
	return l.buf
}

// wide begins with the entry's number and ends with all that is known.
func (l *line) wide(e *Entry, p Phrase) (text []byte, told int, err error) {
	number := strconv.FormatUint(e.Seq, 10)
	l.buf = append(l.buf, strings.Repeat(" ", max(0, 6-len(number)))+number+"  "...)
	l.cells(e.At, p)
	l.buf, err = AppendJSON(append(l.buf, "  "...), l.teller.start, e)
	l.buf = append(l.buf, '\n')
	return l.buf, 1, err
}

// tells reports whether a fact is part of the timeline.
func (l *line) tells(f messages.Fact, p Phrase) bool {
	switch f := f.(type) {
	case *messages.HealthChanged:
		return l.turns(f)
	case *messages.HealthForgotten:
		delete(l.health, copyOf{f.Binding, f.Cluster})
		return false
	default:
		return p.Level > zerolog.DebugLevel
	}
}

// turns reports whether a copy lost its health, got it back, or is unhealthy in another way. A new copy that
// is not healthy yet has lost nothing.
func (l *line) turns(h *messages.HealthChanged) bool {
	if h.Refused != "" {
		return true
	}
	c := copyOf{h.Binding, h.Cluster}
	before, known := l.health[c]
	if !known && h.Health != api.Healthy {
		return false
	}
	l.health[c] = h.Health
	return known && before != h.Health
}

// created returns the names of the objects of one kind that were created one behind the other at the
// instant of the first entry, if it created one.
func created(entries []Entry) (names []string) {
	kind := ""
	for i := range entries {
		f, ok := entries[i].Fact.(*messages.ObjectApplied)
		if !ok || !f.Created || !entries[i].At.Equal(entries[0].At) {
			break
		}
		k, name, _ := strings.Cut(f.Object, " ")
		if i > 0 && k != kind {
			break
		}
		kind, names = k, append(names, name)
	}
	return names
}

// creation tells of several objects of one kind, and names the first few.
func creation(f *messages.ObjectApplied, names []string) Phrase {
	const most = 8
	kind, _, _ := strings.Cut(f.Object, " ")
	what, more := names, ""
	if len(names) > most {
		what, more = names[:most], " and "+strconv.Itoa(len(names)-most)+" more"
	}
	return change("created", strings.Join(what, " ")+more, "").about(kind)
}

func (l *line) cells(at time.Time, p Phrase) {
	tone := cyan
	if p.Level == zerolog.WarnLevel {
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
	text = Printable(text)
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

// Printable keeps a text on one line and its control characters off the terminal: each becomes a blank.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
