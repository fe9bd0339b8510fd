package rehearsal

import (
	"fmt"
	"time"

	"leeward/messages/api"
)

// Warnings put what a change would lead to into words for people who are about to make it: how many bindings
// would be evicted, the first of them when, how many would be unschedulable, and which clusters would keep their workloads
// although they are not Ready.
func Warnings(s *api.FailoverPreviewStatus, now time.Time) (lines []string) {
	if s.Evicted > 0 {
		lines = append(lines, fmt.Sprintf("preview: %s would be evicted, %s", bindings(s.Evicted),
			span(s.Evictions[0].At.Sub(now), s.Evictions[len(s.Evictions)-1].At.Sub(now))))
	}
	if s.Unschedulable > 0 {
		lines = append(lines, fmt.Sprintf("preview: no other cluster would take %s", bindings(s.Unschedulable)))
	}
	for _, warning := range s.Warnings {
		lines = append(lines, "preview: "+warning)
	}
	return lines
}

// Warnings put what a change of nodes would lead to into words for users who are about to make it: how many pods would be evicted, the first
// of them when and why, and how many a PodDisruptionBudget would keep.
func (m *PodMoves) Warnings() (lines []string) {
	if n := len(m.Evicted); n > 0 {
		first, last := &m.Evicted[0], &m.Evicted[n-1]
		lines = append(lines, fmt.Sprintf("preview: %s would be evicted, %s: %s, %s", counted(n, "pod"), span(first.After, last.After), first.Pod, first.Why))
	}
	if n := len(m.Blocked); n > 0 {
		lines = append(lines, fmt.Sprintf("preview: PodDisruptionBudgets would keep %s", counted(n, "pod")))
	}
	return lines
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func bindings(n int32) string { return counted(int(n), "binding") }

// span is when the first and the last would leave, from now on.
func span(first, last time.Duration) string {
	switch {
	case last <= 0:
		return "immediately"
	case first == last:
		return "in " + rounded(first)
	case first <= 0:
		return fmt.Sprintf("from now on, the last in %s", rounded(last))
	}
	return fmt.Sprintf("the first in %s, the last in %s", rounded(first), rounded(last))
}

func rounded(d time.Duration) string {
	if d > time.Second {
		d = d.Round(time.Second)
	}
	return d.String()
}
