package shadow

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Report sums comparisons up.
type Report struct {
	// From and To are when the first and the last decision was made.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Tally
	// Workloads are in the order of their names.
	Workloads []*Summary `json:"workloads"`
}

// Tally counts comparisons.
type Tally struct {
	Decisions int             `json:"decisions"`
	Count     map[Verdict]int `json:"count"`
	// Faster counts decisions that Leeward made and the other made later, Safer evictions and removals of copies that Leeward had cancelled or
	// kept from happening, Different all others that did not agree.
	Faster    int `json:"faster"`
	Safer     int `json:"safer"`
	Different int `json:"different"`
	// LastCopies counts the last copies that Leeward would have kept, Cancelled the evictions that it would have saved by cancelling them.
	LastCopies int `json:"lastCopies"`
	Cancelled  int `json:"cancelled"`
	// Latest is how much later than Leeward the other decided at most.
	Latest time.Duration `json:"latest"`
}

// Summary counts the comparisons of one workload.
type Summary struct {
	Workload string `json:"workload"`
	Tally
	// Examples are comparisons that did not agree, the last of each kind and verdict.
	Examples []*Comparison `json:"examples"`
}

const (
	// MostWorkloads is how many workloads a summary tells apart; those after are summed up under the name Others.
	MostWorkloads = 10_000
	Others        = "(others)"
	// longestLine bounds a line, mostLines the lines of a file.
	longestLine = 64 << 10
	mostLines   = 10_000_000
)

// Summarize reads comparisons, one a line of JSON. An error names the line.
func Summarize(from io.Reader) (*Report, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
	r := &Report{Tally: newTally(), Workloads: []*Summary{}}
	all := map[string]*Summary{}
	for n := 1; lines.Scan(); n++ {
		if n > mostLines {
			return nil, fmt.Errorf("line %d: there may be %d lines", n, mostLines)
		}
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		c, err := parse(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		r.take(c, all)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the comparisons: %w", err)
	}
	for _, s := range all { // order-free: sorted below
		r.Workloads = append(r.Workloads, s)
	}
	slices.SortFunc(r.Workloads, func(a, b *Summary) int { return strings.Compare(a.Workload, b.Workload) })
	return r, nil
}

func parse(line []byte) (*Comparison, error) {
	c := &Comparison{}
	if err := json.Unmarshal(line, c); err != nil {
		return nil, fmt.Errorf("this is no comparison: %w", err)
	}
	if !slices.Contains(Verdicts, c.Verdict) {
		return nil, fmt.Errorf("verdict: %q is not one of %v", c.Verdict, Verdicts)
	}
	if !slices.Contains(Kinds, c.Kind) {
		return nil, fmt.Errorf("kind: %q is not one of %v", c.Kind, Kinds)
	}
	if c.Verdict != Unasked && c.Ours == nil {
		return nil, fmt.Errorf("ours: it is missing, and the verdict is %q", c.Verdict)
	}
	if c.Verdict != Never && c.Theirs == nil {
		return nil, fmt.Errorf("theirs: it is missing, and the verdict is %q", c.Verdict)
	}
	return c, nil
}

func newTally() Tally { return Tally{Count: map[Verdict]int{}} }

func (r *Report) take(c *Comparison, all map[string]*Summary) {
	s := all[c.Workload]
	if s == nil && len(all) >= MostWorkloads {
		c.Workload = Others
		s = all[Others]
	}
	if s == nil {
		s = &Summary{Workload: c.Workload, Tally: newTally(), Examples: []*Comparison{}}
		all[c.Workload] = s
	}
	for _, d := range []*Decision{c.Ours, c.Theirs} {
		if d != nil && (r.From.IsZero() || d.At.Before(r.From)) {
			r.From = d.At
		}
		if d != nil && d.At.After(r.To) {
			r.To = d.At
		}
	}
	r.add(c)
	s.add(c)
	if c.Verdict != Agreed {
		same := func(e *Comparison) bool { return e.Kind == c.Kind && e.Verdict == c.Verdict }
		s.Examples = append(slices.DeleteFunc(s.Examples, same), c)
	}
}

func (t *Tally) add(c *Comparison) {
	t.Decisions++
	t.Count[c.Verdict]++
	switch {
	case c.Verdict == Agreed:
	case c.Verdict == Later:
		t.Faster++
		t.Latest = max(t.Latest, c.Theirs.At.Sub(c.Ours.At))
	case c.Cancelled, c.LastCopy, c.Kind == Removal && (c.Verdict == Unasked || c.Verdict == Earlier):
		t.Safer++
	default:
		t.Different++
	}
	if c.LastCopy {
		t.LastCopies++
	}
	if c.Cancelled {
		t.Cancelled++
	}
}
