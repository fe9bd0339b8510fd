package binding

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// set is what the resource runs where it goes whole, for its several components; nil: it is divided, or has
// no pods. One component of a resource that has replicas is these replicas.
func (v *view) set() *messages.ComponentSet {
	n := len(v.spec.Components)
	switch {
	case !v.settings.MultiplePodTemplatesScheduling || n == 0 || n == 1 && v.hasReplicas():
		return nil
	case v.workload != nil && v.workload.Set != nil:
		return v.workload.Set
	default:
		return messages.NewComponentSet(v.spec.Components)
	}
}

// renewComponents gives the binding the components of its workload, or takes them away, after the gate changed.
func (b *Binding) renewComponents(now time.Time, out *actors.Outbox) {
	if !b.created || b.workload == nil || b.workload.Set == nil {
		return
	}
	next := b.spec
	b.fromWorkload(&next)
	b.update(now, next, "", out)
}
