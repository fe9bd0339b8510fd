package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// JSON writes all runs as one document: {"scenarios": [{name, seed, profile, passed, expectations,
// events, objects}]}, and error where a run was not carried through. Times are seconds from the start.
type JSON struct {
	W io.Writer

	begun bool
}

// Add writes the next run.
func (j *JSON) Add(r *replay.Run) error {
	text, err := Encode(r)
	if err != nil {
		return err
	}
	before := ",\n"
	if !j.begun {
		before = opening
	}
	j.begun = true
	_, err = j.W.Write(append([]byte(before), text...))
	return err
}

const opening = `{"scenarios":[` + "\n"

// Close ends the document.
func (j *JSON) Close() error {
	end := "\n]}\n"
	if !j.begun {
		end = `{"scenarios":[]}` + "\n"
	}
	_, err := io.WriteString(j.W, end)
	return err
}

// Encode returns one run as JSON, the same bytes for the same run.
func Encode(r *replay.Run) ([]byte, error) {
	document := struct {
		Name         string                     `json:"name"`
		Seed         uint64                     `json:"seed"`
		Profile      string                     `json:"profile"`
		Passed       bool                       `json:"passed"`
		Expectations []replay.ExpectationResult `json:"expectations"`
		Events       []json.RawMessage          `json:"events"`
		Objects      []api.Object               `json:"objects"`
		Compared     []comparisonDocument       `json:"compared,omitzero"`
		Assumed      []string                   `json:"assumed,omitzero"`
		Error        string                     `json:"error,omitempty"`
	}{
		Name: r.Name, Seed: r.Seed, Profile: r.Profile, Passed: r.Passed,
		Expectations: append([]replay.ExpectationResult{}, r.Expectations...), // never null
		Events:       make([]json.RawMessage, len(r.Events)),
		Compared:     documentsOf(r.Compared),
		Assumed:      r.Assumed,
		Objects:      append([]api.Object{}, r.All()...),
	}
	for i := range r.Events {
		event, err := journal.AppendJSON(nil, r.Start, &r.Events[i])
		if err != nil {
			return nil, fmt.Errorf("report %s: %w", r.Name, err)
		}
		document.Events[i] = event
	}
	if r.Err != nil {
		document.Error = r.Err.Error()
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(document); err != nil {
		return nil, fmt.Errorf("report %s: %w", r.Name, err)
	}
	return bytes.TrimSpace(text.Bytes()), nil
}

// Fault is what keeps a file from being run.
type Fault struct {
	// File and Line are where it is, as far as that is known.
	File    string
	Line    int
	Message string
}

// place is how errors begin that say where they are: "fleet.yaml:12: ".
var place = regexp.MustCompile(`(?s)^([^\n]+?):(\d+): (.*)$`)

// Faults takes an error apart into the problems that it joins.
func Faults(err error) []Fault {
	var problems manifest.Problems
	var problem *manifest.Problem
	joined, many := err.(interface{ Unwrap() []error }) //nolint:errorlint // one that is wrapped has a text of its own
	switch {
	case err == nil:
		return nil
	case many:
		var all []Fault
		for _, e := range joined.Unwrap() {
			all = append(all, Faults(e)...)
		}
		return all
	case errors.As(err, &problems):
		var all []Fault
		for _, p := range problems {
			all = append(all, Faults(p)...)
		}
		return all
	case errors.As(err, &problem):
		own := *problem
		own.File, own.Line = "", 0
		return []Fault{{problem.File, problem.Line, own.Error()}}
	}
	if found := place.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[2]) // one that is too large is unknown
		return []Fault{{found[1], line, found[3]}}
	}
	return []Fault{{Message: err.Error()}}
}
