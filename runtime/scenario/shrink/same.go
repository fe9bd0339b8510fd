package shrink

import (
	"maps"
	"slices"
	"strings"
	"time"

	"leeward/messages"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
	"leeward/runtime/scenario/replay"
)

// failures are what fails in a run, in order, such that two runs fail in the same way if they have the same: the expectation, why it
// failed but for names and numbers, and the kinds of facts about its object until then. Without the latter, an eviction
// that does not happen would not happen without an outage either.
func failures(s *scenario.Scenario, run *replay.Run) (all []string) {
	for i, e := range run.Expectations {
		switch {
		case e.Passed:
		case i >= len(s.Expect): // an invariant
			all = append(all, e.Text)
		default:
			of := &s.Expect[i]
			event := eventOf(of)
			sign := said(of, e.Text) + "\n" + shape(e.Reason)
			if event == nil || strings.Contains(e.Reason, "did not happen") {
				until := run.Start.Add(time.Duration(e.At * float64(time.Second)))
				sign += "\n" + strings.Join(kinds(run, objectOf(of, event), until), " ")
			}
			all = append(all, sign)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// said is an expectation without where it is written.
func said(e *expect.Expectation, text string) string {
	return strings.TrimSuffix(text, " ("+e.Source+")")
}

// eventOf is the event that an expectation is about; nil: it is about a state.
func eventOf(e *expect.Expectation) *expect.Event {
	event, _ := e.Subject.(*expect.Event)
	return event
}

// shape is a reason without what has a name or a number in it.
func shape(reason string) string {
	words := strings.FieldsFunc(reason, func(r rune) bool { return strings.ContainsRune(" ,;\n", r) })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "0123456789=/:-\"'") }), " ")
}

// objectOf is the binding or the cluster that an expectation is about; empty: any.
func objectOf(e *expect.Expectation, event *expect.Event) (of messages.HoldScope) {
	if event != nil {
		return messages.HoldScope{Binding: event.Binding, Cluster: event.Cluster}
	}
	state, is := e.Subject.(expect.State)
	if !is {
		return of
	}
	switch key := state.ObjectKey(); key.Kind {
	case "Cluster":
		of.Cluster = messages.ClusterName(key.Name)
	case "ResourceBinding", "ClusterResourceBinding":
		of.Binding = messages.NameBinding(key.Namespace, key.Name)
	}
	return of
}

// kinds are those of the facts about an object until an instant, in order. A binding comes before a cluster.
func kinds(run *replay.Run, of messages.HoldScope, until time.Time) []string {
	all := map[string]bool{}
	for i := range run.Events {
		e := &run.Events[i]
		if e.At.After(until) {
			break
		}
		binding, ofBinding := e.Fact.(messages.AboutBinding)
		cluster, ofCluster := e.Fact.(messages.AboutCluster)
		switch {
		case of.Binding != "":
			all[e.Fact.Kind()] = all[e.Fact.Kind()] || ofBinding && binding.AboutBinding() == of.Binding
		case of.Cluster != "":
			all[e.Fact.Kind()] = all[e.Fact.Kind()] || ofCluster && cluster.AboutCluster() == of.Cluster
		default:
			all[e.Fact.Kind()] = true
		}
	}
	maps.DeleteFunc(all, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(all))
}
