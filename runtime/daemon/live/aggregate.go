package live

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// sums are the bindings of which what their copies report must be added up, those first that have waited longest, each
// once: a failover changes a binding several times.
type sums struct {
	waiting []messages.BindingName
	known   map[messages.BindingName]bool
}

const (
	// sumsTogether is how many are added up in one round; fewer while there are Works to write, which agents wait for.
	sumsTogether    = 2048
	sumsBesideWorks = 64
)

func (s *sums) put(b messages.BindingName) {
	if !s.known[b] {
		s.known[b] = true
		s.waiting = append(s.waiting, b)
	}
}

// take returns the next.
func (s *sums) take() []messages.BindingName {
	next := s.waiting[:min(len(s.waiting), sumsBesideWorks)]
	if s.waiting = s.waiting[len(next):]; len(s.waiting) == 0 {
		s.waiting = nil
	}
	for _, b := range next {
		delete(s.known, b)
	}
	return next
}

// aggregate returns the write that gives the template of a binding the sums of what its copies report, so that a
// workload looks as it would in one cluster; needed is false where it has them. Source: Karmada's resource interpreter.
func (f *Fleet) aggregate(binding *store.Binding) (p pending, needed bool) {
	p.source = binding.Spec.Resource.Key()
	r := catalog.Of(p.source)
	if r == nil {
		return p, false
	}
	p.key = engine.Key(r.Name(), p.source.Namespace, p.source.Name)
	stored, version := f.config.Engine.Table(r.Name()).Get(p.key)
	if stored == nil || f.foreign(binding, stored) {
		return p, false
	}
	if _, heard := f.stored(p.source); heard != version {
		f.world.Store().Note(store.BindingKey(binding.Name())) // when its news is heard
		return p, false
	}
	p.object = api.Shallow(stored)
	p.write = engine.Update(p.key, p.object, version)
	return p, giveSums(p.object, binding)
}

// foreign reports whether a binding only claims to be that of a workload, which has one of its own.
func (f *Fleet) foreign(b *store.Binding, workload api.Object) bool {
	own := world.BindingOf(workload)
	return own != b.Name() && f.world.Store().Binding(own) != nil
}

// giveSums writes the sums into the status of a workload, and reports whether that changes it.
func giveSums(o api.Object, b *store.Binding) bool {
	switch o := o.(type) {
	case *appsv1.Deployment:
		next := o.Status
		next.ObservedGeneration = o.Generation
		next.Replicas, next.ReadyReplicas = b.Counts()
		next.UpdatedReplicas, next.AvailableReplicas = next.ReadyReplicas, next.ReadyReplicas
		next.UnavailableReplicas = next.Replicas - next.AvailableReplicas
		return replace(&o.Status, next)
	case *appsv1.StatefulSet:
		next := o.Status
		next.ObservedGeneration = o.Generation
		next.Replicas, next.ReadyReplicas = b.Counts()
		next.UpdatedReplicas, next.AvailableReplicas = next.ReadyReplicas, next.ReadyReplicas
		return replace(&o.Status, next)
	case *appsv1.DaemonSet:
		next := appsv1.DaemonSetStatus{ObservedGeneration: o.Generation, Conditions: o.Status.Conditions}
		for s := range said[appsv1.DaemonSetStatus](b) {
			next.DesiredNumberScheduled += s.DesiredNumberScheduled
			next.CurrentNumberScheduled += s.CurrentNumberScheduled
			next.UpdatedNumberScheduled += s.UpdatedNumberScheduled
			next.NumberAvailable += s.NumberAvailable
			next.NumberReady += s.NumberReady
		}
		return replace(&o.Status, next)
	case *batchv1.Job:
		next := o.Status
		next.Active, next.Succeeded, next.Failed = 0, 0, 0
		for s := range said[batchv1.JobStatus](b) {
			next.Active += s.Active
			next.Succeeded += s.Succeeded
			next.Failed += s.Failed
		}
		return replace(&o.Status, next)
	}
	return false // other kinds count nothing
}

// said are the statuses of a binding's copies that can be read.
func said[S any](b *store.Binding) func(yield func(*S) bool) {
	return func(yield func(*S) bool) {
		for i := range b.Status.AggregatedStatus {
			var s S
			raw := b.Status.AggregatedStatus[i].Status
			if raw != nil && json.Unmarshal(raw.Raw, &s) == nil && !yield(&s) {
				return
			}
		}
	}
}

func replace[S any](status *S, next S) bool {
	if equality.Semantic.DeepEqual(*status, next) {
		return false
	}
	*status = next
	return true
}
