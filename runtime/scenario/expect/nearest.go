package expect

import (
	"cmp"
	"slices"
	"strings"

	"leeward/messages"
	"leeward/messages/api"
)

// causes are the kinds of events that lead to one another, each to the next one.
var causes = [][]string{
	{"ConditionChanged", "TaintAdded", "EvictionScheduled", "EvictionBlocked", "EvictionStarted", "ScheduleFailed", "Scheduled", "HandoverBlocked", "EvictionEnded", "CopyStopped"},
	{"FailbackScheduled", "FailbackStarted"},
	{"NodeConditionChanged", "NodeTaintQueued", "NodeTaintAdded", "PodEvictionScheduled", "PodEvictionBlocked", "PodEvicted", "PodDeletionRequested", "PodDeleted", "PodCreated", "PodUnschedulable", "PodBound"},
}

// nearest finds what explains that an event, of whatever object, did not happen, or too seldom: the object to which the last thing
// happened that leads to the event, and not yet the event itself; or else to which the event, or one of its kind, happened last.
type nearest struct {
	event *Event
	// kinds lead to the event, the last of them is its own.
	kinds []string
	// facts are those of these kinds. They are looked at only where the expectation fails: there may be a million.
	facts []messages.Fact
}

// reached is a kind, by its place, and when it happened last, in facts.
type reached struct{ kind, at int }

// newNearest returns nil for an event of an object that is named.
func newNearest(e *Event) *nearest {
	if e.about() != (api.Key{}) {
		return nil
	}
	n := &nearest{event: e, kinds: []string{e.Kind}}
	for _, chain := range causes {
		if i := slices.Index(chain, e.Kind); i >= 0 {
			n.kinds = chain[:i+1]
		}
	}
	return n
}

// notice takes in a fact.
func (n *nearest) notice(f messages.Fact) {
	if slices.Contains(n.kinds, f.Kind()) {
		n.facts = append(n.facts, f)
	}
}

// missing says that nothing leads to the event; empty: something did, or nothing is known to.
func (n *nearest) missing() string {
	if n == nil || len(n.facts) > 0 || len(n.kinds) == 1 {
		return ""
	}
	return ", and nothing that leads to it did: " + strings.Join(n.kinds[:len(n.kinds)-1], ", ")
}

// object is what was found; the zero key: nothing.
func (n *nearest) object() (found api.Key) {
	all := map[api.Key]reached{} // what was nearest of what happened to an object, since the event did
	for at, f := range n.facts {
		kind, key := slices.Index(n.kinds, f.Kind()), aboutFact(f)
		own := kind == len(n.kinds)-1
		if own {
			found = key
		}
		switch {
		case own && n.event.matches(f):
			delete(all, key)
		case all[key].kind <= kind:
			all[key] = reached{kind, at + 1}
		}
	}
	nearest := reached{}
	for key, r := range all { // order-free: no two are the same
		if cmp.Or(cmp.Compare(r.kind, nearest.kind), cmp.Compare(r.at, nearest.at)) > 0 {
			found, nearest = key, r
		}
	}
	return found
}
