package binding

import (
	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// withhold reports whether a cluster may not be told what its copy is to be, and says when that begins and
// ends. Removals are told nevertheless. Source: Karmada's execution controller, which leaves a Work with
// suspendDispatching alone unless it is deleted.
func (b *Binding) withhold(c *copyState, out *actors.Outbox) bool {
	suspended := b.spec.Suspension.Dispatch(string(c.cluster))
	switch {
	case suspended && !c.withheld:
		out.Record(&messages.DispatchSuspended{Binding: b.name, Cluster: c.cluster})
	case c.withheld && !suspended:
		out.Record(&messages.DispatchResumed{Binding: b.name, Cluster: c.cluster})
	}
	c.withheld = suspended
	return suspended
}

// dispatchEdited tells clusters what they were not told before, if that is no longer suspended.
func (b *Binding) dispatchEdited(out *actors.Outbox) {
	b.syncCopies(out)
	b.reassess()
}

// restoreDispatch takes over which clusters were not told what their copy is to be. What they were told
// before is not known.
func (b *Binding) restoreDispatch(s *api.BindingStatus) {
	for _, name := range s.DispatchSuspended {
		c := b.copy(messages.ClusterName(name))
		if c == nil {
			b.copies = append(b.copies, copyState{cluster: messages.ClusterName(name)})
			c = &b.copies[len(b.copies)-1]
		}
		c.withheld = true
	}
}
