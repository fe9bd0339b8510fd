package invariant

import (
	"time"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// holdsKept asks the objects whether people had an eviction wait, whatever the governor says that it heard. What they hold
// since was free to go.
func (m *Monitor) holdsKept(at time.Time, s *store.Store, f *messages.EvictionStarted) {
	b := s.Binding(f.Binding)
	if b == nil || !eviction.Holdable(f.Grounds.Reason) || m.permits.heldSince(at, evictedFrom{f.Binding, f.Cluster}) || b.Meta.Annotations[api.AnnotationRelease] != "" {
		return
	}
	v := Violation{At: at, Binding: f.Binding, Cluster: f.Cluster}
	m.check(PermitValid, !holds(at, b.Meta.Annotations), v, "the workload is held")
	if c := s.Cluster(f.Cluster); c != nil {
		m.check(PermitValid, !holds(at, c.Annotations), v, "the cluster is held")
	}
	if g, is := s.Get(store.GovernorKey).(*api.Governor); is {
		m.check(PermitValid, !lasts(at, g.Spec.Pause), v, "evictions are paused")
	}
}

func holds(now time.Time, annotations map[string]string) bool {
	h, err := api.HoldIn(annotations)
	return err == nil && lasts(now, h)
}

func lasts(now time.Time, h *api.Hold) bool {
	return h != nil && (h.Until == nil || h.Until.After(now))
}
