package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"leeward/runtime/fleet/shadow"
	pages "leeward/runtime/report/page"
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
	form := wordFlag{"text", []string{"text", "wide", "json", "yaml"}}
	html := ""
	c := &cobra.Command{
		Use:   "report FILE",
		Short: "Sum up comparisons of decisions by workload",
		Long: `Sum up, by workload, the comparisons that leewardd --attach writes in shadow with --shadow-comparisons: how many evictions,
placements, removals of old copies and taints of clusters the control plane that acts decided as Leeward did (agreed), earlier, later,
elsewhere, never, or without Leeward (unasked). LATEST is how much later it decided at most. Below the table are one example of each workload that
differs, with -o wide one of each kind and verdict, and what would have been faster, safer or different.

Exit codes:
  0  done
  2  the file is no list of comparisons, or the command line is invalid
  3  an internal error, or a file that cannot be read`,
		Example: `  leeward shadow report cmd/leeward/testdata/comparisons.jsonl
  leeward shadow report cmd/leeward/testdata/comparisons.jsonl -o wide
  leeward shadow report cmd/leeward/testdata/comparisons.jsonl -o json
  leeward shadow report cmd/leeward/testdata/comparisons.jsonl --html shadow.html # both reasons, side by side`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return reportShadow(c.OutOrStdout(), c.ErrOrStderr(), args[0], form.word, html)
		},
	}
	c.Flags().StringVar(&html, "html", "", "file to write the viewer to, with the verdicts by workload and both reasons")
	form.add(c, "output", "o", "text, wide, json or yaml")
	return c
}

func reportShadow(out, stderr io.Writer, path, form, html string) error {
	file, err := os.Open(path)
	if err != nil {
		return ofInput(err)
	}
	all, err := shadow.Summarize(file)
	_ = file.Close() // it was only read
	if err != nil {
		return ofInput(fmt.Errorf("%s: %w", path, err))
	}
	if err := drawShadow(stderr, html, path, all); err != nil {
		return err
	}
	wide := form == "wide"
	if wide {
		form = "text"
	}
	return printed(out, form, all, func(out io.Writer) error { return shadowTable(out, all, wide) })
}

// drawShadow writes the page, if one is asked for.
func drawShadow(stderr io.Writer, html, path string, all *shadow.Report) error {
	page, err := createPage(html)
	if err != nil {
		return internal(err)
	}
	if page == nil {
		return nil
	}
	defer page.discard()
	if err := pages.WriteShadow(page, all, path); err != nil {
		return internal(err)
	}
	if err := page.finish(); err != nil {
		return internal(err)
	}
	page.tell(stderr)
	return nil
}

// shadowTable has a line for each workload, then examples of each that differs, and the sum of all.
func shadowTable(out io.Writer, r *shadow.Report, wide bool) error {
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "WORKLOAD\tAGREED\tEARLIER\tLATER\tELSEWHERE\tNEVER\tUNASKED\tLATEST") // Flush tells
	for _, s := range r.Workloads {
		_, _ = fmt.Fprint(t, s.Workload)
		for _, v := range shadow.Verdicts {
			_, _ = fmt.Fprintf(t, "\t%d", s.Count[v])
		}
		_, _ = fmt.Fprintf(t, "\t%s\n", lateness(&s.Tally))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var text strings.Builder
	for _, s := range r.Workloads {
		examples := s.Examples
		if !wide {
			examples = examples[max(0, len(examples)-1):]
		}
		for _, e := range examples {
			writeExample(&text, e)
		}
	}
	writeSum(&text, r)
	_, err := io.WriteString(out, text.String())
	return err
}

func lateness(t *shadow.Tally) string {
	if t.Latest == 0 {
		return "-"
	}
	return t.Latest.Round(time.Second).String()
}

func writeExample(out *strings.Builder, e *shadow.Comparison) {
	fmt.Fprintf(out, "\n%s: %s %s", e.Workload, e.Kind, e.Verdict)
	switch {
	case e.Pod != "":
		fmt.Fprintf(out, ", pod %s on %s", e.Pod, e.Node)
	case e.Cluster != "":
		fmt.Fprintf(out, ", from %s", e.Cluster)
	}
	fmt.Fprintf(out, "\n  ours    %s\n  theirs  %s\n", cmp.Or(decided(e.Ours), cmp.Or(e.Why, "none")), cmp.Or(decided(e.Theirs), "none"))
}

// writeSum says what would have been otherwise.
func writeSum(out *strings.Builder, r *shadow.Report) {
	if r.Decisions == 0 {
		out.WriteString("\nno decision was compared\n")
		return
	}
	fmt.Fprintf(out, "\n%d decisions on %d workloads from %s to %s: %d agreed\n", r.Decisions, len(r.Workloads), r.From.UTC().Format(time.RFC3339), r.To.UTC().Format(time.RFC3339), r.Count[shadow.Agreed])
	fmt.Fprintf(out, "  faster     %d", r.Faster)
	if r.Faster > 0 {
		fmt.Fprintf(out, ", by up to %s", lateness(&r.Tally))
	}
	fmt.Fprintf(out, "\n  safer      %d; last copies that would have been kept: %d; evictions saved by cancelling them: %d\n", r.Safer, r.LastCopies, r.Cancelled)
	fmt.Fprintf(out, "  different  %d\n", r.Different)
}

// decided tells a decision with its reason; nothing of none.
func decided(d *shadow.Decision) string {
	if d == nil {
		return ""
	}
	where := ""
	if len(d.Clusters) > 0 {
		where = " on " + placed(d.Clusters)
	}
	return fmt.Sprintf("%s by %s%s: %s", d.At.UTC().Format(time.RFC3339), d.By, where, d.Reason)
}
