package replay

import (
	"slices"
	"time"

	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
)

// Run is one scenario under one seed, and what came of it.
type Run struct {
	// Name and Description are the scenario's own; File and Line are where it was read.
	Name        string
	Description string
	File        string
	Line        int
	Seed        uint64
	Profile     string
	// Start is the instant from which everything counts.
	Start time.Time
	// Passed is false if an expectation failed or the run ended in Err.
	Passed       bool
	Expectations []ExpectationResult
	Events       []journal.Entry
	// Objects are all that the store has in the end, in its order. Tier returns the nodes and pods of a cluster then, in the order of their
	// names, copied for who asks; nil: there are none.
	Objects []api.Object
	Tier    func() []api.Object
	// Compared says of a recording how the replay compares with it, in order of time; nil: it is none.
	Compared []Comparison
	// Assumed says of a recording what its control plane is taken to have run with, a line each; none: it says so itself.
	Assumed []string
	// Err is why the run could not be carried through; it is no expectation's failure.
	Err error
	// Elapsed is how long the run took by the wall clock, and Repeat the command that runs it again.
	// Transcripts have neither.
	Elapsed time.Duration
	Repeat  string
	// Explained says of the first expectation that failed, and is about an object that can be explained, why that is as it is, a line
	// each; nil: it was not asked. Transcripts do not have it.
	Explained []string
}

// ExpectationResult is one thing that a scenario asks for, and whether it held.
type ExpectationResult struct {
	// Text is the expectation as a person would say it.
	Text   string `json:"text"`
	Passed bool   `json:"passed"`
	// At is when it was decided, in seconds from the start.
	At float64 `json:"at"`
	// Reason says why it failed.
	Reason string `json:"reason"`
	// File and Line are where it is written. Empty: where the scenario is.
	File string `json:"-"`
	Line int    `json:"-"`
	// About is the object that one which failed is about; the zero key: none, or any.
	About api.Key `json:"-"`
}

// Place is where an expectation of a run is written, or what it is about.
func (e *ExpectationResult) Place(r *Run) (file string, line int) {
	switch {
	case e.File != "":
		return e.File, max(1, e.Line)
	case e.Line > 0:
		return r.File, e.Line
	}
	return r.File, r.Line
}

// Expect adds an expectation that was checked outside the run.
func (r *Run) Expect(e ExpectationResult) {
	r.Expectations = append(r.Expectations, e)
	r.Passed = r.Passed && e.Passed
}

// All returns all objects that there are in the end.
func (r *Run) All() []api.Object {
	if r.Tier == nil {
		return r.Objects
	}
	return append(slices.Clip(r.Objects), r.Tier()...)
}

// SameScenario reports whether two runs are of one scenario.
func (r *Run) SameScenario(as *Run) bool { return r.File == as.File && r.Name == as.Name }

// Failures counts the expectations that did not hold.
func (r *Run) Failures() (n int) {
	for _, e := range r.Expectations {
		if !e.Passed {
			n++
		}
	}
	return n
}
