package scheduler

import (
	"cmp"

	"leeward/messages"
	"leeward/messages/api"
)

// entry is what the scheduler knows of one binding.
type entry struct {
	// asked is what the binding asked for last, brought up to date with what was decided since; nil: the binding ended.
	asked *messages.PlaceBinding
	// request is the memory of asked. The entry's own, so that a decision changes it without another copy on the heap.
	request messages.PlaceBinding
	// answered is false until the binding has had an answer to its last request.
	answered bool
	dirty    bool
	// rescaled is set where the binding asks for another number of replicas than before, until it is answered.
	rescaled bool
	// trigger says why the fleet made the entry dirty; empty: the binding asked.
	trigger string
	// failure is the last failure that the binding was told of.
	failure failure
}

// asks takes over a request in place of the last one.
func (e *entry) asks(m messages.PlaceBinding) {
	e.request = m
	e.asked = &e.request
}

// open reports whether there is a binding to decide on.
func (e *entry) open() bool { return e.asked != nil && !e.asked.Suspended }

type failure struct{ reason, message string }

// remedy is what must change before it is worth trying again.
func (f failure) remedy() string {
	if f.reason == api.ReasonQuotaExceeded {
		return "quota or usage changed"
	}
	return "capacity changed"
}

// urgency orders by priority, waiting time and name; entries of bindings that ended come last.
func urgency(a, b *entry) int {
	switch {
	case a.asked == nil || b.asked == nil:
		return cmp.Compare(ended(a), ended(b))
	default:
		return cmp.Or(
			-cmp.Compare(a.asked.Priority, b.asked.Priority),
			a.asked.Since.Compare(b.asked.Since),
			cmp.Compare(a.asked.Binding, b.asked.Binding),
		)
	}
}

func ended(e *entry) int {
	if e.asked == nil {
		return 1
	}
	return 0
}
