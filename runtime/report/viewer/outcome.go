package viewer

import (
	"leeward/messages"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/report/timeline"
)

// outcome is what came of a binding: what is so in the end, the worst first, else the most that happened to it.
func outcome(l *timeline.Lane, entries []journal.Entry) Outcome {
	var seen, open = map[timeline.Kind]bool{}, map[timeline.Kind]bool{}
	placements := 0
	for _, lane := range append([]*timeline.Lane{l}, l.Lanes...) {
		for i, t := range lane.Tracks {
			for _, b := range t.Bars {
				seen[b.Kind] = true
				open[b.Kind] = open[b.Kind] || b.To.IsZero()
				if _, gone := entries[b.Facts[len(b.Facts)-1]].Fact.(*messages.BindingDeleted); gone && lane == l && i == 0 && b == t.Bars[len(t.Bars)-1] {
					return Deleted
				}
				if b.Kind == timeline.Placed {
					placements++
				}
			}
		}
	}
	switch {
	case open[timeline.Unschedulable]:
		return Unschedulable
	case open[timeline.Blocked]:
		return Blocked
	case open[timeline.Evicting]:
		return Evicting
	case open[timeline.Countdown]:
		return Scheduled
	case open[timeline.Unhealthy]:
		return Unhealthy
	case seen[timeline.Evicting]:
		return Evicted
	case placements > countOpen(l):
		return Rescheduled
	}
	return Unchanged
}

// countOpen counts the placements that last.
func countOpen(l *timeline.Lane) (open int) {
	for _, on := range l.Lanes {
		for _, t := range on.Tracks {
			for _, b := range t.Bars {
				if b.Kind == timeline.Placed && b.To.IsZero() {
					open++
				}
			}
		}
	}
	return open
}
