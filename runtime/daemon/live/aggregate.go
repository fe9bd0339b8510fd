package live

import (
	"cmp"
	"encoding/json"
	"iter"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	if r == nil || r == catalog.PodBudgets && f.config.Engine.Table(catalog.Nodes.Name()) != nil { // with nodes, it counts their pods
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
	if u, untyped := p.object.(*unstructured.Unstructured); untyped {
		return p, f.giveScripted(u, binding)
	}
	return p, giveSums(p.object, binding)
}

// giveScripted writes what a script makes of the statuses of copies into the status of an object without a Go type, and reports whether
// that changes it. Without a script the status is the object's own.
func (f *Fleet) giveScripted(o *unstructured.Unstructured, b *store.Binding) bool {
	shown := store.AsBinding(f.world.Store().Get(store.BindingKey(b.Name())))
	if shown == nil {
		return false
	}
	status, known, err := f.world.Interpreters().Aggregate(o, shown.Status.AggregatedStatus)
	f.world.NoteUnadded(b.Name(), err)
	if !known || equality.Semantic.DeepEqual(o.Object["status"], status) {
		return false
	}
	if o.Object["status"] = status; status == nil {
		delete(o.Object, "status")
	}
	return true
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
	return sumTemplate(o, b) // other kinds count nothing
}

// sumTemplate is giveSums of what runs nothing.
func sumTemplate(o api.Object, b *store.Binding) bool {
	switch o := o.(type) {
	case *autoscalingv2.HorizontalPodAutoscaler:
		next := o.Status
		next.CurrentReplicas, next.DesiredReplicas = 0, 0
		for s := range said[autoscalingv2.HorizontalPodAutoscalerStatus](b) {
			next.CurrentReplicas += s.CurrentReplicas
			next.DesiredReplicas += s.DesiredReplicas
		}
		return replace(&o.Status, next)
	case *policyv1.PodDisruptionBudget:
		next := policyv1.PodDisruptionBudgetStatus{ObservedGeneration: o.Generation, Conditions: o.Status.Conditions}
		for cluster, s := range saidIn[policyv1.PodDisruptionBudgetStatus](b) {
			next.CurrentHealthy += s.CurrentHealthy
			next.DesiredHealthy += s.DesiredHealthy
			next.ExpectedPods += s.ExpectedPods
			next.DisruptionsAllowed += s.DisruptionsAllowed
			for pod, at := range s.DisruptedPods { // order-free: each by itself
				if next.DisruptedPods == nil {
					next.DisruptedPods = map[string]metav1.Time{}
				}
				next.DisruptedPods[cluster+"/"+pod] = at
			}
		}
		return replace(&o.Status, next)
	case *networkingv1.Ingress:
		next := networkingv1.IngressStatus{}
		for cluster, s := range saidIn[networkingv1.IngressStatus](b) {
			for _, i := range s.LoadBalancer.Ingress {
				i.Hostname = cmp.Or(i.Hostname, cluster) // says whose address it is
				next.LoadBalancer.Ingress = append(next.LoadBalancer.Ingress, i)
			}
		}
		return replace(&o.Status, next)
	case *corev1.Service:
		return o.Spec.Type == corev1.ServiceTypeLoadBalancer && replace(&o.Status, addresses(b))
	case *corev1.PersistentVolumeClaim:
		return replace(&o.Status, claimed(b, o.Status))
	case *corev1.PersistentVolume:
		return replace(&o.Status, provided(b, o.Status))
	case *batchv1.CronJob:
		return replace(&o.Status, scheduled(b))
	}
	return false
}

// said are the statuses of a binding's copies that can be read.
func said[S any](b *store.Binding) iter.Seq[*S] {
	return func(yield func(*S) bool) {
		for _, s := range saidIn[S](b) {
			if !yield(s) {
				return
			}
		}
	}
}

// saidIn is said with the cluster of each copy.
func saidIn[S any](b *store.Binding) iter.Seq2[string, *S] {
	return func(yield func(string, *S) bool) {
		for i := range b.Status.AggregatedStatus {
			var s S
			item := &b.Status.AggregatedStatus[i]
			if item.Status != nil && json.Unmarshal(item.Status.Raw, &s) == nil && !yield(item.ClusterName, &s) {
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
