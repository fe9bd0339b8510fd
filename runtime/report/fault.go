package report

import (
	"errors"
	"regexp"
	"strconv"

	"leeward/messages/manifest"
)

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
