// Package shadow has the words for what a control plane in shadow would have done, beside what the one that acts did, and sums them up.
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

// Verdict says what the control plane that acts did, compared with what Leeward decided.
type Verdict string

// The verdicts.
const (
	// Agreed: both evict, at most Tolerance apart.
	Agreed Verdict = "agreed"
	// Earlier and Later: both evict, the other one earlier or later.
	Earlier Verdict = "earlier"
	Later   Verdict = "later"
	// Never: Leeward evicts, and the other did not within Patience.
	Never Verdict = "never"
	// Unasked: the other evicts what Leeward does not.
	Unasked Verdict = "unasked"
)

// Verdicts are all of them, in the order of reports.
var Verdicts = []Verdict{Agreed, Earlier, Later, Never, Unasked}

const (
	// Tolerance is how far two evictions may be apart that agree: the API stores whole seconds.
	Tolerance = 2 * time.Second
	// Patience is how long the other is waited for.
	Patience = 10 * time.Minute
)

// Decision is an eviction, with its reason in the words of the control plane that decided it.
type Decision struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
}

// Comparison is one eviction as both decided it; nil: one did not.
type Comparison struct {
	Time     time.Time `json:"time"`
	Verdict  Verdict   `json:"verdict"`
	Pod      string    `json:"pod"`
	UID      string    `json:"uid"`
	Node     string    `json:"node"`
	Workload string    `json:"workload"`
	Ours     *Decision `json:"ours,omitempty"`
	Theirs   *Decision `json:"theirs,omitempty"`
}

// Judge returns the verdict of two decisions, of which one may be missing.
func Judge(ours, theirs *Decision) Verdict {
	switch {
	case theirs == nil:
		return Never
	case ours == nil:
		return Unasked
	}
	switch later := theirs.At.Sub(ours.At); {
	case later > Tolerance:
		return Later
	case later < -Tolerance:
		return Earlier
	}
	return Agreed
}

// Summary counts the comparisons of one workload.
type Summary struct {
	Workload string          `json:"workload"`
	Count    map[Verdict]int `json:"count"`
	// Latest is how much later than Leeward's decision the other evicted at most.
	Latest time.Duration `json:"latest"`
	// Example is a comparison that did not agree, the last one; nil: all agreed.
	Example *Comparison `json:"example,omitempty"`
}

const (
	// MostWorkloads is how many workloads a summary tells apart; those after are summed up under the name Others.
	MostWorkloads = 10_000
	Others        = "(others)"
	// longestLine bounds a line, mostLines the lines of a file.
	longestLine = 64 << 10
	mostLines   = 10_000_000
)

// Summarize reads comparisons, one a line of JSON, and sums them up by workload, in the order of their names. An error names the line.
func Summarize(from io.Reader) ([]*Summary, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
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
		s := all[c.Workload]
		if s == nil && len(all) >= MostWorkloads {
			c.Workload = Others
			s = all[Others]
		}
		if s == nil {
			s = &Summary{Workload: c.Workload, Count: map[Verdict]int{}}
			all[c.Workload] = s
		}
		s.add(c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the comparisons: %w", err)
	}
	var sorted []*Summary
	for _, s := range all {
		sorted = append(sorted, s)
	}
	slices.SortFunc(sorted, func(a, b *Summary) int { return strings.Compare(a.Workload, b.Workload) })
	return sorted, nil
}

func parse(line []byte) (*Comparison, error) {
	c := &Comparison{}
	if err := json.Unmarshal(line, c); err != nil {
		return nil, fmt.Errorf("this is no comparison: %w", err)
	}
	if !slices.Contains(Verdicts, c.Verdict) {
		return nil, fmt.Errorf("verdict: %q is not one of %v", c.Verdict, Verdicts)
	}
	if c.Verdict != Unasked && c.Ours == nil {
		return nil, fmt.Errorf("ours: it is missing, and the verdict is %q", c.Verdict)
	}
	if c.Verdict != Never && c.Theirs == nil {
		return nil, fmt.Errorf("theirs: it is missing, and the verdict is %q", c.Verdict)
	}
	return c, nil
}

func (s *Summary) add(c *Comparison) {
	s.Count[c.Verdict]++
	if c.Verdict == Later {
		s.Latest = max(s.Latest, c.Theirs.At.Sub(c.Ours.At))
	}
	if c.Verdict != Agreed {
		s.Example = c
	}
}
