package difference

import (
	"fmt"
	"io"
	"strings"

	"leeward/messages/lists"
	"leeward/runtime/fleet/journal"
)

// mostComment bounds a comment, of which GitHub takes 65,536 characters: of the rows beyond it, none is written.
const mostComment = 48 << 10

// WriteGitHub writes a difference as a comment on a pull request, in Markdown: the verdict, the totals, and the details collapsed.
func WriteGitHub(w io.Writer, d *Difference) error {
	t := &text{}
	t.line("### leeward diff: %s", headings[d.heading()])
	t.line("")
	t.line("Prediction: %s.", escaped(d.Sentence()))
	t.line("")
	t.line("A is %s; B is %s; seed %d. %s; nothing is written.", escaped(d.A), escaped(d.B), d.Seed, escaped(capital(d.Outage)))
	for _, note := range d.Notes {
		t.line("")
		t.line("Note: %s.", escaped(note))
	}
	t.details(d)
	for i, one := range d.Scenarios {
		if t.Len() > mostComment {
			t.line("")
			t.line("And %d more scenarios; `-o wide` shows them.", len(d.Scenarios)-i)
			break
		}
		t.line("")
		t.line("#### Scenario %s: %s", escaped(one.Scenario), headings[one.heading()])
		t.line("")
		t.line("Prediction: %s.", escaped(one.Sentence()))
		t.details(one)
	}
	_, err := t.WriteTo(w)
	return err
}

// details are what differs, behind the verdict.
func (t *text) details(d *Difference) {
	rows := d.rows(true)
	totals := 0
	for totals < len(rows) && totals < len(d.Fleet) {
		totals++
	}
	t.markdown(rows[:totals])
	t.collapsed("What differs, predicted", func() { t.markdown(rows[totals:]) }, len(rows) > totals)
	reasons := d.reasons(true)
	t.collapsed("Why workloads are unavailable or unschedulable at the end, predicted", func() { t.list(reasons) }, len(reasons) > 0)
	if at := d.Decision; at != nil {
		t.line("")
		t.line("Predicted, %s:", escaped(at.title()))
		t.line("")
		t.line("- A: %s", escaped(at.A.told()))
		t.line("- B: %s", escaped(at.B.told()))
	}
	t.collapsed("Recorded evictions that differ", func() { t.markdown(d.recordedRows(true)) }, len(d.Recorded) > 0)
}

func (d *Difference) heading() Verdict {
	if !d.Differ {
		return ""
	}
	return d.Verdict
}

var headings = map[Verdict]string{
	"": "no difference", Same: "differs, neither better nor worse", Better: "better", Worse: "worse", Mixed: "better and worse",
}

// capital begins a sentence.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// collapsed writes what is only shown to who asks.
func (t *text) collapsed(title string, body func(), any bool) {
	if !any {
		return
	}
	t.line("")
	t.line("<details><summary>%s</summary>", title)
	body()
	t.line("")
	t.line("</details>")
}

// markdown is a table.
func (t *text) markdown(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	t.line("")
	t.line("| what | figure | A | B | B is |")
	t.line("|---|---|---|---|---|")
	for i, row := range rows {
		cells := lists.Of(row, escaped)
		if t.full("| " + strings.Join(cells, " | ") + " |") {
			t.line("")
			t.line("And %d more rows; `-o wide` shows them.", len(rows)-i)
			return
		}
	}
}

func (t *text) list(lines []string) {
	t.line("")
	for i, line := range lines {
		if t.full("- " + escaped(line)) {
			t.line("")
			t.line("And %d more; `-o wide` shows them.", len(lines)-i)
			return
		}
	}
}

// full writes a line if there is space for it.
func (t *text) full(line string) bool {
	if t.Len()+len(line) > mostComment {
		return true
	}
	t.line("%s", line)
	return false
}

// mostCell is how many characters of a name or a reason a comment shows.
const mostCell = 1000

// escaped keeps a text from being Markdown, HTML or a mention.
func escaped(s string) string {
	s = journal.Printable(s)
	if runes := []rune(s); len(runes) > mostCell {
		s = fmt.Sprintf("%s...", string(runes[:mostCell]))
	}
	return markdown.Replace(s)
}

var markdown = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "#", "&#35;", "<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;", "~", `\~`, "!", `\!`,
	"://", "&#58;//",
)
