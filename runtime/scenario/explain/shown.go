package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// shown is an eviction that is scheduled or blocked, and that the status of a binding told of before the start: where it is decided in
// the same way again, no fact tells of it.
func (q *query) shown(b *store.Binding, e *api.Eviction) Move {
	m := Move{Cluster: messages.ClusterName(e.Cluster), State: StateScheduled, Steps: []Step{}}
	if g := q.reasonFor(b, e); g != nil {
		m.why(g)
	} else if m.Taint, m.Policy = e.Taint, e.Policy; e.Taint == "" {
		m.Reason = e.Reason
	}
	if !e.Deadline.IsZero() {
		m.Deadline = new(q.since(e.Deadline.Time))
	}
	if e.State == api.EvictionBlocked {
		m.State, m.Blocked = StateBlocked, joined(": ", e.Reason, e.Message)
		if e.Until != nil {
			m.Until = new(q.since(e.Until.Time))
		}
	}
	m.Ends = q.cancels(&m)
	return m
}

// reasonFor is why an eviction is shown, by the taint that its cluster has now; nil: it has no such taint.
func (q *query) reasonFor(b *store.Binding, e *api.Eviction) *messages.Grounds {
	c := q.store.Cluster(messages.ClusterName(e.Cluster))
	if c == nil || b.Spec.Placement == nil {
		return nil
	}
	i := slices.IndexFunc(c.Spec.Taints, func(t corev1.Taint) bool { return taint.String(&t) == e.Taint })
	if i < 0 {
		return nil
	}
	g := &messages.Grounds{Taint: &c.Spec.Taints[i]}
	for j := range c.Status.TaintCauses {
		if cause := &c.Status.TaintCauses[j]; cause.Key == g.Taint.Key && cause.Effect == g.Taint.Effect {
			g.Cause = cause
		}
	}
	s, tolerations := q.settings(), b.Spec.Placement.ClusterTolerations
	if v := taint.Deadline(c.Spec.Taints[i:i+1], tolerations, taint.Rule{Match: s.TolerationMatch, Numeric: s.NumericTolerations}); v.Outcome == taint.Until {
		g.Toleration = &tolerations[v.Toleration]
	}
	return g
}
