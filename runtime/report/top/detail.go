package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// detail is all that is known of why a row is so.
type detail struct {
	title string
	lines []string
	// own counts the lines that the screen itself has; those of an explanation come after them.
	own, scrolled int
}

// explained is the explanation of what has a title.
type explained struct {
	title string
	lines []string
}

// ask shows all of why the selected row is so, and asks for its explanation where there is one to ask.
func (s *Screen) ask() tea.Cmd {
	i := s.selected[s.focus]
	if i >= len(s.rows[s.focus]) {
		return nil
	}
	r := s.rows[s.focus][i]
	d := &detail{title: r.title}
	for _, l := range r.reason {
		d.lines = append(d.lines, fmt.Sprintf("%-16s %s", l.Name, l.Text))
	}
	if len(d.lines) == 0 {
		d.lines = []string{strings.Join(r.cells, "  ")}
	}
	s.detail, d.own = d, len(d.lines)
	if s.explain == nil || r.kind == "" {
		return nil
	}
	d.lines = append(d.lines, "", "asking why ...")
	return func() tea.Msg {
		lines, err := s.explain(r.kind, r.name)
		if err != nil {
			lines = []string{"no explanation: " + err.Error()}
		}
		return explained{r.title, append([]string{""}, lines...)}
	}
}

// read moves in the detail, or closes it. Other keys are not its own.
func (s *Screen) read(key string) bool {
	by, scrolls := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -10, "pgdown": 10}[key]
	switch {
	case key == "esc" || key == "enter":
		s.detail = nil
	case scrolls:
		s.detail.scrolled += by
	default:
		return false
	}
	return true
}

// view is as much of a detail as there is space for, long lines on several.
func (d *detail) view(width, height int) []string {
	var lines []string
	for _, l := range d.lines {
		wrapped := ansi.Wrap(l, max(1, width-2), " ")
		for part := range strings.SplitSeq(wrapped, "\n") {
			lines = append(lines, "  "+part)
		}
	}
	height = max(0, height-1)
	d.scrolled = max(0, min(d.scrolled, len(lines)-height))
	end := min(len(lines), d.scrolled+height)
	return append([]string{cyan + "WHY " + plain + strong + d.title + plain}, lines[min(d.scrolled, end):end]...)
}
