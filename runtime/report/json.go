package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"leeward/messages/api"
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
