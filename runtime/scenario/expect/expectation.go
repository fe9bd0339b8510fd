// Package expect judges what a scenario expects: taints, bindings and objects as they are, events as
// they happen, at an instant or over a stretch of the run.
//
// Judging is incremental. An expectation looks at its object when a fact says that the object changed,
// and never again once the answer is known; between two looks the object is what it was.
package expect

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/span"
)

// Mode says for which instants of the window an expectation speaks.
type Mode uint8

// The modes. An instant is judged when all that happens at it is done.
const (
	// At asks for the one instant of the window.
	At Mode = iota
	// Within asks for some instant of the window.
	Within
	// Always asks for every instant of the window.
	Always
	// Never asks for no instant of the window.
	Never
	// Total counts the events of the window.
	Total
)

// Expectation is one line of a scenario's expect list.
type Expectation struct {
	// Source is where it is written, as "fleet.yaml:12", without directories: results are the same wherever
	// the file lies.
	Source string
	Mode   Mode
	// From and Until are the window, offsets from the start, both inclusive. span.Max: until the end.
	From, Until time.Duration
	// Count is for Total only.
	Count Bounds
	// Subject is a State, or an *Event.
	Subject Subject
}

// Subject is what an expectation is about; String says what is expected of it, without the when.
type Subject interface {
	fmt.Stringer
	subject()
}

// State is a subject that can be looked at whenever its object changes.
type State interface {
	Subject
	// ObjectKey names the object.
	ObjectKey() api.Key
	// judge says whether the object is as expected, and what it is like.
	judge(o *objects) (holds bool, seen string)
}

// String returns the expectation as a sentence, with its source: "at 10s: cluster member2 has the taint
// failed:NoExecute (outage.yaml:12)".
func (e *Expectation) String() string {
	return e.when() + ": " + e.Subject.String() + e.howOften() + " (" + e.Source + ")"
}

// line is that of the source.
func (e *Expectation) line() int {
	line, _ := strconv.Atoi(e.Source[strings.LastIndexByte(e.Source, ':')+1:]) // a source without one has none
	return line
}

func (e *Expectation) when() string {
	switch e.Mode {
	case At:
		return "at " + span.String(e.From)
	case Within:
		s := "within " + span.String(e.Until-e.From)
		if e.From > 0 {
			s += " after " + span.String(e.From)
		}
		return s
	case Always:
		return "always" + e.window()
	case Never:
		return "never" + e.window()
	default:
		return "in all" + e.window()
	}
}

func (e *Expectation) howOften() string {
	if e.Mode != Total {
		return ""
	}
	return " happens " + times(e.Count.String())
}

// times returns "1 time" or "at most 3 times".
func times(n string) string {
	if n == "1" || strings.HasSuffix(n, " 1") {
		return n + " time"
	}
	return n + " times"
}

// window says which part of the run is meant, where it is not all of it.
func (e *Expectation) window() string {
	var s string
	if e.From > 0 {
		s += " from " + span.String(e.From)
	}
	if e.Until < span.Max {
		s += " until " + span.String(e.Until)
	}
	return s
}

// Bounds is a range of whole numbers, both ends inclusive.
type Bounds struct{ Min, Max int }

// Unbounded is the Max of a range without an upper end.
const Unbounded = math.MaxInt

// Exactly returns the range of one number.
func Exactly(n int) Bounds { return Bounds{Min: n, Max: n} }

// Holds reports whether n lies in the range.
func (b Bounds) Holds(n int) bool { return b.Min <= n && n <= b.Max }

// String returns "2", "at least 2", "at most 3" or "2 to 3".
func (b Bounds) String() string {
	switch {
	case b.Min == b.Max:
		return fmt.Sprint(b.Min)
	case b.Max == Unbounded:
		return fmt.Sprintf("at least %d", b.Min)
	case b.Min == 0:
		return fmt.Sprintf("at most %d", b.Max)
	default:
		return fmt.Sprintf("%d to %d", b.Min, b.Max)
	}
}

// AnyOf are outcomes of one object, at least one of which is expected.
type AnyOf []State

func (AnyOf) subject() {}

// String returns the outcomes with "or" between them.
func (a AnyOf) String() string {
	return strings.Join(lists.Of(a, func(of State) string { return of.String() }), ", or ")
}

// ObjectKey names the object of all.
func (a AnyOf) ObjectKey() api.Key { return a[0].ObjectKey() }

func (a AnyOf) judge(o *objects) (bool, string) {
	var all []string
	for i := range a {
		holds, seen := a[i].judge(o)
		if holds {
			return true, seen
		}
		if !slices.Contains(all, seen) {
			all = append(all, seen)
		}
	}
	return false, strings.Join(all, ", and ")
}
