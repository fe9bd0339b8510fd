package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Edit is a mechanical fix of the line of a finding: to remove a field that has a scalar value, or to replace a word.
type Edit struct {
	Remove  string `json:"remove,omitempty"`
	Replace string `json:"replace,omitempty"`
	By      string `json:"by,omitempty"`
}

// Change is one line that is rewritten, or removed where Remains is false.
type Change struct {
	Line    int
	Old     string
	New     string
	Remains bool
}

// String returns the change as a part of a diff.
func (c Change) String() string {
	text := fmt.Sprintf("@@ line %d @@\n-%s\n", c.Line, c.Old)
	if c.Remains {
		text += "+" + c.New + "\n"
	}
	return text
}

// Mend returns a file with the mechanical fixes of findings about it, and what they change. Nothing else of the file is
// touched, comments included. A line that is written in a way that no edit understands stays as it is.
func Mend(data []byte, findings []*Finding) ([]byte, []Change) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	var changes []Change
	for _, f := range findings {
		i := f.Line - 1
		if f.Edit == nil || i < 0 || i >= len(lines) || slices.ContainsFunc(changes, func(c Change) bool { return c.Line == f.Line && !c.Remains }) {
			continue
		}
		old := string(lines[i])
		body := strings.TrimRight(old, "\r\n")
		after, remains, ok := f.Edit.apply(body)
		if !ok {
			continue
		}
		changes = append(changes, Change{Line: f.Line, Old: body, New: after, Remains: remains})
		if remains {
			lines[i] = []byte(after + old[len(body):])
		} else {
			lines[i] = nil
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Line, b.Line) })
	return bytes.Join(lines, nil), changes
}

// apply edits a line; ok: it is written as the edit expects.
func (e *Edit) apply(line string) (after string, remains, ok bool) {
	if e.Replace != "" {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(e.Replace) + `\b`)
		code, comment := line, ""
		if i := strings.Index(line, " #"); i >= 0 {
			code, comment = line[:i], line[i:]
		}
		return word.ReplaceAllLiteralString(code, e.By) + comment, true, word.MatchString(code)
	}
	name := `["']?` + regexp.QuoteMeta(e.Remove) + `["']?\s*:\s*-?\d+`
	if regexp.MustCompile(`^\s*` + name + `\s*(#.*)?$`).MatchString(line) {
		return "", false, true
	}
	for _, form := range []string{`,\s*` + name + `(\s*[,}])`, `(\{\s*)` + name + `\s*,\s*`} {
		if at := regexp.MustCompile(form); len(at.FindAllString(line, 2)) == 1 {
			return at.ReplaceAllString(line, "$1"), true, true
		}
	}
	return line, true, false
}
