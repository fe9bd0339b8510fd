package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// replayed is a recording that was run.
type replayed struct {
	run *replay.Run
	// initial is the same run without any input.
	initial *replay.Run
	// began is when the recording begins, after the start of the run.
	began time.Duration
}

// account tells a replay as a recording would.
func (r *replayed) account() *account {
	return &account{
		initially: standings(bindingsOf(r.initial.Objects)), finally: standings(bindingsOf(r.run.Objects)),
		bindings: r.bindings(), clusters: r.clusters(), taints: r.taints(), copies: r.copies(), refused: r.refused(),
	}
}

// at is when a thing happened, after the beginning of the recording; before that it is zero.
func (r *replayed) at(e *journal.Entry) time.Duration {
	return max(0, e.At.Sub(r.run.Start)-r.began)
}

// bindingsOf are the bindings among objects, as a recording shows them.
func bindingsOf(objects []api.Object) []Binding {
	var all []Binding
	for _, o := range objects {
		b, ok := o.(*api.ResourceBinding)
		if !ok {
			continue
		}
		shown := Binding{
			Name: b.Name, Clusters: b.Spec.Clusters, Tasks: b.Spec.GracefulEvictionTasks,
			Affinity: b.Status.SchedulerObservedAffinityName,
		}
		for _, k := range b.Status.Conditions {
			if k.Type == api.ConditionScheduled {
				shown.Scheduled = &Scheduled{Status: k.Status, Reason: k.Reason}
			}
		}
		all = append(all, shown)
	}
	return all
}

// bindings are the states of bindings as the journal has them.
func (r *replayed) bindings() map[string]history {
	all := map[messages.BindingName]*followed{}
	for i := range r.run.Events {
		e := &r.run.Events[i]
		about, ok := e.Fact.(messages.AboutBinding)
		if !ok {
			continue
		}
		b := all[about.AboutBinding()]
		if b == nil {
			b = &followed{}
			all[about.AboutBinding()] = b
		}
		b.follow(e.Fact, r.at(e), i < len(r.initial.Events))
	}
	histories := map[string]history{}
	for name, b := range all {
		if len(b.past) > 0 {
			histories["binding "+short(name)] = b.past
		}
	}
	return histories
}

// short is a binding's name without its namespace.
func short(b messages.BindingName) string {
	_, name := b.Split()
	return name
}

// followed is one binding while its facts are read.
type followed struct {
	clusters []api.TargetCluster
	tasks    []api.GracefulEvictionTask
	// ended is set while the newest state is that of an ended task.
	ended bool
	past  history
}

// follow adds the state that a fact brings about. Tasks that end at one instant end in one change, and
// what came of the initial objects is one state.
func (b *followed) follow(f messages.Fact, at time.Duration, initial bool) {
	if !b.take(f) {
		return
	}
	_, ended := f.(*messages.EvictionEnded)
	last := len(b.past) - 1
	if text := placed(b.clusters, b.tasks); last >= 0 && (initial || ended && b.ended && b.past[last].at == at) {
		b.past = b.past.replace(at, text)
	} else {
		b.past = b.past.add(at, text)
	}
	b.ended = ended
}

// take takes over what a fact says, and reports whether it is about the placement.
func (b *followed) take(f messages.Fact) bool {
	switch f := f.(type) {
	case *messages.BindingCreated:
	case *messages.Scheduled:
		b.clusters = f.Clusters
	case *messages.ScheduleFailed:
		if f.Cleared {
			b.clusters = nil
		}
	case *messages.EvictionStarted:
		b.clusters = slices.DeleteFunc(slices.Clone(b.clusters), func(c api.TargetCluster) bool { return c.Name == string(f.Cluster) })
		b.tasks = append(b.tasks, f.Task)
	case *messages.EvictionEnded:
		b.tasks = slices.DeleteFunc(b.tasks, func(k api.GracefulEvictionTask) bool { return k.FromCluster == string(f.Cluster) })
	default:
		return false
	}
	return true
}

// taints are those that clusters have in the end.
func (r *replayed) taints() map[string]string {
	all := map[string]string{}
	for _, o := range r.run.Objects {
		if c, ok := o.(*api.Cluster); ok && len(c.Spec.Taints) > 0 {
			all[c.Name] = inOrder(tainted(c.Spec.Taints))
		}
	}
	return all
}

// clusters are the taints that clusters had in turn. What changes at one instant is one change.
func (r *replayed) clusters() map[string]history {
	all, now := map[string]history{}, map[string][]corev1.Taint{}
	for _, o := range r.initial.Objects {
		if c, ok := o.(*api.Cluster); ok {
			now[c.Name] = c.Spec.Taints
			all["cluster "+c.Name] = history{{0, inOrder(tainted(c.Spec.Taints))}}
		}
	}
	for i := range r.run.Events[len(r.initial.Events):] {
		e := &r.run.Events[len(r.initial.Events)+i]
		name, changed := retaint(now, e.Fact)
		if !changed {
			continue
		}
		at, past, text := r.at(e), all["cluster "+name], inOrder(tainted(now[name]))
		if last := len(past) - 1; last > 0 && past[last].at == at {
			all["cluster "+name] = past.replace(at, text)
		} else {
			all["cluster "+name] = past.add(at, text)
		}
	}
	return all
}

// retaint takes over what a fact says of the taints of a cluster.
func retaint(now map[string][]corev1.Taint, f messages.Fact) (cluster string, changed bool) {
	switch f := f.(type) {
	case *messages.TaintAdded:
		cluster = string(f.Cluster)
		now[cluster] = append(without(now[cluster], f.Taint), f.Taint)
	case *messages.TaintRemoved:
		cluster = string(f.Cluster)
		now[cluster] = without(now[cluster], f.Taint)
	default:
		return "", false
	}
	return cluster, true
}

func without(taints []corev1.Taint, gone corev1.Taint) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return t.Key == gone.Key && t.Effect == gone.Effect })
}

// copies are the clusters that hold a copy of each binding in the end.
func (r *replayed) copies() map[string]string {
	held := map[messages.BindingName][]string{}
	for _, e := range r.run.Events {
		switch f := e.Fact.(type) {
		case *messages.CopyStarted:
			held[f.Binding] = append(held[f.Binding], string(f.Cluster))
		case *messages.CopyStopped:
			held[f.Binding] = slices.DeleteFunc(held[f.Binding], func(c string) bool { return c == string(f.Cluster) })
		}
	}
	all := map[string]string{}
	for name, clusters := range held {
		if len(clusters) > 0 {
			all[short(name)] = inOrder(clusters)
		}
	}
	return all
}

// refused are the inputs that were refused, with the first reason as a recording tells it.
func (r *replayed) refused() string {
	var all []string
	for i := range r.run.Events {
		e := &r.run.Events[i]
		if f, ok := e.Fact.(*messages.ObjectRejected); ok {
			reason := strings.SplitN(f.Problems[0], ": ", 3)
			all = append(all, fmt.Sprintf("at %.1fs %s %s", r.at(e).Seconds(), reason[0], reason[1]))
		}
	}
	return strings.Join(all, ", ")
}
