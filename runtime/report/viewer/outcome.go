package viewer

import (
	"maps"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
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

// podOutcome is what came of a pod: the worst that is so in the end, else the most that happened to it.
func podOutcome(l *timeline.Lane, start time.Time, entries []journal.Entry) Outcome {
	open := map[timeline.Kind]bool{}
	evicted, created := false, start
	for _, t := range l.Tracks {
		for _, b := range t.Bars {
			open[b.Kind] = open[b.Kind] || b.To.IsZero()
			if b.Kind == timeline.Pending {
				created = b.From
			}
			for _, f := range b.Facts {
				switch f := entries[f].Fact.(type) {
				case *messages.PodEvicted:
					evicted = true
				case *messages.PodDeletionRequested:
					evicted = evicted || f.Eviction
				}
			}
		}
	}
	for _, state := range []struct {
		kind    timeline.Kind
		outcome Outcome
	}{
		{timeline.Unschedulable, Unschedulable}, {timeline.Blocked, Blocked}, {timeline.Evicting, Evicting}, {timeline.Terminating, Terminating},
		{timeline.Countdown, Scheduled}, {timeline.Unhealthy, Unhealthy}, {timeline.Pending, Pending}, {timeline.Neutral, Finished},
	} {
		if open[state.kind] {
			return state.outcome
		}
	}
	switch {
	case evicted:
		return Evicted
	case !open[timeline.Running]:
		return Deleted
	case created.After(start):
		return Created
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

// mostLabels is how many labels an object has in a document, the first by name.
const mostLabels = 20

// labels are those of clusters and of the templates of bindings, by their names.
type labels struct{ clusters, bindings map[string]map[string]string }

// labelled finds the labels of what there is in the end. A binding whose template is not there has its own.
func labelled(objects []api.Object) labels {
	l := labels{map[string]map[string]string{}, map[string]map[string]string{}}
	templates := map[api.Key]map[string]string{}
	for _, o := range objects {
		switch o.(type) {
		case *api.Cluster:
			l.clusters[o.GetName()] = o.GetLabels()
		case *api.ResourceBinding, *api.ClusterResourceBinding:
		default:
			templates[api.KeyOf(o)] = o.GetLabels()
		}
	}
	for _, o := range objects {
		if b := store.AsBinding(o); b != nil {
			r := &b.Spec.Resource
			of, known := templates[api.Key{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}]
			if !known {
				of = b.Meta.Labels
			}
			l.bindings[string(b.Name())] = of
		}
	}
	return l
}

// labelsOf writes labels in the order of their names.
func (w *writing) labelsOf(of map[string]string) (places []int) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if len(places) == mostLabels {
			break
		}
		places = append(places, w.text(key+"="+of[key]))
	}
	return places
}
