package timeline

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
)

// pod takes a fact about a pod into its lane. Another pod that is created later by the same name goes on in it.
func (t *telling) pod(l *Lane, f messages.AboutPod) {
	if l.Tracks == nil {
		l.Tracks = []*Track{{Name: trackPlacement}, {Name: trackUnschedulable}, {Name: trackEviction}, {Name: trackReady}}
	}
	switch f := f.(type) {
	case *messages.PodCreated:
		t.created(l, f)
	case *messages.PodBound:
		t.bound(l, f.Node)
	case *messages.PodUnschedulable:
		t.begin(l.track(trackUnschedulable), Unschedulable, "unschedulable: "+f.Message)
	case *messages.PodPhaseChanged:
		t.phase(l, f)
	case *messages.PodDeleted:
		t.endAll(l)
	default:
		t.podEviction(l, l.track(trackEviction), f)
	}
}

func (t *telling) created(l *Lane, f *messages.PodCreated) {
	l.Owner = string(f.Owner)
	t.begin(l.track(trackPlacement), Pending, "pending")
	if f.Node != "" {
		t.bound(l, f.Node)
	}
	if f.Phase != "" {
		t.phase(l, &messages.PodPhaseChanged{Pod: f.Pod, Node: f.Node, Phase: f.Phase, Ready: f.Ready})
	}
}

func (t *telling) bound(l *Lane, to messages.NodeName) {
	if !slices.Contains(l.Nodes, string(to)) {
		l.Nodes = append(l.Nodes, string(to))
	}
	t.end(l.track(trackUnschedulable))
	t.begin(l.track(trackPlacement), Pending, "starting on "+string(to))
}

// phase shows where a pod runs, or how it ended, and whether it is ready. One that is being deleted counts as neither.
func (t *telling) phase(l *Lane, f *messages.PodPhaseChanged) {
	placement, ready := l.track(trackPlacement), l.track(trackReady)
	if l.track(trackEviction).is(Terminating) {
		return
	}
	switch f.Phase {
	case corev1.PodRunning:
		if placement.is(Running) {
			break
		}
		t.begin(placement, Running, "on "+string(f.Node))
	case corev1.PodSucceeded, corev1.PodFailed:
		kind := Neutral
		if f.Phase == corev1.PodFailed {
			kind = Unhealthy
		}
		t.begin(placement, kind, strings.ToLower(string(f.Phase))+" on "+string(f.Node))
		t.end(ready)
		return
	default:
		t.mark(l)
		return
	}
	if f.Ready {
		t.begin(ready, Healthy, "ready")
	} else {
		t.begin(ready, Unhealthy, "not ready")
	}
}

// podEviction takes the way from the countdown to the end of a pod.
func (t *telling) podEviction(l *Lane, eviction *Track, f messages.AboutPod) {
	switch f := f.(type) {
	case *messages.PodEvictionScheduled:
		t.begin(eviction, Countdown, "eviction scheduled")
	case *messages.PodEvictionCancelled:
		t.end(eviction, Countdown, Blocked, Evicting)
	case *messages.PodEvicted:
		t.begin(eviction, Evicting, "evicting")
	case *messages.PodEvictionBlocked:
		t.blocked(eviction, "blocked by "+cmp.Or(string(f.Budget), f.By))
		if f.By == "drain" {
			t.drains[string(f.Node)] = append(t.drains[string(f.Node)], eviction)
		}
	case *messages.PodEvictionFailed:
		t.mark(l)
		if t.blocked(eviction, "blocked: "+string(f.Verb)+" refused"); f.Retry.IsZero() {
			t.end(eviction)
		}
	case *messages.PodDeletionRequested:
		for _, name := range []string{trackPlacement, trackUnschedulable, trackReady} {
			t.end(l.track(name))
		}
		t.begin(eviction, Terminating, strings.TrimSuffix("terminating on "+string(f.Node), " on "))
	default:
		t.mark(l)
	}
}
