package store

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// evictionStarted takes the cluster off the targets. A task that is there already stays as it is.
func (b *Binding) evictionStarted(at time.Time, f *messages.EvictionStarted) bool {
	from := string(f.Cluster)
	onTarget := func(c api.TargetCluster) bool { return c.Name == from }
	clusters, left := without(b.Spec.Clusters, onTarget)
	isNew := !slices.ContainsFunc(b.Spec.GracefulEvictionTasks, taskFrom(f.Cluster))
	if !left && !isNew {
		return false
	}
	b.Spec.Clusters = clusters
	b.showEviction(api.Eviction{Cluster: from, State: api.EvictionEvicting, Reason: f.Task.Reason}, &f.Grounds)
	if isNew {
		b.Spec.GracefulEvictionTasks = append(slices.Clip(b.Spec.GracefulEvictionTasks), f.Task)
		b.departed(at, &f.Task)
	}
	b.Meta.Generation++
	b.judgeFullyApplied(at)
	return true
}

// replicasReleased notes in the task what its cluster still runs.
func (b *Binding) replicasReleased(f *messages.ReplicasReleased) bool {
	i := slices.IndexFunc(b.Spec.GracefulEvictionTasks, taskFrom(f.Cluster))
	if i < 0 {
		return false
	}
	tasks := slices.Clone(b.Spec.GracefulEvictionTasks)
	tasks[i].Replicas = &f.Replicas
	b.Spec.GracefulEvictionTasks = tasks
	b.Meta.Generation++
	return true
}

func (b *Binding) evictionEnded(at time.Time, f *messages.EvictionEnded) bool {
	tasks, ended := without(b.Spec.GracefulEvictionTasks, taskFrom(f.Cluster))
	shown := b.evictionOver(f.Cluster)
	if closed := b.closeRecord(at, f.Cluster, f.Reason) || shown; !ended {
		return closed // the task was deleted with the manifest
	}
	b.Spec.GracefulEvictionTasks = tasks
	b.Meta.Generation++
	if b.Status.SchedulerObservedGeneration == b.Meta.Generation-1 {
		b.Status.SchedulerObservedGeneration++ // an end asks nothing of who had placed all before it
	}
	b.judgeFullyApplied(at)
	return true
}

func (b *Binding) evictionWithdrawn(at time.Time, f *messages.EvictionWithdrawn) bool {
	tasks, withdrawn := without(b.Spec.GracefulEvictionTasks, taskFrom(f.Cluster))
	if !withdrawn && slices.EqualFunc(b.Spec.Clusters, f.Clusters, api.TargetCluster.Equal) {
		return false
	}
	if i := slices.IndexFunc(b.Spec.GracefulEvictionTasks, taskFrom(f.Cluster)); i >= 0 && b.Spec.GracefulEvictionTasks[i].FromAffinity != "" {
		b.Status.SchedulerObservedAffinityName = b.Spec.GracefulEvictionTasks[i].FromAffinity
	}
	b.Spec.GracefulEvictionTasks = tasks
	b.Spec.Clusters = f.Clusters
	b.closeRecord(at, f.Cluster, "withdrawn")
	b.evictionOver(f.Cluster)
	b.evictionsOutside(f.Clusters) // a target of a failback may be given up with its eviction scheduled
	b.Meta.Generation++
	b.judgeFullyApplied(at)
	return true
}

func taskFrom(cluster messages.ClusterName) func(api.GracefulEvictionTask) bool {
	return func(t api.GracefulEvictionTask) bool { return t.FromCluster == string(cluster) }
}

// transitions are the conditions of bindings whose status changed in an instant, as they were when it began. What ends
// an instant as it began it has not changed: how often it did meanwhile depends on which message came first.
type transitions struct {
	at     time.Time
	before map[transition]metav1.Condition
}

// transition names a condition of a binding.
type transition struct {
	of        *Binding
	condition string
}

// flipped notes the conditions of a binding that have another status than a moment ago, and gives those that are back
// at the status of the instant's beginning the time of that. The list is the binding's own since then.
func (t *transitions) flipped(at time.Time, b *Binding, before []metav1.Condition) {
	for i := range b.Status.Conditions {
		c := &b.Status.Conditions[i]
		if i >= len(before) || before[i].Status == c.Status { // they stand in the order in which they came
			continue
		}
		if !t.at.Equal(at) {
			t.at, t.before = at, map[transition]metav1.Condition{}
		}
		key := transition{b, c.Type}
		switch first, known := t.before[key]; {
		case !known:
			t.before[key] = before[i]
		case first.Status == c.Status:
			c.LastTransitionTime = first.LastTransitionTime
		}
	}
}
