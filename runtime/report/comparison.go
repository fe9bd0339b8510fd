package report

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
)

// Departure is how a workload left a cluster. Instants are offsets from the start.
type Departure struct {
	// At is when it had to: the cluster ceased to be one of its targets.
	At time.Duration
	// To are the clusters that took over, with the replicas that each got; none: nobody did.
	To []api.TargetCluster
	// Released is when the old copy was let go; zero with Open.
	Released time.Duration
	// Open is set where that did not happen, Back where the cluster became a target again instead.
	Open, Back bool
}

// Verdict says how a replay compares with its recording.
type Verdict string

// The verdicts.
const (
	Same         Verdict = "same"
	Earlier      Verdict = "earlier"
	Later        Verdict = "later"
	Differs      Verdict = "differs"
	OnlyRecorded Verdict = "recorded only"
	OnlyReplayed Verdict = "replayed only"
)

// Comparison is one departure as it was recorded and as it was replayed; nil: it did not come to pass.
type Comparison struct {
	Binding            string
	Cluster            string
	Recorded, Replayed *Departure
	Verdict            Verdict
}

// tellComparisons writes a table of them.
func tellComparisons(out *bytes.Buffer, r *Run) {
	if r.Compared == nil {
		return
	}
	fmt.Fprintln(out)
	for _, line := range r.Assumed {
		fmt.Fprintln(out, "assumed:", journal.Printable(line))
	}
	if len(r.Compared) == 0 {
		fmt.Fprintln(out, "no workload left a cluster, neither as recorded nor as replayed")
		return
	}
	rows := bytes.NewBufferString("WORKLOAD\tLEAVES\tRECORDED\tREPLAYED\tVERDICT\n")
	for i := range r.Compared {
		c := &r.Compared[i]
		fmt.Fprintf(rows, "%s\t%s\t%s\t%s\t%s\n", journal.Printable(c.Binding), journal.Printable(c.Cluster), c.Recorded, c.Replayed, c.Verdict)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = rows.WriteTo(table) // to memory
	_ = table.Flush()
}

// verdicts counts departures by how they compare: "2 same, 1 later".
func verdicts(all []Comparison) string {
	var texts []string
	for _, v := range []Verdict{Same, Earlier, Later, Differs, OnlyRecorded, OnlyReplayed} {
		n := 0
		for i := range all {
			if all[i].Verdict == v {
				n++
			}
		}
		if n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if texts == nil {
		return "nothing moved"
	}
	return strings.Join(texts, ", ")
}

// String is "00:06:00 for member3:2, released 00:06:15".
func (d *Departure) String() string {
	if d == nil {
		return "stays"
	}
	text := journal.Clock(d.At)
	if len(d.To) > 0 {
		text += " for " + journal.Printable(targets(d.To))
	}
	switch {
	case d.Back:
		return text + ", back " + journal.Clock(d.Released)
	case d.Open:
		return text + ", not released"
	}
	return text + ", released " + journal.Clock(d.Released)
}

func targets(all []api.TargetCluster) string {
	texts := make([]string, len(all))
	for i, t := range all {
		texts[i] = t.Name
		if n := t.Pods(); n > 0 {
			texts[i] = fmt.Sprintf("%s:%d", t.Name, n)
		}
	}
	return strings.Join(texts, ", ")
}

// comparisonDocument is a comparison in JSON; times are seconds from the start.
type comparisonDocument struct {
	Binding  string             `json:"binding"`
	Cluster  string             `json:"cluster"`
	Recorded *departureDocument `json:"recorded"`
	Replayed *departureDocument `json:"replayed"`
	Verdict  Verdict            `json:"verdict"`
}

type departureDocument struct {
	At       float64             `json:"at"`
	To       []api.TargetCluster `json:"to"`
	Released *float64            `json:"released"`
	Back     *float64            `json:"back,omitempty"`
}

func documentsOf(all []Comparison) []comparisonDocument {
	if all == nil {
		return nil
	}
	documents := make([]comparisonDocument, 0, len(all))
	for i := range all {
		c := &all[i]
		documents = append(documents, comparisonDocument{c.Binding, c.Cluster, c.Recorded.document(), c.Replayed.document(), c.Verdict})
	}
	return documents
}

func (d *Departure) document() *departureDocument {
	if d == nil {
		return nil
	}
	o := &departureDocument{At: d.At.Seconds(), To: append([]api.TargetCluster{}, d.To...)}
	end := d.Released.Seconds()
	switch {
	case d.Back:
		o.Back = &end
	case !d.Open:
		o.Released = &end
	}
	return o
}
