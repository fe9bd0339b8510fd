package manifest

import (
	"strconv"
	"strings"

	"leeward/messages/lists"
)

// Problem is one thing that is wrong with a manifest, and where it is written.
type Problem struct {
	File string
	// Line and Column count from 1; 0 is unknown.
	Line, Column int
	// Object is "Deployment default/nginx"; empty where the document does not say.
	Object string
	// Field is a path as in "spec.template.spec.containers[0].resources"; empty for the object itself.
	Field string
	// Value is the value as written, text in quotes; empty where the message says enough.
	Value   string
	Message string
}

// Error returns "fleet.yaml:12: Deployment default/nginx: spec.replicas: "many": want an integer".
func (p *Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at += ":" + itoa(p.Line)
	}
	var parts []string
	for _, part := range []string{at, p.Object, p.Field, p.Value, p.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Problems are all that was found, in file order.
type Problems []*Problem

// Error returns one line for each problem.
func (ps Problems) Error() string {
	return strings.Join(lists.Of(ps, func(p *Problem) string { return p.Error() }), "\n")
}

// Place is where a value is written: its file, the object it belongs to and the path of its field.
type Place struct{ File, Object, Field string }

// joinField joins two paths: "items[3]" and "spec", "labels" and "[app]".
func joinField(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

func itoa(i int) string { return strconv.Itoa(i) }
