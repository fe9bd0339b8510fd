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
func (v *view) keepShares(keep bool) {
	for i := range v.targets {
		if t := &v.targets[i]; keep {
			t.keeps = t.runs()
		}
	}
}

// holdShrinks says which clusters run on with more than their shares after a move.
func (b *Binding) holdShrinks(now time.Time, move string, out *actors.Outbox) {
	if move == "" {
		return
	}
	var held []api.TargetCluster
	for i := range b.targets {
		if t := &b.targets[i]; t.keeps > t.pods() {
			held = append(held, api.TargetCluster{Name: string(t.cluster), Replicas: t.keeps})
		} else {
			t.keeps = 0
		}
	}
	if len(held) == 0 {
		return
	}
	owned(&b.home).shrinking, b.home.since = move, now
	out.Record(&messages.ShrinkHeld{Binding: b.name, Reason: move, Clusters: held})
}

func (b *Binding) shrinks() bool { return b.home != nil && b.home.shrinking != "" }

// shrinkAlarm is when clusters shrink whoever serves; zero: none is to.
func (b *Binding) shrinkAlarm() time.Time {
	if !b.shrinks() {
		return time.Time{}
	}
	return b.home.since.Add(b.settings.GracefulEvictionTimeout)
}

// releaseShrinks lets clusters shrink to their shares when the others serve, or the time for that is up: as a
// task on a cluster that is left would end. It reports whether they do.
func (b *Binding) releaseShrinks(now time.Time, out *actors.Outbox) bool {
	if !b.shrinks() {
		return false
	}
	o := eviction.Assess(&api.GracefulEvictionTask{CreationTimestamp: &metav1.Time{Time: b.home.since}}, now, eviction.Handover{
		Timeout: b.settings.GracefulEvictionTimeout, Scheduled: b.scheduled, Healthy: b.shortage() == "" && b.health(b.targets).Healthy,
	})
	if !o.Drop() {
		return false
	}
	out.Record(&messages.ShrinkReleased{Binding: b.name, Reason: o.Why.String(), After: now.Sub(b.home.since)})
	b.home.shrinking, b.home.since = "", time.Time{}
	for i := range b.targets {
		b.targets[i].keeps = 0
	}
	return true
}

// restoreShrinks takes over which clusters run more than their shares.
func (b *Binding) restoreShrinks(s *api.BindingStatus) {
	if s == nil || s.Shrinking == nil {
		return
	}
	owned(&b.home).shrinking, b.home.since = s.Shrinking.Reason, s.Shrinking.Since.Time
	for _, c := range s.Shrinking.Clusters {
		if i := slices.IndexFunc(b.targets, func(t target) bool { return string(t.cluster) == c.Name }); i >= 0 {
			b.targets[i].keeps = c.Replicas
		}
	}
}
