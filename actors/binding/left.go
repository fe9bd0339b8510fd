package binding

import (
	"leeward/actors"
	"leeward/messages"
)

// copyLeft has a copy removed that nobody wants and that was not known. That of a binding which is not made yet, for it was deleted
// and its workload is there, waits until it is placed anew.
func (b *Binding) copyLeft(c messages.ClusterName, out *actors.Outbox) {
	if b.copy(c) != nil || b.created && b.wanted(c) {
		return
	}
	b.copies = append(b.copies, copyState{cluster: c, replicas: -1}) // whatever it runs is not what it is told to
	switch {
	case b.created:
		b.dropCopies(out)
	case b.workload != nil:
		b.settling = true
	default:
		b.dropUnmade(out)
	}
}

// dropUnmade has the copies removed that a start found of a binding which nobody makes.
func (b *Binding) dropUnmade(out *actors.Outbox) {
	if !b.created {
		b.dropCopies(out)
		b.copies = nil
	}
}
