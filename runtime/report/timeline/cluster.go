package timeline

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// cluster takes a fact about a cluster into its lane: what lasts becomes a bar, the rest a mark.
func (t *telling) cluster(l *Lane, f messages.AboutCluster) {
	switch f := f.(type) {
	case *messages.ConditionChanged:
		t.begin(l.track("condition "+f.Type), condition(f), f.Type+"="+string(f.Status))
	case *messages.ConditionRemoved:
		t.end(l.track("condition " + f.Type))
	case *messages.TaintAdded:
		t.begin(taintTrack(l, &f.Taint), effect(&f.Taint), taint.String(&f.Taint))
	case *messages.TaintAdopted:
		if track := taintTrack(l, &f.Taint); track.open() {
			t.note(track)
		}
	case *messages.TaintRemoved:
		t.end(taintTrack(l, &f.Taint))
	case *messages.OutageBegan:
		t.begin(l.track("outage "+string(f.Outage)), Bad, "outage: "+string(f.Outage))
	case *messages.OutageEnded:
		t.end(l.track("outage " + string(f.Outage)))
	case *messages.HeartbeatStopped:
		t.begin(l.track("heartbeat"), Bad, "silent")
	case *messages.HeartbeatReturned:
		t.end(l.track("heartbeat"))
	case *messages.DrainProgressed:
		t.drained(l.track("drain"), f)
	case *messages.DrainEnded:
		t.end(l.track("drain"))
	case *messages.WorkloadsStay:
		t.stays(l.track("evictions"), f)
	case *messages.StartsCounted:
		t.startsCounted(l.track("starts"), f)
	case *messages.ClusterLeaving:
		t.begin(l.track("life"), Evicting, "deleted")
	case *messages.ClusterRemoved:
		t.gone(l)
	default:
		t.mark(l)
	}
}

// stays shows for how long nothing evicts from a cluster that is not Ready.
func (t *telling) stays(track *Track, f *messages.WorkloadsStay) {
	if f.Reason == "" {
		t.end(track)
		return
	}
	t.begin(track, Bad, f.Reason)
}

// startsCounted shows for how long a cluster backs off.
func (t *telling) startsCounted(track *Track, f *messages.StartsCounted) {
	switch {
	case !f.Limits:
	case f.Most > 0:
		t.begin(track, Slowed, f.Message)
	default:
		t.end(track)
	}
}

// condition is good or bad where the type is one that everybody knows the meaning of.
func condition(f *messages.ConditionChanged) Kind {
	switch {
	case f.Type != api.ConditionReady:
		return Neutral
	case f.Status == metav1.ConditionTrue:
		return Good
	}
	return Bad
}

// taintTrack is that of a key and an effect: a new value goes on where the old one ended.
func taintTrack(l *Lane, t *corev1.Taint) *Track {
	return l.track("taint " + t.Key + ":" + string(t.Effect))
}

func effect(t *corev1.Taint) Kind {
	if t.Effect == corev1.TaintEffectNoExecute {
		return NoExecute
	}
	return NoSchedule
}

// drained tells a drain as one bar until the cluster is empty.
func (t *telling) drained(track *Track, f *messages.DrainProgressed) {
	switch {
	case f.Left == 0:
		t.end(track)
	case track.open():
		t.note(track)
	default:
		t.begin(track, Neutral, "drain")
	}
}

// gone ends whatever was so of a cluster, or of a binding.
func (t *telling) gone(l *Lane) {
	t.mark(l)
	t.endAll(l)
}

func (t *telling) endAll(l *Lane) {
	for _, track := range l.Tracks {
		t.end(track)
	}
	for _, on := range l.Lanes {
		t.endAll(on)
	}
}
