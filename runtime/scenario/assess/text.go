package assess

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"leeward/messages"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/forecast"
)

// Predicted begins each line of text that is a prediction.
const Predicted = forecast.Predicted

const (
	// mostRows is how many contingencies, and mostNamed how many of their workloads, a short text names.
	mostRows  = 20
	mostNamed = 5
	// mostAdvice is how many changes, and mostWhere how many of their places.
	mostAdvice = 20
	mostWhere  = 3
)

// WriteText writes an assessment for people: a table of what hurts, the worst first, the workloads that would not be whole again,
// and what to change. Wide leaves nothing out.
func WriteText(w io.Writer, a *Assessment, wide bool) error {
	t := &text{Writer: w, wide: wide}
	t.head(a)
	t.table(a)
	t.troubles(a)
	t.advice(a.Advice)
	return t.err
}

// text writes lines until one fails.
type text struct {
	io.Writer
	wide bool
	err  error
}

func (t *text) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t, format+"\n", args...)
	}
}

func (t *text) head(a *Assessment) {
	s := &a.Fleet
	t.line("assess: %s in %s; %s, %s; profile %s, seed %d", spelling.Count(s.Clusters, "cluster"), spelling.Count(s.Regions, "region"),
		spelling.Count(s.Workloads, "workload"), spelling.Count(s.Replicas, "replica"), a.Profile, a.Seed)
	t.line("each contingency is an outage (%s) without an end, followed for %s; nothing is written", a.Outage, span.String(Horizon))
	if s.Unschedulable > 0 {
		t.line("%s replicas unschedulable before anything fails", spelling.Count(s.Unschedulable, "workload has", "workloads have"))
	}
	if s.Moving > 0 {
		t.line("%s evicted before anything fails, and the fleet is not at rest: the figures depend on the moment of the failure", spelling.Count(s.Moving, "workload is", "workloads are"))
	}
}

// table is what each contingency would do.
func (t *text) table(a *Assessment) {
	shown, quiet := a.shown(t.wide)
	t.line("")
	if len(shown) > 0 {
		table := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
		columns := []string{"IF LOST", "EVICTED", "RESCHEDULED", "UNSCHEDULABLE", "UNAVAILABLE", "DOWN", "LOWEST", "AVAILABLE AGAIN", "OVERFLOWS", "BREAKER"}
		rows := append([]string{}, strings.Join(columns, "\t"))
		for _, o := range shown {
			rows = append(rows, strings.Join(o.cells(), "\t"))
		}
		if _, err := fmt.Fprintln(table, strings.Join(rows, "\n")); err != nil && t.err == nil {
			t.err = err
		}
		if err := table.Flush(); err != nil && t.err == nil {
			t.err = err
		}
		t.line("evicted, rescheduled, unschedulable, unavailable at the end: workloads (replicas); down: workloads that have nothing")
		t.line("available for a while; lowest: available replicas on the way, of all of the fleet")
	}
	if left := len(a.Contingencies) - len(shown) - quiet; left > 0 {
		t.line("%s%s would hurt less; -o wide shows them", Predicted, spelling.Count(left, "contingency", "contingencies"))
	}
	if quiet > 0 {
		t.line("%s%s would change nothing", Predicted, spelling.Count(quiet, "contingency", "contingencies"))
	}
}

// shown are the contingencies of a table, and how many change nothing.
func (a *Assessment) shown(wide bool) (shown []*Outcome, quiet int) {
	for _, o := range a.Contingencies {
		switch {
		case !o.Changes() && !wide:
			quiet++
		case wide || len(shown) < mostRows:
			shown = append(shown, o)
		}
	}
	return shown, quiet
}

