package difference

import (
	"cmp"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/incident"
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

// Recording is what was decided in a recording.
type Recording struct {
	Evictions incident.Evictions
	Lasts     time.Duration
}

// RecordedEviction is an eviction of which two recordings tell otherwise, or that one of them has.
type RecordedEviction struct {
	Workload string `json:"workload"`
	Cluster  string `json:"cluster"`
	// A and B are null where the recording has no such eviction.
	A *Recorded `json:"a"`
	B *Recorded `json:"b"`
	// Verdict is how B differs: earlier, later, differs, A only or B only.
	Verdict string `json:"verdict"`
}

// Recorded is an eviction as a recording has it.
type Recorded struct {
	At float64 `json:"atSeconds"`
	// To are the clusters that took over.
	To []api.TargetCluster `json:"to"`
	// Ended is when the old copy was gone, or Returned when the cluster became a target again; both nil: neither was recorded.
	Ended    *float64 `json:"endedSeconds,omitempty"`
	Returned *float64 `json:"returnedSeconds,omitempty"`
	text     string
}

// recorded compares what was decided in two recordings. A recording differs from itself in nothing.
func (d *Difference) recorded(a, b *Recording) {
	if a == nil || b == nil {
		return
	}
	for _, c := range incident.Compare(a.Evictions, b.Evictions, max(a.Lasts, b.Lasts)) {
		if c.Verdict == replay.Same {
			continue
		}
		verdict := map[replay.Agreement]string{replay.OnlyRecorded: "A only", replay.OnlyReplayed: "B only"}[c.Verdict]
		verdict = cmp.Or(verdict, string(c.Verdict))
		d.Recorded = append(d.Recorded, RecordedEviction{c.Binding, c.Cluster, recordedOf(c.Recorded), recordedOf(c.Replayed), verdict})
		d.Differ = true
	}
}

func recordedOf(e *replay.EvictionRecord) *Recorded {
	if e == nil {
		return nil
	}
	r := &Recorded{At: e.At.Seconds(), To: e.To, text: e.String()}
	switch ended := e.Released.Seconds(); {
	case e.Open:
	case e.Back:
		r.Returned = &ended
	default:
		r.Ended = &ended
	}
	return r
}

// told is the eviction in words.
func (r *Recorded) told() string {
	if r == nil {
		return "not evicted"
	}
	return r.text
}

// recordedRows are the table of what differs between two recordings.
func (d *Difference) recordedRows(wide bool) (rows [][]string) {
	for i, e := range d.Recorded {
		if i == mostRows && !wide {
			break
		}
		rows = append(rows, []string{e.Workload, "eviction from " + e.Cluster, e.A.told(), e.B.told(), e.Verdict})
	}
	return rows
}
