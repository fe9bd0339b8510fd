package governor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// hold is an admin's word that evictions wait.
type hold struct {
	reason string
	until  time.Time // zero: no time ends it
}

// holds are what admins said of evictions: which wait, and which wait for nothing.
type holds struct {
	scopes   map[messages.HoldScope]hold
	releases map[messages.BindingName]string // why
	// ends is when time ends the first hold; zero: it ends none.
	ends time.Time
}

func newHolds() holds {
	return holds{scopes: map[messages.HoldScope]hold{}, releases: map[messages.BindingName]string{}}
}

// change takes an admin's word of a scope in place of the one before, and reports whether it is another.
func (h *holds) change(now time.Time, m *messages.HoldChanged, out *actors.Outbox) (changed bool) {
	next := hold{reason: m.Reason, until: m.Until}
	was, held := h.scopes[m.HoldScope]
	switch over := !next.until.IsZero() && !next.until.After(now); {
	case next.reason != "" && !over && next != was:
		h.set(m.HoldScope, next)
		out.Record(&messages.HoldPlaced{HoldScope: m.HoldScope, Reason: m.Reason, Until: m.Until})
		tellReturns(m.HoldScope, true, out)
		return true
	case held && (next.reason == "" || over):
		h.end(m.HoldScope, messages.HoldLifted, out)
		return true
	}
	return false
}

// set has a scope held, or, for a hold of nothing, no longer.
func (h *holds) set(of messages.HoldScope, to hold) {
	h.scopes[of] = to
	if to == (hold{}) {
		delete(h.scopes, of)
	}
	h.ends = time.Time{}
	for _, held := range h.scopes { // order-free: the earliest counts
		h.ends = actors.Earlier(h.ends, held.until)
	}
}

func (h *holds) end(of messages.HoldScope, why string, out *actors.Outbox) {
	h.set(of, hold{})
	out.Record(&messages.HoldEnded{HoldScope: of, Reason: why})
	tellReturns(of, false, out)
}

// tellReturns has the scheduler let workloads return by themselves, or not.
func tellReturns(of messages.HoldScope, held bool, out *actors.Outbox) {
	out.TellScheduler(&messages.ReturnsHeld{HoldScope: of, Held: held})
}

// expire ends the holds whose time is over, and reports whether there were any.
func (h *holds) expire(now time.Time, out *actors.Outbox) (expired bool) {
	if h.ends.IsZero() || h.ends.After(now) {
		return false
	}
	for _, of := range slices.SortedFunc(maps.Keys(h.scopes), compareScopes) {
		if until := h.scopes[of].until; !until.IsZero() && !until.After(now) {
			h.end(of, messages.HoldExpired, out)
			expired = true
		}
	}
	return expired
}

func compareScopes(a, b messages.HoldScope) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Binding, b.Binding))
}

// release lets a binding wait for nothing, or for permits again, and reports whether that is new.
func (h *holds) release(m *messages.ReleaseChanged, out *actors.Outbox) (changed bool) {
	if h.releases[m.Binding] == m.Reason {
		return false
	}
	of := messages.HoldScope{Binding: m.Binding}
	if m.Reason == "" {
		delete(h.releases, m.Binding)
		out.Record(&messages.ReleaseEnded{HoldScope: of})
	} else {
		h.releases[m.Binding] = m.Reason
		out.Record(&messages.ReleaseGranted{HoldScope: of, Reason: m.Reason})
	}
	return true
}

// released reports whether an admin released a binding.
func (h *holds) released(of messages.BindingName) bool { return h.releases[of] != "" }

// restore takes over what admins said before a restart.
func (h *holds) restore(s *api.GovernorStatus, out *actors.Outbox) {
	for i := range s.Holds {
		stored := &s.Holds[i]
		of := messages.HoldScope{Binding: messages.BindingName(stored.Binding), Cluster: messages.ClusterName(stored.Cluster)}
		next := hold{reason: stored.Reason}
		if stored.Until != nil {
			next.until = stored.Until.UTC()
		}
		h.set(of, next)
		tellReturns(of, true, out)
	}
	for i := range s.Releases {
		h.releases[messages.BindingName(s.Releases[i].Binding)] = s.Releases[i].Reason
	}
}

// blocks is the gate of holds: of all evictions, of those from a cluster, or of those of one binding.
func (h *holds) blocks(_ time.Time, n *node) *wait {
	if len(h.scopes) == 0 {
		return nil
	}
	of, reason, what := holdable(n)
	held, is := h.scopes[of]
	if what == "" || !is {
		return nil
	}
	return &wait{reason: reason, message: fmt.Sprintf("evictions %s: %s", what, held.reason), until: held.until, ends: held.until}
}

// holdable is the scope in which an admin may hold a node, the reason that is shown then, and what it says of evictions; of
// kinds and regions nothing.
func holdable(n *node) (of messages.HoldScope, reason, what string) {
	switch d := n.domain(); {
	case n.parent == nil:
		return of, "Paused", "are paused"
	case n.scope == nil:
		of.Binding = n.head.Binding
		return of, "Held", "of this workload are held"
	case d != nil && d.tier == tierCluster:
		of.Cluster = messages.ClusterName(d.name)
		return of, "Held", "from cluster " + d.name + " are held"
	default:
		return of, "", ""
	}
}
