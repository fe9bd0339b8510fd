package invariant

import (
	"time"

	"leeward/messages"
	"leeward/runtime/kernel/timers"
)

// agenda is when each binding must be looked at next, of those that time alone can change.
type agenda struct {
	heap timers.Heap
	// ids and names are of the bindings whose deadlines the heap has; free are the ids that no binding has.
	ids   map[messages.BindingName]int32
	names []messages.BindingName
	free  []int32
}

// set has a binding come up at an instant and not before; zero: never.
func (a *agenda) set(b messages.BindingName, at time.Time) {
	id, known := a.ids[b]
	switch {
	case at.IsZero():
		if known {
			a.heap.Clear(id)
			a.forget(b, id)
		}
		return
	case !known:
		id = a.enter(b)
	}
	a.heap.Set(id, at.UnixNano())
}

func (a *agenda) enter(b messages.BindingName) int32 {
	if n := len(a.free); n > 0 {
		id := a.free[n-1]
		a.free, a.ids[b], a.names[id] = a.free[:n-1], id, b
		return id
	}
	id := int32(len(a.names))
	a.names, a.ids[b] = append(a.names, b), id
	return id
}

func (a *agenda) forget(b messages.BindingName, id int32) {
	delete(a.ids, b)
	a.names[id] = ""
	a.free = append(a.free, id)
}

// eachDue visits the bindings whose time has come, and forgets them.
func (a *agenda) eachDue(now time.Time, visit func(messages.BindingName)) {
	for {
		id, due := a.heap.PopDue(now.UnixNano())
		if !due {
			return
		}
		visit(a.names[id])
		a.forget(a.names[id], id)
	}
}
