package binding

import (
	"fmt"

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

// untold are the clusters that are no destination because they would be told nothing; nil: there are none.
func (v *view) untold() *api.SuspensionClusters {
	if !v.settings.DestinationsMustHear || v.spec.Suspension == nil {
		return nil
	}
	return v.spec.Suspension.DispatchingOnClusters
}

// unheard says which cluster that took over has yet to be told what to run; empty: all were. Until then nothing that runs
// elsewhere may go.
func (v *view) unheard() string {
	if !v.settings.DestinationsMustHear {
		return ""
	}
	for i := range v.copies {
		if c := &v.copies[i]; c.withheld && v.target(c.cluster) != nil && !v.tookOver(c.cluster).IsZero() {
			return fmt.Sprintf("dispatching to %s, which takes over, is suspended", c.cluster)
		}
	}
	return ""
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
