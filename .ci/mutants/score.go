package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printTable prints killed and survived by package, and of all. Equivalent faults are beside the count.
func printTable(w io.Writer, scores []score) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "killed\tsurvived\tof these not executed\ttried\tof\tkilled %\tequivalent\t  package")
	all := score{name: "all"}
	for i := range scores {
		s := &scores[i]
		s.row(t)
		all.tried += s.tried
		all.killed += s.killed
		all.total += s.total
		all.unreach += s.unreach
		all.equivalent += s.equivalent
	}
	all.row(t)
	_ = t.Flush()
}

func (s *score) row(w io.Writer) {
	share := 0.0
	if s.tried > 0 {
		share = 100 * float64(s.killed) / float64(s.tried)
	}
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%.1f\t%d\t  %s\n", s.killed, s.tried-s.killed, s.unreach, s.tried, s.total, share, s.equivalent, s.name)
}
