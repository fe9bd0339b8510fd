package report

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// tellComparisons writes a table of them.
func tellComparisons(out *bytes.Buffer, r *replay.Run) {
	if r.Compared == nil {
		return
	}
	fmt.Fprintln(out)
	for _, line := range r.Assumed {
		fmt.Fprintln(out, "assumed:", journal.Printable(line))
	}
	if len(r.Compared) == 0 {
		fmt.Fprintln(out, "no workload was evicted, neither as recorded nor as replayed")
		return
	}
	rows := bytes.NewBufferString("WORKLOAD\tEVICTED FROM\tRECORDED\tREPLAYED\tVERDICT\n")
	for i := range r.Compared {
		c := &r.Compared[i]
		fmt.Fprintf(rows, "%s\t%s\t%s\t%s\t%s\n", journal.Printable(c.Binding), journal.Printable(c.Cluster), c.Recorded, c.Replayed, c.Verdict)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = rows.WriteTo(table) // to memory
	_ = table.Flush()
}

// agreements counts evictions by how they compare: "2 same, 1 later".
func agreements(all []replay.Comparison) string {
	var texts []string
	for _, v := range []replay.Agreement{replay.Same, replay.Earlier, replay.Later, replay.Differs, replay.OnlyRecorded, replay.OnlyReplayed} {
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
		return "no evictions"
	}
	return strings.Join(texts, ", ")
}

// comparisonDocument is a comparison in JSON; times are seconds from the start.
type comparisonDocument struct {
	Binding  string            `json:"binding"`
	Cluster  string            `json:"cluster"`
	Recorded *evictionDocument `json:"recorded"`
	Replayed *evictionDocument `json:"replayed"`
	Verdict  replay.Agreement  `json:"verdict"`
}

type evictionDocument struct {
	At       float64             `json:"at"`
	To       []api.TargetCluster `json:"to"`
	Released *float64            `json:"released"`
	Back     *float64            `json:"back,omitempty"`
}

func documentsOf(all []replay.Comparison) []comparisonDocument {
	if all == nil {
		return nil
	}
	documents := make([]comparisonDocument, 0, len(all))
	for i := range all {
		c := &all[i]
		documents = append(documents, comparisonDocument{c.Binding, c.Cluster, documentOf(c.Recorded), documentOf(c.Replayed), c.Verdict})
	}
	return documents
}

func documentOf(d *replay.EvictionRecord) *evictionDocument {
	if d == nil {
		return nil
	}
	o := &evictionDocument{At: d.At.Seconds(), To: append([]api.TargetCluster{}, d.To...)}
	end := d.Released.Seconds()
	switch {
	case d.Back:
		o.Back = &end
	case !d.Open:
		o.Released = &end
	}
	return o
}
