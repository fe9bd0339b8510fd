package binding

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// runs is how many pods a target's cluster is to run at present.
func (t *target) runs() int32 { return max(t.pods(), t.keeps) }

// keepShares notes what each target runs before a move by choice, so that those that are to shrink run on, where
// others are to serve in their place.
func (ts targets) keepShares(keep bool) {
	for i := range ts {
		if t := &ts[i]; keep {
			t.keeps = t.runs()
		}
	}
}

// keeping are the clusters that run on with more than their shares after a move by choice, with what they run.
func (ts targets) keeping() (held []api.TargetCluster) {
	for i := range ts {
		if t := &ts[i]; t.keeps > t.pods() {
			held = append(held, api.TargetCluster{Name: string(t.cluster), Replicas: t.keeps})
		} else {
			t.keeps = 0
		}
	}
	return held
}

// holdShrinks says which clusters run on with more than their shares after a move, until others serve.
func (f *failback) holdShrinks(v *view, now time.Time, move string, held []api.TargetCluster, out *actors.Outbox) {
	f.shrinking, f.since = move, now
	out.Record(&messages.ScaleDownBlocked{Binding: v.name, Reason: move, Clusters: held})
}

func (f *failback) shrinks() bool { return f != nil && f.shrinking != "" }

// deadline is when the next return falls due, or clusters shrink whatever serves elsewhere; zero: neither.
func (f *failback) deadline(v *view) time.Time {
	return actors.Earlier(f.returnsAt(), f.shrinksAt(v))
}

// shrinksAt is when clusters shrink whatever serves elsewhere; zero: none must.
func (f *failback) shrinksAt(v *view) time.Time {
	if !f.shrinks() {
		return time.Time{}
	}
	return f.since.Add(v.settings.GracefulEvictionTimeout)
}

// releaseShrinks lets clusters shrink to their shares when the others serve, or the time for that is up: as a
// task on a cluster that is evicted from would end. It reports whether they do.
func (f *failback) releaseShrinks(v *view, now time.Time, out *actors.Outbox) bool {
	if !f.shrinks() {
		return false
	}
	o := eviction.Assess(&api.GracefulEvictionTask{CreationTimestamp: &metav1.Time{Time: f.since}}, now, eviction.Handover{
		Timeout: v.settings.GracefulEvictionTimeout, Scheduled: v.scheduled, Healthy: v.shortage() == "" && v.health(v.targets).Healthy,
	})
	if !o.Drop() {
		return false
	}
	out.Record(&messages.ScaleDownEnded{Binding: v.name, Reason: o.Why.String(), After: now.Sub(f.since)})
	f.shrinking, f.since = "", time.Time{}
	for i := range v.targets {
		v.targets[i].keeps = 0
	}
	return true
}

// restoreShrinks takes over which clusters run more than their shares.
func (f *failback) restoreShrinks(v *view, s *api.Shrinking) {
	f.shrinking, f.since = s.Reason, s.Since.Time
	for _, c := range s.Clusters {
		if i := slices.IndexFunc(v.targets, func(t target) bool { return string(t.cluster) == c.Name }); i >= 0 {
			v.targets[i].keeps = c.Replicas
		}
	}
}
