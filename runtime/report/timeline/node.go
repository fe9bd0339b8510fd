package timeline

import (
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
)

// names of the tracks of nodes.
const (
	trackCordon  = "cordon"
	trackDrain   = "drain"
	trackKubelet = "kubelet"
	trackQueue   = "queue of its zone"
)

// node takes a fact about a node into its lane: what lasts becomes a bar. Each change is a mark, too.
func (t *telling) node(l *Lane, f messages.AboutNode) {
	t.mark(l)
	switch f := f.(type) {
	case *messages.NodeRegistered:
		t.registered(l, f)
	case *messages.NodeDeleted:
		t.endAll(l)
	case *messages.NodeConditionChanged:
		t.nodeCondition(l, f)
	case *messages.NodeTaintQueued:
		t.begin(l.track(trackQueue), Slowed, waits(&f.Taint))
	case *messages.NodeTaintAdded:
		t.nodeTainted(l, &f.Taint)
	case *messages.NodeTaintRemoved:
		t.end(taintTrack(l, &f.Taint))
	case *messages.NodeCordoned:
		t.begin(l.track(trackCordon), Neutral, "cordoned")
	case *messages.NodeUncordoned:
		t.end(l.track(trackCordon))
	case *messages.NodeDrainStarted:
		t.begin(l.track(trackDrain), Evicting, "draining")
	case *messages.NodeDrained, *messages.NodeDrainFailed:
		t.drainEnded(l)
	case *messages.KubeletStopped:
		t.begin(l.track(trackKubelet), Bad, "kubelet stopped")
	case *messages.KubeletReturned:
		t.end(l.track(trackKubelet))
	}
}

// registered begins what a node came with.
func (t *telling) registered(l *Lane, f *messages.NodeRegistered) {
	if l.Zone = string(f.Zone); f.Unschedulable {
		t.begin(l.track(trackCordon), Neutral, "cordoned")
	}
	if f.Ready != "" && f.Ready != corev1.ConditionTrue {
		t.begin(l.track("condition "+string(corev1.NodeReady)), Bad, "Ready="+string(f.Ready))
	}
	for i := range f.Taints {
		t.nodeTainted(l, &f.Taints[i])
	}
}

func waits(of *corev1.Taint) string { return "waits for " + taint.String(of) }

// nodeTainted begins a taint, which the node does not wait for any longer, or did not where it got it in the same instant.
func (t *telling) nodeTainted(l *Lane, added *corev1.Taint) {
	t.begin(taintTrack(l, added), effect(added), taint.String(added))
	switch queue := l.track(trackQueue); {
	case !queue.is() || queue.last().Label != waits(added):
	case queue.last().From.Equal(t.now):
		queue.Bars = queue.Bars[:len(queue.Bars)-1]
	default:
		t.end(queue)
	}
}

// nodeCondition shows how Ready is, and for how long any other condition is True.
func (t *telling) nodeCondition(l *Lane, f *messages.NodeConditionChanged) {
	track, label := l.track("condition "+string(f.Type)), string(f.Type)+"="+string(f.Status)
	is := f.Status == corev1.ConditionTrue
	switch {
	case f.Type == corev1.NodeReady && is:
		t.begin(track, Good, label)
		t.end(l.track(trackQueue))
	case f.Type == corev1.NodeReady:
		t.begin(track, Bad, label)
	case is:
		t.begin(track, Neutral, label)
	default:
		t.end(track)
	}
}

// drainEnded ends a drain, and what blocks evictions for it alone.
func (t *telling) drainEnded(l *Lane) {
	t.end(l.track(trackDrain))
	for _, eviction := range t.drains[l.Name] {
		t.end(eviction, Blocked)
	}
	delete(t.drains, l.Name)
}
