package rehearsal

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
)

// Outcome is what a run comes to, read from its facts.
type Outcome struct {
	failovers failover.Fold
	evicted   []*failover.Failover
	blocked   map[failover.Key]block
	refused   map[messages.BindingName]refusal
}

// block is an eviction that is due and waits since an instant.
type block struct {
	since time.Time
	of    *failover.Failover
}

// refusal is why no cluster can take replicas; missing is 0 where the number is not told.
type refusal struct {
	missing int32
	message string
}

// NewOutcome is that of a run of which no fact was heard.
func NewOutcome() *Outcome {
	return &Outcome{failovers: failover.Fold{}, blocked: map[failover.Key]block{}, refused: map[messages.BindingName]refusal{}}
}

// Rested is what the outcome is now. It does not change with what is heard later.
func (o *Outcome) Rested() *Outcome {
	return &Outcome{evicted: slices.Clone(o.evicted), blocked: maps.Clone(o.blocked), refused: maps.Clone(o.refused)}
}

// quiet reports whether nothing of a prediction happened.
func (o *Outcome) quiet() bool { return len(o.evicted)+len(o.blocked)+len(o.refused) == 0 }

// Hear takes the next fact of the run.
func (o *Outcome) Hear(at time.Time, f messages.Fact) {
	o.failovers.Take(at, f, o.step)
	switch f := f.(type) {
	case *messages.ScheduleFailed:
		o.refuse(f.Binding, f.Reason, refusal{f.Missing, f.Message})
	case *messages.Scheduled:
		delete(o.refused, f.Binding)
	case *messages.BindingDeleted:
		delete(o.refused, f.Binding)
	}
}

// step follows a failover.
func (o *Outcome) step(at time.Time, s failover.Step, f *failover.Failover) {
	switch s {
	case failover.Blocked:
		if o.refuse(f.Binding, f.BlockedBy.Reason, refusal{message: f.BlockedBy.Message}) {
			return
		}
		since := at
		if before, is := o.blocked[f.Key]; is {
			since = before.since
		}
		o.blocked[f.Key] = block{since, f}
	case failover.Evicted:
		o.evicted = append(o.evicted, f)
		delete(o.refused, f.Binding)
	case failover.Cancelled:
		delete(o.refused, f.Binding)
		delete(o.blocked, f.Key)
	}
}

// refuse notes a binding that no cluster can take, if the reason says so.
func (o *Outcome) refuse(b messages.BindingName, reason string, r refusal) bool {
	is := api.IsUnschedulable(reason)
	if is {
		o.refused[b] = r
	}
	return is
}

// Refused is why no cluster can take replicas of a binding; false: nothing refused them last.
func (o *Outcome) Refused(b messages.BindingName) (reason string, is bool) {
	r, is := o.refused[b]
	return journal.Printable(r.message), is
}

// Blocks is what blocked the eviction of a binding from a cluster last; false: nothing did.
func (o *Outcome) Blocks(b messages.BindingName, cluster messages.ClusterName) (reason string, is bool) {
	k, is := o.blocked[failover.Key{Binding: b, Cluster: cluster}]
	if !is {
		return "", false
	}
	return blockedBy(k.of), true
}

func blockedBy(f *failover.Failover) string {
	return journal.Printable(f.BlockedBy.Reason + ": " + f.BlockedBy.Message)
}

// moment tells one eviction from another.
type moment struct {
	failover.Key
	at int64
}

// Beyond is what the outcome has that another has not. Times count from an instant.
func (o *Outcome) Beyond(without *Outcome, begins time.Time) Prediction {
	var p Prediction
	known, evicted := map[moment]bool{}, map[failover.Key]bool{}
	for _, f := range without.evicted {
		known[moment{f.Key, f.Evicted.UnixNano()}] = true
	}
	for _, f := range o.evicted {
		evicted[f.Key] = true
		if !known[moment{f.Key, f.Evicted.UnixNano()}] {
			p.Evictions = append(p.Evictions, evictionOf(f, begins))
		}
	}
	for key, b := range o.blocked { // sorted below
		if _, is := without.blocked[key]; !is {
			p.Blocked = append(p.Blocked, Blocked{span.Seconds(b.since.Sub(begins)), key.Binding, key.Cluster, blockedBy(b.of), evicted[key]})
		}
	}
	for b, r := range o.refused { // sorted below
		if before, is := without.refused[b]; !is || r.missing > before.missing {
			p.Unschedulable = append(p.Unschedulable, Trouble{b, r.missing, journal.Printable(r.message)})
		}
	}
	slices.SortFunc(p.Evictions, func(a, b Eviction) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.From, b.From))
	})
	slices.SortFunc(p.Blocked, func(a, b Blocked) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Cluster, b.Cluster))
	})
	slices.SortFunc(p.Unschedulable, func(a, b Trouble) int { return cmp.Compare(a.Workload, b.Workload) })
	return p
}

// evictionOf is the eviction of a failover.
func evictionOf(f *failover.Failover, begins time.Time) Eviction {
	g := &f.Eviction.Grounds
	e := Eviction{
		At: span.Seconds(f.Evicted.Sub(begins)), Workload: f.Binding, From: f.Cluster, To: append([]api.TargetCluster{}, f.To...), Reason: journal.Reason(g), Taint: g.Taint, Toleration: g.Toleration,
	}
	if n := f.Eviction.Task.Replicas; n != nil {
		e.Replicas = *n
	}
	if g.Cause != nil {
		e.Policy = g.Cause.Policy
	}
	return e
}
