package difference

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"leeward/runtime/fleet/span"
)

// Verdict is how B compares with A.
type Verdict string

// The verdicts.
const (
	Same   Verdict = "same"
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Mixed: better by some figures, or for some workloads, and worse by others.
	Mixed Verdict = "mixed"
	// Differs: neither is better, as of a placement.
	Differs Verdict = "differs"
)

// The figures, in the order in which they are told.
const (
	Unschedulable  = "unschedulable replicas"
	Unavailable    = "unavailable at the end"
	Unavailability = "unavailability"
	Lowest         = "lowest availability"
	Down           = "workloads down for a while"
	AvailableAgain = "available again after"
	Evictions      = "evictions"
	Placement      = "placement at the end"
	// lacking replicas are unavailable or unschedulable at the end: it is no figure, but decides of the unschedulable ones.
	lacking = "lacking"
)

// Figure is one measure of both sides, and how B compares.
type Figure struct {
	Name string `json:"figure"`
	// Unit is replicas, replica-seconds, share, workloads, seconds or evictions.
	Unit string `json:"unit"`
	// A and B are null where the answer is never.
	A       *float64 `json:"a"`
	B       *float64 `json:"b"`
	Verdict Verdict  `json:"verdict"`
}

// measures are the figures of one side, by name; nil as a value is never.
type measures map[string]*float64

var units = []struct{ name, unit string }{
	{Unschedulable, "replicas"}, {Unavailable, "replicas"}, {Unavailability, "replica-seconds"}, {Lowest, "share"}, {Down, "workloads"},
	{AvailableAgain, "seconds"}, {Evictions, "evictions"},
}

func number(n float64) *float64 { return &n }

// whole rounds seconds: what differs by less than one is the pace of the governor, and no difference.
func whole(n float64) *float64 { return number(math.Round(n)) }

// figures holds the measures of B against those of A.
func figures(a, b measures) (all []Figure) {
	for _, u := range units {
		x, known := a[u.name]
		if !known {
			continue
		}
		y := b[u.name]
		verdict := judge(u.name, x, y)
		if u.name == Unschedulable && verdict != Same && judge(lacking, a[lacking], b[lacking]) != verdict {
			verdict = Differs // the other side lacks as many, for another reason
		}
		all = append(all, Figure{u.name, u.unit, x, y, verdict})
	}
	return all
}

// judge says whether less is better, and never the worst.
func judge(name string, a, b *float64) Verdict {
	by := cmp.Compare(ptr.Deref(b, math.Inf(1)), ptr.Deref(a, math.Inf(1)))
	if name == Lowest {
		by = -by
	}
	switch {
	case by < 0:
		return Better
	case by > 0:
		return Worse
	}
	return Same
}

// conclude is the verdict over figures, and by which of them. Evictions decide where nothing else does: an eviction does harm by what
// it makes unavailable, and that is another figure.
func conclude(all []Figure) (Verdict, []string) {
	verdict, by := Same, []string{}
	for _, costs := range []bool{false, true} {
		for _, f := range all {
			if f.Verdict == Same || f.Verdict == Differs || (f.Name == Evictions) != costs {
				continue
			}
			verdict = verdict.and(f.Verdict)
			if !slices.Contains(by, f.Name) {
				by = append(by, f.Name)
			}
		}
		if verdict != Same {
			break
		}
	}
	return verdict, by
}

// and is the verdict over two.
func (v Verdict) and(o Verdict) Verdict {
	switch {
	case v == o || o == Same || o == Differs:
		return v
	case v == Same || v == Differs:
		return o
	}
	return Mixed
}

// text is a value of the figure as tables have it.
func (f *Figure) text(n *float64) string {
	switch {
	case n == nil:
		return "never"
	case f.Unit == "share":
		return fmt.Sprintf("%d%%", int(*n*100+1e-9))
	case f.Unit == "seconds" && *n == 0:
		return "-"
	case f.Unit == "seconds":
		return span.String(time.Duration(*n * float64(time.Second)).Round(time.Millisecond))
	case f.Unit == "replica-seconds":
		return fmt.Sprintf("%.0f replica-seconds", *n)
	}
	return fmt.Sprintf("%.0f", *n)
}
