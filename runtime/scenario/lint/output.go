package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
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

// SARIF 2.1.0, as far as it is written. Source: OASIS, Static Analysis Results Interchange Format.
const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Short   sarifText `json:"shortDescription"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	// Physical is nil where no file was written.
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations"`
}

type sarifPhysical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region struct {
		StartLine int `json:"startLine"`
	} `json:"region"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
}

// levels are the words of SARIF for severities.
var levels = map[Severity]string{Error: "error", Warning: "warning", Info: "note"}

// WriteSARIF writes a report as code scanning of GitHub and others reads it.
func WriteSARIF(w io.Writer, r *Report) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "leeward lint", Rules: []sarifRule{}}
	for _, rule := range rules {
		s := sarifRule{ID: rule.ID, Name: rule.Name, Short: sarifText{rule.Finds}}
		s.Default.Level = levels[rule.Severity]
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, s)
	}
	for _, f := range r.Findings {
		s := sarifResult{
			RuleID: f.Rule, RuleIndex: slices.IndexFunc(rules, func(rule Rule) bool { return rule.ID == f.Rule }),
			Level: levels[f.Severity], Message: sarifText{f.Object + ": " + strings.TrimSuffix(f.Why, ".") + ". Fix: " + f.Fix},
		}
		var at sarifLocation
		if f.Line > 0 {
			at.Physical = &sarifPhysical{}
			at.Physical.Artifact.URI = (&url.URL{Path: filepath.ToSlash(f.File)}).String()
			at.Physical.Region.StartLine = f.Line
		}
		at.Logical = []sarifLogical{{f.Object}}
		s.Locations = []sarifLocation{at}
		run.Results = append(run.Results, s)
	}
	return encode(w, sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}
