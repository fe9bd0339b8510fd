package fakemember

import (
	"fmt"
	"maps"
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// fail has the cluster fail.
func (a *agent) fail() {
	if a.fleet.RecoverAfter > 0 {
		a.failure = a.after(a.fleet.RecoverAfter, a.recover)
	}
	a.turn(true, api.Unhealthy)
	a.fleet.tell(fmt.Sprintf("%s fails: %s", a.cluster, a.fleet.Failure))
}

// recover ends the failure.
func (a *agent) recover() {
	a.turn(false, a.fleet.Behaviour.Health)
	a.fleet.tell(fmt.Sprintf("%s is back: %s is over", a.cluster, a.fleet.Failure))
}

// turn begins the failure, or ends it; health is that of the copies from now on, if it is they that fail.
func (a *agent) turn(failed bool, health api.ResourceHealth) {
	a.failed = failed
	switch a.fleet.Failure {
	case Silence:
		a.receive(&messages.OutagesSet{Outages: messages.Outages{Network: failed}})
	case Unhealthy:
		a.receive(&messages.HealthForced{Health: health})
	case Disappearance:
		a.disappear(failed)
	}
	a.fleet.todo.Add(job{cluster: a.cluster})
}

// disappear loses the copies, or runs again what Works ask for by now.
func (a *agent) disappear(failed bool) {
	if failed {
		a.machine = a.fleet.machine(a.cluster)
		for _, w := range a.works { // order-free: each goes by itself
			w.report, w.removed = nil, false
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(a.works)) {
		a.hear(a.works[name].object)
	}
}

// suffers reports whether the cluster fails in this way now.
func (a *agent) suffers(f Failure) bool { return a.failed && a.fleet.Failure == f }
