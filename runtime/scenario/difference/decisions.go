package difference

import (
	"cmp"
	"slices"
	"time"

	"leeward/messages"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// Decision is the first decision that differs.
type Decision struct {
	// Subject is the workload, the cluster or the governor that it is about.
	Subject string `json:"subject"`
	// A and B are what each decided then, or else next about the subject; nil: nothing.
	A *Decided `json:"a"`
	B *Decided `json:"b"`
	// Contingency is the one in which it differs; empty: there is one outage only.
	Contingency string `json:"contingency,omitempty"`
}

// Decided is a decision of one side, with its reason.
type Decided struct {
	// At is seconds from the start, or from the outage where an assessment or --lose makes one.
	At float64 `json:"at"`
	// Decision says what, with its reason.
	Decision string `json:"decision"`
	at       time.Duration
	subject  string
	// what is it without its reason.
	what string
}

// isDecision reports whether a fact is a decision that changes something, and no report of what came of one.
func isDecision(f messages.Fact) bool {
	switch f := f.(type) {
	case *messages.HealthChanged, *messages.HealthForgotten, *messages.BindingDeleted, *messages.PlacementConfirmed:
		return false
	case *messages.Scheduled: // a workload that was placed again and remains where it is: nothing changes
		return placed(f.Clusters) != placed(f.Before)
	case *messages.TaintAdded, *messages.TaintRemoved, *messages.WorkloadsStay, *messages.GovernorChanged, *messages.BreakerChanged,
		*messages.HandoverBlocked, *messages.RescheduleRequested, *messages.ActivationDeferred, *messages.BindingDescheduled:
		return true
	}
	return failover.RoleOf(f).Is(failover.Folded)
}

// decisions are those of a run, by time and then by subject: in one instant the order of messages decides nothing.
func decisions(r *replay.Run, from time.Duration) (all []Decided) {
	for i := range r.Events {
		e := &r.Events[i]
		if !isDecision(e.Fact) {
			continue
		}
		at := e.At.Sub(r.Start) - from
		told := journal.Tell(r.Start.Add(from), e.Fact)
		d := Decided{At: at.Seconds(), Decision: told.Text(), at: at, subject: subject(e.Fact), what: told.Without()}
		if f, is := e.Fact.(*messages.Scheduled); is { // what was before is no decision
			d.what = "scheduled " + placed(f.Clusters)
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, order)
	return all
}

func order(x, y Decided) int {
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.subject, y.subject), cmp.Compare(x.what, y.what))
}

// wholly compares the reasons, too.
func wholly(x, y Decided) int { return cmp.Or(order(x, y), cmp.Compare(x.Decision, y.Decision)) }

// subject is what a decision is about.
func subject(f messages.Fact) string {
	switch f := f.(type) {
	case messages.AboutBinding:
		return "workload " + string(f.AboutBinding())
	case messages.AboutCluster:
		return "cluster " + string(f.AboutCluster())
	}
	return "governor"
}

// firstDiffering is the first decision that one side took and the other did not, or not then; where there is none, the first that both
// took for another reason. Nil: none differs.
func firstDiffering(a, b *replay.Run, from time.Duration) *Decision {
	x, y := decisions(a, from), decisions(b, from)
	if d := first(x, y, order); d != nil {
		return d
	}
	slices.SortStableFunc(x, wholly)
	slices.SortStableFunc(y, wholly)
	return first(x, y, wholly)
}

// first is the first decision at which two lists part.
func first(x, y []Decided, order func(x, y Decided) int) *Decision {
	i := 0
	for i < len(x) && i < len(y) && order(x[i], y[i]) == 0 {
		i++
	}
	x, y = x[i:], y[i:]
	switch {
	case len(x) == 0 && len(y) == 0:
		return nil
	case len(x) == 0:
		return &Decision{Subject: y[0].subject, B: &y[0]}
	case len(y) == 0:
		return &Decision{Subject: x[0].subject, A: &x[0]}
	}
	d := &Decision{Subject: x[0].subject}
	if order(y[0], x[0]) < 0 {
		d.Subject = y[0].subject
	}
	d.A, d.B = about(x, d.Subject), about(y, d.Subject)
	return d
}

// about is the next decision about a subject; nil: there is none.
func about(all []Decided, subject string) *Decided {
	if i := slices.IndexFunc(all, func(d Decided) bool { return d.subject == subject }); i >= 0 {
		return &all[i]
	}
	return nil
}
