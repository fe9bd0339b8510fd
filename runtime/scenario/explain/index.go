package explain

import (
	"iter"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// concerning are the entries about a binding, and those about none, in order: a cluster has many workloads, each of which asks for
// its own.
func (q *query) concerning(name messages.BindingName) iter.Seq[*journal.Entry] {
	if q.places == nil {
		q.places = map[messages.BindingName][]int{}
		for i := range q.entries {
			of := messages.BindingName("") // none
			if about, is := q.entries[i].Fact.(messages.AboutBinding); is {
				of = about.AboutBinding()
			}
			q.places[of] = append(q.places[of], i)
		}
	}
	return func(yield func(*journal.Entry) bool) {
		own, others := q.places[name], q.places[""]
		for len(own)+len(others) > 0 {
			from := &own
			if len(own) == 0 || len(others) > 0 && others[0] < own[0] {
				from = &others
			}
			if !yield(&q.entries[(*from)[0]]) {
				return
			}
			*from = (*from)[1:]
		}
	}
}

// stored are the bindings that have graceful eviction tasks, as a dump or a recording begins with them.
func (q *query) stored() map[messages.BindingName]*api.BindingSpec {
	if q.tasks != nil {
		return q.tasks
	}
	q.tasks = map[messages.BindingName]*api.BindingSpec{}
	note := func(o api.Object) {
		if b := store.AsBinding(o); b != nil && len(b.Spec.GracefulEvictionTasks) > 0 && q.tasks[b.Name()] == nil {
			q.tasks[b.Name()] = b.Spec
		}
	}
	for _, d := range q.Scenario.Objects {
		note(d.Object)
	}
	if began := q.Scenario.Began; began != nil {
		for _, o := range began.Objects {
			note(o)
		}
	}
	return q.tasks
}
