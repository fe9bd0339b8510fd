package binding

import (
	"reflect"

	"leeward/actors"
	"leeward/actors/rules/karmada"
	"leeward/messages"
	"leeward/messages/api"
)

// view is what the parts of a binding share: the resource, and the clusters that run it. Each part has its own file of methods; what one
// part alone owns is no field here.
type view struct {
	name messages.BindingName
	// created is false until a policy first claims the resource; managed is set where the scheduler
	// places it; restoring is set for the instant of a restart, in which all is said again.
	created, managed, restoring bool
	// scheduled is set once the last question to the scheduler was answered with success.
	scheduled bool
	// heard is what the binding was told that most never are.
	heard heard
	// targets in the order in which they came: kept ones first.
	targets targets
	copies  copies
	// handover are the graceful eviction tasks.
	handover handover
	// past is what application failovers leave behind; nil: there was none.
	past *past
	// affinity is the group that the last scheduling chose.
	affinity string
	// It comes last because its spec is large: every message looks at what comes before that.
	declared
}

// declared is what is asked of a binding, as the settings have it: the resource, and what its owner gives it.
type declared struct {
	// settings are those of all bindings and must not change.
	settings *messages.Settings
	workload *messages.Workload
	// applied is the placement that the last scheduling carried out; nil: never scheduled.
	applied *api.Placement
	// spec is what the owner, or the binding's own manifest, gives.
	spec api.BindingSpec
}

// dependenciesChanged takes over what the resource refers to. The resource itself has not changed.
func (d *declared) dependenciesChanged(m *messages.DependenciesChanged) {
	if d.workload != nil {
		next := *d.workload
		next.Dependencies = m.Dependencies
		d.workload = &next
	}
}

// heard is a set of what a binding was told.
type heard uint8

const (
	// considered: a cluster asked what the binding would do.
	considered heard = 1 << iota
	// held: an admin holds some evictions. Those for health ask for permits, too.
	held
)

// failsOver reports whether the policy has unhealthy applications evicted.
func (d *declared) failsOver() bool {
	return d.spec.Failover != nil && d.spec.Failover.Application != nil
}

// strategy is who stays when a cluster that was cut off comes back; empty: as the settings say.
func (d *declared) strategy() api.ReconnectStrategy {
	if f := d.spec.Failover; f != nil && f.Cluster != nil {
		return f.Cluster.Reconnect
	}
	return ""
}

// judges reports whether an old copy that comes back is judged.
func (d *declared) judges() bool {
	s := d.strategy()
	return s == api.ReconnectKeepOriginal || s == api.ReconnectKeepHealthiest
}

// schedulable reports whether the scheduler places the binding: it is not suspended, and no other
// scheduler does.
func (v *view) schedulable() bool {
	suspended := v.spec.Suspension != nil && v.spec.Suspension.Scheduling != nil && *v.spec.Suspension.Scheduling
	ours := v.spec.SchedulerName == "" || v.spec.SchedulerName == api.DefaultScheduler
	return v.managed && v.spec.Placement != nil && !suspended && ours
}

// hasReplicas reports whether the resource is a workload whose replicas can be divided.
func (d *declared) hasReplicas() bool {
	if d.workload != nil {
		return d.workload.HasReplicas
	}
	return len(d.spec.Components) <= 1 && (d.spec.Replicas > 0 || d.spec.ReplicaRequirements != nil)
}

// scaledToZero reports whether the resource is a workload that should run no replicas.
func (d *declared) scaledToZero() bool {
	return d.hasReplicas() && d.spec.Replicas == 0 && d.set() == nil
}

func (d *declared) priority() int32 {
	if d.spec.SchedulePriority == nil {
		return 0
	}
	return d.spec.SchedulePriority.Priority
}

// copyPods is how many pods a whole copy runs where replicas are not divided.
func (d *declared) copyPods() int32 {
	if s := d.set(); s != nil {
		return s.Targets.Pods()
	}
	return d.spec.Replicas
}

// weight is what a share of so many pods counts. A resource without pods counts one.
func (d *declared) weight(pods int32) int32 {
	if d.hasReplicas() || d.set() != nil {
		return pods
	}
	return 1
}

// preserves reports whether copies run on where they are not asked for any more.
func (d *declared) preserves() bool {
	return d.spec.PreserveResourcesOnDeletion != nil && *d.spec.PreserveResourcesOnDeletion
}

// revision is the present version of the pod template.
func (d *declared) revision() int32 {
	if d.workload == nil {
		return 0
	}
	return d.workload.Revision
}

// placedAsAsked reports whether the placement that is asked for is the one that was last carried out.
func (d *declared) placedAsAsked() bool {
	return d.applied == d.spec.Placement || reflect.DeepEqual(d.applied, d.spec.Placement)
}

// eachTarget visits every target; the visit may take that target, and no other, off the result.
func (v *view) eachTarget(visit func(*target)) {
	for i := 0; i < len(v.targets); {
		c := v.targets[i].cluster
		visit(&v.targets[i])
		if i < len(v.targets) && v.targets[i].cluster == c {
			i++
		}
	}
}

// reviseAnswer has one cluster ask again: its copy became unhealthy or healthy, was evicted, or reports
// another state.
func (v *view) reviseAnswer(c messages.ClusterName, out *actors.Outbox) {
	if v.heard&considered != 0 {
		out.TellCluster(c, &messages.AnswerChanged{Binding: v.name})
	}
}

// set is what the resource runs where it goes whole, for its several components; nil: it is divided, or has
// no pods. One component of a resource that has replicas is these replicas.
func (d *declared) set() *messages.ComponentSet {
	n := len(d.spec.Components)
	switch {
	case !d.settings.MultiplePodTemplatesScheduling || n == 0 || n == 1 && d.hasReplicas():
		return nil
	case d.workload != nil && d.workload.Set != nil:
		return d.workload.Set
	default:
		return messages.NewComponentSet(d.spec.Components)
	}
}

// task returns that of a cluster; nil: there is none.
func (h *handover) task(c messages.ClusterName) *task {
	for i := range h.tasks {
		if h.tasks[i].FromCluster == string(c) {
			return &h.tasks[i]
		}
	}
	return nil
}

// ways are Karmada's, as far as the settings have them.
func (d *declared) ways() karmada.Ways { return karmada.Of(d.settings) }

// owned returns a part to change, new if there was none.
func owned[T any](part **T) *T {
	if *part == nil {
		*part = new(T)
	}
	return *part
}

func (d *declared) duplicated() bool {
	return !d.spec.Placement.ReplicaScheduling.Divides() || !d.hasReplicas()
}
