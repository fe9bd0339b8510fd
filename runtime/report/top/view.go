package top

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
)

// Colours are those of the terminal's own palette, and never the only sign of something.
const (
	plain   = "\x1b[0m"
	strong  = "\x1b[1m"
	faint   = "\x1b[2m"
	inverse = "\x1b[7m"
	red     = "\x1b[31m"
	yellow  = "\x1b[33m"
	cyan    = "\x1b[36m"
)

func (s Severity) colour() string { return [...]string{"", yellow, red}[s] }

// View is bubbletea's: the screen as it is.
func (s *Screen) View() tea.View {
	v := tea.NewView(strings.Join(s.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "leeward: " + s.shown().Name()
	return v
}

// lines are as many as the terminal has, none longer than it is wide.
func (s *Screen) lines() []string {
	lines := append([]string{s.heading(), s.figures(), s.strip(), s.governor()}, s.body(s.height-5)...)
	for len(lines) < s.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(0, min(len(lines), s.height-1))], s.footing())
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], s.width, "…") + plain
	}
	return lines
}

func (s *Screen) heading() string {
	_, last := s.shown().Bounds()
	where := strong + s.clock(s.at) + plain + faint + " of " + s.clock(last) + plain
	if s.live != nil {
		where = strong + s.at.Local().Format(time.TimeOnly) + plain
		if !s.following {
			where += yellow + " rewound by " + short(last.Sub(s.at)) + plain
		}
	}
	if s.lost != nil {
		where += red + " not connected: " + s.lost.Error() + plain
	}
	if s.playing {
		where += " playing"
	}
	if len(s.sources) > 1 {
		where += fmt.Sprintf(" %srun %d of %d%s", faint, s.source+1, len(s.sources), plain)
	}
	return where + "  " + s.shown().Name()
}

// clock is an instant of a run, from its start.
func (s *Screen) clock(t time.Time) string {
	first, _ := s.shown().Bounds()
	return journal.Clock(t.Sub(first))
}

// figures are those of the fleet; what is zero and would be bad is omitted.
func (s *Screen) figures() string {
	p := s.picture
	bad := 0
	for i := range p.Clusters {
		if p.Clusters[i].Severity > Calm {
			bad++
		}
	}
	available := Calm
	if p.Replicas.Available < p.Replicas.Placed {
		available = Notable
	}
	figures := []string{spelling.Count(len(p.Clusters)+p.More.Clusters, "cluster")}
	add := func(n int, what string, severity Severity) {
		if n > 0 || severity == Calm {
			figures = append(figures, severity.colour()+strconv.Itoa(n)+" "+what+plain)
		}
	}
	add(bad, "not Ready or tainted", Notable)
	figures = append(figures, spelling.Count(p.Workloads, "workload"), spelling.Count(p.Replicas.Placed, "replica"))
	add(p.Replicas.Available, "available", available)
	add(p.Replicas.Evicting, "evicting", Notable)
	add(p.Replicas.Unschedulable, "unschedulable", Bad)
	return strings.Join(figures, faint+" · "+plain)
}

// blocks are the heights of a strip.
var blocks = []rune(" ▁▂▃▄▅▆▇█")

// strip is available of placed replicas over time, with the cursor in it.
func (s *Screen) strip() string {
	label := "available "
	columns := s.width - len(label)
	if columns < 10 {
		return ""
	}
	if len(s.spans) != columns {
		s.spans = s.shown().Spans(columns)
	}
	most := 1
	for i := range s.spans {
		most = max(most, s.spans[i].Placed, s.spans[i].Available)
	}
	first, last := s.shown().Bounds()
	cursor := columns - 1
	if whole := last.Sub(first); whole > 0 {
		cursor = min(columns-1, int(float64(columns)*float64(s.at.Sub(first))/float64(whole)))
	}
	var line strings.Builder
	line.WriteString(faint + label + plain)
	for i := range s.spans {
		line.WriteString(s.spans[i].block(most, i == cursor))
	}
	return line.String()
}

// block is one column of the strip.
func (s *Span) block(most int, cursor bool) string {
	severity := Calm
	switch {
	case s.Unschedulable > 0:
		severity = Bad
	case s.Evicting > 0 || s.Available < s.Placed:
		severity = Notable
	}
	colour := severity.colour()
	if cursor {
		colour += inverse
	}
	if !s.Known {
		return colour + " " + plain
	}
	return colour + string(blocks[max(0, s.Available)*(len(blocks)-1)/most]) + plain
}

