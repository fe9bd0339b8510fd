package binding

import (
	"leeward/messages"
	"leeward/messages/api"
)

// view is what the parts of a binding may read of it: the resource, and the clusters that run it. Its methods are questions,
// which change nothing.
type view struct {
	name messages.BindingName
	// settings are those of all bindings and must not change.
	settings *messages.Settings

	workload *messages.Workload
	// created is false until a policy first claims the resource; managed is set where the scheduler is
	// to place it; restoring is set for the instant of a restart, in which all is said again.
	created, managed, restoring bool
	// heard is what the binding was told that most never are.
	heard heard
	// applied is the placement of the last scheduling; nil: never scheduled. affinity is the group that it chose.
	applied  *api.Placement
	affinity string

	// targets in the order in which they came: kept ones first.
	targets []target
	tasks   []task
	copies  []copyState
	// past is of those that failed over for their own sickness; nil: none did.
	past *past

	// spec is what the owner, or the binding's own manifest, gives. It comes last because it is large: every message
	// looks at what stands before it.
	spec api.BindingSpec
}

// heard is a set of what a binding was told.
type heard uint8

const (
	// considered: a cluster asked what the binding would do.
	considered heard = 1 << iota
	// held: people hold anybody's evictions. Evictions for health ask for permits, too.
	held
)

func (v *view) task(c messages.ClusterName) *task {
	for i := range v.tasks {
		if v.tasks[i].FromCluster == string(c) {
			return &v.tasks[i]
		}
	}
	return nil
}

// owned returns a part to change, new if there was none.
func owned[T any](part **T) *T {
	if *part == nil {
		*part = new(T)
	}
	return *part
}
