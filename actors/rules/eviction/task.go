package eviction

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"time"

	"leeward/messages/api"
)

// PurgeMode returns what becomes of the old copy when its cluster fails: what the policy's cluster
// failover says, Gracefully where that is silent; without one the fallback, of which only Directly is
// anything but Gracefully. Source: Karmada --no-execute-taint-eviction-purge-mode.
func PurgeMode(f *api.FailoverBehavior, fallback api.PurgeMode) api.PurgeMode {
	mode := fallback
	if f != nil && f.Cluster != nil {
		mode = f.Cluster.PurgeMode
	}
	if mode == api.PurgeDirectly {
		return api.PurgeDirectly
	}
	return api.PurgeGracefully
}

// Origin is what a task records of the placement that it ends.
type Origin struct {
	Cluster string
	// Replicas that ran there; tasks of what has none keep silent about them.
	Replicas int32
	// State is the preserved state, as labels; nil where the policy asks for none.
	State map[string]string
	// Before is where the binding was placed, Cluster included; only application failover keeps it. Empty where
	// the policy asks for no state.
	Before []string
	// Message says more of it.
	Message string
}

// ForTaint returns the task of a binding that does not, or no longer, tolerate a taint of its cluster.
// The policy's cluster failover says how; purge mode and fallback are those of PurgeMode. It has no creation
// time: Assess calls it new.
func ForTaint(d Origin, f *api.FailoverBehavior, fallback api.PurgeMode) api.GracefulEvictionTask {
	t := d.task(PurgeMode(f, fallback))
	t.Reason, t.Producer = api.EvictionReasonTaintUntolerated, api.ProducerTaintManager
	if f != nil && f.Cluster != nil {
		t.GracePeriodSeconds, t.Handover = f.Cluster.GracePeriodSeconds, f.Cluster.Handover
	}
	return t
}

// ForFailback returns the task of a binding that goes back to where it was: the copy here, in the affinity
// group from, stays until those on the preferred clusters are healthy.
func ForFailback(d Origin, from string) api.GracefulEvictionTask {
	t := d.task(api.PurgeGracefully)
	t.FromAffinity = from
	t.Reason, t.Producer = api.EvictionReasonFailback, api.ProducerFailback
	return t
}

// ForMove returns the task of a binding whose new placement does without a cluster that it need not leave, for
// reason Rebalance or Reschedule. The copy there stays until the others are healthy; but where the policy's cluster
// failover says Directly, no two copies may run at the same time.
func ForMove(d Origin, reason string, f *api.FailoverBehavior) api.GracefulEvictionTask {
	t := d.task(PurgeMode(f, api.PurgeGracefully))
	t.Reason, t.Producer = reason, api.ProducerScheduler
	if reason == api.EvictionReasonRebalance {
		t.Producer = api.ProducerWorkloadRebalancer
	}
	return t
}

// ErrNoGrace says that a policy asks for purge mode Gracefully while the feature GracefulEviction is
// off; the application is not evicted then.
var ErrNoGrace = errors.New("purge mode Gracefully needs the feature GracefulEviction")

// ForApplication returns the task of a binding whose application stays unhealthy. Gracefully, also
// where the policy names no mode, takes the policy's grace period and fails with ErrNoGrace unless
// graceful; Never keeps the old copy until a person lets it go. The producer names the kind of binding.
func ForApplication(d Origin, a *api.ApplicationFailover, producer string, graceful bool) (api.GracefulEvictionTask, error) {
	mode := cmp.Or(a.PurgeMode, api.PurgeGracefully)
	if mode == api.PurgeGracefully && !graceful {
		return api.GracefulEvictionTask{}, ErrNoGrace
	}
	t := d.task(mode)
	t.Reason, t.Producer = api.EvictionReasonApplicationFailure, producer
	t.ClustersBeforeFailover = d.Before
	switch mode {
	case api.PurgeGracefully:
		t.GracePeriodSeconds, t.Handover = a.GracePeriodSeconds, a.Handover
	case api.PurgeNever:
		t.SuppressDeletion = new(true)
	}
	return t, nil
}

func (d Origin) task(mode api.PurgeMode) api.GracefulEvictionTask {
	t := api.GracefulEvictionTask{FromCluster: d.Cluster, PurgeMode: mode, PreservedLabelState: d.State, Message: d.Message}
	if d.Replicas > 0 {
		t.Replicas = new(d.Replicas)
	}
	return t
}

// KeepsCopy reports whether the old copy stays where it is until the task is done. Directly alone
// deletes it immediately. Source: Karmada's binding controller.
func KeepsCopy(task *api.GracefulEvictionTask) bool { return task.PurgeMode != api.PurgeDirectly }

// Copies yields the clusters that run a copy or keep one: the targets, the targets of the bindings that
// need this one, and the clusters evicted from whose task keeps the copy. Some may come twice. Any other
// copy is an orphan. A dependency has no tasks of its own, so it leaves a cluster before its owner does.
func Copies(spec *api.BindingSpec) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range spec.Clusters {
			if !yield(spec.Clusters[i].Name) {
				return
			}
		}
		for i := range spec.RequiredBy {
			for j := range spec.RequiredBy[i].Clusters {
				if !yield(spec.RequiredBy[i].Clusters[j].Name) {
					return
				}
			}
		}
		for i := range spec.GracefulEvictionTasks {
			if task := &spec.GracefulEvictionTasks[i]; KeepsCopy(task) && !yield(task.FromCluster) {
				return
			}
		}
	}
}

// Holdable reports whether an eviction for a reason is one that people may hold, and no move by choice.
func Holdable(reason string) bool {
	return reason == api.EvictionReasonTaintUntolerated || reason == api.EvictionReasonApplicationFailure
}

// Gradual reports whether the old copy of a task gives up replicas as others begin to serve: it was asked
// to, still has some, and people want it neither kept nor gone.
func Gradual(task *api.GracefulEvictionTask) bool {
	return task.Handover == api.HandoverGradual && task.Replicas != nil && *task.Replicas > 0 &&
		task.SuppressDeletion == nil && KeepsCopy(task)
}

// Holding is what an old copy runs that is evicted gradually, since an instant.
type Holding struct {
	Cluster  string
	Since    time.Time
	Replicas int32
}

// Release returns the old copies that give up replicas, with what each keeps. Together they keep as many as
// are missing where the workload is placed now, and at least one, which goes with its task. Who is being
// left for longest gives up first, then by name. None gains any.
func Release(old []Holding, missing int64) []Holding {
	spare := -max(missing, 1)
	for i := range old {
		spare += int64(old[i].Replicas)
	}
	old = slices.Clone(old)
	slices.SortFunc(old, func(a, b Holding) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Cluster, b.Cluster)) })
	var less []Holding
	for _, h := range old {
		if spare <= 0 {
			break
		}
		given := min(spare, int64(h.Replicas))
		spare -= given
		h.Replicas -= int32(given)
		less = append(less, h)
	}
	return less
}

// PurgeOverdue returns when a copy that is purged directly has blocked its substitute for long
// enough: the substitute then starts although the copy may still run, where its cluster does not answer.
// Zero: never, because the task keeps its copy anyway or the timeout is zero. The instant follows from the
// task's creation time, so no restart moves it.
func PurgeOverdue(task *api.GracefulEvictionTask, timeout time.Duration) time.Time {
	if timeout <= 0 || KeepsCopy(task) || task.CreationTimestamp.IsZero() {
		return time.Time{}
	}
	return task.CreationTimestamp.Add(timeout)
}