// cells are the row of a contingency.
func (o *Outcome) cells() []string {
	again := "never"
	switch {
	case o.AvailableAfter != nil && *o.AvailableAfter == 0:
		again = "-"
	case o.AvailableAfter != nil:
		again = span.String(time.Duration(*o.AvailableAfter))
	}
	over := lists.Of(o.Overflows, func(c Overflow) string { return c.Cluster })
	breaker := "no"
	if len(o.Breakers) > 0 {
		breaker = "yes"
	}
	name := o.Name
	if o.SameAs != "" {
		name += " (= " + o.SameAs + ")"
	}
	return []string{
		Predicted + name, o.Evicted.String(), o.Rescheduled.String(), o.Unschedulable.String(), o.Unavailable.String(), fmt.Sprint(o.Down),
		percent(o.Lowest), again, cmp.Or(spelling.Few(slices.Compact(over), mostListed), "-"), breaker,
	}
}

// String is a count as tables have it.
func (c Count) String() string {
	if c.Workloads == 0 {
		return "-"
	}
	return fmt.Sprintf("%d (%d)", c.Workloads, c.Replicas)
}

// percent rounds down, so that only what is whole is 100 %.
func percent(share float64) string { return fmt.Sprintf("%d%%", int(share*100+1e-9)) }

// troubles names the workloads that would not be whole again, what overflows, and what stops evictions.
func (t *text) troubles(a *Assessment) {
	shown, _ := a.shown(t.wide)
	for _, o := range shown {
		if o.SameAs != "" || len(o.Troubles)+len(o.Overflows)+len(o.Breakers) == 0 {
			continue
		}
		t.line("")
		t.line("%slosing %s (%s)", Predicted, o.Name, spelling.Few(o.Clusters, mostListed))
		for i, w := range o.Troubles {
			if i == mostNamed && !t.wide && len(o.Troubles) > mostNamed+1 {
				t.line("%s  and %s; -o wide names them", Predicted, spelling.Count(len(o.Troubles)+o.Unnamed-i, "more workload", "more workloads"))
				break
			}
			what := "all of it"
			if w.Missing > 0 {
				what = spelling.Count(int(w.Missing), "replica", "replicas")
			}
			t.line("%s  %s  %s, %s", Predicted, w.Workload, what, w.Why())
		}
		if o.Unnamed > 0 && t.wide {
			t.line("%s  and %s", Predicted, spelling.Count(o.Unnamed, "more workload", "more workloads"))
		}
		for _, c := range o.Overflows {
			t.line("%s  cluster %s overflows: %s of %s %s requested", Predicted, c.Cluster, c.Requested, c.Has, c.Resource)
		}
		for _, b := range o.Breakers {
			t.line("%s  evictions slow down or stop: %s", Predicted, b)
		}
	}
}

// advice is what to change.
func (t *text) advice(all []Advice) {
	t.line("")
	if len(all) == 0 {
		t.line("%snothing needs to change: all workloads would be available again after each contingency", Predicted)
		return
	}
	t.line("what to change")
	for i := range all {
		if i == mostAdvice && !t.wide {
			t.line("and %s; -o wide has them", spelling.Count(len(all)-i, "more change", "more changes"))
			break
		}
		at := &all[i]
		where := ""
		if len(at.Where) > 0 {
			where = " (" + joined(at.Where, t.wide) + ")"
		}
		t.line("%d. %s%s", i+1, at.Change, where)
		if names := lists.Of(at.Workloads, func(w messages.BindingName) string { return string(w) }); len(names) > 0 {
			t.line("   %s%s: %s", Predicted, spelling.Count(len(names), "workload is affected", "workloads are affected"), spelling.Few(names, mostListed))
		}
		for _, e := range at.Evidence {
			t.line("   %s%s", Predicted, e)
		}
		if more := len(at.Contingencies); more > len(at.Evidence) {
			t.line("   %sin %s: %s", Predicted, spelling.Count(more, "contingency", "contingencies"), spelling.Few(at.Contingencies, mostListed))
		}
	}
}

// joined are places, the first few of them if the text is short.
func joined(where []string, all bool) string {
	if more := len(where) - mostWhere; more > 0 && !all {
		return fmt.Sprintf("%s; and %d more", strings.Join(where[:mostWhere], "; "), more)
	}
	return strings.Join(where, "; ")
}
