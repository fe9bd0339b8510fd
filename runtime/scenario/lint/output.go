package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"leeward/messages/spelling"
)

// WriteText writes a report for users: the findings by file and line, then their number.
func WriteText(w io.Writer, r *Report) error {
	var out strings.Builder
	for _, f := range r.Findings {
		if f.Line > 0 {
			fmt.Fprintf(&out, "%s:%d: %s: %s %s: %s", f.File, f.Line, f.Severity, f.Rule, f.Name, f.Object)
		} else {
			fmt.Fprintf(&out, "%s: %s: %s %s", f.path(), f.Severity, f.Rule, f.Name)
		}
		if f.Field != "" {
			fmt.Fprintf(&out, ": %s", f.Field)
		}
		fmt.Fprintf(&out, "\n    why: %s\n    fix: %s", f.Why, f.Fix)
		if f.Edit != nil {
			out.WriteString(" (--fix does it)")
		}
		out.WriteByte('\n')
	}
	if len(r.Findings) > 0 {
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%s\n", r.summary())
	_, err := io.WriteString(w, out.String())
	return err
}

// path names the object of a finding where no file was written: Kind/namespace/name.
func (f *Finding) path() string { return strings.Replace(f.Object, " ", "/", 1) }

// summary is "lint: 7 objects: 1 error, 2 warnings, no infos".
func (r *Report) summary() string {
	text := fmt.Sprintf("lint: %s", count(r.Objects, "object"))
	if r.Scenarios > 0 {
		text += " and " + count(r.Scenarios, "scenario")
	}
	text += fmt.Sprintf(": %s, %s, %s", count(r.Count(Error), "error"), count(r.Count(Warning), "warning"), count(r.Count(Info), "info"))
	if r.Suppressed > 0 {
		text += fmt.Sprintf("; %d suppressed by annotations", r.Suppressed)
	}
	if r.Omitted > 0 {
		text += fmt.Sprintf("; %d more not shown", r.Omitted)
	}
	return text
}

func count(n int, noun string) string {
	if n == 0 {
		return "no " + noun + "s"
	}
	return spelling.Count(n, noun)
}

// WriteRules writes the table of all rules.
func WriteRules(w io.Writer) error {
	for _, r := range rules {
		fixes := ""
		if r.Fixes {
			fixes = " (--fix)"
		}
		if _, err := fmt.Fprintf(w, "%s  %-8s %-28s %s%s\n", r.ID, r.Severity, r.Name, r.Finds, fixes); err != nil {
			return err
		}
	}
	return nil
}

func encode(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// GitHub takes at most so much of a message.
const mostText = 16 << 10

// data and property escape what a command may not hold as it is.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// WriteGitHub writes workflow commands, which GitHub shows as annotations beside the lines. Source: GitHub Actions, workflow commands.
func WriteGitHub(w io.Writer, r *Report) error {
	for _, f := range r.Findings {
		command := map[Severity]string{Error: "error", Warning: "warning", Info: "notice"}[f.Severity]
		text := f.Object + ": " + f.Why + "\nfix: " + f.Fix
		if len(text) > mostText {
			text = strings.ToValidUTF8(text[:mostText], "")
		}
		title := property.Replace(f.Rule + " " + f.Name)
		at := ""
		if f.Line > 0 {
			at = fmt.Sprintf("file=%s,line=%d,", property.Replace(filepath.ToSlash(f.File)), f.Line)
		}
		if _, err := fmt.Fprintf(w, "::%s %stitle=%s::%s\n", command, at, title, data.Replace(text)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, r.summary())
	return err
}