func (s *Screen) governor() string {
	if len(s.picture.Governor) == 0 {
		return faint + "governor: nothing is slowed or held" + plain
	}
	return faint + "governor " + plain + strings.Join(s.picture.Governor, faint+" · "+plain)
}

// body shares the lines between tables, the reason and the transcript. What is short gives its lines to what is long.
func (s *Screen) body(lines int) []string {
	switch {
	case s.help:
		return help
	case s.detail != nil:
		return s.detail.view(s.width, lines)
	case lines < 2:
		return nil
	}
	reason := s.reason()
	wanted := []int{len(s.rows[clusterTable]) + 1, max(1, len(s.rows[evictionTable])) + 1, len(reason), len(s.rows[transcriptTable]) + 1}
	shares := share(lines, wanted)
	out := s.table(clusterTable, shares[0], "CLUSTER", "REGION", "WORKLOADS", "EVICTIONS", "STATE", "TAINTS")
	out = append(out, s.table(evictionTable, shares[1], "WORKLOAD", "FROM", "STATE", "SINCE", "DUE", "WHY")...)
	out = append(out, cut(reason, shares[2])...)
	return append(out, s.table(transcriptTable, shares[3], "TRANSCRIPT")...)
}

// share divides lines: each gets what it wants, or an equal part of what the others leave.
func share(lines int, wanted []int) []int {
	shares := make([]int, len(wanted))
	for left := lines; left > 0; {
		before := left
		for i := range wanted {
			if left > 0 && shares[i] < wanted[i] {
				shares[i]++
				left--
			}
		}
		if left == before {
			break
		}
	}
	return shares
}

// cut is the first of some lines, with a last one that says how many there are more.
func cut(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	if n < 1 {
		return nil
	}
	return append(lines[:n-1:n-1], fmt.Sprintf("%s  … %d more lines%s", faint, len(lines)-n+1, plain))
}

// table is a heading and as many rows as there is space for, those around the selected one.
func (s *Screen) table(t table, lines int, heads ...string) []string {
	rows := s.rows[t]
	visible := lines - 1
	if lines < 1 {
		return nil
	}
	widths := columns(heads, rows)
	if s.width < 60 {
		for i := range widths {
			widths[i] = min(widths[i], 14)
		}
	}
	scrolled := &s.scrolled[t]
	*scrolled = max(0, min(*scrolled, s.selected[t], len(rows)-visible))
	if s.selected[t] >= *scrolled+visible {
		*scrolled = s.selected[t] - visible + 1
	}
	mark := "  "
	if s.focus == t {
		mark = "▌ "
	}
	more := ""
	if hidden := len(rows) - visible; hidden > 0 {
		more = fmt.Sprintf("  %s(%d of %d)%s", faint, min(len(rows), *scrolled+visible), len(rows), plain)
	}
	out := []string{cyan + mark + padded(heads, widths) + plain + more}
	for i := *scrolled; i < len(rows) && len(out) < lines; i++ {
		out = append(out, s.paint(t, i, padded(rows[i].cells, widths)))
	}
	if len(rows) == 0 && len(out) < lines {
		out = append(out, faint+"  none"+plain)
	}
	return out
}

// paint is a row as the screen shows it.
func (s *Screen) paint(t table, i int, text string) string {
	mark, colour := "  ", s.rows[t][i].severity.colour()
	if i == s.selected[t] {
		mark = "› "
		if s.focus == t {
			colour += inverse
		}
	}
	return colour + mark + text + plain
}

// columns are how wide the cells of a table are; 0 where no row has any.
func columns(heads []string, rows []row) []int {
	widths := make([]int, len(heads))
	for _, r := range rows {
		for i, c := range r.cells[:len(heads)] {
			widths[i] = min(max(widths[i], ansi.StringWidth(c)), widest)
		}
	}
	for i, h := range heads {
		if widths[i] > 0 || len(rows) == 0 {
			widths[i] = max(widths[i], len(h))
		}
	}
	return widths
}

// widest is how wide a cell may be but the last.
const widest = 36

