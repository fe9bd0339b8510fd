package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"leeward/runtime/fleet/shadow"
)

func shadowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "shadow",
		Short: "Sum up what a daemon in shadow would have done otherwise",
	}
	c.AddCommand(shadowReportCommand())
	return c
}

func shadowReportCommand() *cobra.Command {
	form := wordFlag{"text", []string{"text", "json", "yaml"}}
	c := &cobra.Command{
		Use:   "report FILE",
		Short: "Sum up comparisons of evictions by workload",
		Long: `Sum up, by workload, the comparisons that leewardd --attach writes in shadow with --shadow-comparisons: in how many evictions
the cluster's own controller agreed with Leeward, evicted earlier or later, never did, or evicted what Leeward would not
have (unasked). LATEST is how much later it evicted at most. Below the table is one example of each workload that differs.

Exit codes:
  0  done
  2  the file is no list of comparisons, or the command line is invalid
  3  an internal error, or a file that cannot be read`,
		Example: `  leeward shadow report cmd/leeward/testdata/comparisons.jsonl
  leeward shadow report cmd/leeward/testdata/comparisons.jsonl -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return reportShadow(c.OutOrStdout(), args[0], form.word) },
	}
	c.Flags().VarP(&form, "output", "o", "text, json or yaml")
	complete(c, "output", form.choices)
	return c
}

func reportShadow(out io.Writer, path, form string) error {
	file, err := os.Open(path)
	if err != nil {
		return ofInput(err)
	}
	all, err := shadow.Summarize(file)
	_ = file.Close() // it was only read
	if err != nil {
		return ofInput(fmt.Errorf("%s: %w", path, err))
	}
	return printed(out, form, all, func(out io.Writer) error { return shadowTable(out, all) })
}

// shadowTable has a line for each workload, and then an example of each that differs.
func shadowTable(out io.Writer, all []*shadow.Summary) error {
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "WORKLOAD\tAGREED\tEARLIER\tLATER\tNEVER\tUNASKED\tLATEST") // Flush tells
	for _, s := range all {
		_, _ = fmt.Fprint(t, s.Workload)
		for _, v := range shadow.Verdicts {
			_, _ = fmt.Fprintf(t, "\t%d", s.Count[v])
		}
		latest := "-"
		if s.Latest > 0 {
			latest = s.Latest.Round(time.Second).String()
		}
		_, _ = fmt.Fprintf(t, "\t%s\n", latest)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range all {
		if s.Example == nil {
			continue
		}
		if _, err := fmt.Fprintf(out, "\n%s: %s, pod %s on %s\n  ours    %s\n  theirs  %s\n",
			s.Workload, s.Example.Verdict, s.Example.Pod, s.Example.Node, decided(s.Example.Ours), decided(s.Example.Theirs)); err != nil {
			return err
		}
	}
	return nil
}

// decided tells a decision with its reason.
func decided(d *shadow.Decision) string {
	if d == nil {
		return "none"
	}
	return fmt.Sprintf("%s by %s: %s", d.At.UTC().Format(time.RFC3339), d.By, d.Reason)
}
