package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// account is all that is compared of a recording and a replay, in words.
type account struct {
	// initially and finally tell the state of each binding.
	initially, finally map[string]string
	// bindings and clusters tell what each went through: placements with their tasks, and taints.
	bindings, clusters map[string]history
	// taints tells the taints of each cluster in the end; copies tells, for each binding, which clusters
	// hold one in the end.
	taints, copies map[string]string
	// refused tells which inputs were refused, and why.
	refused string
}

// state is what something was like from an instant on.
type state struct {
	at   time.Duration
	text string
}

// history is a sequence of states of which no two neighbours are the same.
type history []state

func (h history) add(at time.Duration, text string) history {
	if len(h) > 0 && h[len(h)-1].text == text {
		return h
	}
	return append(h, state{at, text})
}

// replace puts a state in the place of the last.
func (h history) replace(at time.Duration, text string) history {
	return h[:len(h)-1].add(at, text)
}

func (h history) String() string {
	var b strings.Builder
	for _, s := range h {
		fmt.Fprintf(&b, "\n    %8.3fs %s", s.at.Seconds(), s.text)
	}
	return b.String()
}

// bounds of how much later than replayed a thing was seen.
type bounds struct{ from, to time.Duration }

// differences tells how a replay differs from its recording, an entry for each difference.
func differences(recorded, replayed *account, b bounds) []string {
	var all []string
	note := func(what string, want, got any) {
		all = append(all, fmt.Sprintf("%s:\n  recorded %s\n  replayed %s", what, want, got))
	}
	for _, part := range []struct {
		name      string
		want, got map[string]string
	}{
		{"initially ", recorded.initially, replayed.initially},
		{"finally ", recorded.finally, replayed.finally},
		{"taints of ", recorded.taints, replayed.taints},
		{"copies of ", recorded.copies, replayed.copies},
		{"", map[string]string{"refused": recorded.refused}, map[string]string{"refused": replayed.refused}},
	} {
		for _, name := range namesOf(part.want, part.got) {
			if part.want[name] != part.got[name] {
				note(part.name+name, part.want[name], part.got[name])
			}
		}
	}
	for _, part := range []struct{ want, got map[string]history }{
		{recorded.bindings, replayed.bindings}, {recorded.clusters, replayed.clusters},
	} {
		for _, name := range namesOf(part.want, part.got) {
			if why := strays(part.want[name], part.got[name], b); why != "" {
				note(name+": "+why, part.want[name], part.got[name])
			}
		}
	}
	return all
}

// namesOf are the names in either map.
func namesOf[T any](a, b map[string]T) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// strays says how a history differs from another; nothing where it does not.
func strays(want, got history, b bounds) string {
	if !slices.EqualFunc(want, got, func(x, y state) bool { return x.text == y.text }) {
		return "other states"
	}
	for i := range want {
		if lag := want[i].at - got[i].at; lag < b.from || lag > b.to {
			return fmt.Sprintf("%s apart from the replay: %s", lag, want[i].text)
		}
	}
	return ""
}