func padded(cells []string, widths []int) string {
	var line strings.Builder
	for i, c := range cells {
		if i == len(cells)-1 {
			line.WriteString(c)
			break
		}
		if widths[i] == 0 {
			continue // no row has it
		}
		c = ansi.Truncate(c, widths[i], "…")
		line.WriteString(c + strings.Repeat(" ", widths[i]-ansi.StringWidth(c)+2))
	}
	return line.String()
}

// reason is why what is selected is so.
func (s *Screen) reason() []string {
	i := s.selected[s.focus]
	if i >= len(s.rows[s.focus]) || len(s.rows[s.focus][i].reason) == 0 {
		return nil
	}
	r := s.rows[s.focus][i]
	return append([]string{cyan + "  WHY " + plain + strong + r.title + plain},
		lists.Of(r.reason, func(l Line) string { return fmt.Sprintf("  %s%-16s%s %s", faint, l.Name, plain, l.Text) })...)
}

func (s *Screen) footing() string {
	switch {
	case s.typing:
		return inverse + " filter: " + s.filter + "▏" + plain + faint + " Enter keeps it, Esc drops it" + plain
	case s.detail != nil:
		return faint + "↑↓ scroll · Esc close · q quit" + plain
	case s.filter != "":
		return inverse + " filter: " + s.filter + " " + plain + faint + " Esc drops it" + plain
	case s.live != nil:
		return faint + "↑↓ select · Tab next table · , . change by change · End now · / filter · ? keys · q quit" + plain
	}
	return faint + "↑↓ select · Tab next table · , . change by change · Space play · / filter · ? keys · q quit" + plain
}

var help = []string{
	"",
	strong + "  Time" + plain,
	"  . , → ←      to the next change, or back",
	"  [ ]          by a twentieth of the whole",
	"  Home End     to the start; to the end, or to now",
	"  Space        play a run, pause",
	"  n N          next run, previous run",
	"",
	strong + "  Tables" + plain,
	"  Tab          to the next table: clusters, evictions, transcript",
	"  ↑ ↓ PgUp PgDn  select; below it is why",
	"  Enter        all of why, and of a fleet that runs what leeward explain says; Esc closes it",
	"  /            show only rows that contain a text; Esc shows all",
	"",
	"  ? closes this, q quits",
}

func clusterRow(c *Cluster) row {
	taints := strings.Join(c.Taints, ",")
	return row{
		cells: []string{c.Name, c.Region, strconv.Itoa(c.Workloads), strconv.Itoa(c.Evictions), c.State, taints}, severity: c.Severity,
		title: "cluster " + c.Name, reason: c.Reason, kind: "cluster", name: c.Name,
	}
}

func evictionRow(e *Eviction, now time.Time) row {
	due := ""
	switch {
	case e.Due.IsZero():
	case e.Due.After(now):
		due = "in " + short(e.Due.Sub(now))
	default:
		due = "now"
	}
	why := e.Text
	for _, l := range e.Reason {
		if why == "" && (l.Name == "taint" || l.Name == "reason") {
			why = l.Name + " " + l.Text
		}
	}
	title := e.Workload
	if e.Cluster != "" {
		title += " from " + e.Cluster
	}
	since := ""
	if !e.Since.IsZero() {
		since = short(now.Sub(e.Since)) + " ago"
	}
	return row{
		cells: []string{e.Workload, e.Cluster, e.State, since, due, why}, severity: e.Severity,
		title: title, reason: e.Reason, kind: "binding", name: e.Workload,
	}
}

func (s *Screen) toldRow(l *Line) row {
	at := l.At.Local().Format(time.TimeOnly)
	if s.live == nil {
		at = s.clock(l.At)
	}
	return row{cells: []string{at + "  " + l.Text}, severity: l.Severity, title: at + " " + l.Text}
}

// short is a duration in at most two units, to the second: "1h30m", "4m13s".
func short(d time.Duration) string {
	if d >= time.Hour {
		return span.String(d.Round(time.Minute))
	}
	return span.String(d.Round(time.Second))
}

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
	d := &detail{title: r.title, lines: lists.Of(r.reason, func(l Line) string { return fmt.Sprintf("%-16s %s", l.Name, l.Text) })}
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
