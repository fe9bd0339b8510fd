package lint

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

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
