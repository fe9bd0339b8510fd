package invariant

import (
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/store"
)

// holdsKept asks the objects whether people had an eviction of the instant wait, whatever the governor says that it heard.
func (m *Monitor) holdsKept(now time.Time, s *store.Store, f *messages.EvictionStarted) {
	b := s.Binding(f.Binding)
	if b == nil || !evicts(f.Grounds.Reason) || b.Meta.Annotations[api.AnnotationRelease] != "" {
		return
	}
	v := Violation{At: now, Binding: f.Binding, Cluster: f.Cluster}
	m.check(PermitValid, !holds(now, b.Meta.Annotations), v, "people hold this workload")
	if c := s.Cluster(f.Cluster); c != nil {
		m.check(PermitValid, !holds(now, c.Annotations), v, "people hold what leaves the cluster")
	}
	if g, is := s.Get(store.GovernorKey).(*api.Governor); is {
		m.check(PermitValid, !lasts(now, g.Spec.Pause), v, "people have paused evictions")
	}
}

// evicts reports whether an eviction on such grounds is one that the governor may have wait, and no move by choice.
func evicts(reason string) bool {
	return reason == api.EvictionReasonTaintUntolerated || reason == api.EvictionReasonApplicationFailure
}

func holds(now time.Time, annotations map[string]string) bool {
	h, err := api.HoldIn(annotations)
	return err == nil && lasts(now, h)
}

func lasts(now time.Time, h *api.Hold) bool {
	return h != nil && (h.Until == nil || h.Until.After(now))
}
