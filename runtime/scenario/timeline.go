package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages/lists"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/span"
)

// mostSteps bounds the firings of one timeline, so that a slip of the pen does not fill memory.
const mostSteps = 1_000_000

// writtenStep is a step as it is read, before anything that it names is looked up.
type writtenStep struct {
	step
	path string
	line int
	// first and last are when the step fires; every is 0 for a step that fires once.
	first, last, every time.Duration
	// documents are what the step applies.
	documents []manifest.Document
}

// timeline reads the steps in two passes, because a step may name what another applies.
func (r *reader) timeline(nodes []yaml.Node) []Step {
	written := make([]*writtenStep, 0, len(nodes))
	for i := range nodes {
		if w := r.step(fmt.Sprintf("spec.timeline[%d]", i), &nodes[i]); w != nil {
			written = append(written, w)
		}
	}
	byTime := func(a, b *writtenStep) int { return cmp.Compare(a.first, b.first) }
	for _, w := range slices.SortedStableFunc(slices.Values(written), byTime) {
		for _, doc := range w.documents {
			r.cast.join(doc.Object, w.first)
		}
	}
	var steps []Step
	for _, w := range written {
		if action := r.action(w); action != nil {
			steps = r.fire(steps, w, action)
		}
	}
	slices.SortStableFunc(steps, inOrder)
	return steps
}

// step reads one step and when it fires; nil if that went wrong.
func (r *reader) step(path string, n *yaml.Node) *writtenStep {
	w := &writtenStep{path: path, line: n.Line}
	before := len(r.problems)
	if r.decode(path, n, &w.step) {
		r.when(w)
		w.documents = r.applied(path+".apply", w.Apply)
	}
	if len(r.problems) > before {
		r.cast.incomplete = r.cast.incomplete || w.Apply != nil
		return nil
	}
	return w
}

// when says when a step fires.
func (r *reader) when(w *writtenStep) {
	switch {
	case w.At == nil && w.Every == nil:
		r.bad(w.path, "want at or every")
	case w.At != nil && w.Every != nil:
		r.bad(w.path, "want at or every, not both")
	case w.At != nil && (w.From != nil || w.Until != nil):
		r.bad(w.path, "from and until go with every, not with at")
	case w.At != nil:
		w.first = time.Duration(*w.At)
		w.last = w.first
		r.inTime(w.path+".at", w.first)
	case *w.Every == 0:
		r.bad(w.path+".every", "must be more than 0")
	default:
		r.repeat(w)
	}
}

func (r *reader) repeat(w *writtenStep) {
	w.every = time.Duration(*w.Every)
	w.first = w.From.orElse(0)
	w.last = w.Until.orElse(r.duration)
	switch {
	case w.Until == nil && r.duration == 0:
		r.bad(w.path, "want until, for the scenario has no duration")
	case w.last < w.first:
		r.bad(w.path, "ends at %s, before it begins at %s", span.String(w.last), span.String(w.first))
	case w.Until != nil:
		r.inTime(w.path+".until", w.last)
	}
}

// inTime reports an instant that the run does not reach.
func (r *reader) inTime(path string, at time.Duration) {
	if r.duration > 0 && at > r.duration {
		r.bad(path, "%s is after the end of the run at %s", span.String(at), span.String(r.duration))
	}
}

// fire appends every firing of a step.
func (r *reader) fire(steps []Step, w *writtenStep, action Action) []Step {
	firings := int64(1)
	if w.every > 0 {
		firings += int64((w.last - w.first) / w.every)
	}
	if int64(len(steps))+firings > mostSteps {
		r.bad(w.path, "fires %d times; a timeline has at most %d steps", firings, mostSteps)
		return steps
	}
	for i := range firings {
		at := w.first + time.Duration(i)*w.every
		step := Step{At: at, Action: action, File: r.doc.Place.File, Line: w.line}
		steps = append(steps, step)
		if end, ends := r.ended(step); ends {
			steps = append(steps, end)
		}
	}
	return steps
}

// action returns what a step does; nil if that went wrong.
func (r *reader) action(w *writtenStep) Action {
	actions := w.actions()
	if len(actions) != 1 {
		r.bad(w.path, "want one action, not %d%s", len(actions), listActions(actions))
		return nil
	}
	one := actions[0]
	if w.MayFail && one.name != "apply" {
		r.bad(w.path+".mayFail", "goes with apply, not with %s", one.name)
		return nil
	}
	before := len(r.problems)
	action := one.read(&call{reader: r, path: w.path + "." + one.name, at: w.first})
	if len(r.problems) > before {
		return nil
	}
	return action
}

func listActions(actions []namedAction) string {
	if len(actions) == 0 {
		return ""
	}
	return ": " + strings.Join(lists.Of(actions, func(a namedAction) string { return a.name }), ", ")
}
